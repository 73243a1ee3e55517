"""Sets of a pipeline: those of its classifier, through samples, devices and files."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelFisherDiscriminant
from mercer.models import (
    CappedClassifier,
    ModelCard,
    OnDevice,
    has_sets,
    load_model,
    make_model,
    predict_set,
    save_model,
)

FISHER = KernelFisherDiscriminant(kernel="rbf")


@pytest.fixture(scope="module")
def halves():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[rng.integers(0, 2, 160)]
    X = 5 + 3 * (rng.normal(size=(160, 2)) + 1.2 * (y == "yes")[:, None])
    return X[:100], y[:100], X[100:], y[100:]


def test_rows_pass_through_the_steps_before(halves):
    X, y, new, _ = halves
    scaler = StandardScaler().fit(X)
    expected = FISHER.fit(scaler.transform(X), y).predict_set(scaler.transform(new), 0.8)
    assert 1 < expected.sum(axis=1).mean() < 2
    pipeline = make_pipeline(StandardScaler(), KernelFisherDiscriminant(kernel="rbf")).fit(X, y)
    np.testing.assert_array_equal(predict_set(pipeline, new, 0.8), expected)
    alone = Pipeline([("model", pipeline[-1])])
    for model in (alone, pipeline[-1]):
        found = predict_set(model, scaler.transform(new), coverage=0.8)
        np.testing.assert_array_equal(found, expected)


def test_a_sample_of_the_rows_has_the_sets_of_its_classifier(halves):
    X, y, new, _ = halves
    capped = CappedClassifier(FISHER, max_rows=60, random_state=0).fit(X, y)
    expected = capped.estimator_.predict_set(new, 0.7)
    np.testing.assert_array_equal(capped.predict_set(new, 0.7), expected)
    assert (capped.predict_set(new) != expected).any()
    assert has_sets(capped)
    assert not has_sets(CappedClassifier(LogisticRegression()))


def test_a_device_answers_as_arrays_do(torch, halves):
    X, y, new, _ = halves
    there = OnDevice(FISHER, device="cpu", dtype="float64").fit(X, y)
    here = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    for coverage in (0.7, 0.9):
        np.testing.assert_array_equal(
            there.predict_set(new, coverage), here.predict_set(new, coverage)
        )


def test_a_model_without_left_out_rows_is_refused(halves):
    X, y, new, _ = halves
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert not has_sets(model)
    with pytest.raises(ValueError, match=r"LogisticRegression has no prediction sets: they need"):
        predict_set(model, new)


def test_a_model_file_keeps_the_sets_and_little_more(data, tmp_path):
    model = make_model("fisher", data).fit(data.X, data.y)
    save_model(tmp_path / "m.skops", model, ModelCard.describe("fisher", data))
    loaded, _ = load_model(tmp_path / "m.skops")
    for coverage in (0.7, 0.9, 0.95):
        np.testing.assert_array_equal(
            predict_set(loaded, data.X, coverage), predict_set(model, data.X, coverage)
        )
    fisher, rows = loaded[-1], len(data.y)
    kept = [*vars(fisher._left_out).values(), *vars(fisher._fitted_rows.coding).values()]
    numbers = sum(np.size(value) for value in kept)
    assert numbers <= 7 * rows + 3 * len(np.unique(data.y)) ** 2


def test_a_file_of_before_says_that_it_must_be_fitted_again(halves):
    X, y, new, _ = halves
    model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    del model._left_out
    with pytest.raises(ValueError, match="knows nothing of left-out rows, which sets need: fit it"):
        predict_set(model, new)
