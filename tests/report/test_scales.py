"""Ticks are round, few and inside; scales map ends to ends."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.report.charts._scales import Linear, domain_of, padded, tick_labels, tick_step, ticks

numbers = st.floats(-1e9, 1e9, allow_nan=False)
intervals = (
    st.tuples(numbers, numbers)
    .map(sorted)
    .filter(lambda pair: pair[1] - pair[0] > 1e-7 * max(1e-6, abs(pair[0]), abs(pair[1])))
)


@given(intervals, st.integers(2, 12))
def test_ticks_are_multiples_of_a_round_step_inside(interval, most):
    low, high = interval
    step = tick_step(low, high, most)
    mantissa = step / 10.0 ** np.floor(np.log10(step) + 1e-9)
    assert min(abs(mantissa - digit) for digit in (1, 2, 5)) < 1e-6
    found = ticks(low, high, most)
    assert len(found) <= most
    slack = 1e-6 * (high - low)
    assert (found >= low - slack).all()
    assert (found <= high + slack).all()
    assert_allclose(found / step, np.round(found / step), atol=1e-4)
    if len(found) > 1:
        assert_allclose(np.diff(found), step, rtol=1e-4)


@given(intervals, st.integers(4, 12))
def test_a_smaller_step_would_give_too_many(interval, most):
    low, high = interval
    found = ticks(low, high, most)
    # steps grow by 2.5 at most, so that no axis is left almost bare
    assert len(found) >= most // 2.5 - 1
    assert len(found) >= 1


@given(intervals)
def test_labels_tell_ticks_apart(interval):
    found = ticks(*interval)
    labels = tick_labels(found)
    assert len(set(labels)) == len(labels)
    values = [float(label.replace("−", "-")) for label in labels]
    assert_allclose(values, found, rtol=1e-6, atol=1e-6 * np.abs(found).max())


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-2, 2, ["−2", "−1", "0", "1", "2"]),
        (83, 97.5, ["85", "90", "95"]),
        (0.1, 0.35, ["0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]),
        (0, 3e6, ["0", "1e+06", "2e+06", "3e+06"]),
    ],
)
def test_known_ticks(low, high, expected):
    assert tick_labels(ticks(low, high)) == expected


@pytest.mark.parametrize("interval", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1)])
def test_no_ticks_without_an_interval(interval):
    with pytest.raises(ValueError, match="no ticks between"):
        ticks(*interval)


@given(intervals, st.tuples(st.floats(-500, 500), st.floats(-500, 500)))
def test_scales_map_ends_to_ends(interval, lengths):
    assume(lengths[0] != lengths[1])
    scale = Linear(tuple(interval), lengths)
    assert_allclose(scale(interval), lengths, atol=1e-6)
    assert_allclose(scale(np.mean(interval)), np.mean(lengths), atol=1e-4)


def test_scales_keep_gaps():
    assert np.isnan(Linear((0, 1), (0, 10))([np.nan, 0.5])).tolist() == [True, False]


@given(st.lists(st.floats(-1e6, 1e6) | st.just(np.nan) | st.just(np.inf), max_size=8))
def test_domains_hold_all_numbers_and_have_width(values):
    low, high = domain_of([values])
    assert low < high
    finite = [value for value in values if np.isfinite(value)]
    assert all(low <= value <= high for value in finite)
    ticks(low, high)


def test_domain_without_numbers():
    assert domain_of([]) == (0, 1)
    assert domain_of([[np.nan]]) == (0, 1)
    assert domain_of([[0.0, 0.0]]) == (-0.5, 0.5)


def test_padding():
    assert padded((0, 10), 0.1) == (-1, 11)
