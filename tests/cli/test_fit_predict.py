"""``mercer fit``, ``predict`` and ``info`` as a person or a script meets them."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main
from mercer.models import load_model, make_model, predict_set
from mercer.tables import match_columns, read_table, split_target

SCRIPT = "<script>alert(1)</script>"


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"p{i:04d}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "job": rng.choice(["baker", "clerk", "=cmd()"], n),
        }
    )
    score = frame["age"] / 30 + (frame["job"] == "baker") + rng.normal(size=n) * 0.3
    frame["class"] = np.array([SCRIPT, "=1+1", "c"])[np.digitize(score, [1.6, 2.4])]
    frame.loc[::11, "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("people")
    people().to_csv(place / "people.csv", index=False)
    people(30, seed=1).drop(columns="class").to_csv(place / "new.csv", index=False)
    arguments = ["--target", "class", "-m", "logistic", "-o", str(place / "m.skops")]
    assert main(["fit", str(place / "people.csv"), *arguments]) == 0
    return place


def fails(arguments, capsys, *words):
    """The exit code is 2, and one sentence on standard error says why."""
    assert main([str(one) for one in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mercer: ")
    assert captured.err.count("\n") == 1
    for word in words:
        assert word in captured.err


def test_fit_says_what_it_read_and_how_it_scored(folder, capsys, tmp_path):
    path = tmp_path / "auto.skops"
    assert main(["fit", str(folder / "people.csv"), "-t", "class", "-o", str(path)]) == 0
    captured = capsys.readouterr()
    assert "120 rows, 2 columns used, 1 not" in captured.out
    assert "not used: id (identifier: " in captured.out
    assert SCRIPT in captured.out
    for name in ("fisher", "boosting", "logistic"):
        assert f"scored  {name}: accuracy " in captured.out
    assert "one class always: " in captured.out
    assert path.exists()
    assert "note: 1 column is not used: 'id' (identifier)." in captured.err


def test_the_floor_of_a_balanced_score_is_one_over_the_number_of_classes(folder, capsys, tmp_path):
    arguments = ["-t", "class", "-m", "logistic", "--balanced", "-o", str(tmp_path / "m.skops")]
    assert main(["fit", str(folder / "people.csv"), *arguments]) == 0
    assert "one class always: 33.3 %" in capsys.readouterr().out


def test_fit_json_is_all_there_is_on_standard_output(folder, capsys, tmp_path):
    path = tmp_path / "m.skops"
    arguments = ["fit", str(folder / "people.csv"), "-t", "class", "-m", "parzen", "--balanced"]
    assert main([*arguments, "-o", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert captured.err == ""
    assert found["model"] == "parzen"
    assert found["n_rows_fitted"] == 120
    assert found["card"]["balanced"] is True
    assert found["card"]["scores"] == found["scores"]["parzen"]
    assert 0.5 < found["scores"]["parzen"]["balanced_accuracy"] <= 1


@pytest.mark.parametrize("name", ["laplacian-svc", "roweis-saul"])
def test_models_by_name_predict_the_same_from_their_file(folder, tmp_path, name):
    path, out = tmp_path / "m.skops", tmp_path / "out.csv"
    table = read_table(folder / "people.csv")
    assert (
        main(["fit", str(folder / "people.csv"), "-t", "class", "-m", name, "-o", str(path)]) == 0
    )
    assert main(["predict", str(path), str(folder / "new.csv"), "-o", str(out)]) == 0
    data = split_target(table, "class")
    new = read_table(folder / "new.csv")
    fitted = make_model(name, data).fit(data.X, data.y)
    loaded, card = load_model(path)
    rows = match_columns(new, card.columns).frame
    assert read_table(out).frame["predicted"].tolist() == fitted.predict(rows).tolist()
    np.testing.assert_array_equal(loaded.predict_proba(rows), fitted.predict_proba(rows))


def test_predict_writes_classes_and_probabilities_in_the_order_of_rows(folder, capsys, tmp_path):
    path = tmp_path / "predictions.csv"
    arguments = ["predict", folder / "m.skops", folder / "new.csv", "-o", path, "--keep", "id"]
    assert main([str(one) for one in arguments]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("30 rows written to ")
    assert captured.err == ""
    text = path.read_text()
    assert text.splitlines()[0] == f'"id","predicted","p({SCRIPT})","p(=1+1)","p(c)","familiarity"'
    found = pd.read_csv(path)
    assert found["id"].tolist() == people(30, seed=1)["id"].tolist()
    shares = found.filter(like="p(")
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    names = np.array([SCRIPT, "'=1+1", "c"])  # a spreadsheet would run the second
    assert found["predicted"].tolist() == names[shares.to_numpy().argmax(axis=1)].tolist()
    assert '"=1+1"' not in text


def test_predict_to_standard_output_agrees_with_python(folder, capsys, tmp_path):
    from mercer.models import load_model
    from mercer.tables import match_columns, read_table

    assert main(["predict", str(folder / "m.skops"), str(folder / "new.csv")]) == 0
    captured = capsys.readouterr()
    found = pd.read_csv(io.StringIO(captured.out), dtype=str)  # pandas 2 rounds numbers
    model, card = load_model(folder / "m.skops")
    X = match_columns(read_table(folder / "new.csv"), card.columns).frame
    np.testing.assert_array_equal(
        found["predicted"], np.where(model.predict(X) == "=1+1", "'=1+1", model.predict(X))
    )
    np.testing.assert_array_equal(found.filter(like="p(").astype(float), model.predict_proba(X))
    assert captured.err == ""


def test_predict_json(folder, capsys, tmp_path):
    arguments = ["predict", str(folder / "m.skops"), str(folder / "new.csv"), "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["rows"]) == found["n_rows"] == sum(found["counts"].values()) == 30
    assert set(found["rows"][0]) == {"predicted", f"p({SCRIPT})", "p(=1+1)", "p(c)", "familiarity"}
    assert main([*arguments, "-o", str(tmp_path / "p.csv")]) == 0
    assert "rows" not in json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def fisher(folder):
    """A kernel model in a file."""
    path = folder / "fisher.skops"
    assert (
        main(["fit", str(folder / "people.csv"), "-t", "class", "-m", "fisher", "-o", str(path)])
        == 0
    )
    return path


def test_sets_are_written_as_a_clerk_reads_them(folder, fisher, capsys, tmp_path):
    output = tmp_path / "sets.csv"
    command = ["predict", str(fisher), str(folder / "new.csv"), "--coverage", "0.95"]
    assert main([*command, "-o", str(output)]) == 0
    captured = capsys.readouterr()
    found = pd.read_csv(output, dtype=str)
    assert list(found)[:2] == ["predicted", "set"]
    model, card = load_model(fisher)
    new = match_columns(read_table(folder / "new.csv"), card.columns)
    sets = predict_set(model, new.frame, 0.95)
    sizes = set()
    for row, text, predicted in zip(sets, found["set"], found["predicted"], strict=True):
        names = [name for name, is_in in zip(card.classes, row, strict=True) if is_in]
        sizes.add(len(names))
        if len(names) == 1:
            assert text == predicted
        else:
            assert text == f"too close to call: {', '.join(names[:-1])} or {names[-1]}"
    assert len(sizes) > 1
    n_alone = int((sets.sum(axis=1) == 1).sum())
    assert (
        f"At a coverage of 95 %, {n_alone} rows have one class in the set, and {30 - n_alone} rows "
        "are too close to call."
    ) in captured.err


def test_sets_are_lists_in_json(folder, fisher, capsys):
    command = ["predict", str(fisher), str(folder / "people.csv"), "--coverage", "0.9", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    for row in found["rows"]:
        assert row["predicted"] in row["set"]
    truth = pd.read_csv(folder / "people.csv")["class"]
    held = np.mean([name in row["set"] for name, row in zip(truth, found["rows"], strict=True)])
    assert f"{100 * held:.1f} % of the sets hold the class that the table has." in found["notes"]


def test_sets_that_cannot_be_had_are_refused_in_one_sentence(folder, fisher, capsys):
    new = folder / "new.csv"
    fails(
        ["predict", folder / "m.skops", new, "--coverage", "0.9"], capsys,
        "A logistic model has no sets", "leave --coverage out, or fit again with --model fisher",
    )  # fmt: skip
    for coverage in ("0", "1", "90", "nan"):
        fails(["predict", fisher, new, "--coverage", coverage], capsys, "above 0 and below 1")


def test_predict_finds_columns_by_name_and_explains_what_is_new(folder, capsys, tmp_path):
    new = people(30, seed=1)[["job", "class", "age", "id"]]
    new.loc[3, "job"], new["pet"] = "pilot", "cat"
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(folder / "m.skops"), str(tmp_path / "new.csv")]) == 0
    captured = capsys.readouterr()
    assert "Column 'pet' of" in captured.err
    assert "1 category that the model does not know ('pilot', in 1 row)" in captured.err
    assert "Column 'class' is there: " in captured.err
    assert "'class' of" not in captured.err
    found = pd.read_csv(io.StringIO(captured.out))
    assert main(["predict", str(folder / "m.skops"), str(folder / "new.csv")]) == 0
    other = pd.read_csv(io.StringIO(capsys.readouterr().out))
    is_same = np.arange(30) != 3
    pd.testing.assert_frame_equal(found[is_same], other[is_same])


def test_classes_that_are_known_are_judged_row_by_row(folder, capsys, tmp_path):
    new = people(30, seed=1)
    truth = new["class"].copy()
    new.loc[[0, 7], "class"] = np.nan  # nobody knows: the other rows keep their places
    new.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    assert (
        main(["predict", str(folder / "m.skops"), str(tmp_path / "new.csv"), "-o", str(out)]) == 0
    )
    is_right = read_table(out).frame["predicted"] == truth
    share = f"{is_right.drop([0, 7]).mean():.1%}".replace("%", " %")
    assert f"{share} of 28 rows are predicted right" in capsys.readouterr().err


def test_missing_column_is_explained(folder, capsys, tmp_path):
    new = people(5).drop(columns=["class", "job"])
    new.to_csv(tmp_path / "new.csv", index=False)
    fails(["predict", folder / "m.skops", tmp_path / "new.csv"], capsys, "Column 'job'", "missing")


def test_a_junk_cell_among_numbers_is_named_and_predicted_as_an_empty_one(folder, capsys, tmp_path):
    answers = []
    for cell in ("old", ""):
        new = people(5).drop(columns="class").astype({"age": object})
        new.loc[2, "age"] = cell
        new.to_csv(tmp_path / "new.csv", index=False)
        assert main(["predict", str(folder / "m.skops"), str(tmp_path / "new.csv")]) == 0
        captured = capsys.readouterr()
        answers.append(captured.out)
        note = "1 cell is not a number and is taken as missing ('old' in row 3)"
        assert (note in captured.err) == (cell == "old")
    assert answers[0] == answers[1]


def test_fit_names_junk_cells_and_uses_their_columns(folder, capsys, tmp_path):
    table = people().astype({"age": object})
    table.loc[7, "age"] = "n.v."
    table.to_csv(tmp_path / "people.csv", index=False)
    arguments = ["-t", "class", "-m", "logistic", "-o", str(tmp_path / "m.skops")]
    assert main(["fit", str(tmp_path / "people.csv"), *arguments]) == 0
    captured = capsys.readouterr()
    assert "120 rows, 2 columns used, 1 not" in captured.out
    note = "note: Column 'age': 1 cell is not a number and is taken as missing ('n.v.' in row 8)."
    assert note in captured.err


def test_wrong_inputs_are_one_sentence_each(folder, capsys, tmp_path):
    table, model = folder / "people.csv", folder / "m.skops"
    fit = ["fit", table, "-t", "class"]
    fails(["fit", table, "-t", "klass"], capsys, "no column 'klass'", "did you mean 'class'?")
    fails([*fit, "-m", "fischer"], capsys, "no model 'fischer'")
    fails([*fit, "-o", tmp_path / "m.pkl"], capsys, "must end with .skops")
    fails([*fit, "-o", tmp_path / "none" / "m.skops"], capsys, "There is no folder")
    fails(["fit", tmp_path / "none.csv", "-t", "class"], capsys, "There is no file")
    fails(["fit", table, "-t", "id"], capsys, "look like names")
    fails(["predict", table, table], capsys, "is not a model file")
    fails(["predict", tmp_path / "none.skops", table], capsys, "There is no file")
    fails(["predict", model, table, "-o", tmp_path / "p.txt"], capsys, "must end with .csv")
    fails(["predict", model, table, "--keep", "x"], capsys, "no column 'x'")
    fails(["info", table], capsys, "is not a model file")
    assert list(tmp_path.iterdir()) == []


def test_table_from_standard_input(folder, capsys, monkeypatch, tmp_path):
    content = (folder / "new.csv").read_bytes()
    stream = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr("sys.stdin", stream)
    assert main(["predict", str(folder / "m.skops"), "-"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 31


def test_info_shows_card_and_types(folder, capsys):
    assert main(["info", str(folder / "m.skops")]) == 0
    out = capsys.readouterr().out
    for words in ("logistic (logistic regression)", SCRIPT, "on 120 rows", "identifier",
                  "sklearn.linear_model._logistic.LogisticRegression", "3 folds"):  # fmt: skip
        assert words in out
    assert "not trusted" not in out
    assert main(["info", str(folder / "m.skops"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["card"]["classes"] == [SCRIPT, "=1+1", "c"]
    assert found["untrusted"] == []


def test_info_says_how_many_rows_the_fit_used(capsys, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=10_300).round(2)})
    frame["class"] = np.where(frame["a"] > 0, "p", "q")
    frame.to_csv(tmp_path / "long.csv", index=False)
    path = str(tmp_path / "m.skops")
    command = ["fit", str(tmp_path / "long.csv"), "-t", "class", "-m", "parzen", "-o", path]
    for options, n_fitted, rows in (
        ([], 10_000, "10 000 of 10 300 rows"),
        (["--max-rows", "10300"], 10_300, "10 300 rows"),
    ):
        assert main([*command, *options]) == 0
        said = "10 300 of 10 300 rows" if options else rows
        assert f"on {said}" in capsys.readouterr().out
        assert main(["info", path]) == 0
        assert f" on {rows}\n" in capsys.readouterr().out
        assert main(["info", path, "--json"]) == 0
        card = json.loads(capsys.readouterr().out)["card"]
        assert (card["n_rows_fitted"], card["n_rows"]) == (n_fitted, 10_300)


def test_info_names_types_that_are_not_trusted(folder, capsys, tmp_path, monkeypatch):
    from mercer.models.files import _schema

    fewer = tuple(name for name in _schema.TRUSTED if not name.endswith("CategoryDummies"))
    monkeypatch.setattr(_schema, "TRUSTED", fewer)
    assert main(["info", str(folder / "m.skops")]) == 0
    out = capsys.readouterr().out
    assert "CategoryDummies  not trusted" in out
    assert "would refuse this file" in out
    fails(["predict", folder / "m.skops", folder / "new.csv"], capsys, "CategoryDummies", "refused")


@pytest.mark.parametrize("command", ["fit", "predict", "info"])
def test_help_shows_an_example(capsys, command):
    assert main([command, "--help"]) == 0
    assert f"Example: mercer {command}" in " ".join(capsys.readouterr().out.split())


def test_predict_says_how_familiar_rows_are_and_names_those_far_out(folder, capsys, tmp_path):
    """Ranks are those of the rows in the file; a boosting model has them too."""
    from mercer.models import Familiarity, load_model_parts
    from mercer.tables import match_columns, read_table

    path = tmp_path / "m.skops"
    fitting = ["fit", str(folder / "people.csv"), "-t", "class", "-m", "boosting", "-o", str(path)]
    assert main(fitting) == 0
    new = people(30, seed=1).drop(columns="class")
    new.loc[4, "age"] = 4000
    new.to_csv(tmp_path / "new.csv", index=False)
    capsys.readouterr()
    assert main(["predict", str(path), str(tmp_path / "new.csv"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    ranks = np.array([row["familiarity"] for row in answer["rows"]])
    _, card, rows = load_model_parts(path)
    X = match_columns(read_table(tmp_path / "new.csv"), card.columns).frame
    np.testing.assert_array_equal(ranks, Familiarity(rows.X).rank(X).round(3))
    assert ranks[4] == 0
    (note,) = [one for one in answer["notes"] if "farther out than any training row" in one]
    assert "5 (most of all 'age')" in note


def test_a_model_file_without_training_rows_still_predicts(folder, capsys, tmp_path):
    from mercer.models import load_model_parts, save_model

    pipeline, card, rows = load_model_parts(folder / "m.skops")
    assert len(rows.y) == 120
    save_model(tmp_path / "old.skops", pipeline, card)
    assert main(["predict", str(tmp_path / "old.skops"), str(folder / "new.csv")]) == 0
    assert "familiarity" not in capsys.readouterr().out
    assert main(["info", str(tmp_path / "old.skops")]) == 0
    assert "no row of its training table" in capsys.readouterr().out
    assert main(["info", str(folder / "m.skops")]) == 0
    assert "120 rows of its training table" in capsys.readouterr().out


def test_fit_leaves_training_rows_out_of_the_file_where_it_is_told_to(folder, capsys, tmp_path):
    from mercer.models import load_model_parts

    path = tmp_path / "m.skops"
    fitting = ["fit", str(folder / "people.csv"), "-t", "class", "-m", "logistic", "-o", str(path)]
    assert main([*fitting, "--no-rows"]) == 0
    capsys.readouterr()
    assert load_model_parts(path).rows is None
    assert main(["predict", str(path), str(folder / "new.csv")]) == 0
    assert "familiarity" not in capsys.readouterr().out
