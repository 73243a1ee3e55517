"""``mercer compare`` that was stopped: the same command goes on with the rounds that are there."""

import json

import numpy as np
import pandas as pd
import pytest

import mercer.comparison
import mercer.views
from mercer._system.files import held_alone
from mercer.cli import main
from mercer.comparison import compare_in_rounds

FILE = """
from sklearn.naive_bayes import GaussianNB

class Model(GaussianNB):
    fits, until = 0, 99

    def fit(self, X, y):
        type(self).fits += 1
        if self.fits > self.until:
            raise KeyboardInterrupt
        return super().fit(X, y)
"""


@pytest.fixture
def compare(tmp_path, monkeypatch):
    """Compare in this process: the exit code, how often the model was fitted, the record."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2 == 0
    frame = pd.DataFrame({"size": rng.normal(size=120) + y, "kind": np.where(y, "yes", "no")})
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "my.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)

    def four_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 4})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", four_rounds)
    monkeypatch.setattr(
        "mercer.views.last_parts_within",
        lambda *arguments: mercer.views.without_last_parts("nobody asked"),
    )

    def run(*more, until=99):
        from mercer.models import make_model
        from mercer.tables import split_target

        data = split_target(frame, "kind")
        model = type(make_model("my.py:Model", data)[-1].estimator)
        model.fits, model.until = 0, until
        command = ["compare", "table.csv", "-t", "kind", "--models", "dummy,my.py:Model"]
        code = main([*command, "-o", "out", *more])
        path = tmp_path / "out" / "comparison.json"
        return code, model.fits, json.loads(path.read_text()) if path.exists() else None

    return run


def test_the_same_command_goes_on_and_leaves_nothing(compare, tmp_path, capsys):
    code, _, stopped = compare(until=2)
    assert (code, stopped["rounds"], stopped["interrupted"]) == (130, 2, True)
    assert "and the same command goes on with them" in capsys.readouterr().err
    assert (tmp_path / "out" / "unfinished").is_dir()
    code, fits, found = compare()
    assert (code, fits, found["rounds"], found["interrupted"]) == (0, 2, 4, False)
    assert "note: Goes on with 2 rounds that an interrupted run has" in capsys.readouterr().err
    assert not (tmp_path / "out" / "unfinished").exists()
    assert compare()[1] == 4  # what was finished is asked again in full


@pytest.mark.parametrize("change", [["--seed", "1"], ["--exclude", "more"]])
def test_other_options_begin_anew_and_say_so(compare, tmp_path, capsys, change):
    if "more" in change:
        table = pd.read_csv(tmp_path / "table.csv")
        table.assign(more=np.arange(120.0) ** 2).to_csv(tmp_path / "table.csv", index=False)
    compare(until=2)
    capsys.readouterr()
    assert compare(*change)[1] == 4
    assert "its rounds are gone, and this one begins anew." in capsys.readouterr().err


def test_two_runs_do_not_share_a_folder(compare, tmp_path, capsys):
    (tmp_path / "out" / "unfinished").mkdir(parents=True)
    with held_alone(tmp_path / "out" / "unfinished"):
        assert compare() == (2, 0, None)
    assert "Another comparison is running in out: wait for it, or" in capsys.readouterr().err
