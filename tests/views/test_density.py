"""The density of one or two columns: regions in closed form, rows that lie apart, messy columns."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from mercer import KernelDensity
from mercer.tables import Table
from mercer.views import table_density
from mercer.views._table_density import _errors, mass_held


def table(**columns):
    return Table(pd.DataFrame(columns), "t.csv")


def normal(n=2000, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def test_mass_held_is_literal():
    density = np.array([[4.0, 1.0], [3.0, 2.0]])
    np.testing.assert_allclose(mass_held(density), [[0.4, 1.0], [0.7, 0.9]])
    np.testing.assert_allclose(mass_held(np.array([1.0, 2.0, 2.0])), [1.0, 0.8, 0.8])


def test_regions_of_a_normal_column():
    x = norm.ppf((np.arange(2000) + 0.5) / 2000)  # its quantiles: a sample without chance
    found = table_density(table(x=x), ["x"], bandwidth=[0.05])
    for share in (0.5, 0.9):
        ((low, high),) = found.regions(share)
        end = np.sqrt(1 + 0.05**2) * norm.ppf(0.5 + share / 2)
        assert (low, high) == pytest.approx((-end, end), abs=0.03)
    assert found.peaks[0] == pytest.approx((0,), abs=0.05)
    assert str(found).startswith("The density of 'x' has one peak, at ")


def test_the_grid_has_the_density_of_all_rows():
    x = normal(300)
    found = table_density(table(x=x, y=x**2 + normal(300, 1)), ["x", "y"])
    X = np.column_stack([x, x**2 + normal(300, 1)])
    model = KernelDensity(bandwidth=np.array(found.widths)).fit(X)
    for row, column in ((0, 5), (90, 100), (150, 20)):
        point = [[found.grid[0][column], found.grid[1][row]]]
        at = found.log_density[row, column]
        assert at == pytest.approx(model.score_samples(point)[0], abs=1e-5)
    cell = np.prod([axis[1] - axis[0] for axis in found.grid])
    assert np.exp(found.log_density).sum() * cell == pytest.approx(1, abs=0.01)


def test_peaks_of_two_heaps():
    x = np.concatenate([normal(500), 9 + normal(500, 1)])
    found = table_density(table(x=x), ["x"])
    assert len(found.peaks) == 2
    np.testing.assert_allclose(np.ravel(found.peaks), [0, 9], atol=0.4)
    (low, _), (_, high) = found.regions(0.9)
    assert low < -1
    assert high > 10


def test_a_row_far_outside_is_least_likely_and_decides_nothing():
    x = normal(300)
    x[17] = 1e6
    found = table_density(table(x=x), ["x"])
    assert found.unlikely.numbers[0] == 18
    assert found.unlikely.values[0, 0] == 1e6
    assert found.widths[0] < 1
    assert found.grid[0][-1] < 10
    assert 18 not in found.points.numbers
    assert "1 row lies far outside and is not in the picture." in found.notes


def test_unlikely_rows_are_judged_by_all_others():
    x, y = normal(60), normal(60, 1)
    found = table_density(table(x=x, y=y), ["x", "y"])
    h, X = np.array(found.widths), np.column_stack([x, y])
    logs = []
    for i in range(60):
        others = np.delete(X, i, axis=0)
        logs.append(np.log(norm.pdf(X[i], others, h).prod(axis=1).mean()))
    np.testing.assert_allclose(found.unlikely_logs, np.sort(logs)[:10], atol=1e-9)
    assert found.unlikely.numbers.tolist() == (1 + np.argsort(logs)[:10]).tolist()


def test_widths_follow_the_number_of_rows(monkeypatch):
    monkeypatch.setattr("mercer.views._table_density._ROWS_OF_WIDTH", 200)
    x = normal(6400)
    found = table_density(table(x=x), ["x"], bandwidth="least-squares-cv")
    rng = np.random.default_rng(0)
    near = np.sort(x[np.sort(rng.choice(6400, 200, replace=False))])
    model = KernelDensity(bandwidth="least-squares-cv", metric="seuclidean").fit(near[:, None])
    # The sample is spread over its gaps first, which are small.
    assert found.widths[0] == pytest.approx(model.widths_[0] * (200 / 6400) ** 0.2, rel=0.05)
    assert "The width is chosen on 200 rows at random." in found.notes


@pytest.mark.parametrize("seed", range(4))
def test_peaks_of_chance_are_not_peaks(seed):
    """Rounded, flat or few numbers: narrow windows are likely there, and have many peaks."""
    rng = np.random.default_rng(seed)
    for x in (rng.normal(size=200), rng.normal(size=200).round(1), rng.poisson(3, 500)):
        assert len(table_density(table(x=x), ["x"]).peaks) == 1
    claw = (rng.integers(0, 5, 4000) / 2 - 1) + 0.1 * rng.normal(size=4000)
    assert len(table_density(table(x=claw), ["x"]).peaks) == 5


def test_three_numbers_far_from_zero_have_no_peak_there():
    found = table_density(Table(pd.DataFrame({"x": [68.0, 23.0, 29.0]}), "t"), ["x"])
    assert not any("reflected" in note for note in found.notes)
    assert all(20 < peak[0] < 70 for peak in found.peaks)


def test_windows_are_reflected_where_numbers_begin_at_zero():
    x = -np.log1p(-(np.arange(1000) + 0.5) / 1000)  # quantiles of the exponential distribution
    found = table_density(table(x=x, y=x - 0.001), ["x"])
    assert found.grid[0][0] == 0
    model = KernelDensity(bandwidth=found.widths, bounds=(0, None)).fit(x[:, None])
    logs = model.score_samples(found.grid[0][:, None])
    np.testing.assert_allclose(found.log_density, logs, atol=1e-5)
    ((low, high),) = found.regions(0.5)
    assert (low, high) == pytest.approx((0, np.log(2)), abs=0.03)
    assert "Column 'x' has no negative numbers: windows are reflected at 0." in found.notes
    plain = table_density(table(x=x - 0.001), ["x"])  # One number is negative.
    assert plain.grid[0][0] < 0
    far = table_density(table(x=x + 9), ["x"])
    assert not far.notes
    counts = table_density(table(x=np.arange(600) % 4), ["x"])
    assert counts.grid[0][0] < 0
    pair = table_density(table(x=x, y=normal(1000)), ["x", "y"])
    assert pair.grid[0][0] == 0 > pair.grid[1][0]


def test_standard_errors_at_a_mirror_are_literal():
    y, h = np.linspace(0, 20, 40_001), 0.7
    x = np.array([0.0, 0.4, 1.0, 5.0])
    pairs = [norm.pdf(y, one, h) + norm.pdf(y, -one, h) for one in x]
    literal = np.sqrt([np.trapezoid(both**2, y) / 50 for both in pairs])
    # Of a density of 1 everywhere, the logs of which are 0.
    np.testing.assert_allclose(_errors(np.zeros(4), 50, x, h, True), literal, rtol=1e-6)
    assert _errors(np.zeros(4), 50, x, h, False) == pytest.approx(literal[-1], rel=1e-6)


def test_the_curve_of_a_long_tail_has_points_in_each_window():
    x = np.random.default_rng(0).standard_cauchy(4000)
    found = table_density(table(x=x), ["x"], bandwidth=[0.2])
    assert found.grid[0][1] - found.grid[0][0] <= 0.05
    ((low, high),) = found.regions(0.5)
    assert (low, high) == pytest.approx((-1, 1), abs=0.2)
    coarse = table_density(table(x=x), ["x"], bandwidth=[1e-3])
    assert "Column 'x': windows are narrower than the steps of the picture." in coarse.notes


def test_gaps_and_words_in_a_column():
    x = pd.Series(normal(50).round(3).astype(str))
    x[3], x[7] = "", "n/a"
    found = table_density(table(x=x, y=normal(50, 1)), ["y", "x"])
    assert found.n_rows == 48
    assert "2 rows without a value are left out." in found.notes
    assert {4, 8}.isdisjoint(found.points.numbers)


def test_many_rows_are_not_judged_one_by_one(monkeypatch):
    monkeypatch.setattr("mercer.views._table_density._ROWS_LEFT_OUT", 40)
    found = table_density(table(x=normal(50)), ["x"])
    assert len(found.unlikely.numbers) == 0
    assert "Of more than 40 rows the least likely are not listed." in found.notes


@pytest.mark.parametrize("unit", [1e-100, 1e60])
def test_any_unit(unit):
    x, y = normal(200), normal(200, 1)
    found, plain = (table_density(table(x=x * u, y=y * u), ["x", "y"]) for u in (unit, 1.0))
    np.testing.assert_allclose(found.held, plain.held, atol=1e-3)
    assert found.unlikely.numbers.tolist() == plain.unlikely.numbers.tolist()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["z"], "There is no column 'z' in t.csv"),
        ([], "one column or of two that differ; got none"),
        (["x", "x"], "one column or of two that differ; got x and x"),
        (["x", "y", "name"], "got x, y and name"),
        (["name"], "Column 'name' cannot be read as numbers: row 1 holds 'Ann'"),
        (["same"], "Column 'same' of t.csv has no density: it is '5' in every row"),
        (["rare"], "Column 'rare' of t.csv has no density"),
        (["x", "late"], "Column 'x' of t.csv has fewer than two different numbers"),
    ],
)
def test_bad_columns_have_a_sentence(columns, words):
    frame = pd.DataFrame({"x": [1.0, 2, 3, np.nan], "y": [4.0, 5, 6, 7], "same": 5,
                          "rare": [np.nan] * 4, "late": [8.0, np.nan, np.nan, 9.0],
                          "name": ["Ann", "Bob", "Cid", "Dan"]})  # fmt: skip
    with pytest.raises((ValueError, LookupError), match="^" + words if "There" in words else words):
        table_density(Table(frame, "t.csv"), columns)
