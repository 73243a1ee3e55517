"""Numbers that R's help pages and papers print, by Mercer's tests of comparison.

statsmodels' own tests, another suite, hold R's numbers for McNemar and Holm.
"""

import numpy as np
import pytest

from mercer.comparison import (
    friedman_test,
    holm_correction,
    kfold_paired_t_test,
    wilcoxon_test,
)
from mercer.comparison.tests._ranks import nemenyi_critical_difference

# R, ?wilcox.test: depression scale factors of nine patients, Hollander and Wolfe (1973), p. 29.
FIRST_VISIT = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND_VISIT = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
# R, ?friedman.test: times of 22 players rounding a base, Hollander and Wolfe (1973), p. 140.
ROUNDING_TIMES = """
    5.40 5.50 5.55  5.85 5.70 5.75  5.20 5.60 5.50  5.55 5.50 5.40  5.90 5.85 5.70  5.45 5.55 5.60
    5.40 5.40 5.35  5.45 5.50 5.35  5.25 5.15 5.00  5.85 5.80 5.70  5.25 5.20 5.10  5.65 5.55 5.45
    5.60 5.35 5.45  5.05 5.00 4.95  5.50 5.50 5.40  5.45 5.55 5.50  5.55 5.55 5.35  5.45 5.50 5.55
    5.50 5.45 5.25  5.65 5.60 5.40  5.70 5.65 5.55  6.30 6.30 6.25
"""
# R, ?sleep: extra hours of sleep of ten patients with two drugs, Cushny and Peebles (1905).
FIRST_DRUG = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND_DRUG = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_wilcoxon_of_depression():
    """R prints V = 40, p-value = 0.01953 for one side; 40 and 5 add up to 45."""
    result = wilcoxon_test(FIRST_VISIT, SECOND_VISIT)
    assert result.statistic == 45 - 40
    assert result.pvalue == pytest.approx(2 * 0.01953, abs=1e-5)


def test_friedman_of_rounding_times():
    """R prints Friedman chi-squared = 11.143, df = 2, p-value = 0.003805."""
    times = np.array(ROUNDING_TIMES.split(), float).reshape(22, 3)
    result = friedman_test(times, greater_is_better=False)
    assert result.chi2_statistic == pytest.approx(11.143, abs=5e-4)
    assert result.chi2_pvalue == pytest.approx(0.003805, abs=5e-7)


def test_paired_t_of_sleep():
    """R prints t = -4.0621, df = 9, p-value = 0.002833, from -2.4598858 to -0.7001142."""
    result = kfold_paired_t_test(FIRST_DRUG, SECOND_DRUG)
    assert result.statistic == pytest.approx(-4.0621, abs=5e-5)
    assert result.pvalue == pytest.approx(0.002833, abs=5e-7)
    assert result.interval == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)
    assert result.effect == pytest.approx(-1.58)


@pytest.mark.parametrize(("level", "printed"), [(0.95, 1.25), (0.90, 1.12)])
def test_nemenyi_of_four_classifiers(level, printed):
    """Demšar (2006), section 3.2.2: the critical differences of 4 classifiers on 14 data sets."""
    difference = nemenyi_critical_difference(4, 14, confidence_level=level)
    assert difference == pytest.approx(printed, abs=5e-3)


def test_holm_of_five_even_steps():
    """R prints 0.05 0.08 0.09 0.09 0.09 for p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")."""
    adjusted = holm_correction([0.01, 0.02, 0.03, 0.04, 0.05])
    np.testing.assert_allclose(adjusted, [0.05, 0.08, 0.09, 0.09, 0.09])
