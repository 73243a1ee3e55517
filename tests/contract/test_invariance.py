"""What an answer does not depend on: order and names, origin and unit, weights or copies."""

import numpy as np
import pytest

from contract.subjects import (
    answers,
    assert_close,
    baseline,
    every_subject,
    every_weighted,
    rows,
)

PROBABILITIES = ("predict_proba", "predict_log_proba")
TO = {"ant": "zebra", "bee": "yak", "cat": "dog"}  # sorted, they come in another order


@every_subject
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_rows_says_nothing(subject, n_classes):
    subject.held_to("order")
    data = rows(n_classes)
    mixed = np.random.default_rng(1).permutation(len(data.X))
    model, expected = baseline(subject, n_classes)
    found = answers(subject.fit(data.X[mixed], data.y[mixed]), data.new, subject.methods)
    assert_close(found, expected, subject.tolerance)
    turned = answers(model, data.new[::-1], subject.methods)
    assert_close({name: value[::-1] for name, value in turned.items()}, expected, 1e-13)


@every_subject
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_names_of_classes_say_nothing(subject, n_classes):
    subject.held_to(f"names of {n_classes}")
    data = rows(n_classes)
    _, expected = baseline(subject, n_classes)
    model = subject.fit(data.X, np.array([TO[name] for name in data.y]))
    found = answers(model, data.new, subject.methods)
    for method, value in found.items():
        found[method] = _as_before(model, method, value, expected[method], n_classes)
    assert_close(found, expected, subject.tolerance)


def _as_before(model, method, value, before, n_classes):
    """Undo what renaming may change: names, the order of columns, the sign of coordinates."""
    if not hasattr(model, "classes_") and method != "transform":
        return value  # It does not know classes.
    if method == "predict":
        return np.array([{new: old for old, new in TO.items()}[name] for name in value])
    if method == "transform":  # a discriminant is positive towards the last class
        signs = np.sign(np.sum(value * before, axis=0))
        return value * np.where(signs, signs, 1.0) if hasattr(model, "classes_") else value
    if value.ndim == 1:
        return -value
    names = sorted(TO)[:n_classes]
    return value[:, [list(model.classes_).index(TO[name]) for name in names]]


@every_subject
@pytest.mark.parametrize("n_features", [4, 20])
def test_the_origin_says_nothing(subject, n_features):
    subject.held_to("offset")
    data = rows(3, n_features)
    expected = answers(subject.fit(data.X, data.y), data.new, subject.methods)
    for offset in (-1000.0, 2.0**24):
        moved = subject.fit(data.X + offset, data.y)
        assert_close(answers(moved, data.new + offset, subject.methods), expected, 1e-6)


@every_subject
@pytest.mark.parametrize("power", [-100, 100])
def test_the_unit_says_nothing(subject, power):
    subject.held_to("scale")
    data, unit = rows(3), 2.0**power
    _, expected = baseline(subject)
    expected = {m: v for m, v in expected.items() if not subject.excuse(f"scale of {m}")}
    scaled = answers(subject.fit(data.X * unit, data.y), data.new * unit, subject.methods)
    assert_close(scaled, expected, subject.tolerance)


@every_weighted
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_is_a_number_of_copies(subject, n_classes):
    subject.held_to("weights")
    data = rows(n_classes)
    times = np.random.default_rng(2).integers(0, 4, len(data.X))
    copies = np.repeat(np.arange(len(data.X)), times)
    expected = answers(subject.fit(data.X[copies], data.y[copies]), data.new, subject.methods)
    found = subject.fit(data.X, data.y, sample_weight=times)
    assert_close(answers(found, data.new, subject.methods), expected, subject.tolerance)


@every_weighted
def test_a_common_factor_of_weights_that_are_not_whole_says_nothing(subject):
    data = rows(3)
    weights = np.random.default_rng(2).uniform(0.2, 3, len(data.X))
    fits = (subject.fit(data.X, data.y, sample_weight=weights * 10**p) for p in (0, -6, 0.3, 6))
    expected, *found = (answers(fit, data.new, subject.methods) for fit in fits)
    for one in found:
        assert_close(one, expected, subject.tolerance)


@every_weighted
def test_weights_that_are_all_the_same_fraction_are_no_weights(subject):
    data = rows(3)
    _, expected = baseline(subject)
    for share in (1 / len(data.X), 0.2, 1.5):
        fitted = subject.fit(data.X, data.y, sample_weight=np.full(len(data.X), share))
        assert_close(answers(fitted, data.new, subject.methods), expected, subject.tolerance)
