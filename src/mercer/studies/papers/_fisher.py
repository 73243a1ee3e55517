"""Y. Xu, J.-y. Yang, J. Yang (2004): Tables 1 and 2, and the error along the nodes."""

from typing import Any

import numpy as np

from mercer._arrays import Array
from mercer.datasets import Dataset
from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.studies import _verdicts
from mercer.studies._model import Claim, Figure, Method, Outcome, Row, Study, Table, read_published
from mercer.studies._panels import Line, Panel, Points
from mercer.studies._task import Task

_ALPHA = 0.001  # the paper's μ, section 4
_EPSILON = 0.008  # the paper's ε is not printed; this one fits most of its counts
_MOST_NODES = 200

# Label, data set, significant nodes of Table 2.
_SETS = (
    ("Banana", "ida_banana", 62),
    ("B. Cancer", "ida_breast_cancer", 32),
    ("Diabetis", "ida_diabetis", 20),
    ("German", "ida_german", 24),
    ("Heart", "ida_heart", 27),
    ("Image", "ida_image", 60),
    ("F. Solar", "ida_flare_solar", 15),
    ("Splice", "ida_splice", 62),
    ("Thyroid", "ida_thyroid", 23),
    ("Titanic", "ida_titanic", 3),
)

# How N of eq. (6) is scaled, by the name of the option of the estimators.
_SCALES = {"class": "Σ Nᵢ/lᵢ", "total": "N/l", "sum": "N as printed"}


# What is fitted -----------------------------------------------------------------------------------


def _fit(task: Task, X: Array, y: Array) -> Any:
    """Fit what the options name; the width is that of these rows."""
    options = task.options
    if options["model"] == "self-tuned":
        return KernelFisherDiscriminant().fit(X, y)
    gamma = 0.5 / X.var(axis=0).sum()  # section 4: σ² is the variance of the training rows
    shared = {"penalty": "coef", "alpha": _ALPHA, "scatter": options["scatter"], "gamma": gamma}
    if options["model"] == "all rows":
        return KernelFisherDiscriminant(solver="exact", **shared).fit(X, y)
    return SparseKernelFisherDiscriminant(
        criterion="within",
        n_candidates=None,
        max_nodes=options["nodes"],
        tol=options.get("tol", 0.0),
        **shared,
    ).fit(X, y)


def _predict(task: Task, model: Any, X: Array, y: Array, B: Array) -> Array:
    """Predict rows of B: by the nearer class mean, or by the model's own threshold."""
    if task.options["threshold"] == "priors":
        return np.asarray(model.predict(B))
    train, new = model.transform(X)[:, 0], model.transform(B)[:, 0]  # eq. (21)
    means = [train[y == label].mean() for label in (0, 1)]  # eq. (22), with the α that it lacks
    return np.asarray(abs(new - means[1]) < abs(new - means[0]), dtype=int)


def _partitions(data: Dataset) -> tuple[Array, Array]:
    if data.train_idx is None or data.test_idx is None:
        raise ValueError(f"{data.name} has no partitions.")
    return data.train_idx, data.test_idx


# Methods ------------------------------------------------------------------------------------------


def first_partition(task: Task) -> Outcome:
    """Train on the first partition, test on the test parts of all (the paper's protocol)."""
    data = task.load()
    train_parts, test_parts = _partitions(data)
    train = train_parts[0]
    X, y = data.X[train], data.y[train]
    model = _fit(task, X, y)
    predicted = _predict(task, model, X, y, data.X)
    wrong = predicted != data.y
    seen = [np.isin(test, train).mean() for test in test_parts]
    return Outcome(
        values=[100 * wrong[test].mean() for test in test_parts],
        predictions={"truth": data.y.astype(np.uint8), "predicted": predicted.astype(np.uint8)},
        details={"test rows that were trained on, %": round(100 * float(np.mean(seen)), 1)},
    )


