"""The study of the LSVA paper: what is printed, and what its jobs do."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from mercer.datasets import load_dataset
from mercer.graphs import heat_affinity, laplacian, neighbor_graph, symmetrize
from mercer.projections import (
    LaplacianEigenmaps,
    LaplacianSupportVectorAnalysis,
    LocalityPreservingProjection,
)
from mercer.projections._svm import solve_svm
from mercer.studies import Published, Row, Task, load_study
from mercer.studies.experiments import _subspaces as subspaces
from mercer.studies.papers import _lsva as paper

STUDY = load_study("lsva")
TABLES = {table.key: table for table in STUDY.tables}
METHODS = [method for table in STUDY.tables for method in table.methods]


def task_of(dataset, protocol="paper", replication=0, seed=11, **options):
    row = Row(label=dataset, dataset=dataset)
    return Task(row=row, protocol=protocol, replication=replication, seed=seed, options=options)


def by_variant(method, protocol, outcome):
    """The values of an outcome by the fields that its method names, which must be all of them."""
    fields = method.fields(protocol)
    if isinstance(outcome.values, dict):
        assert tuple(outcome.values) == fields
        return outcome.values
    assert len(fields) == 1
    return {fields[0]: outcome.values}


def published_winner(key, row):
    cells = {c: p.value for (r, c), p in TABLES[key].published.items() if r == row}
    return {column for column, value in cells.items() if value == min(cells.values())}


# What is printed ---------------------------------------------------------------------------------


def test_every_printed_cell_is_there():
    counts = {key: len(TABLES[key].published) for key in ("I", "II", "III", "IV")}
    assert counts == {"I": 9 * 6, "II": 9 * 6, "III": 11 * 5, "IV": 11 * 5}
    for key in counts:
        labels = {row.label for row in TABLES[key].rows}
        assert labels == {row for row, _ in TABLES[key].published}
        filled = {column for method in TABLES[key].methods for column in method.columns}
        assert {column for _, column in TABLES[key].published} <= filled


def test_cells_are_as_printed():
    assert TABLES["I"].published["Sonar", "LLSVA"] == Published(16.97, None, 45)
    assert TABLES["II"].published["German", "KLSVA"] == Published(28.6)
    assert TABLES["III"].published["Wine", "LLSVA"] == Published(0.0, None, 8)
    assert TABLES["IV"].published["Vowel", "KPCA"] == Published(2.12, None, 10)
    for key in ("III", "IV"):
        cells = TABLES[key].published
        for column in {column for _, column in cells}:
            assert cells["Soy (683 rows)", column] == cells["Soy (307 rows)", column]


def test_the_text_counts_the_same_winners():
    """Section IV: KLSVA is best but for German and Liver, Ecoli and Wine."""
    lost = [r.label for r in TABLES["II"].rows if "KLSVA" not in published_winner("II", r.label)]
    assert lost == ["German", "Liver"]
    lost = [r.label for r in TABLES["IV"].rows if "KLSVA" not in published_winner("IV", r.label)]
    assert lost == ["Ecoli", "Wine"]
    for first, second in (("I", "II"), ("III", "IV")):
        for row in TABLES[first].rows:
            nearest = [TABLES[key].published[row.label, "1-NN"] for key in (first, second)]
            assert nearest[0] == nearest[1]


def test_reasons_and_rows_name_what_exists():
    for table in STUDY.tables:
        labels = {row.label for row in table.rows}
        columns = {column for method in table.methods for column in method.columns}
        for row, column in table.reasons:
            assert row in labels | {"*"}
            assert column in columns | {"*"}
        readings = [(m.columns, one) for m in table.methods for one in m.readings("paper")]
        assert len(set(readings)) == len(readings)
    named = {row for method in METHODS for row in method.rows or ()}
    assert named <= {row.label for table in STUDY.tables for row in table.rows}


def test_a_full_run_has_the_grid_of_the_paper():
    full = [m for m in METHODS if m.columns[0] in ("LLSVA", "KLSVA")]
    assert {method.options["weights"] for method in full} == {30}
    weights = subspaces._weights({"weights": 30})
    assert (len(weights), weights[0], weights[-1]) == (30, pytest.approx(0.1), pytest.approx(100))
    assert subspaces._weights({}) == (0.0,)
    assert {row.replications for key in ("I", "II", "III", "IV") for row in TABLES[key].rows} == {5}


# What jobs do ------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["paper", "honest"])
@pytest.mark.parametrize("number", range(len(paper._KERNEL)))
def test_jobs_repeat_and_agree_with_their_predictions(number, protocol):
    method = paper._KERNEL[number]
    options = {**method.options, **({"weights": 2} if "weights" in method.options else {})}
    task = task_of("iris", protocol, **options)
    first = method.run(task)
    method.run(task_of("iris", protocol, replication=1, **options))
    again = method.run(task)
    values = by_variant(method, protocol, first)
    for field, repeated in by_variant(method, protocol, again).items():
        np.testing.assert_array_equal(values[field], repeated)
    kept = first.predictions
    np.testing.assert_array_equal(kept["predicted"], again.predictions["predicted"])
    np.testing.assert_array_equal(kept["truth"], load_dataset("iris").y[kept["rows"]])
    wrong = 100 * (kept["predicted"] != kept["truth"]).mean(axis=-1)
    own = next(iter(values.values()))
    np.testing.assert_allclose(np.ravel(own), np.ravel(wrong))
    if protocol == "paper" and method.columns != ("1-NN",):
        assert np.shape(own) == (1, 4)
    else:
        assert np.shape(own) == ()
    if subspaces.ALL_FOLDS in values:  # every weight and dimension; the best weights are the above
        assert np.shape(values[subspaces.ALL_FOLDS]) == (1, 2, 4)
        np.testing.assert_array_equal(values[subspaces.ALL_FOLDS].min(axis=1), own)


def test_replications_are_the_folds_of_one_partition():
    rows = [
        subspaces.run_nearest(task_of("wine", replication=k, seed=k)).predictions["rows"]
        for k in range(5)
    ]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(178))
    again = subspaces.run_projection(
        task_of("wine", replication=2, seed=99, method="PCA")
    ).predictions["rows"]
    np.testing.assert_array_equal(again, rows[2])


def scaled(dataset, replication, honest=False):
    data = load_dataset(dataset)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    a, b = list(folds.split(data.X, data.y))[replication]
    X = MinMaxScaler((-1, 1)).fit(data.X[a] if honest else data.X).transform(data.X)
    return X[a], data.y[a], X[b], data.y[b]


@pytest.mark.parametrize(
    ("method", "model"), [("PCA", PCA()), ("LDA", LinearDiscriminantAnalysis())]
)
def test_errors_by_dimension_are_those_of_the_estimators(method, model):
    A, ya, B, yb = scaled("wine", 3)
    model.fit(A, ya)
    Za, Zb = model.transform(A), model.transform(B)
    values = subspaces.run_projection(task_of("wine", replication=3, method=method)).values[0]
    assert len(values) == 13
    for k, value in enumerate(values):
        k = min(k + 1, Za.shape[1])
        nearest = KNeighborsClassifier(1).fit(Za[:, :k], ya)
        assert value == pytest.approx(100 * (1 - nearest.score(Zb[:, :k], yb)))


def lsva_errors(A, ya, B, yb, weight, width):
    """Errors by dimension, from the estimators themselves."""
    lsva = LaplacianSupportVectorAnalysis(
        n_components=width, kernel="rbf", gamma=0.1, laplacian_weight=weight, affinity_width=1.0
    ).fit(A, ya)
    Za, Zb = lsva.transform(A), lsva.transform(B)
    return [
        100 * (1 - KNeighborsClassifier(1).fit(Za[:, :k], ya).score(Zb[:, :k], yb))
        for k in range(1, width + 1)
    ]


def test_paper_takes_the_best_weight_of_the_test_fold_in_every_dimension():
    parts = scaled("iris", 1)
    task = task_of("iris", replication=1, method="LSVA", weights=3, gamma=0.1)
    values = subspaces.run_projection(task).values
    weights = (0.1, 10**0.5, 100)
    each = [lsva_errors(*parts, w, 4) for w in weights]
    np.testing.assert_allclose(values[subspaces.EACH_FOLD], [np.min(each, axis=0)])
    np.testing.assert_allclose(values[subspaces.ALL_FOLDS], [each])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_line_11_as_printed_projects_on_normal_vectors_of_their_own_lengths(loss):
    """X·W with W from the machines themselves: successive linear SVMs in what is left of X."""
    A, ya, B, yb = scaled("wine", 2)
    task = task_of("wine", replication=2, method="LSVA", weights=2, loss=loss, dimensions=3)
    values = subspaces.run_projection(task).values
    assert tuple(values) == tuple(paper._BY_KERNEL + paper._AS_PRINTED)
    errors = []
    for weight in (0.1, 100.0):
        W = normal_vectors(A, ya, weight, 3, loss)
        ranked = [KNeighborsClassifier(1).fit(A @ W[:, :k], ya) for k in (1, 2, 3)]
        errors.append([100 * (1 - m.score(B @ W[:, :k], yb)) for k, m in enumerate(ranked, 1)])
    np.testing.assert_allclose(values[subspaces.ALL_FOLDS_PRINTED], [errors])
    np.testing.assert_allclose(values[subspaces.EACH_FOLD_PRINTED], [np.min(errors, axis=0)])


def normal_vectors(A, y, weight, count, loss):
    """Algorithm 1 step by step with P and A as printed; w is not divided by its length."""
    graph = neighbor_graph(A, n_neighbors=10)
    L = laplacian(symmetrize(heat_affinity(graph, width=1.0), "or")).toarray()
    d = A.shape[1]
    W, P = np.zeros((d, 0)), np.eye(d)
    for k in range(count):
        X = A @ P
        penalty = np.linalg.inv(np.eye(d) + weight * X.T @ L @ X)
        R = np.linalg.cholesky(penalty)
        signs = np.where(y == k, 1.0, -1.0)  # the classes have their turns
        c, _ = solve_svm(X @ R, signs, C=100.0, loss=loss, M=None, tol=1e-8)
        w = P @ penalty @ X.T @ c
        W = np.column_stack([W, w])
        unit = w / np.linalg.norm(w)
        P = P @ (np.eye(d) - np.outer(unit, unit))
    return W


def test_honest_chooses_on_training_rows_alone():
    task = task_of("iris", "honest", replication=1, method="LSVA", weights=3, gamma=0.1)
    outcome = subspaces.run_projection(task)
    A, ya, B, yb = scaled("iris", 1, honest=True)
    weights = (0.1, 10**0.5, 100)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=task.seed).split(A, ya))
    surface = np.mean(
        [[lsva_errors(A[a], ya[a], A[b], ya[b], w, 4) for w in weights] for a, b in folds],
        axis=0,
    )
    at, k = np.unravel_index(surface.argmin(), surface.shape)
    assert outcome.details == {"dimension": k + 1, "weight": pytest.approx(weights[at], rel=1e-3)}
    final = lsva_errors(A, ya, B, yb, weights[at], 4)[k]
    assert outcome.values == pytest.approx(final)


def test_honest_choices_see_three_folds_of_scaled_training_rows(monkeypatch):
    seen = {}

    def record(fit, part, width, **rest):
        seen.update(X=part.X_train, y=part.y_train, **rest)
        return np.array([[1.0, 0.0, 2.0, 3.0]])

    monkeypatch.setattr(subspaces, "nested_surface", record)
    outcome = subspaces.run_projection(task_of("iris", "honest", replication=2, method="PCA"))
    assert outcome.details == {"dimension": 2}
    assert (seen["folds"], seen["seed"], seen["neighbors"]) == (3, 11, 1)
    A, ya, _, _ = scaled("iris", 2, honest=True)
    np.testing.assert_allclose(seen["X"], A)
    np.testing.assert_array_equal(seen["y"], ya)


def test_scale_is_that_of_all_rows_or_of_training_rows():
    for k in range(5):
        every, training = (subspaces._fold(task_of("iris", p, k)) for p in ("paper", "honest"))
        both = np.vstack([every.X_train, every.X_test])
        for X in (both, training.X_train):
            np.testing.assert_allclose([X.min(axis=0), X.max(axis=0)], [[-1] * 4, [1] * 4])
    outside = [np.abs(subspaces._fold(task_of("iris", "honest", k)).X_test).max() for k in range(5)]
    assert max(outside) > 1


def test_methods_have_the_graph_and_price_of_the_paper():
    A, ya, B, _ = scaled("wine", 0)
    graph = {"n_neighbors": 10, "affinity_width": 1.0}
    lsva = LaplacianSupportVectorAnalysis(n_components=2, C=100, laplacian_weight=100.0, **graph)
    models = {
        "LSVA": lsva,
        "LPP": LocalityPreservingProjection(n_components=2, **graph),
        "eigenmaps": LaplacianEigenmaps(n_components=2, **graph),
    }
    for method, model in models.items():
        (fitted,) = subspaces._fit(A, ya, 2, {"method": method}, (100.0,))
        np.testing.assert_allclose(fitted.transform(B), model.fit(A, ya).transform(B), atol=1e-8)


def test_where_no_direction_is_found_the_larger_class_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.repeat([0, 1], [65, 15])
    models = subspaces._fit_lsva(X, y, 2, {}, (0.1, 100.0))
    assert [model.transform(X).shape for model in models] == [(80, 0), (80, 0)]


def test_other_errors_are_not_hidden():
    X = np.zeros((10, 2))
    with pytest.raises(ValueError, match="two classes"):
        subspaces._fit_lsva(X, np.zeros(10, dtype=int), 2, {}, (0.1,))


# Few labels --------------------------------------------------------------------------------------


def test_few_labels_learn_from_a_tenth_and_are_tested_on_new_rows():
    task = task_of("wine", gamma=0.1, dimensions=3, graph="all rows", weights=2)
    part, hidden = subspaces._few_labels(task)
    assert (len(part.y_train), len(hidden), len(part.y_test)) == (12, 112, 54)
    outcome = subspaces.run_few_labels(task)
    values = outcome.values[subspaces.EACH_FOLD]
    assert values.shape == (1, 3)

    data = load_dataset("wine")
    outer = StratifiedShuffleSplit(1, test_size=0.3, random_state=task.seed)
    train, test = next(outer.split(data.X, data.y))
    np.testing.assert_array_equal(outcome.predictions["rows"], test)
    # A row with a label and one without it are never the same one.
    X = MinMaxScaler((-1, 1)).fit(data.X[train]).transform(data.X)
    rows = np.vstack([part.X_train, hidden])
    np.testing.assert_allclose(np.sort(rows.sum(axis=1)), np.sort(X[train].sum(axis=1)))
    labels = np.append(part.y_train, np.full(len(hidden), -1))
    each = []
    for weight in (0.1, 100):
        lsva = LaplacianSupportVectorAnalysis(
            n_components=3, kernel="rbf", gamma=0.1, laplacian_weight=weight, affinity_width=1.0
        ).fit(rows, labels)
        Za, Zb = lsva.transform(part.X_train), lsva.transform(part.X_test)
        models = [KNeighborsClassifier(1).fit(Za[:, :k], part.y_train) for k in (1, 2, 3)]
        rates = [m.score(Zb[:, :k], data.y[test]) for k, m in enumerate(models, start=1)]
        each.append([100 * (1 - rate) for rate in rates])
    # In the first dimension rows of several classes lie on one margin: rounding decides there.
    np.testing.assert_allclose(values[0, 1:], np.min(each, axis=0)[1:])


def test_few_labels_without_the_graph_see_labelled_rows_only():
    options = {"gamma": 0.1, "dimensions": 2, "graph": "labelled rows"}
    outcome = subspaces.run_few_labels(task_of("wine", "honest", **options))
    part, _ = subspaces._few_labels(task_of("wine"))
    errors = lsva_errors(part.X_train, part.y_train, part.X_test, part.y_test, 0, 2)
    assert outcome.values == pytest.approx(errors[outcome.details["dimension"] - 1])
    nearest = KNeighborsClassifier(1).fit(part.X_train, part.y_train)
    assert subspaces.run_few_labels_nearest(task_of("wine")).values == pytest.approx(
        100 * (1 - nearest.score(part.X_test, part.y_test))
    )


@pytest.mark.data
def test_unlabelled_rows_help():
    """What the Laplacian term is for: the graph of rows without labels."""
    errors = {}
    for graph in ("labelled rows", "all rows"):
        options = {"gamma": 0.1, "dimensions": 10, "graph": graph, "weights": 4}
        found = [
            subspaces.run_few_labels(task_of("ionosphere", seed=s, **options)).values
            for s in range(4)
        ]
        errors[graph] = np.mean([one[subspaces.EACH_FOLD] for one in found], axis=0).min()
    assert errors["all rows"] < errors["labelled rows"] - 1


# Figures and real data ---------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("number", "titles"),
    [(0, ["LLSVA", "LDA", "PCA", "LPP"]), (1, ["KLSVA", "KDA", "KPCA", "LE"])],
)
def test_figures_show_every_patient_in_four_maps(number, titles):
    figure = STUDY.figures[number]
    row = Row(label=figure.key, dataset=figure.dataset)
    task = Task(row=row, protocol="either", replication=0, seed=1, options=figure.options)
    panels = figure.run(task)
    assert [panel.title for panel in panels] == titles
    for panel in panels:
        assert [len(points.x) for points in panel.layers] == [150, 35, 30]
        assert len({points.label for points in panel.layers}) == 3
        assert all(np.isfinite([*points.x, *points.y]).all() for points in panel.layers)
    again = [panel.as_json() for panel in figure.run(task)]
    assert again == [panel.as_json() for panel in panels]


@pytest.mark.data
@pytest.mark.parametrize("dataset", ["ecoli", "transfusion"])
@pytest.mark.parametrize("protocol", ["paper", "honest"])
def test_rows_with_rare_classes_and_with_no_direction_run_without_warnings(dataset, protocol):
    for method, options in [
        ("LSVA", {"weights": 2}),
        ("LDA", {}),
        ("KDA", {"gamma": 0.5}),
        ("kernel LPP", {"gamma": 0.5}),
        ("eigenmaps", {}),
    ]:
        task = task_of(dataset, protocol, method=method, **options)
        values = subspaces.run_projection(task).values
        values = values.values() if isinstance(values, dict) else [values]
        assert all(0 < np.min(each) < 60 for each in values)
