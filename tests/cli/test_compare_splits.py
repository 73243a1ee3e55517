"""``mercer compare`` with groups, times and a test file, and what it asks before anything."""

import json
import time

import numpy as np
import pandas as pd
import pytest

import mercer.comparison
from mercer.cli import main
from mercer.comparison import compare_in_rounds, read_comparison
from mercer.views import draw_map, find_importances
from mercer.views._held_out_importances import rows_to_ask

MODELS = ["--models", "logistic,dummy", "--jobs", "1", "--budget", "10m"]


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    """Fit and draw in this process: processes have tests of their own."""

    def few_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 5})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", few_rounds)

    def last_parts(data, leaders, seed, seconds, budget):
        asked = rows_to_ask(leaders, data, seed)
        return *draw_map(data, seed), find_importances(*asked, seed, time.time() + 60)

    monkeypatch.setattr("mercer.views.last_parts_within", last_parts)


def visits(n=240, seed=0):
    """Visits of patients on days, and who is ill."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["iron", "fat", "salt"])
    frame["iron"] += y
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["patient"] = rng.integers(0, 30, n)
    frame["day"] = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.permutation(n), "D")
    frame["ill"] = np.where(y, "yes", "no")
    return frame


def run(tmp_path, capsys, frame, *options):
    """Compare models on a table, and return the exit code, the record and what was printed."""
    path, folder = tmp_path / "visits.csv", tmp_path / "results"
    frame.to_csv(path, index=False)
    command = ["compare", str(path), "-t", "ill", *MODELS, *options, "-o", str(folder)]
    code = main(command)
    record = read_comparison(folder) if code == 0 else None
    return code, record, capsys.readouterr()


def test_whole_groups_are_tested_and_the_column_is_no_feature(tmp_path, capsys):
    code, folder, printed = run(tmp_path, capsys, visits(), "--groups", "patient")
    assert code == 0
    splits = folder.record.splits
    assert (splits.kind, splits.source) == ("stratified folds of whole groups", "patient")
    assert "Whole groups of 'patient' are tested" in printed.out
    assert "'patient' splits the rows, so that models do not see it" in printed.err
    assert "--exclude patient" in folder.record.fit_command
    predictions = pd.read_csv(tmp_path / "results" / "predictions.csv")
    patients = visits()["patient"].to_numpy()[predictions["row"] - 1]
    by_patient = pd.Series(predictions["split"].to_numpy()).groupby(patients).nunique()
    assert (by_patient == 1).all()
    page = (tmp_path / "results" / "report.html").read_text()
    assert "Whole groups of &#39;patient&#39; are tested" in page
    assert "McNemar" not in page


def test_a_column_of_groups_stays_a_feature_where_its_kind_is_given(tmp_path, capsys):
    given = ["--groups", "patient", "--kind", "patient=number"]
    _, folder, printed = run(tmp_path, capsys, visits(), *given)
    used = {column.name for column in folder.record.question.columns if column.used}
    assert "patient" in used
    assert "splits the rows" not in printed.err


def test_later_rows_are_tested_by_earlier_ones(tmp_path, capsys):
    frame = visits()
    frame.loc[3, "day"] = pd.NaT
    code, folder, printed = run(tmp_path, capsys, frame, "--time", "day")
    assert code == 0
    assert folder.record.splits.kind == "later rows by earlier ones"
    assert "The later half by 'day' is tested, in 10 blocks" in printed.out
    assert "1 row without a value of 'day' is left out." in printed.err
    predictions = pd.read_csv(tmp_path / "results" / "predictions.csv")
    tested = frame["day"].to_numpy()[predictions["row"] - 1]
    assert tested.min() >= frame["day"].dropna().sort_values().iloc[110]


@pytest.mark.parametrize("style", ["%Y-%m-%d", "%d.%m.%Y", "number", "identifier"])
def test_times_are_dates_or_numbers(style, tmp_path, capsys):
    frame = visits()
    days = (frame["day"] - frame["day"].min()).dt.days
    if style == "number":
        frame["day"] = days // 2
    elif style == "identifier":
        frame["day"] = days
    else:
        frame["day"] = frame["day"].dt.strftime(style)
    _, folder, _ = run(tmp_path, capsys, frame, "--time", "day")
    predictions = pd.read_csv(tmp_path / "results" / "predictions.csv")
    tested = days.to_numpy()[predictions["row"] - 1]
    assert tested.min() >= 118
    last = predictions[predictions["split"] == 0]
    assert days.to_numpy()[last["row"] - 1].min() >= 226  # the first round is of the latest block
    assert folder.record.rounds == 5


def test_a_test_file_is_scored_and_its_rows_are_named(tmp_path, capsys):
    test = visits(60, seed=1)
    test.loc[0, "ill"], test.loc[1, "ill"] = "perhaps", None
    test.loc[2, "sex"] = "x"
    path = tmp_path / "later.csv"
    test[[*reversed(test.columns)]].assign(more=1).to_csv(path, index=False)
    code, folder, printed = run(tmp_path, capsys, visits(), "--test", str(path))
    assert code == 0
    record = folder.record
    assert (record.splits.kind, record.splits.source) == ("a test file", str(path))
    assert (record.rounds, record.splits.train_rows, record.splits.test_rows) == (1, 240, 58)
    assert "2 rows of" in printed.err
    assert "'more'" in printed.err
    assert "'x', in 1 row" in printed.err
    predictions = pd.read_csv(tmp_path / "results" / "predictions.csv")
    assert predictions["row"].tolist() == list(range(3, 61))
    assert predictions["truth"].tolist() == test["ill"][2:].tolist()
    score = np.mean(predictions["logistic"] == predictions["truth"])
    assert record.models[0].score == pytest.approx(score)
    assert record.models[0].low < score < record.models[0].high
    page = (tmp_path / "results" / "report.html").read_text()
    assert "later.csv are numbered from 1" in page
    (importances,) = record.importances.models
    assert importances.columns[0].name == "iron"  # on rows of the test file


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--groups", "patient", "--time", "day"], "Give one of --groups, --time and --test"),
        (["--groups", "patiant"], "did you mean 'patient'?"),
        (["--time", "sex"], "--time takes a column of dates or numbers, and 'sex' is neither"),
        (["--groups", "ill"], "'ill' is the target"),
        (["--test", "missing.csv"], "missing.csv"),
    ],
)
def test_what_cannot_be_split_is_refused_in_a_sentence(options, sentence, tmp_path, capsys):
    code, _, printed = run(tmp_path, capsys, visits(), *options)
    assert code == 2
    assert sentence in printed.err
    assert printed.err.count("\n") == 1


def test_what_is_asked_stands_in_terminal_page_and_json(tmp_path, capsys):
    frame = visits().assign(band=lambda one: (one["ill"] == "yes").astype(float))
    code, folder, printed = run(tmp_path, capsys, frame)
    assert code == 0
    assert [one.code for one in folder.record.checks] == ["leak", "time", "groups"]
    kept = json.loads((tmp_path / "results" / "comparison.json").read_text())["checks"]
    page = (tmp_path / "results" / "report.html").read_text()
    for one in folder.record.checks:
        assert f"check: {one.text} (docs/checks.md#{one.code})" in printed.err
        assert {"code": one.code, "text": one.text} == {
            key: value for key, value in kept.pop(0).items() if key in ("code", "text")
        }
        assert f"<code>{one.code}</code>" in page


def test_strict_ends_with_an_error_unless_columns_are_settled(tmp_path, capsys):
    frame = visits().assign(band=lambda one: (one["ill"] == "yes").astype(float))
    code, _, printed = run(tmp_path, capsys, frame, "--strict")
    assert code == 2
    assert "--strict: 3 checks (leak, time and groups)" in printed.err
    assert not (tmp_path / "results").exists()
    settled = ["--exclude", "band,day", "--kind", "patient=category", "--strict"]
    code, folder, _ = run(tmp_path, capsys, frame, *settled)
    assert code == 0
    assert folder.record.checks == ()
