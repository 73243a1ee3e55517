"""``mercer explain`` and ``mercer predict --explain`` as a clerk or a script meets them."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main
from mercer.explanations import explain_rows
from mercer.models import Familiarity, load_model_parts
from mercer.tables import match_columns, read_table

SCRIPT = "<script>alert(1)</script>"


def people(n=150, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"p{i:04d}" for i in range(n)],
            "age": rng.integers(18, 90, n).astype(float),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "job": rng.choice(["baker", "clerk", SCRIPT], n),
        }
    )
    score = frame["age"] / 20 + 2 * (frame["job"] == "baker") + rng.normal(size=n) * 0.3
    frame["class"] = np.where(score > score.median(), "A & B", SCRIPT)
    frame.loc[::11, "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("people")
    people().to_csv(place / "people.csv", index=False)
    new = people(12, seed=1)
    new.loc[2, "age"] = 5000.0
    new.to_csv(place / "known.csv", index=False)
    new.drop(columns="class").to_csv(place / "new.csv", index=False)
    for name in ("fisher", "boosting"):
        arguments = ["--target", "class", "-m", name, "-o", str(place / f"{name}.skops")]
        assert main(["fit", str(place / "people.csv"), *arguments]) == 0
    return place


def explained(folder, capsys, name, table="new.csv", *options):
    page = folder / "reasons.html"
    arguments = ["explain", str(folder / f"{name}.skops"), str(folder / table), "-o", str(page)]
    assert main([*arguments, *options]) == 0
    return capsys.readouterr(), page.read_text()


@pytest.mark.parametrize("name", ["fisher", "boosting"])
def test_shares_are_those_of_explain_rows_and_the_page_shows_them(folder, capsys, name):
    captured, page = explained(folder, capsys, name, "new.csv", "--json")
    answer = json.loads(captured.out)
    pipeline, card, sample = load_model_parts(folder / f"{name}.skops")
    X = match_columns(read_table(folder / "new.csv"), card.columns).frame
    reasons = explain_rows(pipeline, X, background=sample.X, n_background=100)
    assert answer["unit"] == reasons.unit
    ranks = Familiarity(sample.X).rank(X)
    for i, row in enumerate(answer["rows"]):
        shares = {part["column"]: part["share"] for part in row["parts"]}
        expected = dict(zip(reasons.columns, reasons.shares[i], strict=True))
        if reasons.exact:  # Sampled walks depend on how many rows are explained at a time.
            assert shares == pytest.approx(expected, abs=1e-9)
        assert sum(shares.values()) == pytest.approx(row["score"] - row["base"], abs=1e-9)
        assert list(np.abs(list(shares.values()))) == sorted(
            np.abs(list(shares.values())), reverse=True
        )
        assert row["number"] == i + 1
        assert row["familiarity"] == ranks[i]
        assert row["predicted"] == pipeline.predict(X.iloc[[i]])[0]
        assert f'id="row-{i + 1}"' in page
    assert ranks[2] == 0
    assert "This row lies farther out than any training row, most of all in age" in page
    assert ("Training rows that speak" in page) == (name == "fisher")
    assert page.count("<script>") == 1
    assert "A &amp; B" in page


def test_training_rows_that_speak_are_those_of_the_table(folder, capsys):
    captured, _ = explained(folder, capsys, "fisher", "new.csv", "--json", "--rows", "2,5-6")
    answer = json.loads(captured.out)
    assert [row["number"] for row in answer["rows"]] == [2, 5, 6]
    table = people()
    for row in answer["rows"]:
        assert row["supporting"]
        for one in row["supporting"] + row["opposing"]:
            there = table.iloc[one["number"] - 1]
            assert one["answer"] == there["class"]
            assert one["cells"]["job"] == there["job"]
            assert 0 < one["share"] <= 1


def test_a_table_with_the_target_is_compared_with_the_answers(folder, capsys):
    captured, page = explained(folder, capsys, "fisher", "known.csv", "--keep", "id", "--json")
    answer = json.loads(captured.out)
    known = people(12, seed=1)
    assert [row["actual"] for row in answer["rows"]] == known["class"].tolist()
    assert [row["kept"] for row in answer["rows"]] == [{"id": name} for name in known["id"]]
    wrong = sum(row["actual"] != row["predicted"] for row in answer["rows"])
    assert page.count("The table says so too.") == 12 - wrong
    assert page.count('<span class="wrong">The table says') == wrong
    assert "p0003" in page
    assert "training rows, which the model has seen" in answer["weighed_on"]


def test_columns_are_weighed_on_rows_of_the_table_where_enough_have_a_class(folder, capsys):
    captured, _ = explained(folder, capsys, "boosting", "people.csv", "--json", "--rows", "1")
    answer = json.loads(captured.out)
    assert answer["weighed_on"] == "150 rows of this table, whose classes are known"
    assert {one["column"] for one in answer["columns"][:2]} == {"age", "job"}
    assert [one["column"] for one in answer["curves"]] == [
        one["column"] for one in answer["columns"][:4]
    ]


def test_sets_are_shown_where_a_model_has_them(folder, capsys):
    from mercer.models import predict_set

    captured, page = explained(folder, capsys, "fisher", "new.csv", "--json", "--coverage", "0.99")
    answer = json.loads(captured.out)
    pipeline, card, _ = load_model_parts(folder / "fisher.skops")
    X = match_columns(read_table(folder / "new.csv"), card.columns).frame
    sizes = predict_set(pipeline, X, 0.99).sum(axis=1)
    shown = [row["answer_set"] for row in answer["rows"]]
    assert [one.startswith("too close to call: ") for one in shown] == (sizes > 1).tolist()
    assert "Set at 99 %" in page
    assert page.count("At a coverage of 99 %, too close to call: ") == (sizes > 1).sum()
    assert "Set at 90 %" in explained(folder, capsys, "fisher")[1]
    assert "Set at" not in explained(folder, capsys, "boosting")[1]
    arguments = ["explain", str(folder / "boosting.skops"), str(folder / "new.csv")]
    assert main([*arguments, "--coverage", "0.9"]) == 2
    assert "has no sets" in capsys.readouterr().err


def test_what_is_printed_names_columns_rows_and_the_page(folder, capsys):
    captured, _ = explained(folder, capsys, "fisher")
    lines = captured.out.splitlines()
    assert lines[0].startswith("The model goes most of all by ")
    assert re.match(r"row 1: .* \(\d+\.\d %\), by \w+ .* \([+−]\d\.\d\d\)", lines[1])
    assert ", farther out than any training row, by " in lines[3]
    assert lines[-2] == "and 7 more rows"
    assert lines[-1].startswith("The page: ")


def test_the_first_fifty_rows_are_explained_and_a_note_says_so(folder, capsys):
    captured, page = explained(folder, capsys, "boosting", "people.csv")
    assert "note: The first 50 of 150 rows are explained: --rows asks for others." in captured.err
    assert page.count('<article class="one"') == 50


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--rows", "0"], "asks for 0, and the table has rows 1 to 12"),
        (["--rows", "3,13"], "asks for 13, and the table has rows 1 to 12"),
        (["--rows", "4-2"], "asks for 4-2, and the table"),
        (["--rows", "first"], "takes numbers of rows such as 3,17-20; got 'first'"),
        (["--rows", "1-"], "takes numbers of rows"),
        (["--keep", "name"], "There is no column 'name'"),
        (["-o", "reasons.txt"], "must end with .html"),
    ],
)
def test_mistakes_are_one_sentence(folder, capsys, options, sentence):
    arguments = [str(folder / "boosting.skops"), str(folder / "new.csv"), *options]
    assert main(["explain", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sentence in captured.err


@pytest.mark.parametrize("name", ["fisher", "boosting"])
def test_predict_adds_the_main_reasons_in_words(folder, capsys, name):
    arguments = ["predict", str(folder / f"{name}.skops"), str(folder / "new.csv")]
    assert main([*arguments, "--explain"]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert found.columns[-1] == "reasons"
    assert len(found) == 12
    new = people(12, seed=1)
    new.loc[2, "age"] = 5000.0
    for text, (_, row) in zip(found["reasons"], new.iterrows(), strict=True):
        words = re.findall(r"(\w+) (.+?) \(([+−]\d+\.\d\d)\)(?:, |$)", text)
        age = "missing" if np.isnan(row["age"]) else f"{row['age']:,.0f}".replace(",", " ")
        cells = {"age": age, "since": str(row["since"].date()), "job": row["job"]}
        assert 1 <= len(words) <= 3
        for column, value, _ in words:
            assert value == cells[column]
        sizes = [abs(float(share.replace("−", "-"))) for _, _, share in words]
        assert sizes == sorted(sizes, reverse=True)
