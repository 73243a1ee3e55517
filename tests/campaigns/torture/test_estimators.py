"""Every estimator, any options, tables of any kind: a finite answer or one clear sentence.

Answers of self-tuned estimators for X and 2^k·X are the same, bit by bit, where the docs say that
they follow the scale of the data.
"""

import re
import warnings

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import mercer
from mercer.tables import make_preprocessor, split_target
from torture.cases import LABELS, Refusal, answered, labels, law, log_ratios, points
from torture.weighing import WEIGHTS, weigh

NAMES = (
    "X",
    "y",
    "weighting",
    "sample_weight",
    "bandwidth",
    "kernel",
    "affinity_width",
    "laplacian_weight",
)
D = (1, 2, 3, 8, 40, 2000)
# What may be refused, and when: the sentence, and a test of rows, weights and model.
REASONS = {
    r"^X contains .* numbers beyond": lambda X, w, m: np.abs(X).max() > 1e150,
    r"^X varies by": lambda X, w, m: np.ptp(X, axis=0).max() < 1e-150,
    r"^X has rows that are .* apart": lambda X, w, m: np.ptp(X, axis=0).max() < 1e-145,
    r"^X has no variance": lambda X, w, m: _is_flat(X),
    r"^X has rows so large that kernel": lambda X, w, m: m.kernel != "rbf",
    r"^sample_weight contains .* weights count": lambda X, w, m: (
        not ((w > 1e-100) & (w < 1e100) | (w == 0)).all()
    ),
    r"^sample_weight contains .* beside": lambda X, w, m: w.max() > 1e99 * w[w > 0].min(),
    r"class(es)? (in y|with a positive weight)": lambda X, w, m: w is not None,
    r"^bandwidth=.* is too small for coordinates": lambda X, w, m: True,
    r"^bandwidth=.* is too extreme: it must lie": lambda X, w, m: _is_extreme(m.bandwidth),
    r"^kernel=.* takes values of size": lambda X, w, m: m.kernel in ("linear", "poly"),
    r"^The kernel is 0 for all rows": lambda X, w, m: m.kernel in ("linear", "poly", "cosine"),
    r"^weighting='margin' did not converge": lambda X, w, m: (
        m.C * (1 if w is None else w.max()) > 1e3
    ),
    r"^No direction separates the classes": lambda X, w, m: True,
    r"joins \d+ of \d+ rows to no other": lambda X, w, m: True,
    r"kernel matrix is not positive semi": lambda X, w, m: m.kernel == "poly",
    # Rounding of products cannot be told from a kernel that is not positive: where the ridge is
    # nothing beside the kernel, which is 10^±50 times it at most.
    r"is not positive definite at the ridge": lambda X, w, m: (
        m.solver == "iterative" and m.alpha in (1e-3, 1e-300)
    ),
}


def _is_flat(X):
    """Whether all rows are the same but for rounding."""
    return np.ptp(X, axis=0).max() <= 1e-12 * np.abs(X).max()


def _is_extreme(bandwidth):
    """Whether the square of a width is out of range; only the model knows what a rule gives."""
    return isinstance(bandwidth, str) or not 1e-150 <= bandwidth <= 1e150


def outcome(model, X, y, w, new):
    """Fit, and return all answers for new rows; each must be finite."""

    def run():
        options = {} if w is None else {"sample_weight": w}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, **options)
        out = {}
        for name in ("decision_function", "predict_proba", "transform", "predict"):
            if hasattr(model, name):
                out[name] = getattr(model, name)(new)
        return out

    out = answered(run, names=NAMES)
    if isinstance(out, Refusal):
        every = np.r_[X, new]
        reasons = [test for said, test in REASONS.items() if re.search(said, out.sentence)]
        assert reasons, out.sentence
        assert any(test(every, w, model) or test(X, w, model) for test in reasons), out.sentence
        return out
    for name, values in out.items():
        if name == "predict":
            assert np.isin(values, y).all()
        else:
            assert np.isfinite(values).all(), (name, values)
    if "predict_proba" in out:
        np.testing.assert_allclose(out["predict_proba"].sum(axis=1), 1, rtol=1e-6)
    return out