def own_partitions(task: Task) -> Outcome:
    """Train on some partitions, test each on its own test part."""
    data = task.load()
    train_parts, test_parts = _partitions(data)
    count = task.options["partitions"]
    numbers = range(task.replication * count, (task.replication + 1) * count)
    errors, kept, predictions, nodes = [], [], [], []
    for number in numbers:
        train, test = train_parts[number], test_parts[number]
        X, y = data.X[train], data.y[train]
        model = _fit(task, X, y)
        predicted = _predict(task, model, X, y, data.X[test])
        errors.append(100 * np.mean(predicted != data.y[test]))
        kept.append(test.astype(np.uint16))
        predictions.append(predicted.astype(np.uint8))
        nodes.append(len(model.support_))
    truth = data.y[np.array(kept)].astype(np.uint8)
    return Outcome(
        values=errors,
        predictions={"rows": np.array(kept), "truth": truth, "predicted": np.array(predictions)},
        details={"first partition": numbers[0] + 1, "terms": float(np.mean(nodes))},
    )


def count_nodes(task: Task) -> Outcome:
    """Count the nodes that a stop rule takes on the first partition."""
    data = task.load()
    train = _partitions(data)[0][0]
    model = _fit(task, data.X[train], data.y[train])
    if task.options["rule"] == "ten gains":
        return Outcome(values=float(model.n_nodes_))
    return Outcome(values=float(stop_at(model.criterion_path_, task.options["epsilon"])))


def stop_at(criterion: Array, epsilon: float) -> int:
    """Return the first s with |J_s − J_{s−1}| < ε, as printed; all nodes where there is none."""
    small = np.flatnonzero(np.abs(np.diff(criterion)) < epsilon)
    return int(small[0]) + 2 if len(small) else len(criterion)


# Figure -------------------------------------------------------------------------------------------


def along_nodes(task: Task) -> list[Panel]:
    """Draw error and criterion along the nodes, each partition with its own test part."""
    data = task.load()
    train_parts, test_parts = _partitions(data)
    count, published = task.options["partitions"], task.options["published"]
    curves, criteria, exact = [], [], []
    for train, test in zip(train_parts[:count], test_parts[:count], strict=True):
        X, y = data.X[train], data.y[train]
        model = _fit(task, X, y)
        staged = model.staged_predict(data.X[test])
        curves.append([100 * np.mean(predicted != data.y[test]) for predicted in staged])
        criteria.append(model.criterion_path_)
        shared = {key: getattr(model, key) for key in ("penalty", "alpha", "scatter", "gamma")}
        every = KernelFisherDiscriminant(**shared).fit(X, y)
        exact.append(100 * np.mean(every.predict(data.X[test]) != data.y[test]))
    s = np.arange(1, len(curves[0]) + 1)
    error = np.mean(curves, axis=0)
    return [
        Panel(
            title=f"Test error on {task.options['label']}",
            x_label="significant nodes",
            y_label="% error",
            layers=[
                Line(x=s, y=error, spread=np.std(curves, axis=0, ddof=1), label="on the nodes"),
                Line(
                    x=s[[0, -1]], y=[np.mean(exact)] * 2, label="on all rows",
                    colour=1, dashed=True,
                ),
                Points(
                    x=[published], y=[error[published - 1]], label="published number of nodes",
                    colour=2, marker="ring",
                ),
            ],
        ),
        Panel(
            title="Fisher's criterion on training rows",
            x_label="significant nodes",
            y_label="J",
            layers=[Line(x=s, y=np.mean(criteria, axis=0), label="J")],
        ),
    ]  # fmt: skip


# Data ---------------------------------------------------------------------------------------------


def _rows(with_nodes: bool) -> tuple[Row, ...]:
    """Return the ten sets: ten jobs of ten partitions, or of two where there are but 20."""
    return tuple(
        Row(
            label=label,
            dataset=name,
            replications=10,
            options={
                "partitions": 2 if label in ("Image", "Splice") else 10,
                **({"nodes": nodes} if with_nodes else {}),
            },
        )
        for label, name, nodes in _SETS
    )


