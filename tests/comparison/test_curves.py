"""Curves behind a comparison: drawn so that a rare class is seen, whatever else there is."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from mercer.comparison import curves_of

N = 58_000


def curves(is_positive, values, *, probabilities=True):
    """Curves of a model of two classes, whose scores for class 1 are given."""
    comparison = SimpleNamespace(
        outputs={"model": np.column_stack([1 - values, values]).astype(np.float32)},
        classes=np.array([0, 1]),
        positive=1,
        predictions=pd.DataFrame({"y_true": is_positive.astype(int)}),
        has_probabilities={"model": probabilities},
    )
    return curves_of(comparison, "model")


def rare(n_positive, separation, seed=0):
    """A class of some tens among thousands, and scores that tell it apart more or less well."""
    rng = np.random.default_rng(seed)
    is_positive = np.zeros(N, dtype=bool)
    is_positive[rng.choice(N, n_positive, replace=False)] = True
    logits = rng.normal(size=N) + separation * is_positive - 6
    return is_positive, 1 / (1 + np.exp(-logits))


def drawn_area(curve):
    return np.trapezoid(curve["precision"], curve["recall"])


def drawn_at(curve, recall):
    """The heights of the line where it crosses a recall."""
    x, y = np.array(curve["recall"]), np.array(curve["precision"])
    k = np.searchsorted(x, recall)
    return y[k] if x[k] != x[k - 1] else max(y[k - 1], y[k])


@pytest.mark.parametrize("n_positive", [2, 30, 90, 900, 20_000])
@pytest.mark.parametrize("separation", [0.0, 2.0, 4.0, 30.0])
def test_the_area_under_a_drawn_curve_is_the_average_precision(n_positive, separation):
    is_positive, values = rare(n_positive, separation)
    [curve] = curves(is_positive, values)["precision_recall"]
    literal = average_precision_score(is_positive, values.astype(np.float32))
    assert curve["average_precision"] == pytest.approx(literal, abs=1e-6)
    assert drawn_area(curve) == pytest.approx(literal, abs=2e-4)
    assert len(curve["recall"]) <= 400
    assert (np.diff(curve["recall"]) >= 0).all()
    assert (curve["recall"][0], curve["recall"][-1]) == (0, 1)


def test_a_rare_class_that_is_always_found_is_drawn_at_the_top():
    is_positive, values = rare(40, 30.0)
    [curve] = curves(is_positive, values)["precision_recall"]
    assert curve["average_precision"] == 1
    assert drawn_at(curve, 0.5) == 1


def test_every_step_of_a_rare_class_is_there():
    """Level steps at the precision where each further row of the class is found."""
    is_positive = np.array([1, 0, 1, 0, 0, 1, 0], dtype=bool)
    [curve] = curves(is_positive, np.linspace(0.9, 0.1, 7))["precision_recall"]
    third = round(1 / 3, 5), round(2 / 3, 5)
    assert curve["recall"] == [0, third[0], third[0], third[1], third[1], 1]
    assert curve["precision"] == [1, 1, third[1], third[1], 0.5, 0.5]


def test_scores_that_are_all_the_same_give_one_step():
    is_positive, _ = rare(40, 0.0)
    [curve] = curves(is_positive, np.full(N, 0.01))["precision_recall"]
    assert curve["recall"] == [0, 1]
    assert curve["precision"] == [round(40 / N, 5)] * 2


def one_percent(overconfidence, seed=0):
    """Probabilities of a class of one per cent that promise too much, and what is so."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(N) < 0.02, rng.beta(2, 2, N), 1e-3 * rng.random(N))
    return rng.random(N) < truth, np.where(truth > 0.01, truth**overconfidence, truth)


def gap(calibration):
    from mercer.report.comparison._curves import _gap

    return _gap(calibration)


def test_the_gap_of_a_class_of_one_per_cent_is_seen():
    is_positive, p = one_percent(0.5)
    assert is_positive.mean() == pytest.approx(0.01, abs=0.002)
    assert gap(curves(is_positive, p)["calibration"]) > 0.15
    assert np.mean(np.abs(p - p**2) * (p > 0.1)) < 0.005  # over all rows it is next to nothing
    assert gap(curves(*one_percent(1.0))["calibration"]) < 0.05


def test_groups_resolve_a_rare_class():
    is_positive, p = one_percent(1.0)
    found = curves(is_positive, p)["calibration"]
    assert sum(found["n"]) == N
    assert sum(0.1 < one < 0.9 for one in found["predicted"]) >= 7
    assert (np.diff(found["predicted"]) > 0).all()
    assert min(found["n"]) >= 10
    assert np.average(found["observed"], weights=found["n"]) == pytest.approx(
        is_positive.mean(), abs=1e-4
    )


def test_a_group_is_rows_between_two_probabilities():
    rng = np.random.default_rng(1)
    p, is_positive = rng.random(500), rng.random(500) < 0.5
    found = curves(is_positive, p)["calibration"]
    inside = (p >= 0.4) & (p < 0.5)
    k = int(np.flatnonzero(np.array(found["predicted"]) > 0.4)[0])
    assert found["n"][k] == inside.sum()
    assert found["predicted"][k] == pytest.approx(p[inside].mean(), abs=1e-4)
    assert found["observed"][k] == pytest.approx(is_positive[inside].mean(), abs=1e-4)


@pytest.mark.parametrize("n", [1, 5, 9, 12, 25])
def test_few_rows_are_few_groups(n):
    rng = np.random.default_rng(n)
    found = curves(np.arange(n) % 2 == 0, rng.random(n))["calibration"]
    assert sum(found["n"]) == n
    assert len(found["n"]) <= max(1, n // 10)


def test_a_model_without_probabilities_has_no_calibration():
    assert curves(*rare(30, 2.0), probabilities=False)["calibration"] is None


def test_a_roc_curve_is_drawn_corner_by_corner():
    """Found are 1, 1, 2, 2, 2, 3, 3 of three, with 0, 1, 1, 2, 3, 3, 4 of four false alarms."""
    is_positive = np.array([1, 0, 1, 0, 0, 1, 0], dtype=bool)
    [curve] = curves(is_positive, np.linspace(0.9, 0.1, 7))["roc"]
    corners = set(zip(curve["false_alarms"], curve["recall"], strict=True))
    third, two = round(1 / 3, 5), round(2 / 3, 5)
    assert {
        (0, 0),
        (0, third),
        (0.25, third),
        (0.25, two),
        (0.75, two),
        (0.75, 1),
        (1, 1),
    } <= corners
    assert curve["area"] == pytest.approx((third + 2 * two + 1) / 4, abs=1e-5)


@pytest.mark.parametrize("n_positive", [2, 90, 20_000])
@pytest.mark.parametrize("separation", [0.0, 2.0, 30.0])
def test_the_area_under_a_drawn_roc_curve_is_that_of_all_points(n_positive, separation):
    is_positive, values = rare(n_positive, separation)
    [curve] = curves(is_positive, values)["roc"]
    literal = roc_auc_score(is_positive, values.astype(np.float32))
    assert curve["area"] == pytest.approx(literal, abs=1e-6)
    assert np.trapezoid(curve["recall"], curve["false_alarms"]) == pytest.approx(literal, abs=3e-3)
    assert len(curve["recall"]) <= 203
    assert (np.diff(curve["recall"]) >= 0).all()
    assert (np.diff(curve["false_alarms"]) >= 0).all()