def pick(options, seed):
    """Return one choice of each option, from a seed."""
    rng = np.random.default_rng((seed, 104))
    return {name: values[rng.integers(len(values))] for name, values in options.items()}


class Case:
    """Rows, classes (numbers or names), weights and new rows of a recipe."""

    def __init__(self, points, kind, weights="none", n_classes=3):
        self.X = points.rows()
        self.new = np.r_[points.rows(2, stream=1), self.X[:1]]
        y = labels(kind, points.n, n_classes, points.seed)
        self.y = np.array(["a", "two words", "ü"])[y] if points.seed % 2 else y
        self.w = weigh(weights, points.n, points.seed)

    def outcome(self, model):
        return outcome(model, self.X, self.y, self.w, self.new)


TABLES = {
    "points": points(n=(3, 20), d=D, dtypes=("float64", "float32")),
    "kind": st.sampled_from(LABELS),
    "seed": st.integers(0, 2**16),
}
WEIGHTED = {**TABLES, "weights": st.sampled_from(WEIGHTS), "ratio": log_ratios(-12, 12)}

RULES = ["loo", "silverman", "silverman-amise", "scott"]
LAPLACIAN = {
    "kernel": ["gaussian", "gaussian", "exponential", "laplacian", "cauchy"],
    "rule": ["cosine", "append", "auto"],
    "density": ["parzen", "parzen", "mercer", None],
    "scoring": ["accuracy", "balanced_accuracy"],
    "priors": [None, "uniform"],
    "density_subset": [None, None, 0.5, 1],
    "n_nodes": [None, None, 3],
    "node_selection": ["herding", "largest", "random"],
    "loo": ["fast", "fast", "exact"],
    "random_state": [0],
}
PARZEN = {
    "kernel": ["gaussian", "gaussian", "exponential", "cauchy", "epanechnikov"],
    "priors": [None, "uniform"],
    "scoring": ["accuracy", "balanced_accuracy"],
}
ISE = {
    "kernel": ["gaussian", "gaussian", "exponential", "laplacian", "cauchy"],
    "rule": ["plane", "plane", "append", "auto"],
    "weighting": ["uniform"] * 3 + ["margin", "cauchy_schwarz"],
    "C": [1e-3, 1.0, 1e6],
}
KERNELS = ["rbf", "rbf", "laplacian", "linear", "poly"]
FISHER = {
    "kernel": KERNELS,
    "gamma": ["loo", "scale", 1e-3, 1e3],
    "alpha": ["loo", 1e-3, 1e-300, 1e300],
    "penalty": ["rkhs", "coef"],
    "scatter": ["class", "total", "sum"],
    "class_weight": [None, "balanced"],
    "scoring": ["accuracy", "balanced_accuracy"],
    "random_state": [0],
}
EXACT = {
    **FISHER,
    "solver": ["auto", "auto", "iterative"],
    "n_landmarks": [None, None, 1, 4],
}
SPARSE = {
    **FISHER,
    "alpha": ["auto", "gcv", "loo", 1e-3, 1e-300, 1e300],
    "max_nodes": ["auto", 1, 3],
    "criterion": ["auto", "within", "total"],
    "node_choice": ["all", "loo"],
}
MACHINE = {
    "kernel": ["rbf", "linear", "poly", "laplacian", "cosine"],
    "gamma": ["scale", "auto", 1e-3, 1e3],
    "C": [100, 1e-3, 1e6],
    "laplacian_weight": [1.0, 0.0, 1e3],
    "normalized": [True, False],
    "loss": ["hinge", "squared_hinge", "squared_error"],
    "landmarks": [None, None, 2],
    "random_state": [0],
}
GRAPH = {
    "n_components": [None, 1, 5],
    "pca_components": [None, None, 0.9, 2],
    "neighborhood": ["knn", "radius", "class", "class_knn"],
    "unit_length": [False, True],
    "label_weight": [None, 0.7],
    "perturbation": ["edges", "printed"],
}
LPP = {**GRAPH, "affinity": ["heat", "binary"], "symmetry": ["or", "and", "mean"]}
ROWEIS_SAUL = {
    **GRAPH,
    "weights": ["reconstruction", "uniform"],
    "constraint": ["auto", "orthonormal", "unit_covariance"],
}
EIGENMAPS = {
    "n_components": [1, 2, 5],
    "neighborhood": ["knn", "radius"],
    "affinity": ["heat", "binary"],
}


