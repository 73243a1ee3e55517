"""Training rows that speak for and against an answer, and what they look like."""

import numpy as np
import pandas as pd
import pytest

from mercer import (
    KernelFisherDiscriminant,
    LaplacianClassifier,
    ParzenClassifier,
    SparseKernelFisherDiscriminant,
)
from mercer.explanations import explain_rows, readable_rows
from mercer.models import CappedClassifier, ModelCard, load_model, make_model, save_model


def rings(n=80, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.digitize(np.hypot(*X.T), np.linspace(0.6, 1.6, n_classes - 1))
    order = rng.permutation(n)
    return X[order], y[order]


FISHER = [
    KernelFisherDiscriminant(kernel="rbf", alpha=0.1),
    KernelFisherDiscriminant(kernel="exponential", alpha=0.1),
    KernelFisherDiscriminant(kernel="laplacian", alpha=0.1, n_landmarks=30, random_state=0),
    SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=12, random_state=0),
]


@pytest.mark.parametrize("model", FISHER, ids=lambda model: repr(model))
def test_contributions_of_all_rows_are_the_score(model):
    X, y = rings()
    model.fit(X, y)
    reasons = explain_rows(model, X[:5], n_rows=len(X), n_background=5)
    sides = reasons.supporting, reasons.opposing
    assert (sides[0].contributions >= 0).all()
    assert (sides[1].contributions <= 0).all()
    sums = sum(side.contributions.sum(axis=1) for side in sides)
    zero = model._rule_intercept
    codes = [np.searchsorted(model.classes_, v) for v in (reasons.predicted, reasons.against)]
    np.testing.assert_allclose(sums, reasons.scores - zero[codes[0]] + zero[codes[1]], rtol=1e-6)
    for side in sides:
        np.testing.assert_allclose(side.shares.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "model",
    [*FISHER, LaplacianClassifier(bandwidth=1.0), LaplacianClassifier(bandwidth=1.0, n_nodes=20)],
    ids=lambda model: repr(model),
)
def test_rows_and_classes_are_those_that_were_given(model):
    X, y = rings()
    copies = np.concatenate([X, X[:10]])  # copies of a class are one row
    model.fit(copies, np.concatenate([y, y[:10]]))
    found = explain_rows(model, X[:6], n_background=5).supporting
    there = found.terms >= 0
    assert there.all(axis=1).any()
    np.testing.assert_array_equal(found.classes[there], y[found.row_numbers[there]])
    rows = readable_rows(model, found.terms[0][there[0]])
    np.testing.assert_allclose(rows.to_numpy(), X[found.row_numbers[0][there[0]]])


def test_partial_fit_knows_the_classes_of_its_nodes():
    X, y = rings(n=300)
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=12, alpha="gcv", scatter="total")
    for rows in np.array_split(np.arange(300), 4):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    found = explain_rows(model, X[:6], n_background=5).supporting
    there = found.terms >= 0
    np.testing.assert_array_equal(found.classes[there], y[found.row_numbers[there]])


@pytest.mark.parametrize("bandwidth", [0.5, [0.4, 0.5, 0.9]])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "exponential"])
def test_windows_share_the_probability_of_their_class(bandwidth, kernel):
    X, y = rings()
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    model = ParzenClassifier(bandwidth=bandwidth, kernel=kernel).fit(X, y, weights)
    new = X[:3] + 0.1
    reasons = explain_rows(model, new, n_rows=len(X), n_background=5)
    shares = model.predict_proba(new)
    for i, row in enumerate(new):
        for side, names, sign in (
            (reasons.supporting, reasons.predicted, 1),
            (reasons.opposing, reasons.against, -1),
        ):
            c = list(model.classes_).index(names[i])
            width = bandwidth if isinstance(bandwidth, float) else bandwidth[c]
            distance = {
                "gaussian": ((X - row) ** 2).sum(axis=1) / 2 / width**2,
                "laplacian": np.abs(X - row).sum(axis=1) / width,
                "exponential": np.sqrt(((X - row) ** 2).sum(axis=1)) / width,
            }[kernel]
            terms = np.where(y == names[i], weights * np.exp(-distance), 0.0)
            expected = sign * shares[i, c] * np.sort(terms / terms.sum())[::-1]
            np.testing.assert_allclose(side.contributions[i], expected, rtol=1e-8, atol=1e-14)
            there = side.terms[i] >= 0
            assert set(side.classes[i][there]) == {names[i]}


def test_far_rows_have_neighbours_though_all_windows_underflow():
    X, y = rings()
    model = ParzenClassifier(bandwidth=0.1).fit(X, y)
    found = explain_rows(model, np.array([[40.0, 40.0]]), n_background=5).supporting
    assert found.similarities[0, 0] == 0
    assert found.contributions[0].sum() == pytest.approx(1.0)
    own = X[np.argmin(((X - 40) ** 2).sum(axis=1))]
    np.testing.assert_allclose(readable_rows(model, found.terms[0, :1]).to_numpy()[0], own)


def test_ties_and_fewer_rows_than_asked_for_are_marked():
    X, y = rings(n=20, n_classes=2)
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    found = explain_rows(model, X[:2], n_rows=50, n_background=5).supporting
    assert found.terms.shape == (2, 20)
    assert ((found.terms >= 0).sum(axis=1) < 20).all()
    assert (found.contributions[found.terms < 0] == 0).all()


def test_a_sample_of_the_rows_has_no_row_numbers():
    X, y = rings()
    model = CappedClassifier(LaplacianClassifier(bandwidth=1.0), max_rows=40, random_state=0)
    found = explain_rows(model.fit(X, y), X[:2], n_background=5).supporting
    assert found.row_numbers is None
    assert found.classes is not None


def test_no_rows_are_wanted_or_there():
    X, y = rings()
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    assert explain_rows(model, X[:2], n_rows=0, n_background=5).supporting is None


def test_a_model_file_has_all_that_reasons_need(data, tmp_path):
    model = make_model("fisher", data).fit(data.X, data.y)
    path = tmp_path / "model.skops"
    save_model(path, model, ModelCard.describe("fisher", data))
    loaded, _ = load_model(path)
    one, other = (explain_rows(m, data.X[:3]) for m in (model, loaded))
    np.testing.assert_array_equal(one.shares, other.shares)
    np.testing.assert_array_equal(one.supporting.classes, other.supporting.classes)
    pd.testing.assert_frame_equal(
        readable_rows(model, one.supporting.terms[0]),
        readable_rows(loaded, other.supporting.terms[0]),
    )


def test_rows_of_a_table_are_read_back(fitted, data):
    model = fitted("fisher")
    found = explain_rows(model, data.X[:4]).supporting
    there = found.terms[0] >= 0
    rows = readable_rows(model, found.terms[0][there])
    given = data.X.iloc[found.row_numbers[0][there]].reset_index(drop=True)
    for name in ("size", "count"):
        np.testing.assert_allclose(rows[name], given[name], rtol=1e-9)
    assert list(rows["colour"]) == list(given["colour"])
    assert (rows["when"].to_numpy() == given["when"].to_numpy()).all()


def test_places_that_are_not_there_are_refused(fitted, data):
    with pytest.raises(ValueError, match="terms must lie between 0 and"):
        readable_rows(fitted("fisher"), [10_000])
    with pytest.raises(ValueError, match="HistGradientBoostingClassifier keeps no training rows"):
        readable_rows(fitted("boosting"), [0])