def _both_protocols(model: str) -> tuple[Method, ...]:
    """Return every scale of N under both protocols."""
    methods = []
    for scatter, reading in _SCALES.items():
        options = {"model": model, "scatter": scatter, "threshold": "nearest mean"}
        shared: dict[str, Any] = {
            "columns": ("Error rate",), "reading": reading, "options": options
        }  # fmt: skip
        methods += [
            # One fit, test parts that overlap: no standard error tells how far another fit is.
            Method(
                run=first_partition,
                protocols=("paper",),
                replications=1,
                independent=False,
                **shared,
            ),
            Method(run=own_partitions, protocols=("honest",), quick={"partitions": 2}, **shared),
        ]
    return tuple(methods)


def _ours(column: str, reading: str = "", **options: Any) -> Method:
    return Method(
        columns=(column,),
        run=own_partitions,
        reading=reading,
        protocols=("honest",),
        options={"scatter": "total", "threshold": "priors", **options},
        quick={"partitions": 2},
    )


_ONE_FIT = "One fit: the published ± is that of overlapping test parts, not of fits."
_LATER = "The published first partition is not in the folder of data sets; this one is later."
_REASONS = {
    ("*", "*"): _ONE_FIT,
    **{(label, "*"): _LATER for label in ("Diabetis", "F. Solar", "Splice", "Thyroid")},
}

_NOTE = (
    "The scale of N decides what μ = 0.001 means. Class-wise, Σ Nᵢ/lᵢ, comes nearest to the paper; "
    "with N of eq. (6) as printed μ is weak, and on all rows seven errors of ten are 2 to 11 "
    "points below the published ones. "
    "σ² is the sum of the variances of all columns. "
    "Identical rows of one class have one α between them; with one for each row, as in (10), "
    "errors of Table 1 differ by at most 0.4 points (F. Solar has 110 distinct rows among 666). "
    "Eq. (22) lacks α: a class mean is the mean of f over the class. "
    "Diabetis, F. Solar, Splice and Thyroid have no original first partition here."
)

TABLE_1 = Table(
    key="1",
    title="Kernel Fisher discriminant on all training rows",
    unit="% error",
    better="lower",
    rows=_rows(with_nodes=False),
    methods=(
        *_both_protocols("all rows"),
        _ours("Prior-corrected threshold", "N/l", model="all rows"),
        _ours("Self-tuned", model="self-tuned"),
    ),
    published=read_published("""
                  | Error rate
        Banana    | 13.7 ± 0.1
        B. Cancer | 22.7 ± 4.4
        Diabetis  | 22.1 ± 1.9
        German    | 21.3 ± 2.1
        Heart     | 11.5 ± 2.8
        Image     | 9.0 ± 0.5
        F. Solar  | 32.2 ± 1.6
        Splice    | 11.0 ± 0.5
        Thyroid   | 1.8 ± 1.1
        Titanic   | 25.5 ± 0.3
    """),
    reasons=_REASONS,
    note=(
        f"{_NOTE} Self-tuned: kernel, scales of columns, width and ridge by leave-one-out, priors "
        "in the threshold."
    ),
)