def bandwidth(points, ratio, seed):
    """Return a rule, or a number in units of the data."""
    rng = np.random.default_rng((seed, 105))
    return RULES[rng.integers(4)] if rng.random() < 0.5 else float(10.0 ** (points.scale + ratio))


@law(2_500, **WEIGHTED)
def test_laplacian_classifier_answers_or_says_why_not(points, kind, seed, weights, ratio):
    options = pick(LAPLACIAN, seed)
    model = mercer.LaplacianClassifier(bandwidth=bandwidth(points, ratio, seed), **options)
    return Case(points, kind, weights).outcome(model)


@law(3_000, **WEIGHTED)
def test_parzen_classifier_answers_or_says_why_not(points, kind, seed, weights, ratio):
    h = bandwidth(points, ratio, seed)
    per_class = h not in ("loo",) and isinstance(h, str) and seed % 2 == 0
    options = pick(PARZEN, seed)
    if points.d > 1 and options["kernel"] == "cauchy":
        options["kernel"] = "gaussian"
    model = mercer.ParzenClassifier(bandwidth=h, per_class=per_class, **options)
    return Case(points, kind, weights).outcome(model)


@law(1_200, **WEIGHTED)
def test_ise_classifier_answers_or_says_why_not(points, kind, seed, weights, ratio):
    options = pick(ISE, seed)
    if options["weighting"] != "uniform":
        options["rule"] = "plane"  # without which it says that it needs that
    model = mercer.ISEClassifier(bandwidth=bandwidth(points, ratio, seed), **options)
    return Case(points, kind, weights).outcome(model)


@law(2_000, weights=st.sampled_from(WEIGHTS), **TABLES)
def test_kernel_fisher_answers_or_says_why_not(points, kind, seed, weights):
    options = pick(EXACT, seed)
    if options["solver"] == "iterative":
        options["penalty"] = "rkhs"  # without which it says that it needs that
    model = mercer.KernelFisherDiscriminant(**options)
    return Case(points, kind, weights).outcome(model)


@law(1_500, weights=st.sampled_from(WEIGHTS), **TABLES)
def test_sparse_kernel_fisher_answers_or_says_why_not(points, kind, seed, weights):
    model = mercer.SparseKernelFisherDiscriminant(**pick(SPARSE, seed))
    return Case(points, kind, weights).outcome(model)


@law(1_000, weights=st.sampled_from(WEIGHTS), **TABLES)
def test_laplacian_svc_answers_or_says_why_not(points, kind, seed, weights):
    return Case(points, kind, weights).outcome(mercer.LaplacianSVC(**pick(MACHINE, seed)))


# Where X is tiny, w = 0 is the best of all directions, and the sentence says so.
@law(800, **{**TABLES, "points": points(n=(3, 20), d=D, scale=6)})
def test_laplacian_support_vector_analysis_answers_or_says_why_not(points, kind, seed):
    model = mercer.LaplacianSupportVectorAnalysis(**pick(MACHINE, seed))
    return Case(points, kind).outcome(model)


@law(4_000, **TABLES)
def test_locality_preserving_projection_answers_or_says_why_not(points, kind, seed):
    return Case(points, kind).outcome(mercer.LocalityPreservingProjection(**pick(LPP, seed)))


@law(4_000, **TABLES)
def test_roweis_saul_projection_answers_or_says_why_not(points, kind, seed):
    return Case(points, kind).outcome(mercer.RoweisSaulProjection(**pick(ROWEIS_SAUL, seed)))


@law(3_000, **TABLES)
def test_laplacian_eigenmaps_answer_or_say_why_not(points, kind, seed):
    return Case(points, kind).outcome(mercer.LaplacianEigenmaps(**pick(EIGENMAPS, seed)))


