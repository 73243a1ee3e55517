"""``mercer predict`` of tables that are read in parts: the answers and notes of one piece."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import mercer.tables.reading._part_sources as sources
import mercer.tables.reading._parts as parts
from mercer.cli import main
from mercer.tables import read_table


def people(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n).astype(float)
    job = rng.choice(["baker", "clerk", "cook"], n)
    old = age + 10 * (job == "cook") + rng.normal(0, 8, n) > 55
    age[::9] = np.nan
    return pd.DataFrame(
        {"id": np.arange(n), "age": age, "job": job, "old": np.where(old, "y", "n")}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    people(150, 0).to_csv(folder / "people.csv", index=False)
    new = people(60, 1)
    new.loc[50, "job"] = "pilot"
    new.loc[[3, 41], "age"] = 9e9
    new["age"] = new["age"].astype(object)
    new.loc[44, "age"] = "unknown?"
    new.to_csv(folder / "new.csv", index=False)
    new.assign(age=new["age"].replace("unknown?", np.nan).astype(float)).to_parquet(
        folder / "new.parquet"
    )
    lines = new.to_dict(orient="records")
    (folder / "new.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    for model in ("logistic", "parzen"):
        command = ["fit", str(folder / "people.csv"), "-t", "old", "-m", model, "--exclude", "id"]
        assert main([*command, "-o", str(folder / f"{model}.skops")]) == 0
    return folder


@pytest.fixture
def in_parts(monkeypatch):
    def divide():
        monkeypatch.setattr(parts, "_WHOLE_BYTES", 0)
        monkeypatch.setattr(parts, "_ROWS_AT_ONCE", (20, 20))
        monkeypatch.setattr(parts, "_CELLS_AT_ONCE", 1)
        monkeypatch.setattr(sources, "PART_BYTES", 200)
        monkeypatch.setattr(sources, "_BATCH_ROWS", 7)

    return divide


@pytest.mark.parametrize("table", ["new.csv", "new.jsonl", "new.parquet"])
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("logistic", ["--keep", "id", "--keep", "age"]),
        ("logistic", ["--explain"]),
        ("parzen", ["--coverage", "0.9"]),
    ],
)
def test_answers_and_notes_are_those_of_one_piece(folder, in_parts, capsys, table, model, options):
    command = ["predict", str(folder / f"{model}.skops"), str(folder / table), *options]

    def run():
        assert main(command) == 0
        printed = capsys.readouterr()
        return pd.read_csv(io.StringIO(printed.out)), printed.err

    whole, notes = run()
    in_parts()
    found, found_notes = run()
    assert found_notes == notes
    assert "farther out than any training row: rows 4 (most of all 'age'), 42" in notes
    assert "rows are predicted right" in notes
    pd.testing.assert_frame_equal(found, whole, rtol=1e-9)
    assert len(found) == 60


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_files_are_those_of_one_piece(folder, tmp_path, in_parts, capsys, ending):
    command = ["predict", str(folder / "logistic.skops"), str(folder / "new.csv"), "--keep", "job"]
    outputs = [tmp_path / f"{name}.{ending}" for name in ("whole", "parts")]
    assert main([*command, "-o", str(outputs[0])]) == 0
    in_parts()
    assert main([*command, "-o", str(outputs[1])]) == 0
    whole, found = (read_table(path).frame for path in outputs)
    pd.testing.assert_frame_equal(found, whole, rtol=1e-9)
    said = capsys.readouterr().out.replace("whole.", "parts.").splitlines()
    assert said[-2] == said[-1]


def test_counts_in_json_are_those_of_all_parts(folder, tmp_path, in_parts, capsys):
    in_parts()
    command = ["predict", str(folder / "logistic.skops"), str(folder / "new.csv"), "--json"]
    capsys.readouterr()
    assert main([*command, "-o", str(tmp_path / "out.csv")]) == 0
    content = json.loads(capsys.readouterr().out)
    predicted = read_table(tmp_path / "out.csv").frame["predicted"]
    assert content["counts"] == predicted.value_counts().to_dict()
    assert content["n_rows"] == 60
    assert main(command) == 2
    assert (
        "is too large to be printed as JSON: write the answers with -o" in capsys.readouterr().err
    )


def test_a_fault_in_the_last_part_leaves_the_file_of_before(folder, tmp_path, in_parts, capsys):
    in_parts()
    new = pd.read_csv(folder / "new.csv", dtype=str)
    new.loc[10:, "age"] = "oops"
    new.to_csv(tmp_path / "new.csv", index=False)
    output = tmp_path / "out.csv"
    output.write_text("before")
    command = ["predict", str(folder / "logistic.skops"), str(tmp_path / "new.csv")]
    assert main([*command, "-o", str(output)]) == 2
    assert "and more such cells than others" in capsys.readouterr().err
    assert main(command) == 2
    assert capsys.readouterr().out == ""
    assert output.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "out.csv"]


def test_reasons_of_a_large_table_need_training_rows(folder, tmp_path, in_parts, capsys):
    model = str(tmp_path / "bare.skops")
    fit = ["fit", str(folder / "people.csv"), "-t", "old", "-m", "logistic", "--no-rows"]
    assert main([*fit, "-o", model]) == 0
    command = ["predict", model, str(folder / "people.csv"), "--explain"]
    in_parts()
    assert main(command) == 2
    assert "fit it again without --no-rows." in capsys.readouterr().err
