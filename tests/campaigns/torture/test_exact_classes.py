"""Kernel classifiers at a given bandwidth never take another class than exact arithmetic does.

Exact arithmetic is mpmath with 60 digits on the very numbers that were given. Where the best two
classes are nearer to each other than rounding (a tie), either is right.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import strategies as st

from mercer import (
    ISEClassifier,
    KernelFisherDiscriminant,
    LaplacianClassifier,
    NearestAngleClassifier,
    ParzenClassifier,
)
from mercer.samples import check_row_weights
from torture.cases import LABELS, Refusal, answered, labels, law, log_ratios, points
from torture.weighing import WEIGHTS, weigh

pytest.importorskip("mpmath", reason="mpmath is not installed")
from oracles import exact

D = (1, 2, 3, 5, 8, 40)
EPS = 2.0**-52
NAMES = ("bandwidth", "sample_weight", "X", "classes in y")


def answer(model, X, y, w, new):
    """Return the predicted classes, or a refusal that is right to be one."""

    out = answered(lambda: model.fit(X, y, sample_weight=w).predict(new), names=NAMES)
    if isinstance(out, Refusal):
        if "sample_weight contains" in out.sentence:
            beyond = not ((w > 1e-100) & (w < 1e100) | (w == 0)).all()
            assert beyond or w.max() > 1e99 * w[w > 0].min()
        else:
            assert "bandwidth" not in out.sentence or np.abs(X).max() > 1e140 * model.bandwidth
    return out


def hold(chosen, values, classes, slack):
    """Each chosen class is the best, or as good as it within the slack of its row."""
    for row, (c, scores) in enumerate(zip(chosen, values, strict=True)):
        best, found = max(scores), scores[int(np.flatnonzero(classes == c)[0])]
        assert found >= best - slack[row], (row, c, [float(v) for v in scores], slack[row])


def log_slack(logs, n, d):
    """Rounding of logarithms of sums: of the exponents, and of the terms that are added."""
    return [16 * EPS * (n + d + 1024 + max(abs(v) for v in row if v > -np.inf)) for row in logs]


CASES = {
    "points": points(n=(2, 6), d=D),
    "kinds": st.sampled_from(list(product(LABELS, WEIGHTS, (2, 3)))),
    "ratio": log_ratios(),
}


class Case:
    """A sample, a model's classes for new rows, and the same in exact arithmetic."""

    def __init__(self, model, points, kinds, ratio=None):
        kind, kind_of_weights, n_classes = kinds
        self.X, new = points.rows(), points.rows(2, stream=1)
        self.new = np.r_[new, self.X[:1]]
        self.y = labels(kind, points.n, n_classes, points.seed)
        w = weigh(kind_of_weights, points.n, points.seed)
        if ratio is not None:  # a bandwidth in units of the data
            model.set_params(bandwidth=float(10.0 ** (points.scale + ratio)))
        self.chosen = answer(model, self.X, self.y, w, self.new)
        self.refused = isinstance(self.chosen, Refusal)
        w = np.ones(points.n) if w is None else w
        self.kept, self.w = w > 0, w if self.refused else check_row_weights(w, len(w))
        self.h = model.bandwidth if ratio is not None else 1.0

    @property
    def exact(self):
        X, y, w = (A[self.kept] for A in (self.X, self.y, self.w))
        return exact.Classes(X, y, w, self.new, self.h)

    def hold(self, values, slack):
        hold(self.chosen, values, np.unique(self.y[self.kept]), slack)

    def hold_logs(self, scores):
        logs = [[exact.log(v) for v in row] for row in scores]
        self.hold(logs, log_slack(logs, *self.X.shape))


@law(20_000, **CASES)
def test_parzen_has_the_class_of_exact_arithmetic(points, kinds, ratio):
    case = Case(ParzenClassifier(), points, kinds, ratio)
    if case.refused:
        return case.chosen
    return case.hold_logs(case.exact.parzen())


@law(12_000, density=st.sampled_from(["parzen", "mercer", None]), **CASES)
def test_laplacian_has_the_class_of_exact_arithmetic(points, kinds, ratio, density):
    case = Case(LaplacianClassifier(density=density), points, kinds, ratio)
    if case.refused:
        return case.chosen
    return case.hold_logs(case.exact.cosine(density))


@law(4_000, **CASES)
def test_laplacian_append_has_the_class_of_exact_arithmetic(points, kinds, ratio):
    case = Case(LaplacianClassifier(rule="append"), points, kinds, ratio)
    if case.refused:
        return case.chosen
    cuts, cut = case.exact.appended_cuts()
    logs = [[-exact.log(c) for c in row] for row in cuts]
    slack = log_slack(logs, *case.X.shape)
    if kinds[2] > 2:  # pairs of other classes are what the cut leaves beside the largest
        slack = [s + 8 * EPS * float(cut / min(row)) for s, row in zip(slack, cuts, strict=True)]
    return case.hold(logs, slack)


@law(6_000, rule=st.sampled_from(["plane", "append"]), **CASES)
def test_ise_has_the_class_of_exact_arithmetic(points, kinds, ratio, rule):
    case = Case(ISEClassifier(rule=rule), points, kinds, ratio)
    if case.refused:
        return case.chosen
    values = case.exact.plane() if rule == "plane" else case.exact.appended_ise()
    return case.hold(values, [1e-12] * 3)


@law(30_000, points=points(n=(2, 6), d=D), kinds=CASES["kinds"])
def test_nearest_angle_has_the_class_of_exact_arithmetic(points, kinds):
    case = Case(NearestAngleClassifier(), points, kinds)
    if case.refused:
        return case.chosen
    cosines, lost = case.exact.angles()
    return case.hold(cosines, [8 * EPS * (points.n + points.d) * (1 + max(lost))] * 3)


@law(
    800,
    points=points(n=(3, 6), d=(1, 2, 5)),
    kind=st.sampled_from(LABELS),
    ratio=log_ratios(-4, 4),
    alpha=st.sampled_from([1e-3, 0.1, 1.0, 10.0]),
)
def test_kernel_fisher_has_the_class_of_exact_arithmetic(points, kind, ratio, alpha):
    X, new = points.rows(), points.rows(2, stream=1)
    y = labels(kind, points.n, 2, points.seed)
    gamma = float(10.0 ** (2 * ratio - 2 * points.scale))
    model = KernelFisherDiscriminant(gamma=gamma, alpha=alpha)
    chosen = answered(lambda: model.fit(X, y).predict(new), names=("X", "gamma"))
    if isinstance(chosen, Refusal):
        spread = np.ptp(X, axis=0).max()
        assert max(np.abs(X).max(), np.abs(new).max()) > 1e150 or spread < 1e-150
        return chosen
    scores = exact.fisher_scores(X, y, new, gamma, alpha)
    slack = [1e-9 * (1 + max(abs(float(v)) for v in row)) for row in scores]
    return hold(chosen, scores, np.array([0, 1]), slack)
