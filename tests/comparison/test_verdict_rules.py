"""The rules of benchmarks/sim_verdicts.py against the tests and the tool that they stand for."""

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mercer.comparison import (
    corrected_rows_test,
    corrected_t_test,
    kfold_paired_t_test,
    mcnemar_test,
)

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        import _verdicts_report

        yield _verdicts_report


@pytest.fixture(scope="module")
def draws(report):
    from sim_verdicts import one_draw

    cells = product(["means", "trees", "column"], [1.0, 2.6])
    return [one_draw(name, 60, strength, k) for name, strength in cells for k in range(2)]


def verdict(result):
    return int(result.significant) * int(np.sign(result.effect))


def test_rules_of_splits_are_the_public_tests(report, draws):
    arrays = report.Draws(draws)
    for n in (5, 10, 20):
        expected = []
        for a, b in arrays.tens:
            result = corrected_t_test(a[:n], b[:n], n_train=54, n_test=6)
            expected.append(verdict(result))
        found = report.corrected_t_rule(arrays, n)
        has_spread = np.ptp(arrays.tens[:, 0, :n] - arrays.tens[:, 1, :n], axis=1) > 1e-12
        assert found[has_spread].tolist() == np.array(expected)[has_spread].tolist()
    plain = [verdict(kfold_paired_t_test(a[:10], b[:10])) for a, b in arrays.tens]
    assert report.plain_t_rule(arrays).tolist() == plain


def test_rules_of_rows_are_the_public_tests(report, draws):
    arrays = report.Draws(draws)
    mcnemar, once, twice = [], [], []
    for draw in draws:
        counts = np.array(draw["rows"])
        gaps = np.array([(i - 1, j - 1) for i in range(3) for j in range(3)])
        first, second = np.repeat(gaps, counts.ravel(), axis=0).T
        a, b = (first > 0).astype(float), (first < 0).astype(float)
        truth = np.ones(len(first))
        right = np.where(first == 0, 1, a), np.where(first == 0, 1, b)
        mcnemar.append(verdict(mcnemar_test(truth, *right)))
        rows = np.arange(len(first))
        once.append(verdict(corrected_rows_test(a, b, rows, n_train=54)))
        both = np.concatenate([first, second])
        result = corrected_rows_test(both, 0.0 * both, np.tile(rows, 2), n_train=54)
        twice.append(verdict(result))
    assert report.mcnemar_rule(arrays).tolist() == mcnemar
    assert report.rows_rule(arrays, 10).tolist() == once
    assert report.rows_rule(arrays, 20).tolist() == twice


def test_signed_ranks_with_ties_and_zeros_are_scipy_s(report):
    rng = np.random.default_rng(1)
    for n in (5, 8, 20):
        gaps = rng.integers(-2, 5, n) / 8
        expected = stats.wilcoxon(gaps, alternative="greater").pvalue
        assert report.signed_rank_pvalue(gaps) == pytest.approx(expected)


def test_the_literal_rule_of_autorank_is_autorank_s(report, capsys):
    tool = pytest.importorskip("autorank")
    rng = np.random.default_rng(0)
    kinds = set()
    for k in range(30):
        noise = rng.normal(size=10) if k % 2 else rng.exponential(size=10) ** 1.5
        a = 0.8 + 0.05 * noise
        b = a + 0.02 * rng.normal(size=10) + rng.choice([0, -0.03, 0.03])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = tool.autorank(pd.DataFrame({"a": a, "b": b}))
        middle = np.mean if theirs.omnibus == "ttest" else np.median
        way = 1 if middle(a) >= middle(b) else -1
        assert report.autorank_for_two(a, b) == way * int(theirs.pvalue < 0.05)
        kinds.add((theirs.omnibus, bool(theirs.pvalue < 0.05)))
    assert len(kinds) == 4  # both of its tests, with and without a verdict
