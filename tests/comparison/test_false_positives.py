"""False-positive rates under the null, by the simulation that the docs print."""

import runpy
from pathlib import Path

import pytest
from scipy import stats

SIMULATION = Path(__file__).parents[2] / "benchmarks" / "sim_false_positives.py"
DRAWS, SEED = 500, 0
LOW, HIGH = stats.binom.interval(0.99, DRAWS, 0.05)


@pytest.fixture(scope="module")
def simulate():
    return runpy.run_path(str(SIMULATION))


@pytest.fixture(scope="module")
def stable(simulate):
    return simulate["learning_methods"](DRAWS, SEED, "nearest mean")


@pytest.fixture(scope="module")
def unstable(simulate):
    return simulate["learning_methods"](DRAWS, SEED, "nearest neighbour")


def test_mcnemar_keeps_its_level_for_fixed_classifiers(simulate):
    counts = simulate["fixed_classifiers"](DRAWS, SEED)
    assert counts["McNemar, one test set, exact"] <= HIGH
    assert counts["McNemar, one test set, chi2"] <= HIGH
    assert LOW <= counts["McNemar, one test set, mid-p"] <= HIGH


def test_tests_over_data_sets_keep_their_level(simulate):
    counts = simulate["many_datasets"](DRAWS, SEED)
    assert LOW <= counts["Wilcoxon, 20 data sets"] <= HIGH
    assert LOW <= counts["Friedman, 20 data sets"] <= HIGH


def test_corrected_t_on_folds_never_exceeds_its_level(stable, unstable):
    assert stable["t, 10 folds, corrected"] <= HIGH
    assert unstable["t, 10 folds, corrected"] <= HIGH


def test_five_by_two_keeps_its_level_for_a_stable_learner(stable):
    assert LOW <= stable["t, 5×2 halves"] <= HIGH
    assert LOW <= stable["F, 5×2 halves"] <= HIGH


def test_plain_t_is_optimistic_as_the_docs_claim(stable, unstable):
    assert unstable["t, 10 folds, plain"] > 2 * 0.05 * DRAWS
    assert stable["t, 30 random splits, plain"] > 5 * 0.05 * DRAWS
    assert unstable["t, 30 random splits, plain"] > 5 * 0.05 * DRAWS


def test_halves_of_an_unstable_learner_move_together(simulate):
    correlation = simulate["correlation_of_halves"]
    assert correlation(DRAWS, SEED, "nearest neighbour") > 0.35
    assert correlation(DRAWS, SEED, "nearest mean") < 0.25


def test_five_by_two_and_mcnemar_on_folds_are_optimistic_for_an_unstable_learner(unstable):
    assert unstable["t, 5×2 halves"] > HIGH
    assert unstable["F, 5×2 halves"] > HIGH
    assert unstable["McNemar, out-of-fold predictions"] > HIGH
