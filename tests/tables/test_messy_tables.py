"""Tables as people export them: no column that holds something is lost, and each loss is named."""

import numpy as np
import pandas as pd
import pytest

from mercer.tables import read_table, split_target

N = 150
DRESSES = [
    "{:.2f}", "{:,.2f}", "{:.1f}%", "{:.1f} %", "${:,.2f}", "€{:.2f}", "{:.2f} EUR", "US$ {:,.0f}",
    "{:.1f} cm", "{:.2f} km/h", "{:.1f} years", "{:.3e}", "Rs. {:,.2f}", "{:.1f}°C", "{:.2f} m2",
]  # fmt: skip
DATES = ["%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d %b %Y", "%Y-%m-%d %H:%M:%S"]
GAPS = ["", "?", "NA", "n/a", "null", "-", "unknown", "#N/A"]
JUNK = ["n.v.", "see note", "12..5", "??", "0000-00-00", "error!"]


def messy(values: list[str], rng: np.random.Generator, *, with_junk: bool) -> list[str]:
    """Some values are missing, and of numbers and dates up to 4 % are junk."""
    values = [f" {value} " if rng.random() < 0.05 else value for value in values]
    for row in rng.choice(N, rng.integers(0, 20), replace=False):
        values[row] = str(rng.choice(GAPS))
    if with_junk:
        for row in rng.choice(N, rng.integers(0, 5), replace=False):
            values[row] = str(rng.choice(JUNK))
    return values


def european(text: str) -> str:
    return text.translate(str.maketrans(",.", ".,"))


def made(seed: int) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table and the kind of each of its columns, "" for those without use."""
    rng = np.random.default_rng(seed)
    numbers: dict[str, list[str]] = {
        "clock": [f"{h}:{m:02d}" for h, m in rng.integers(0, [24, 60], (N, 2))],
        "followers": [f"{x:.1f}{rng.choice(['k', 'M'])}" for x in rng.uniform(1, 99, N)],
        "lab": ["<0.05" if x < 0.05 else f"{x:.3f}" for x in rng.exponential(0.3, N)],
        "balance": [f"({-x:.2f})" if x < 0 else f"{x:.2f}" for x in rng.normal(0, 50, N)],
    }
    for k in range(rng.integers(2, 6)):
        dress, scale = str(rng.choice(DRESSES)), 10 ** rng.integers(1, 6)
        texts = [dress.format(value) for value in rng.normal(2, 1, N) * scale]
        if rng.random() < 0.2 and "e}" not in dress and "Rs." not in dress:
            texts = [european(text) for text in texts]
        numbers[f"number {k}"] = messy(texts, rng, with_junk=True)
    dates = {}
    for k in range(rng.integers(0, 3)):
        days = pd.Timestamp("1999-05-03") + pd.to_timedelta(rng.integers(0, 9000, N), "D")
        texts = days.strftime(str(rng.choice(DATES))).tolist()
        dates[f"date {k}"] = messy(texts, rng, with_junk=True)
    categories = {}
    for k in range(rng.integers(1, 3)):
        names = [f"kind {chr(97 + i)}" for i in range(rng.integers(2, 12))]
        categories[f"category {k}"] = messy(rng.choice(names, N).tolist(), rng, with_junk=False)
    shops = [f"shop {i:03d}" for i in rng.integers(0, 120, 2 * N)]
    often = sorted(shops, key=shops.count, reverse=True)[:N]
    categories["shop"] = messy(rng.permutation(often).tolist(), rng, with_junk=False)
    useless = {
        "none": [str(rng.choice(GAPS[:5])) for _ in range(N)],
        "hardly": [f"{x:.2f}" if x > 1.97 else "" for x in np.linspace(0, 2, N)],
        "no.": [str(i + 1) for i in range(N)],
        "who": [f"P{i:04d}-{rng.integers(99)}" for i in range(N)],
        "remark": [f"this is remark no. {i} of many" for i in range(N)],
        "country": ["here"] * N,
    }
    of_kind = {"number": numbers, "date": dates, "category": categories, "": useless}
    kinds = {name: kind for kind, columns in of_kind.items() for name in columns}
    order = [list(kinds)[i] for i in rng.permutation(len(kinds))]
    frame = pd.DataFrame({name: of_kind[kinds[name]][name] for name in order})
    frame["class"] = rng.choice(["yes", "no"], N)
    return frame, kinds


@pytest.mark.parametrize("seed", range(40))
def test_no_useful_column_is_lost_and_each_loss_is_named(seed, tmp_path):
    frame, kinds = made(seed)
    path = tmp_path / "messy.csv"
    blanks = {name: f"  {name} " for name in frame if name != "class"}
    sep = ",;\t"[seed % 3]
    frame.rename(columns=blanks).to_csv(path, index=False, sep=sep)
    data = split_target(read_table(path), "class")
    found = {column.name: column for column in data.columns}
    assert {name: found[name].kind for name in kinds if kinds[name]} == {
        name: kind for name, kind in kinds.items() if kind
    }
    for name, kind in kinds.items():
        assert found[name].used == bool(kind), name
        assert found[name].used or found[name].reason, name
        assert found[name].used or any(repr(name) in note for note in data.notes), name
    numbers = data.X[[name for name, kind in kinds.items() if kind == "number"]]
    assert (numbers.isna().mean() < 0.2).all()
    assert (numbers.nunique() > 10).all()


def test_headers_that_are_there_twice_are_refused_by_name(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("size,class, size\n1,a,2\n2,b,3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"2 columns named 'size' \(columns 1, 3\)"):
        read_table(path)