TABLE_2 = Table(
    key="2",
    title="Reformative kernel Fisher discriminant on significant nodes",
    unit="% error",
    better="lower",
    rows=_rows(with_nodes=True),
    methods=(
        *_both_protocols("nodes"),
        _ours("Prior-corrected threshold", "N/l", model="nodes"),
        _ours(
            "Stop rule",
            f"Σ Nᵢ/lᵢ, ten gains below 10 ε, ε = {_EPSILON}",
            model="nodes",
            scatter="class",
            threshold="nearest mean",
            nodes=_MOST_NODES,
            tol=_EPSILON,
        ),
    ),
    published=read_published("""
                  | Error rate
        Banana    | 13.3 ± 0.1
        B. Cancer | 24.7 ± 4.1
        Diabetis  | 23.5 ± 1.9
        German    | 26.2 ± 2.0
        Heart     | 10.8 ± 2.6
        Image     | 11.4 ± 0.6
        F. Solar  | 33.3 ± 1.6
        Splice    | 13.7 ± 0.4
        Thyroid   | 4.11 ± 1.8
        Titanic   | 25.4 ± 0.3
    """),
    reasons=_REASONS,
    note=f"{_NOTE} Methods are given the published number of nodes; only the stop rule counts.",
)

TABLE_2_NODES = Table(
    key="2 (nodes)",
    title="Number of significant nodes by a stop rule",
    unit="nodes",
    better=None,
    rows=tuple(Row(label=label, dataset=name) for label, name, _ in _SETS),
    methods=tuple(
        Method(
            columns=("“Significant nodes”",),
            run=count_nodes,
            reading=f"{_SCALES[scatter]}, {rule} below {'10 ' * (rule == 'ten gains')}ε",
            options={
                "model": "nodes",
                "scatter": scatter,
                "nodes": _MOST_NODES,
                "rule": rule,
                "epsilon": _EPSILON,
                "tol": _EPSILON if rule == "ten gains" else 0.0,
            },
        )
        for scatter, rule in (("class", "one gain"), ("class", "ten gains"), ("sum", "one gain"))
    ),
    published=read_published(
        "\n".join(["| “Significant nodes”", *(f"{label} | {n}" for label, _, n in _SETS)])
    ),
    reasons={("*", "*"): "ε is not printed, and no single value gives all counts."},
    note=(
        f"First training part, ε = {_EPSILON}. The paper stops at one gain below ε. "
        "Gains are not monotone: Mercer stops where ten add up to less than 10 ε, without these. "
        "Four of the ten published counts are 16 % of the rows, the largest share in the table."
    ),
)

STUDY = Study(
    name="fisher",
    title="A reformative kernel Fisher discriminant analysis",
    reference=(
        "Y. Xu, J.-y. Yang, J. Yang (2004). A reformative kernel Fisher discriminant analysis. "
        "Pattern Recognition 37, 1299–1302. https://doi.org/10.1016/j.patcog.2003.10.006"
    ),
    tables=(TABLE_1, TABLE_2, TABLE_2_NODES),
    figures=(
        Figure(
            key="nodes",
            title="Error along the nodes (ours)",
            caption=(
                "Not in the paper. Ten partitions of Banana, each tested on its own test part; "
                "N over the number of rows, μ = 0.001, priors in the threshold. "
                "The band is one deviation over partitions."
            ),
            run=along_nodes,
            dataset="ida_banana",
            options={
                "model": "nodes",
                "scatter": "total",
                "nodes": 120,
                "partitions": 10,
                "published": 62,
                "label": "Banana",
            },
        ),
    ),
    missing={
        "Original partitions": (
            "Their archive was public; in the folder of data sets are the first ten partitions of "
            "most sets, and none of Diabetis, F. Solar, Splice and Thyroid."
        ),
        "ε of the stop rule": "The paper does not print it.",
    },
    protocol={
        "paper": (
            "Train on the first partition, test on the test parts of all. "
            "So many test rows were trained on: 71 % of them on B. Cancer, 6 % on Titanic."
        ),
        "honest": "Train on each partition, test on its own test part.",
    },
    claims=(
        Claim(
            said="Error rates on significant nodes are close to those on all training rows.",
            where="section 4, Tables 1 and 2",
            judge=_verdicts.nodes_are_as_good,
        ),
        Claim(
            said="At most 16 % of the training rows are significant nodes.",
            where="section 4, Table 2",
            judge=_verdicts.nodes_are_few,
        ),
    ),
)
