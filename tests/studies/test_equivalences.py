"""The study of kernel methods and information theoretic methods: half-moons and geometry."""

import re

import numpy as np
import pytest
from sklearn.svm import SVC

from mercer import ISEClassifier
from mercer.studies import Points, Raster, Row, Task
from mercer.studies.experiments._plane import half_moons
from mercer.studies.papers._equivalences import STUDY, draw_moons, plane_of, weighted_ise

TABLE = STUDY.tables[0]
FIGURES = {figure.key: figure for figure in STUDY.figures}


def run(row, column, rule=None, draws=3, seed=4):
    """What the method of a column returns; the rule is that of the ISE classifier."""
    found = next(r for r in TABLE.rows if r.label == row)
    method = next(m for m in TABLE.methods if column in m.columns and m.options.get("rule") == rule)
    options = {**found.options, **method.options, "draws": draws}
    return method.run(Task(row=found, protocol="either", replication=0, seed=seed, options=options))


def kernel(A, B, width):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / (2 * width**2))


def test_what_the_text_says():
    assert {key: cell.value for key, cell in TABLE.published.items()} == {
        ("Fig. 3", "same class, %"): 100,
        ("Fig. 4", "outliers right by ISE, %"): 0,
    }


def test_the_width_is_the_papers():
    widths = [draw_moons(np.random.default_rng(seed)).bandwidth for seed in range(20)]
    assert np.mean(widths) == pytest.approx(0.7, abs=0.05)


def test_moons():
    X, y = half_moons(np.random.default_rng(0), 50, radius=2.0, noise=0.0, apart=1.0)
    assert np.bincount(y).tolist() == [50, 50]
    np.testing.assert_allclose(np.linalg.norm(X[y == 0], axis=1), 2)
    np.testing.assert_allclose(np.linalg.norm(X[y == 1] - [2, -1], axis=1), 2)
    assert (X[y == 0, 1] >= 0).all()
    assert (X[y == 1, 1] <= -1).all()


def test_outliers_are_learned_from_and_others_classified():
    plain, more = (draw_moons(np.random.default_rng(1), outliers=n) for n in (0, 5))
    assert len(more.X) == len(plain.X) + 5
    assert np.array_equal(more.X[:200], plain.X)
    assert np.array_equal(more.X_test, plain.X_test)
    assert (more.y[200:] == 1).all()
    assert more.outliers.shape == (5, 2)
    assert not np.isin(more.outliers, more.X).any()


@pytest.mark.parametrize("outliers", [0, 5])
def test_the_svm_is_a_weighted_ise_rule(outliers):
    """By a machine fitted here, from its dual variables: (9), (16), (49)–(55)."""
    moons = draw_moons(np.random.default_rng(2), outliers=outliers)
    machine = SVC(C=1e8, gamma=1 / (4 * moons.bandwidth**2), tol=1e-8).fit(moons.X, moons.y)
    alpha, nodes = machine.dual_coef_[0], machine.support_vectors_
    omega = alpha[alpha > 0].sum()
    m1, m2 = np.maximum(alpha, 0), np.maximum(-alpha, 0)  # times Ω
    K = kernel(nodes, nodes, np.sqrt(2) * moons.bandwidth)
    b = (m2 @ K @ m2 - m1 @ K @ m1) / (2 * omega)
    values = kernel(moons.X_test, nodes, np.sqrt(2) * moons.bandwidth) @ (m1 - m2) + b
    np.testing.assert_allclose(weighted_ise(moons), values, atol=1e-3 if outliers else 1e-6)
    np.testing.assert_allclose(
        weighted_ise(moons),
        machine.decision_function(moons.X_test),
        atol=1e-3 if outliers else 1e-6,
    )


@pytest.mark.parametrize("rule", ["plane", "append"])
def test_shares_follow_from_the_predictions_kept(rule):
    outcome = run("Fig. 4", "same class, %", rule)
    kept = outcome.predictions
    pairs = {"same class, %": ("ise", "svm"), "ISE right, %": ("ise", "truth")}
    for column, (one, other) in pairs.items():
        np.testing.assert_allclose(
            outcome.values[column], 100 * np.mean(kept[one] == kept[other], axis=1)
        )
    moons = draw_moons(np.random.default_rng([4, 2]), outliers=5)
    model = ISEClassifier(bandwidth=moons.bandwidth, rule=rule).fit(moons.X, moons.y)
    assert np.array_equal(model.predict(moons.X_test), kept["ise"][2])


def test_what_the_svm_has_in_common_with_the_weighted_rule():
    values = run("Fig. 3", "σ").values
    kept = run("Fig. 3", "same class, %", "plane").predictions
    assert (values["digits in common"] > 5).all()
    assert values["σ"][2] == draw_moons(np.random.default_rng([4, 2])).bandwidth
    np.testing.assert_allclose(
        values["SVM right, %"], 100 * np.mean(kept["svm"] == kept["truth"], axis=1)
    )


