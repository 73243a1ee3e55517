import numpy as np
import pandas as pd
import pytest

from mercer.tables import Column, describe_columns

N = 200


def kind_of(values, **options) -> Column:
    return describe_columns(pd.DataFrame({"a": values}), **options)[0]


def cycle(*values: object) -> list[object]:
    return [values[i % len(values)] for i in range(N)]


def test_numbers() -> None:
    column = kind_of([1.5, None, 3.0, 3.0])
    assert column == Column("a", "number", True, "", 1, 2, ("1.5", "3"))
    assert kind_of([5.0, 1.0, 2.0, 9.0]).examples == ("1", "5", "9")


@pytest.mark.parametrize(
    ("values", "style"),
    [
        (("1", "2.5", "-3e-2", "?", ".5", "5.", "inf"), "plain"),
        (("1,234", "12", "1,234,567.5", "-3,000"), "1,234.5"),
        (("1,5", "12", "-0,25"), "1234,5"),
        (("1.234,5", "12", "1.234.567"), "1.234,5"),
        (("0,123", "0,456"), "1234,5"),  # no thousands begin with 0
        (("5", "None", "7", "-", "unknown"), "plain"),
    ],
)
def test_numbers_in_text(values: tuple[str, ...], style: str) -> None:
    column = kind_of(cycle(*values))
    assert (column.kind, column.style, column.used) == ("number", style, True)


@pytest.mark.parametrize(
    "values", [("12,34,5", "1"), ("1_0", "1_1"), ("A5", "A6"), ("#1", "#2"), ("10-20", "20-30")]
)
def test_what_is_not_surely_a_number_is_a_category(values: tuple[str, ...]) -> None:
    assert kind_of(cycle(*values)).kind == "category"


@pytest.mark.parametrize("zeros", [["0.0", "-0.0"], ["-0.0", "0.0"], ["-0.0", "-0.0"]])
def test_zeros_of_both_signs_are_one_number_whichever_comes_first(zeros: list[str]) -> None:
    assert kind_of([*zeros, "0.5", "2.5"]).examples == ("0", "0.5", "2.5")
    assert kind_of(zeros).reason == "it is '0' in every row"


def test_codes_are_no_numbers() -> None:
    assert kind_of(cycle("01", "02", "10")).categories == ("01", "02", "10")
    assert kind_of(cycle("00", "5", "12")).kind == "number"  # of different lengths


def test_whole_numbers_of_few_values_stay_numbers() -> None:
    assert kind_of(cycle(0, 1)).kind == "number"
    assert kind_of(cycle(1, 2, 3)).kind == "number"


def test_infinite_values_are_missing_and_said() -> None:
    column = kind_of([1.0, np.inf, -np.inf, 2.0, 1e300])
    assert (column.n_missing, column.n_unique) == (3, 2)
    assert column.reason == "3 infinite values taken as missing"


def test_booleans_are_categories_however_they_are_written() -> None:
    for values in ([True, False] * 5, [True, None, False] * 5, ["true", "FALSE"] * 5):
        assert kind_of(values).categories == ("False", "True")


def test_categories_by_frequency_then_alphabet() -> None:
    column = kind_of([*["b"] * 5, *["a"] * 5, *["z"] * 9, "c", None])
    assert column == Column(
        "a", "category", True, "", 1, 4, ("z", "a", "b"), categories=("a", "b", "c", "z")
    )
    assert kind_of(pd.Categorical([1, 2, 1])).categories == ("1", "2")
    assert kind_of([" x", "x ", "y"]).categories == ("x", "y")


def test_categories_that_are_declared_but_absent_do_not_count() -> None:
    column = kind_of(pd.Categorical(["x", "x", None], categories=["w", "x"]))
    assert (column.kind, column.n_unique) == ("constant", 1)
    assert kind_of(pd.Categorical(["x", "y", "x"], categories=list("wxy"))).categories == ("x", "y")


def test_identifiers_and_text() -> None:
    names = [f"user{i}" for i in range(N)]
    assert kind_of(names).kind == "identifier"
    assert kind_of(names).reason == "200 different values in 200 rows"
    assert not kind_of(names).used
    sentences = [f"this is remark {i}" for i in range(N)]
    assert kind_of(sentences).kind == "text"
    assert kind_of(sentences).reason == "free text (200 different values)"
    assert kind_of([f"v{i % 100}" for i in range(N)]).kind == "category"  # two rows each
    assert kind_of([f"v{i % 101}" for i in range(N)]).kind == "identifier"
    assert kind_of([f"v{i % 2500}" for i in range(5000)]).kind == "category"  # however many
    assert kind_of([f"v{i % 2501}" for i in range(5000)]).kind == "identifier"


