"""``mercer compare --models my.py:model``: models of users and of packages, from end to end."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2 == 0
    frame = pd.DataFrame({"size": rng.normal(size=120) + 5 * y, "kind": np.where(y, "yes", "no")})
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "my.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n"
        "from sklearn.pipeline import make_pipeline\n"
        "def model():\n    return make_pipeline(GaussianNB())\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_of_a_file_is_compared_in_processes_of_its_own(folder, capsys):
    command = ["compare", "table.csv", "-t", "kind", "--models", "dummy,my.py:model"]
    assert main([*command, "--jobs", "1", "--budget", "10s", "-o", "out"]) == 0
    content = json.loads((folder / "out" / "comparison.json").read_text())
    (ours,) = [one for one in content["models"] if one["name"] == "my.py:model"]
    assert (ours["label"], ours["kind"], ours["against_best"]) == (
        "a model of yours",
        "peer",
        "best",
    )
    assert ours["score"] > 0.9
    # No model file can hold it, so there is no command that fits it; the lines of Python do.
    assert content["fit_command"] is None
    assert "make_model('my.py:model', data)" in content["python"]
    assert "To fit the best" not in capsys.readouterr().out
    page = (folder / "out" / "report.html").read_text()
    assert "To fit my.py:model on all rows, in Python:" in page


@pytest.mark.parametrize("name", ["my.py:nothing", "none.py:model", "tabpfn2"])
def test_a_model_that_is_not_there_is_refused_before_the_table_is_read(folder, capsys, name):
    command = ["compare", "absent.csv", "-t", "kind", "--models", f"dummy,{name}", "-o", "out"]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "absent.csv" not in error
    assert error.count("\n") == 1
    assert not (folder / "out").exists()


def test_fit_says_that_a_model_file_cannot_hold_it(folder, capsys):
    assert main(["fit", "table.csv", "-t", "kind", "--model", "my.py:model"]) == 2
    assert "cannot be kept in a model file, which holds only types" in capsys.readouterr().err
