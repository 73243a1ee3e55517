"""Columns with very many categories are used, by the shares of classes in other folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.metrics import roc_auc_score

from mercer.models import ModelCard, load_model, make_model, save_model
from mercer.tables import describe_columns, make_preprocessor, match_columns, split_target
from mercer.tables.preparing._class_shares import ClassShares


def shops(n: int = 3000, n_levels: int = 1200, seed: int = 0, effect: float = 2.0) -> pd.DataFrame:
    """Return a table in which a shop says much of the class, if the effect is not 0."""
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    chance = 1 / (1 + np.exp(-effect * rng.normal(size=n_levels)))[level]
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "shop": [f"S{one:04d}" for one in level],
            "y": np.where(rng.random(n) < chance, "yes", "no"),
        }
    )


def literal_deviations(levels, labels):
    """Return how far the share of class 1 lies from that of all, by level, and for no level."""
    p, n = labels.mean(), len(labels)
    sizes = {k: np.sum(levels == k) for k in np.unique(levels)}
    shares = {k: labels[levels == k].mean() for k in sizes}
    between = sum(2 * m * (shares[k] - p) ** 2 for k, m in sizes.items())
    within = 2 * p * (1 - p)
    variance = (between - (len(sizes) - 1) * within) / (n - sum(m**2 for m in sizes.values()) / n)
    if variance <= 0:
        return dict.fromkeys(sizes, 0.0)
    strength = max(within / variance - 1, 0)
    return {k: (m * shares[k] + strength * p) / (m + strength) - p for k, m in sizes.items()}


def test_shares_are_those_of_the_formula():
    frame = shops(400, 60)
    X, labels = frame[["shop"]], (frame["y"] == "yes").to_numpy(float)
    encoder = ClassShares(n_folds=4, random_state=7)
    apart = encoder.fit_transform(X, frame["y"])[:, 0]
    folds = np.random.default_rng(7).permutation(400) % 4
    levels, expected = X["shop"].to_numpy(), np.empty(400)
    for fold in range(4):
        known = literal_deviations(levels[folds != fold], labels[folds != fold])
        rows = np.flatnonzero(folds == fold)
        expected[rows] = [known.get(levels[row], 0.0) for row in rows]
    np.testing.assert_allclose(apart, expected / expected.std(), rtol=1e-10, atol=1e-12)
    known = literal_deviations(levels, labels)
    new = pd.DataFrame({"shop": ["S0003", "S0001", "unseen", None]})
    together = [known["S0003"], known["S0001"], 0.0, 0.0]
    np.testing.assert_allclose(
        encoder.transform(new)[:, 0], np.array(together) / expected.std(), rtol=1e-10, atol=1e-12
    )


def test_no_row_sees_its_own_class():
    frame = shops(600, 100, effect=0.0)
    X, is_yes = frame[["shop"]], frame["y"] == "yes"
    encoder = ClassShares()
    apart = encoder.fit_transform(X, frame["y"])[:, 0]
    if apart.any():
        assert roc_auc_score(is_yes, apart) < 0.6
    rows = np.flatnonzero(np.random.default_rng(0).permutation(600) % 5 == 2)
    other = frame["y"].to_numpy().copy()
    other[rows] = np.where(other[rows] == "yes", "no", "yes")
    changed = encoder.fit_transform(X, other)[:, 0]
    both = np.column_stack([apart[rows], changed[rows]])  # the same, but for the common scale
    assert np.linalg.matrix_rank(both, tol=1e-8) <= 1


def test_a_column_that_tells_nothing_becomes_0():
    X = pd.DataFrame({"shop": [f"S{k:03d}" for k in range(200) for _ in range(10)]})
    y = ["yes", "no"] * 1000
    encoder = ClassShares().fit(X, y)
    assert not encoder.transform(X).any()


def test_a_number_for_each_of_more_classes_and_none_without_classes():
    frame = shops(600, 100)
    three = np.random.default_rng(1).choice(list("abc"), 600)
    three[frame["shop"].str.endswith("7")] = "a"
    encoder = ClassShares().fit(frame[["shop"]], three)
    assert encoder.transform(frame[["shop"]]).shape == (600, 3)
    assert encoder.fit_transform(frame[["shop"]], three).var(axis=0).sum() == pytest.approx(1)
    assert ClassShares().fit(frame[["shop"]]).transform(frame[["shop"]]).shape == (600, 0)


def test_more_than_a_thousand_categories_are_used_and_help(tmp_path):
    data = split_target(shops(), "y")
    (column,) = [column for column in data.columns if column.name == "shop"]
    assert (column.kind, column.used, column.n_unique) == ("category", True, 1200)
    train, test = np.arange(3000) % 3 > 0, np.arange(3000) % 3 == 0
    model = make_model("logistic", data).fit(data.X[train], data.y[train])
    right = np.mean(model.predict(data.X[test]) == data.y[test])
    assert right > 0.6  # Shops differ; without them nothing is better than a coin.
    save_model(tmp_path / "m.skops", model, ModelCard.describe("logistic", data))
    again, card = load_model(tmp_path / "m.skops")
    new = match_columns(shops(seed=3).drop(columns="y")[:5], card.columns)
    np.testing.assert_array_equal(again.predict_proba(new.frame), model.predict_proba(new.frame))


def test_few_rows_have_the_numbers_of_many():
    data = split_target(shops(), "y")
    fitted = make_preprocessor(data.columns).fit(data.X, data.y)
    for rows in (data.X[:1], data.X[5:9], data.X):
        np.testing.assert_array_equal(
            fitted.transform(rows), ColumnTransformer.transform(fitted, rows)
        )


def test_names_are_identifiers_still():
    frame = pd.DataFrame({"name": [f"n{k}" for k in range(90)], "size": np.arange(90) % 7})
    assert [column.kind for column in describe_columns(frame)] == ["identifier", "number"]
