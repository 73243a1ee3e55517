"""``--exclude`` and ``--kind`` of the commands that learn from a table."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

import mercer.comparison
from mercer.cli import main
from mercer.comparison import compare_in_rounds


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=80),
            "zip": rng.choice([10115, 20095, 80331], 80),
            "taxes, due": rng.normal(size=80),
            "leak": np.tile([1.5, 2.5], 40),
            "kind": ["p", "q"] * 40,
        }
    )
    path = tmp_path_factory.mktemp("columns") / "people.csv"
    frame.to_csv(path, index=False)
    return str(path)


OPTIONS = ["--exclude", 'leak,"taxes, due"', "--kind", "zip=category"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_fit_leaves_out_and_takes_for_what_it_is_told(table, here, capsys):
    assert main(["fit", table, "-t", "kind", "-m", "logistic", *OPTIONS, "--json"]) == 0
    card = json.loads(capsys.readouterr().out)["card"]
    columns = {one["name"]: one for one in card["columns"]}
    assert {name: one["kind"] for name, one in columns.items()} == {
        "size": "number", "zip": "category", "taxes, due": "excluded", "leak": "excluded"
    }  # fmt: skip
    assert columns["leak"]["reason"] == "you leave it out"
    assert not columns["leak"]["used"]
    assert main(["predict", "model.skops", table]) == 0  # The file may have the columns or not.


def test_the_commands_that_compare_gives_say_the_same(table, here, no_last_parts, monkeypatch):
    def one_round(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 1})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", one_round)
    quick = ["--models", "logistic,dummy"]
    assert main(["compare", table, "-t", "kind", *quick, *OPTIONS, "-o", "out"]) == 0
    content = json.loads((here / "out" / "comparison.json").read_text())
    words = shlex.split(content["fit_command"])
    assert words[words.index("--exclude") + 1] == 'leak,"taxes, due"'
    assert words[words.index("--kind") + 1] == "zip=category"
    assert (
        "kinds={'zip': 'category', 'leak': 'excluded', 'taxes, due': 'excluded'}"
        in (content["python"])
    )
    assert main(words[1:]) == 0


def test_project_takes_them_too(table, here):
    assert main(["project", table, "-t", "kind", "--method", "pca", *OPTIONS]) == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--exclude", "leek"], "There is no column 'leek' in"),
        (["--kind", "zip"], "--kind takes COLUMN=KIND, such as zip=category; got 'zip'."),
        (["--kind", "zip=place"], "The kind of column 'zip' must be number, category, date"),
        (["--exclude", "kind"], "'kind' is the target: --exclude and --kind are for other"),
        (["--kind", "leak=date"], "Column 'leak' cannot be read as dates: row 1 holds '1.5'."),
    ],
)
def test_what_cannot_be_obeyed_is_one_sentence(table, here, capsys, options, sentence):
    assert main(["fit", table, "-t", "kind", *options]) == 2
    assert sentence in capsys.readouterr().err
