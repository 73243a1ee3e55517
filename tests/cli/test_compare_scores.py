"""``mercer compare --from``: scores in, the same folder and page out, nothing fitted."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main
from mercer.comparison import read_comparison
from mercer.report import write_comparison_report

EVIL = "<script>alert(1)</script>"
RNG = np.random.default_rng(0)


def scores():
    means = {"svc": 0.9, EVIL: 0.9, "[bold]knn": 0.7}
    return pd.DataFrame({name: mean + 0.01 * RNG.normal(size=10) for name, mean in means.items()})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.csv"
    scores().to_csv(path)
    return str(path)


def run(file, tmp_path, *options):
    return main(["compare", "--from", file, "-o", str(tmp_path / "out"), *options])


def test_scores_become_a_ranking_a_folder_and_a_page(file, tmp_path, capsys):
    assert run(file, tmp_path, "--metric", "accuracy") == 0
    printed = capsys.readouterr().out
    assert "3 models, 10 splits" in printed
    assert "Splits are taken for 10 folds, each of which tests 10.0 % of the rows." in printed
    assert "[bold]knn" in printed  # names are no markup
    record = read_comparison(tmp_path / "out").record
    assert record.answer in printed.replace("\n", " ")
    assert record.answer.count("are not told apart") == 1
    page = (tmp_path / "out" / "report.html").read_text()
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "1 of 2 steps from one rank to the next is more than chance explains" in page


def test_json_says_what_the_folder_holds(file, tmp_path, capsys):
    assert run(file, tmp_path, "--metric", "accuracy", "--test-share", "0.5", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    kept = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert {key: said[key] for key in kept} == kept
    assert kept["elsewhere"]["test_ratio"] == 1
    assert kept["elsewhere"]["splits"] == "Each split tests 50.0 % of the rows."


def test_many_data_sets_are_listed_on_the_page(tmp_path, capsys):
    lines = [
        {"dataset": f"table {k}", "method": name, "fold": fold, "metric_error": error}
        for k in range(7)
        for name, part in scores().items()
        for fold, error in enumerate(1 - part[:3])
    ]
    path = tmp_path / "lines.csv"
    pd.DataFrame(lines).to_csv(path, index=False)
    assert run(str(path), tmp_path) == 0
    printed = capsys.readouterr().out
    assert "A split tests a third of the rows, as TabArena's folds do." in printed
    page = write_comparison_report(tmp_path / "out", tmp_path / "again.html").read_text()
    assert all(f"table {k}" in page for k in range(7))
    assert "By themselves, 7 data sets tell" in page


def test_predictions_beside_the_truth_are_judged_by_rows(tmp_path, capsys):
    truth = RNG.choice(["a", "b"], 80)
    table = pd.DataFrame({"truth": truth, "right": truth, "always": "a"})
    table.to_csv(tmp_path / "said.csv", index=False)
    assert run(str(tmp_path / "said.csv"), tmp_path) == 0
    printed = capsys.readouterr().out
    assert "2 models, 80 rows" in printed
    assert "right is better than always (p < 0.001)." in printed
    assert "Cochran" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "better is not known: say so with better (--better higher, --better lower)"),
        (["--metric", "accuracy", "--target", "y", "--budget", "9s"],
         "nothing is fitted: leave out --target and --budget."),
        (["--metric", "accuracy", "--test-share", "2"], "test_share must lie between 0 and 1"),
        (["--metric", "accuracy", "--rope", "-1"], "rope must be 0 or more"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(file, tmp_path, capsys, options, sentence):
    assert run(file, tmp_path, *options) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_options_for_scores_need_scores(file, tmp_path, capsys):
    assert main(["compare", file, "--target", "svc", "--rope", "0.1"]) == 2
    assert "--rope is for scores from elsewhere: give --from FILE" in capsys.readouterr().err
