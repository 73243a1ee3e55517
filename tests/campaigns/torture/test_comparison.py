"""Tests of scores with ties, zeros and sizes from 1e-320 to 1e305, against rational arithmetic.

Statistics are computed again with fractions, from the scores as they are in floating point. The
differences d of scores are rounded once, so that a mean or a spread of them is known to some eps
of the largest: 64·eps·max|d|/s is allowed to t and F, with s the spread. Scores that agree to 1e-12
of the largest tie by definition. Ranks and counts are exact, and so are their p-values, to 1e-12.
"""

import math
from fractions import Fraction
from itertools import product
from math import comb, frexp, isinf

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from mercer.comparison import (
    average_ranks,
    bayesian_signed_rank_test,
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    friedman_test,
    holm_correction,
    kfold_paired_t_test,
    mcnemar_test,
    wilcoxon_test,
)  # fmt: skip
from torture.cases import Refusal, agree, answered, law

EPS = np.finfo(float).eps
KINDS = ("lattice", "normal", "equal", "shifted", "near", "mostly zero", "one outlier")
POWERS = st.integers(-320, 307)
SEEDS = st.integers(0, 2**32 - 1)


def scores(kind, shape, power, seed):
    """Return two arrays of scores about 10**power."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 20, size=(2, *shape)) / 20
    match kind:
        case "normal":
            a, b = rng.normal(size=(2, *shape))
        case "equal":
            b = a.copy()
        case "shifted":
            b = a + 0.25
        case "near":
            b = a + rng.integers(-2, 3, size=shape) * EPS
        case "mostly zero":
            b = np.where(rng.random(shape) < 0.8, a, b)
        case "one outlier":
            a.flat[0] *= 1e6
    with np.errstate(over="ignore"):
        return tuple(np.clip(float(f"1e{power}") * x, -1.7e308, 1.7e308) for x in (a, b))


def differences(a, b):
    return [Fraction(x) - Fraction(y) for x, y in zip(a.ravel(), b.ravel(), strict=True)]


def root(value):
    """Return the root of a fraction of any size, as a fraction that is right to 1e-16."""
    if value == 0:
        return Fraction(0)
    shift = 2 * ((value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    scaled = value / Fraction(2) ** shift
    return Fraction(float(scaled) ** 0.5) * Fraction(2) ** (shift // 2)


def lies_on_the_border_of_ties(spread, a, b):
    """Whether rounding decides if scores tie: the noise is 1e-12 of the largest."""
    top = max(abs(Fraction(x)) for x in (*a.ravel(), *b.ravel()))
    return top == 0 or Fraction(1, 10**13) < spread / top < Fraction(1, 10**11)


def check_interval(result):
    low, high = result.interval
    assert np.isfinite(result.effect)
    assert 0 <= result.pvalue <= 1
    assert str(result)
    if not (np.isnan(low) or isinf(low)):
        slack = 1e-9 * max(abs(low), abs(high)) + 5e-324
        assert low - slack <= result.effect <= high + slack


@law(
    5_000,
    kind=st.sampled_from(KINDS),
    power=POWERS,
    n=st.integers(2, 30),
    seed=SEEDS,
    overlap=st.sampled_from([None, 1 / 9, 1e-300, 1e300]),
)
def test_paired_t_tests(kind, power, n, seed, overlap):
    a, b = scores(kind, (n,), power, seed)
    if overlap is None:
        out = answered(kfold_paired_t_test, a, b, names=("score",))
    else:
        sizes = {"n_train": 1.0, "n_test": overlap}
        out = answered(corrected_t_test, a, b, **sizes, names=("score", "n_train"))
    d = differences(a, b)
    spread = max(d) - min(d)
    if lies_on_the_border_of_ties(spread, a, b):
        return out
    top = max(abs(Fraction(x)) for x in (*a, *b))
    if isinstance(out, Refusal):
        assert top > Fraction(2) ** 1020 or spread < top / 10**12, out
        return out
    check_interval(out)
    if spread < top / 10**12:
        return check_without_spread(out, d, top)
    mean = sum(d) / n
    variance = sum((x - mean) ** 2 for x in d) / (n - 1)
    error = root((Fraction(1, n) + Fraction(overlap or 0)) * variance)
    t = float(mean / error)
    loss = 64 * EPS * n * float(max(map(abs, d)) / root(variance))
    agree(out.statistic, t, rtol=loss, atol=loss * n**0.5)
    agree(out.effect, float(mean), rtol=4 * EPS, atol=5e-324 + 4e-15 * float(top))
    agree(out.pvalue, 2 * stats.t.sf(abs(out.statistic), n - 1), rtol=1e-12)
    return None


def check_without_spread(out, d, top):
    """Differences that are all the same are judged by their signs alone: 2/2ᴶ, or 1 of zeros."""
    if max(map(abs, d)) < top / 10**12:
        assert (out.statistic, out.pvalue) == (0, 1)
        assert abs(out.effect) <= float(top) / 10**12
        return out
    if min(map(abs, d)) > top / 10**11 and len({x > 0 for x in d}) == 1:
        assert (out.statistic, out.pvalue) == (0, 2 / 2 ** len(d))
    agree(out.effect, float(sum(d) / len(d)), rtol=4 * EPS, atol=5e-324 + 4e-15 * float(top))
    return out


@law(3_000, kind=st.sampled_from(KINDS), power=POWERS, seed=SEEDS, combined=st.booleans())
def test_five_by_two_tests(kind, power, seed, combined):
    a, b = scores(kind, (5, 2), power, seed)
    out = answered(five_by_two_f_test if combined else five_by_two_t_test, a, b, names=("score",))
    d = differences(a, b)
    spread = max(abs(x - y) for x, y in zip(d[::2], d[1::2], strict=True))
    if lies_on_the_border_of_ties(spread, a, b):
        return out
    top = max(abs(Fraction(x)) for x in (*a.ravel(), *b.ravel()))
    if isinstance(out, Refusal):
        assert top > Fraction(2) ** 1020 or spread < top / 10**12, out
        return out
    check_interval(out)
    if spread < top / 10**12:
        return check_without_spread(out, d, top)
    variances = [(x - y) ** 2 / 2 for x, y in zip(d[::2], d[1::2], strict=True)]
    loss = 64 * EPS * float(max(map(abs, d)) / root(sum(variances)))
    if combined:
        agree(out.statistic, float(sum(x * x for x in d) / (2 * sum(variances))), rtol=20 * loss)
        agree(out.pvalue, stats.f.sf(out.statistic, 10, 5), rtol=1e-12)
    else:
        t = float(d[0] / root(sum(variances) / 5))
        agree(out.statistic, t, rtol=20 * loss, atol=20 * loss)
        agree(out.pvalue, 2 * stats.t.sf(abs(out.statistic), 5), rtol=1e-12)
    return None


def ranked(values):
    """Return mean ranks of exact values, 1 for the least."""
    return [
        Fraction(sum(w < v for w in values)) + Fraction(sum(w == v for w in values) + 1, 2)
        for v in values
    ]


@law(4_000, n=st.integers(1, 9), power=POWERS, seed=SEEDS, levels=st.sampled_from([2, 4, 1000]))
def test_wilcoxon_test(n, power, seed, levels):
    rng = np.random.default_rng(seed)
    k, m = rng.integers(0, levels, size=(2, n))
    unit = float(f"1e{power}") / 1024
    a, b = k * unit, m * unit
    if not a.any() and not b.any():
        unit = 0
    out = answered(wilcoxon_test, a, b, names=("score",))
    if isinstance(out, Refusal):
        assert max(a.max(), b.max()) > 2.0**1020
        return out
    d = [int(x) for x in k - m] if unit else [0] * n
    ranks = ranked([abs(x) for x in d])
    shared = sum((r for r, x in zip(ranks, d, strict=True) if x == 0), Fraction(0)) / 2
    for_a = sum((r for r, x in zip(ranks, d, strict=True) if x > 0), Fraction(0)) + shared
    smaller = min(for_a, sum(ranks, Fraction(0)) - for_a)
    live = [r for r, x in zip(ranks, d, strict=True) if x]
    sums = [
        sum((r for r, s in zip(live, signs, strict=True) if s), shared)
        for signs in product((0, 1), repeat=len(live))
    ]
    p = min(1, 2 * Fraction(sum(s <= smaller for s in sums), len(sums)))
    assert out.statistic == smaller
    agree(out.pvalue, float(p), rtol=1e-12)
    walsh = [(x + y) * Fraction(unit) / 2 for i, x in enumerate(d) for y in d[i:]]
    agree(out.effect, float(np.median(np.array(sorted(walsh)))), rtol=1e-9, atol=5e-324)
    check_interval(out)
    return out


@law(3_000, n=st.integers(2, 8), k=st.integers(3, 6), power=POWERS, seed=SEEDS,
     levels=st.sampled_from([1, 2, 4, 1000]))  # fmt: skip
def test_friedman_test(n, k, power, seed, levels):
    numbers = np.random.default_rng(seed).integers(0, levels, size=(n, k))
    table = numbers * (float(f"1e{power}") / 1024)
    if not table.any():
        numbers = np.zeros_like(numbers)
    out = friedman_test(table)
    ranks = [ranked([-int(x) for x in row]) for row in numbers]
    means = [sum(row[j] for row in ranks) / n for j in range(k)]
    agree(np.sort(average_ranks(table)), np.sort([float(m) for m in means]), rtol=4 * EPS)
    middle = Fraction(k + 1, 2)
    within = sum((r - middle) ** 2 for row in ranks for r in row) / (k - 1)
    between = n**2 * sum((m - middle) ** 2 for m in means)
    chi2 = between / within if within else Fraction(0)
    agree(out.chi2_statistic, float(chi2), rtol=64 * EPS, atol=64 * EPS)
    agree(out.chi2_pvalue, stats.chi2.sf(float(chi2), k - 1), rtol=1e-9)
    room = n * (k - 1) - chi2
    if room:
        agree(out.statistic, float((n - 1) * chi2 / room), rtol=1e-9, atol=1e-12)
        agree(out.pvalue, stats.f.sf(out.statistic, *out.df), rtol=1e-12)
    else:
        # All data sets rank alike: as many orders as there are, each as likely as the other.
        assert out.statistic == np.inf
        ties = [ranks[0].count(r) for r in set(ranks[0])]
        orders = math.factorial(k) // math.prod(math.factorial(t) for t in ties)
        agree(out.pvalue, float(Fraction(1, orders) ** (n - 1)), rtol=1e-12)


@law(2_000, n=st.integers(1, 60), seed=SEEDS, share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
     method=st.sampled_from(["auto", "exact", "mid-p", "chi2"]))  # fmt: skip
def test_mcnemar_test(n, seed, share, method):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    a, b = (np.where(rng.random(n) < share, rng.integers(0, 3, size=n), y) for _ in range(2))
    out = mcnemar_test(y, a, b, method=method)
    n_a, n_b = (int(np.sum((u == y) & (v != y))) for u, v in ((a, b), (b, a)))
    m, fewer = n_a + n_b, min(n_a, n_b)
    if method == "chi2" or (method == "auto" and m >= 25):
        chi2 = Fraction(max(abs(n_a - n_b) - 1, 0) ** 2, m) if m else 0
        agree(out.statistic, float(chi2), rtol=4 * EPS)
        agree(out.pvalue, stats.chi2.sf(float(chi2), 1), rtol=1e-12)
    else:
        p = min(1, Fraction(2 * sum(comb(m, i) for i in range(fewer + 1)), 2**m))
        if method == "mid-p" and m:
            p -= Fraction(comb(m, fewer) * (1 if n_a == n_b else 2), 2 ** (m + 1))
        agree(out.pvalue, float(p), rtol=1e-12)
    agree(out.effect, (n_a - n_b) / n, rtol=EPS)
    assert -1 <= out.interval[0] <= out.interval[1] <= 1


@law(1_500, p=st.lists(st.sampled_from([0.0, 5e-324, 1e-300, 1e-9, 0.01, 0.05, 0.3, 1.0, np.nan]),
                       max_size=12))  # fmt: skip
def test_holm_correction(p):
    out = holm_correction(p)
    counted = [x for x in p if x == x]
    for x, adjusted in zip(p, out, strict=True):
        if x != x:
            assert np.isnan(adjusted)
            continue
        # The largest m·p of those not above: of equal ones the first is multiplied by most.
        expected = max(sum(v >= u for v in counted) * u for u in counted if u <= x)
        assert adjusted == pytest.approx(min(1.0, expected), rel=1e-15)


@law(800, kind=st.sampled_from(KINDS[:1] + KINDS[2:]), power=POWERS, n=st.integers(1, 12),
     seed=SEEDS, rope=st.sampled_from([0.0, 0.05, 1.0, 1e9]))  # fmt: skip
def test_bayesian_test_has_no_scale(kind, power, n, seed, rope):
    a, b = scores(kind, (n,), 0, seed)
    shift = max(min(int(power / 0.30103), 1000), -1000)
    small = min(x for x in (*np.abs(a), *np.abs(b), 1.0) if x)
    shift = max(shift, -1000 - frexp(small)[1])
    here = bayesian_signed_rank_test(a, b, rope=rope, n_draws=50, random_state=seed)
    far = np.ldexp(a, shift), np.ldexp(b, shift)
    there = bayesian_signed_rank_test(
        *far, rope=float(np.ldexp(rope, min(shift, 900))), n_draws=50, random_state=seed
    )
    if shift <= 900:
        assert (here.p_a, here.p_rope, here.p_b) == (there.p_a, there.p_rope, there.p_b)
    agree(there.p_a + there.p_rope + there.p_b, 1.0, rtol=1e-12)