def test_the_rules_are_one_where_classes_are_of_equal_size():
    """(34)–(36) by the formulas, and the nearest mean of (39)."""

    def answers(row, rule):
        return run(row, "same class, %", rule, draws=20).predictions["ise"]

    assert np.array_equal(answers("Fig. 3", "plane"), answers("Fig. 3", "append"))
    assert not np.array_equal(answers("Fig. 4", "plane"), answers("Fig. 4", "append"))
    moons = draw_moons(np.random.default_rng(3), outliers=5)
    width = np.sqrt(2) * moons.bandwidth
    first, second = moons.X[moons.y == 0], moons.X[moons.y == 1]
    for rule in ("plane", "append"):
        upper = []
        for x in moons.X_test[::20]:
            sets = [
                (np.vstack([first, [x]]), second),
                (first, np.vstack([second, [x]])),
            ]
            if rule == "plane":
                sets = [(second, [x]), (first, [x])]
            ise = [
                kernel(A, A, width).mean()
                - 2 * kernel(A, np.asarray(B), width).mean()
                + kernel(np.asarray(B), np.asarray(B), width).mean()
                for A, B in sets
            ]
            upper.append(ise[0] >= ise[1])
        predicted = moons.ise(rule).predict(moons.X_test[::20])
        assert np.array_equal(predicted == 0, upper)


def test_jobs_repeat_themselves_in_any_order():
    first, other, again = run("Fig. 4", "σ"), run("Fig. 3", "σ"), run("Fig. 4", "σ")
    for column in first.values:
        assert np.array_equal(first.values[column], again.values[column])
    assert not np.array_equal(first.values["σ"], other.values["σ"])


def test_outliers_are_lost_by_ise_and_found_by_the_svm():
    for rule in ("plane", "append"):
        found = run("Fig. 4", "outliers right by ISE, %", rule, draws=10).values
        assert np.max(found) == 0
    assert np.mean(run("Fig. 4", "outliers right by SVM, %", draws=10).values) > 80


def test_moons_further_apart_are_classified_alike():
    values = run("Fig. 3, moons further apart", "same class, %", "plane", draws=5).values
    assert (values["same class, %"] == 100).all()


# Figures -----------------------------------------------------------------------------------------


def panels(key):
    figure = FIGURES[key]
    return figure.run(
        Task(row=Row(label=key), protocol="either", replication=0, seed=9, options=figure.options)
    )


def test_the_plane_of_two_means():
    rng = np.random.default_rng(0)
    K = kernel(*[rng.normal(size=(30, 2))] * 2, 1.0)
    first, second = np.repeat([1 / 10, 0], [10, 20]), np.repeat([0, 1 / 20], [10, 20])
    basis = plane_of(K, first, second)
    np.testing.assert_allclose(basis.T @ K @ basis, np.eye(2), atol=1e-12)
    for mean in (first, second):  # lies in the plane: its length there is its length
        assert np.linalg.norm(mean @ K @ basis) ** 2 == pytest.approx(mean @ K @ mean)
    w = (first - second) @ K @ basis
    assert w[0] > 0
    assert w[1] == pytest.approx(0, abs=1e-12)


def test_figure_2_classifies_by_the_boundary():
    (panel,) = panels("Fig. 2")
    layers = {layer.label: layer for layer in panel.layers}
    boundary = layers["boundary"].x[0]
    beyond = 0
    for label, layer in layers.items():
        if isinstance(layer, Points) and layer.marker != "cross":
            upper = np.asarray(layer.x) > boundary  # the side of m₁
            assert (upper == (layer.colour == 0)).all()
            beyond += len(upper) * ("taken" in label)
    assert panel.title.startswith(f"{beyond} of 200")
    m1, m2, v = layers["m₁, m₂ and v between them"].x
    assert v == boundary == pytest.approx((m1 + m2) / 2)
    assert m1 > m2


@pytest.mark.parametrize(("key", "extra"), [("Fig. 3", 0), ("Fig. 4", 5)])
def test_figures_3_and_4_show_three_panels(key, extra):
    train, *results = panels(key)
    assert sum(len(layer.x) for layer in train.layers) == 200 + extra
    for panel in results:
        raster, *shown = panel.layers
        assert isinstance(raster, Raster)
        wrong = sum(len(layer.x) for layer in shown if "taken" in layer.label)
        assert re.search(rf": {wrong} of {200 + extra} new points wrong", panel.title)
    ise, svm = (int(re.search(r": (\d+) of", panel.title)[1]) for panel in results)
    assert svm < ise or ise == 0
