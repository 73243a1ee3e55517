import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from mercer.tables import Column, Table, describe_columns, split_target


def people(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "pet": rng.choice(["cat", "dog"], n),
            "born": pd.date_range("1990-01-01", periods=n).astype(str),
            "name": [f"n{i}" for i in range(n)],
            "kind": ["a", "b", "c"] * (n // 3),
        }
    )


def test_x_is_typed_and_y_is_text() -> None:
    frame = people()
    data = split_target(frame, "kind")
    assert data.X.columns.tolist() == ["size", "pet", "born"]
    assert [dtype.kind for dtype in data.X.dtypes] == ["f", "O", "M"]
    assert isinstance(data.X["pet"].dtype, pd.CategoricalDtype)
    np.testing.assert_array_equal(data.X["size"], frame["size"])
    assert data.y.dtype.kind == "U"
    assert data.y.tolist() == frame["kind"].tolist()
    assert data.target == "kind"
    assert [column.name for column in data.columns] == ["size", "pet", "born", "name"]
    assert data.notes == ("1 column is not used: 'name' (identifier).",)


def test_rows_without_a_class_are_counted_and_the_index_tells_the_others() -> None:
    frame = people()
    frame.loc[[0, 5, 7], "kind"] = ["?", None, " "]
    data = split_target(Table(frame, "people.csv", ("before",)), "kind")
    assert data.notes[:2] == ("before", "3 rows without a value of 'kind' are left out.")
    assert data.X.index.tolist() == [i for i in range(60) if i not in (0, 5, 7)]
    np.testing.assert_array_equal(data.X["size"], frame["size"][data.X.index])
    assert data.y.tolist() == frame["kind"][data.X.index].tolist()


def test_small_classes_are_left_out_and_named() -> None:
    frame = people()
    frame.loc[3, "kind"] = "typo"
    data = split_target(frame, "kind")
    assert "typo" not in data.y
    assert data.notes[0] == "1 class of 'kind' with fewer than 2 rows ('typo') is left out."
    assert "typo" in split_target(frame, "kind", min_class_rows=1).y
    frame.loc[[4, 5], "kind"] = "rare"
    kept = split_target(frame, "kind", min_class_rows=5)
    assert set(kept.y) == {"a", "b", "c"}
    assert kept.notes[0].startswith(
        "2 classes of 'kind' with fewer than 5 rows ('rare' and 'typo')"
    )


def test_columns_are_described_by_the_rows_that_stay() -> None:
    frame = people()
    frame["late"] = [None] * 57 + [1.0, 2.0, 3.0]
    frame.loc[57:, "kind"] = None
    column = split_target(frame, "kind").columns[-1]
    assert (column.name, column.kind, column.n_missing) == ("late", "empty", 57)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([0, 1] * 30, {"0", "1"}),
        ([0.0, 1.0, None] * 20, {"0", "1"}),
        ([True, False] * 30, {"False", "True"}),
        (["-1", "+1"] * 30, {"-1", "+1"}),
        (["<script>alert(1)</script>", "=cmd()"] * 30, {"<script>alert(1)</script>", "=cmd()"}),
        ([0.5, 1.5] * 30, {"0.5", "1.5"}),
        (pd.to_datetime(["2020-01-01", "2021-01-01"] * 30), None),
    ],
)
def test_names_of_classes(values, names: set[str] | None) -> None:
    data = split_target(people().assign(kind=values), "kind")
    assert names is None or set(data.y) == names
    assert len(set(data.y)) == 2


def test_many_numbered_classes_with_rows_enough_are_classes() -> None:
    frame = pd.DataFrame({"a": np.arange(400.0) % 7, "y": np.arange(400) % 40})
    assert len(set(split_target(frame, "y").y)) == 40
    with pytest.raises(ValueError, match="regression"):
        split_target(frame.assign(y=frame["y"] + 0.5), "y")


def test_classes_that_are_declared_but_absent_do_not_count() -> None:
    kinds = pd.Categorical(people()["kind"], categories=["a", "b", "c", "none"])
    data = split_target(people().assign(kind=kinds), "kind")
    assert set(data.y) == {"a", "b", "c"}
    assert data.notes == ("1 column is not used: 'name' (identifier).",)


def test_columns_survive_json() -> None:
    columns = describe_columns(people(), "kind")
    for column in columns:
        fields = json.loads(json.dumps(dataclasses.asdict(column)))
        fields |= {key: tuple(v) for key, v in fields.items() if isinstance(v, list)}
        assert Column(**fields) == column


def test_notes_of_columns_that_are_read_in_their_own_way() -> None:
    frame = people().assign(price=["1,5", "2,25"] * 30, far=[np.inf, *range(59)])
    notes = split_target(frame, "kind").notes
    assert "Column 'price': read as numbers written like 1234,5." in notes
    assert "Column 'far': 1 infinite value taken as missing." in notes
