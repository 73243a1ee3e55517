"""Numbers as people write them: with money, units, per cent, brackets, bounds, spaces, colons."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.tables import Column, Table, describe_columns, match_columns, split_target

N = 200

COLUMNS = {
    "per cent": ("1234.5%", {"81.7%": 81.7, "5 %": 5, "-3.25%": -3.25, "+100%": 100}),
    "dollars": ("$1,234.5", {"$62,646.00": 62646, "$5": 5, "-$3.50": -3.5, "$-2": -2}),
    "code of money": ("1234.5 EUR", {"56.51 EUR": 56.51, "7 EUR": 7, "8.5EUR": 8.5}),
    "before": ("EUR1,234.5", {"EUR 1,056.51": 1056.51, "EUR 7": 7}),
    "comma": ("1.234,5€", {"1.234,50 €": 1234.5, "7,00 €": 7, "-3,10 €": -3.1}),
    "thousands": ("1234.5k", {"62.6k": 62600, "950": 950, "1.2M": 1.2e6, "7K": 7000}),
    "millions": ("US$1234.5k", {"US$1.2M": 1.2e6, "US$300k": 3e5, "US$2bn": 2e9}),
    "both": ("1234.5k EUR", {"1.2M EUR": 1.2e6, "300k EUR": 3e5}),
    "spaces": ("1 234.5", {"1 234 567": 1234567, "12": 12, "7 500.25": 7500.25}),
    "thin spaces": ("1 234,5", {"1\u202f234,5": 1234.5, "12": 12, "1\u00a0000": 1000}),
    "apostrophes": ("1'234.5", {"10'508": 10508, "9": 9, "1’000’000.5": 1000000.5}),
    "lakhs": ("1,234.5", {"1,23,456": 123456, "12,345": 12345, "99.5": 99.5}),
    "brackets": ("(1234.5)", {"(27.41)": -27.41, "5.20": 5.2}),
    "money in brackets": ("($1,234.5)", {"($1,027.41)": -1027.41, "$5.20": 5.2}),
    "unit": ("1234.5 cm", {"161.7 cm": 161.7, "170cm": 170}),
    "one letter": ("1234.5 m", {"5 m": 5, "7.5 m": 7.5}),
    "power": ("1234.5 m2", {"12 m2": 12, "15.5 m2": 15.5}),
    "inches": ('1234.5"', {'5"': 5, '7.5"': 7.5}),
    "bounds": ("<1234.5", {"<0.1": 0.1, "0.5": 0.5, ">100": 100, "1": 1, "0.25": 0.25}),
    "years": (
        "<1234.5 years",
        {"10+ years": 10, "< 1 year": 1, "2 years": 2, "3 years": 3, "4 years": 4},
    ),
    "minus": ("plain", {"−5.5": -5.5, "3": 3}),
    "clock": ("10:31", {"10:31": 631, "09:05": 545, "23:59": 1439}),
    "durations": ("10:31:59", {"1:23.5": 83.5, "59:01": 3541, "1:02:03": 3723}),
    "half days": ("10:31 PM", {"10:31 PM": 81060, "9 am": 32400, "12:00 a.m.": 0}),
}


def described(values: list[str], **options) -> Column:
    return describe_columns(pd.DataFrame({"a": values}), **options)[0]


def repeated(values) -> list[str]:
    return (list(values) * N)[:N]


@pytest.mark.parametrize(("style", "cells"), COLUMNS.values(), ids=list(COLUMNS))
def test_they_are_numbers_of_the_right_value(style, cells):
    frame = pd.DataFrame({"a": repeated(cells)})
    (column,) = describe_columns(frame)
    assert (column.kind, column.used, column.style) == ("number", True, style)
    typed = match_columns(frame, [column]).frame["a"]
    np.testing.assert_allclose(typed, repeated(cells.values()), rtol=1e-15)


@pytest.mark.parametrize(
    "dress", ["{:.1f}%", "${:,.2f}", "{:.2f} EUR", "{:.1f}k", "({:.2f})", "{:.1f} cm"]
)
def test_all_different_they_are_numbers_and_no_identifiers(dress):
    values = np.random.default_rng(0).uniform(1, 99_999, N).round(1)
    frame = pd.DataFrame({"a": [dress.format(value) for value in values]})
    (column,) = describe_columns(frame)
    assert (column.kind, column.n_unique) == ("number", len(set(values)))
    factor = {"{:.1f}k": 1000, "({:.2f})": -1}.get(dress, 1)
    np.testing.assert_allclose(match_columns(frame, [column]).frame["a"], values * factor)


def test_what_was_taken_off_is_said():
    assert described(repeated(["$5", "$6"])).reason == (
        "read as numbers written like $1234.5, without $"
    )
    data = split_target(
        pd.DataFrame({"rate": repeated(["5%", "6%"]), "y": repeated(["p", "q"])}), "y"
    )
    assert data.notes == ("Column 'rate': read as numbers written like 1234.5%, without %.",)
    assert "brackets as minus" in described(repeated(["(5)", "6"])).reason
    assert "k, M and so on multiplied out" in described(repeated(["5k", "6"])).reason
    assert (
        "bounds such as <0.1 as the number itself" in described(repeated(["<5", "6", "7"])).reason
    )
    assert described(repeated(["10:31", "9:05"])).reason.endswith("like 10:31, as 631")


@pytest.mark.parametrize(
    "values",
    [
        ["INV001", "INV002"],
        ["A12", "B7"],
        ["12A", "14B"],
        ["#1", "#2"],
        ["10-20", "20-30"],
        ["1.2.3", "1.10.12"],
        ["10.0.0.1", "8.8.8.8"],
        ["16:9", "4:3"],
        ["1st", "2nd", "3rd"],
        ["007 kg", "012 kg"],
        ["12 kmpl", "15 km/kg"],
        ["(5", "6)"],
        ["5 kg (net)", "6 kg (net)"],
        ["$5 to $6", "$7 to $8"],
        ["+-5", "-+6"],
        ["1 23 4", "5 6"],
        ["25:99", "10:71"],
        ["%", "kg"],
        ["<3", ">=3"],
        ["<1", "1", ">1"],
    ],
)
def test_codes_ranges_and_several_units_are_no_numbers(values):
    assert described(repeated(values)).kind == "category"


def test_numbers_in_several_units_are_named_where_they_are_left_out():
    values = [f"{i + 0.5} {'kmpl' if i % 3 else 'km/kg'}" for i in range(N)]
    assert described(values).reason == (
        "200 different values in 200 rows, numbers in several units: 'kmpl' and 'km/kg'"
    )


def test_a_kind_that_is_asked_for_is_obeyed():
    assert described(repeated(["5%", "6%"]), kinds={"a": "number"}).used
    assert described(repeated(["5%", "6%"]), kinds={"a": "category"}).categories == ("5%", "6%")


def test_years_of_two_digits():
    column = described(["03.05.21", "31.12.69", "01.01.68"])
    assert (column.kind, column.style) == ("date", "%d.%m.%y")
    assert column.examples == ("1969-12-31", "2021-05-03", "2068-01-01")
    assert column.reason == "years of two digits are from 1969 to 2068"
    assert "doubt" in described(["03/05/21", "01/02/20"]).reason
    assert described(["03/25/21", "01/02/20"]).style == "%m/%d/%y"


def new_rows(cells: list, **column) -> Table:
    training = describe_columns(pd.DataFrame({"a": repeated(column["training"])}))
    return match_columns(Table(pd.DataFrame({"a": cells}), "new.csv"), training)


def test_a_new_file_may_lack_the_dress_or_have_more_of_it():
    money = {"training": ["$5,000", "$6,500.5"]}
    read = new_rows(["$7,000", "7000", "($7,000)", "<$7,000", "7000 EUR"], **money)
    assert read.frame["a"].tolist()[:4] == [7000, 7000, -7000, 7000]
    assert math.isnan(read.frame["a"][4])
    assert any("'7000 EUR' in row 5" in note for note in read.notes)


def test_numbers_that_lack_the_per_cent_of_training_are_said():
    percent = {"training": ["5%", "60%"]}
    assert new_rows(["7%", "8%"], **percent).notes == ()
    for cells in ([0.5, 0.25], ["0.5", "0.25"]):
        (note,) = new_rows(cells, **percent).notes
        assert note == (
            "Column 'a' of new.csv: 2 numbers have no %, as training had, and are taken as if they "
            "had."
        )


def test_cells_that_are_no_numbers_do_not_lack_the_per_cent():
    found = new_rows(["7%", "0.5", "n.a.", "", None, "x", "-"], training=["5%", "60%"]).notes
    assert found[0].startswith("Column 'a' of new.csv: 1 number has no %")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["5%", "7.5%", "12%", "0.5", "n.a."], "20 numbers without % taken as if with it"),
        (["5 ‰", "7.5 ‰", "9 ‰", "0.5", "0.25"], "40 numbers without ‰ taken as if with it"),
        (["5%", "7.5%", "n.a."], None),
        (["$5", "$7", "6"], None),
    ],
)
def test_per_cents_beside_plain_numbers_are_said(cells, said):
    """Both may be shares, a hundred times apart."""
    (column,) = describe_columns(pd.DataFrame({"a": cells * 20}))
    assert column.kind == "number"
    assert [part for part in column.reason.split("; ") if "as if" in part] == [said][: bool(said)]


def test_fractions_of_a_day_are_no_clock():
    clock = {"training": ["10:31", "9:05"]}
    assert new_rows(["11:00"], **clock).frame["a"].tolist() == [660]
    with pytest.raises(ValueError, match=r"where numbers are expected \(such as '10:31'\)"):
        new_rows([0.45, 0.5, 0.6, 0.7, 0.8, 0.9], **clock)


def test_a_refused_date_shows_the_style_that_is_expected():
    day = {"training": [f"{i % 28 + 1}.1.2020" for i in range(N)]}
    with pytest.raises(ValueError, match=r"dates are expected \(such as '01\.01\.2020'\)"):
        new_rows(["soon"] * 6, **day)


@given(
    numbers=st.lists(st.integers(-(10**9), 10**9), min_size=2, unique=True),
    before=st.sampled_from(["", "$", "EUR ", "US$", "₹"]),
    unit=st.sampled_from(["", "%", " kg", " km/h", " m2", "°C", " k", "k", "M", " Nm"]),
    digits=st.integers(0, 3),
    grouped=st.sampled_from(["", ",", " ", "'"]),
)
def test_every_dress_is_taken_off_again(numbers, before, unit, digits, grouped):
    values = [number / 10**digits for number in numbers]
    texts = [f"{value:,.{digits}f}".replace(",", grouped) for value in values]
    style = described([before + text + unit for text in texts], kinds={"a": "number"}).style
    frame = pd.DataFrame({"a": [before + text + unit for text in texts]})
    (column,) = describe_columns(frame, kinds={"a": "number"})
    assert column.style == style
    factor = {"k": 1e3, "M": 1e6 if "k" in style else 1}.get(unit.strip(), 1)
    np.testing.assert_allclose(
        match_columns(frame, [column]).frame["a"], np.array(values) * factor, rtol=1e-12
    )


@given(st.text(st.sampled_from("0123456789.,' kM$%€<>()+-:amp"), max_size=12))
def test_any_text_is_one_number_or_none(text):
    column = Column("a", "number", True, "", 0, 2, style="$1,234.5k")
    (value,) = match_columns(pd.DataFrame({"a": [text]}), [column]).frame["a"]
    assert math.isnan(value) or math.isfinite(value)