def test_numbers_that_name_rows() -> None:
    rng = np.random.default_rng(0)
    run = rng.permutation(N) + 7
    assert kind_of(run).kind == "identifier"
    assert kind_of(np.arange(19)).kind == "number"  # too few to tell
    assert kind_of(np.arange(20)).kind == "identifier"
    assert kind_of(np.where(run == 7, 999, run)).kind == "number"
    assert kind_of(run + 0.5).kind == "number"
    wide = rng.permutation(10**6)[:N]
    for name in ("id", "ID", "patient_id", "PatientId", "patientID", "row index", "user.key"):
        assert describe_columns(pd.DataFrame({name: wide}))[0].kind == "identifier", name
    for name in ("acid", "paid", "monkey", "idea", "age"):
        assert describe_columns(pd.DataFrame({name: wide}))[0].kind == "number", name


def test_constant_and_empty() -> None:
    assert kind_of([3, 3, 3]) == Column(
        "a", "constant", False, "it is '3' in every row", 0, 1, ("3",)
    )
    assert kind_of(["x", None]).reason == "it is 'x' wherever there is a value"
    for values in ([None, None], ["?", ""], [np.nan, np.inf], [pd.NaT, pd.NaT]):
        assert (kind_of(values).kind, kind_of(values).n_missing) == ("empty", 2)


def test_mostly_missing() -> None:
    values = [1.0, 2.0, *[None] * 38]
    assert kind_of(values).used  # 95 %
    column = kind_of([*values, None])
    assert (column.kind, column.used) == ("number", False)
    assert column.reason == "95 % of its values are missing"
    assert kind_of([*values, None], kinds={"a": "number"}).used


@pytest.mark.parametrize(
    ("values", "style"),
    [
        (("2020-01-31", "2021-12-01"), "%Y-%m-%d"),
        (("2020-01-31T10:00:00", "2021-12-01 11:30", "2021-12-01T11:30:00.5Z"), "ISO8601"),
        (("2020/01/31", "2021/12/01"), "%Y/%m/%d"),
        (("31.01.2020", "1.12.2021"), "%d.%m.%Y"),
        (("31/01/2020", "01/12/2021"), "%d/%m/%Y"),
        (("01/31/2020", "12/01/2021"), "%m/%d/%Y"),
        (("31 Jan 2020", "1 Dec 2021"), "%d %b %Y"),
        (("31/01/2020 10:30", "01/12/2021 00:00"), "%d/%m/%Y %H:%M"),
    ],
)
def test_dates(values: tuple[str, ...], style: str) -> None:
    column = kind_of([*values, None])
    assert (column.kind, column.style, column.used, column.n_missing) == ("date", style, True, 1)
    assert column.reason == ""
    assert column.examples[0].startswith("2020-01-31")


def test_day_and_month_in_doubt() -> None:
    column = kind_of(["05/06/2020", "07/08/2021"])
    assert column.style == "%d/%m/%Y"
    assert "doubt" in column.reason


@pytest.mark.parametrize("values", [("2020", "2021"), ("20200131", "20211201"), ("1.5", "2.5")])
def test_plain_numbers_are_no_dates(values: tuple[str, ...]) -> None:
    assert kind_of(values).kind == "number"


def test_one_wrong_date_makes_text() -> None:
    assert kind_of(["2020-01-31"] * 5 + ["2020-13-01"]).kind == "category"


def test_types_of_frames() -> None:
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "duration": pd.to_timedelta(["1h", "2h", None]),
            "zoned": pd.to_datetime(["2020-01-01", "2020-06-01", None]).tz_localize("Asia/Tokyo"),
            "text": pd.array(["a", "b", "a"], dtype="string"),
            "mixed": [1, "1", 2.0],
            "lists": [[1], [1], [2]],
            "complex": [1j, 2j, 1j],
        }
    )
    columns = describe_columns(frame)
    kinds = [column.kind for column in columns]
    assert kinds == ["number", "number", "date", "category", "number", "category", "category"]
    assert columns[1].examples == ("3600", "7200")
    assert columns[2].examples[0] == "2019-12-31T15:00:00"


def test_kinds_that_are_asked_for() -> None:
    assert kind_of(cycle(1, 2, 3), kinds={"a": "category"}).categories == ("1", "2", "3")
    assert kind_of(cycle(1, 2, 3), kinds={"a": "identifier"}).used is False
    assert kind_of(cycle("x", "y"), kinds={"a": "text"}).reason == "it is text, as you say"
    names = [f"user{i}" for i in range(N)]
    assert kind_of(names, kinds={"a": "category"}).used
    assert kind_of(range(N), kinds={"a": "number"}).used


def test_target_is_left_out() -> None:
    frame = pd.DataFrame({"a": [1, 2], "y": [1, 2]})
    assert [column.name for column in describe_columns(frame, "y")] == ["a"]


def test_a_column_is_shown_in_a_short_line():
    many = pd.DataFrame(
        {"shop": [f"shop no. {k % 2000} of all the many shops" for k in range(6000)]}
    )
    (column,) = describe_columns(many)
    assert len(column.categories) == 2000
    assert repr(column) == (
        "<Column 'shop': category; shop no. 0 of all the many sh…, shop no. 1 of all the many sh…, "
        "shop no. 10 of all the many s…, …>"
    )
    (column,) = describe_columns(pd.DataFrame({"of": ["earth"] * 3}))
    assert repr(column) == "<Column 'of': constant, not used; it is 'earth' in every row; earth>"