@law(3_000, ratio=log_ratios(-12, 12), **TABLES)
def test_laplacian_feature_map_answers_or_says_why_not(points, kind, seed, ratio):
    h = bandwidth(points, ratio, seed)
    h = "silverman" if h == "loo" else h
    density = ["parzen", "mercer", None][seed % 3]
    model = mercer.LaplacianFeatureMap(1 + seed % 2, bandwidth=h, density=density)
    return Case(points, kind).outcome(model)


# --- The scale of the data ------------------------------------------------------------------

TUNED = {
    "LaplacianClassifier": mercer.LaplacianClassifier(),
    "ParzenClassifier": mercer.ParzenClassifier(),
    "ISEClassifier": mercer.ISEClassifier(),
    "NearestAngleClassifier": mercer.NearestAngleClassifier(),
    "KernelFisherDiscriminant": mercer.KernelFisherDiscriminant(),
    "SparseKernelFisherDiscriminant": mercer.SparseKernelFisherDiscriminant(random_state=0),
    "LaplacianSVC": mercer.LaplacianSVC(),
    "LaplacianEigenmaps": mercer.LaplacianEigenmaps(),
    "LaplacianFeatureMap": mercer.LaplacianFeatureMap(),
    "LocalityPreservingProjection": mercer.LocalityPreservingProjection(),
    "RoweisSaulProjection": mercer.RoweisSaulProjection(constraint="unit_covariance"),
}


@law(
    1_000,
    name=st.sampled_from(list(TUNED)),
    points=points(
        n=(4, 12),
        d=(1, 2, 3, 5, 8),
        scale=0,
        layouts=("normal", "ties", "copies", "zeros", "offset"),
    ),
    kind=st.sampled_from(LABELS),
    power=st.integers(-480, 480),
)
def test_a_power_of_two_changes_nothing(name, points, kind, power):
    case, model = Case(points, kind, n_classes=2), TUNED[name]
    first = case.outcome(model)
    if not np.ptp(case.X, axis=0).any():  # all rows are the same: widths are 1 at any scale
        return first
    case.X, case.new = case.X * 2.0**power, case.new * 2.0**power
    second = case.outcome(model)
    if isinstance(first, Refusal) or isinstance(second, Refusal):
        # At the ends of the range the rows have squares, and a width below them has none.
        at_the_end = "no square" in str(getattr(second, "sentence", ""))
        assert at_the_end or type(first) is type(second), (first, second)
        return first
    for method, values in first.items():
        np.testing.assert_array_equal(second[method], values, err_msg=method)
    return second


# --- Tables ---------------------------------------------------------------------------------


@law(150, points=points(n=(4, 20), d=(1, 3, 8)), kind=st.sampled_from(LABELS), seed=TABLES["seed"])
def test_a_pipeline_of_a_table_answers_or_says_why_not(points, kind, seed):
    """Columns of numbers at any scale with gaps, categories and a date, then a classifier."""
    rng = np.random.default_rng((points.seed, 106))
    n = points.n
    frame = pd.DataFrame(points.rows(), columns=[f"x{i}" for i in range(points.d)])
    frame = frame.mask(rng.random(frame.shape) < 0.1 * (seed % 3))
    frame["group"] = rng.choice(["a", "b", "c"], n)
    frame["day"] = pd.Timestamp("2020-02-29") + pd.to_timedelta(rng.integers(0, 9999, n), unit="D")
    frame["class"] = np.array(["no", "yes"])[labels(kind, n, 2, points.seed)]

    def run():
        data = split_target(frame, "class")
        model = make_pipeline(make_preprocessor(data.columns), mercer.LaplacianClassifier())
        model.fit(data.X, data.y)
        return model.predict_proba(data.X), model[:-1].transform(data.X)

    out = answered(run, names=("class", "column", "X"))
    if isinstance(out, Refusal):
        return out
    shares, X = out
    assert np.isfinite(shares).all()
    assert np.isfinite(X).all()
    assert np.abs(X).max() <= 4
    return out
