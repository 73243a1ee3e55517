"""Holm's correction against its step-down definition and a hand-computed example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.comparison import holm_correction

PVALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def literal_rejections(pvalues, level):
    """Step down: reject the smallest while it is below level/m, level/(m − 1), …"""
    rejected = [False] * len(pvalues)
    for step, i in enumerate(sorted(range(len(pvalues)), key=lambda i: pvalues[i])):
        if pvalues[i] * (len(pvalues) - step) >= level:
            break
        rejected[i] = True
    return rejected


def test_by_hand():
    assert holm_correction([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_correction([0.9, 0.6]) == pytest.approx([1.0, 1.0])


@given(pvalues=PVALUES, level=st.floats(0.001, 0.5))
def test_rejects_what_the_step_down_procedure_rejects(pvalues, level):
    assert (holm_correction(pvalues) < level).tolist() == literal_rejections(pvalues, level)


def test_missing_tests_are_not_counted():
    np.testing.assert_allclose(holm_correction([np.nan, 0.02, 0.5]), [np.nan, 0.04, 0.5])


def test_refuses_what_is_no_probability():
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm_correction([0.5, 1.2])
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm_correction([0.5, -0.2])
    with pytest.raises(ValueError, match=r"one dimension; got shape \(1, 2\)"):
        holm_correction([[0.1, 0.2]])
