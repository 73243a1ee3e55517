"""Whatever a frame holds, it comes back from a file with the same values and kinds."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.tables import Table, describe_columns, match_columns, read_table, split_target

N = 24


@contextmanager
def one_sentence_at_most(path: Path) -> Iterator[None]:
    """Let through what is well, and a refusal that names the file in one line."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        if "\n" in text or str(path) not in text:
            raise AssertionError(text) from error


numbers = st.floats(-1e30, 1e30, allow_subnormal=False) | st.integers(-(10**9), 10**9).map(float)
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from("\n,;|\"' "),
    min_size=1,
    max_size=8,
).map(lambda text: "w" + text.strip() + "w")  # no numbers, gaps, formulas or outer spaces


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[object]]:
    """A kind, and values of which none looks like another kind."""
    kind = draw(st.sampled_from(["number", "category", "date"]))
    if kind == "number":
        values: list[object] = draw(st.lists(numbers, min_size=N, max_size=N))
        values[:2] = [0.5, 1.5]  # neither constant nor a run of whole numbers
    elif kind == "category":
        known = draw(st.lists(words, min_size=2, max_size=5, unique=True))
        values = draw(st.lists(st.sampled_from(known), min_size=N, max_size=N))
        values[:2] = known[:2]
    else:
        days = st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(str)
        values = draw(st.lists(days, min_size=N, max_size=N))
        values[:2] = ["2020-01-31", "2020-02-29"]
    gaps = draw(st.sets(st.integers(2, N - 1), max_size=N // 2))
    return kind, [None if i in gaps else value for i, value in enumerate(values)]


@settings(deadline=None, max_examples=40)
@given(
    parts=st.lists(columns(), min_size=2, max_size=4),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    gap=st.sampled_from(["", "?", "NA", "null"]),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
    seed=st.integers(0, 99),
)
def test_round_trip(tmp_path_factory, parts, delimiter, quoting, gap, end, mark, seed) -> None:
    names = [f"c{i}" for i in range(len(parts))]
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(names)
    for row in zip(*(values for _, values in parts), strict=True):
        writer.writerow([gap if value is None else value for value in row])
    path = tmp_path_factory.mktemp("round") / "a.csv"
    path.write_bytes(stream.getvalue().encode("utf-8-sig" if mark else "utf-8"))
    table = read_table(path)
    found = describe_columns(table)
    assert [column.kind for column in found] == [kind for kind, _ in parts]
    typed = match_columns(table, found).frame
    for name, (kind, values) in zip(names, parts, strict=True):
        expected = pd.Series(values, dtype=object)
        assert typed[name].isna().tolist() == expected.isna().tolist()
        back = [value for value in typed[name].tolist() if not pd.isna(value)]
        there = [value for value in values if value is not None]
        if kind == "date":
            back = [str(value.date()) for value in back]
        assert back == there

    # The order of rows and of columns is of no matter.
    rng = np.random.default_rng(seed)
    shuffled = table.frame.iloc[rng.permutation(N)][list(rng.permutation(names))]
    again = {column.name: column for column in describe_columns(Table(shuffled))}
    assert again == {column.name: column for column in found}


@given(st.lists(numbers.map(lambda x: round(x, 3)), min_size=1), st.sampled_from([",", "."]))
def test_grouped_numbers_are_read_back(values: list[float], thousands: str) -> None:
    values = [value for value in values if abs(value) < 1e12]
    values += [0.5, 1234567.5]  # One shows that thousands are grouped, two that values differ.
    texts = [f"{value:,.3f}" for value in values]
    style = "1,234.5"
    if thousands == ".":
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
        style = "1.234,5"
    frame = pd.DataFrame({"x": texts})
    (column,) = describe_columns(frame)
    assert column.style == style
    np.testing.assert_array_equal(match_columns(frame, [column]).frame["x"], values)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_a_table_or_one_sentence(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_bytes(content)
    with one_sentence_at_most(path):
        table = read_table(path)
        assert len(describe_columns(table)) == table.frame.shape[1]
        assert len(table.frame)


@settings(deadline=None)
@given(st.text(alphabet="ab1,;\t|\"\n\r .='-", max_size=60), st.integers(0, 3))
def test_any_text_gives_a_table_or_one_sentence(tmp_path_factory, text: str, column: int) -> None:
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_text(text, newline="")
    with one_sentence_at_most(path):
        table = read_table(path)
        target = table.frame.columns[column % table.frame.shape[1]]
        data = split_target(table, target)
        typed = match_columns(table, data.columns).frame.iloc[data.X.index]
        assert typed.astype(str).to_numpy().tolist() == data.X.astype(str).to_numpy().tolist()
