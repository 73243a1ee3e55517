"""The study of the Laplacian classifier: what is printed, and what its jobs compute."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from mercer import LaplacianClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.studies import Points, Raster, Row, Task
from mercer.studies.experiments._holdout import holdout
from mercer.studies.experiments._laplacian_figures import imbalanced_draw
from mercer.studies.experiments._plane import ring, two_gaussians
from mercer.studies.papers._laplacian import (
    STUDY,
    count_echocardiogram,
    count_gaussians,
    run_fisher,
    run_fixed_svm,
    run_gaussian_process,
    run_laplacian,
    run_parzen,
    run_svm,
)

TABLES = {table.key: table for table in STUDY.tables}
FIGURES = {figure.key: figure for figure in STUDY.figures}
COUNTS = ("ω₁ω̂₁", "ω₁ω̂₂", "ω₂ω̂₁", "ω₂ω̂₂")


def task_of(table, row, column, *, reading="", protocol="either", **options):
    """The first job of a cell, as the runner makes it."""
    found = next(r for r in TABLES[table].rows if r.label == row)
    method = next(m for m in TABLES[table].methods if column in m.columns and m.reading == reading)
    settings = {**found.options, **method.options, **options}
    task = Task(row=found, protocol=protocol, replication=0, seed=5, options=settings)
    return method.run, task


def run(*cell, **options):
    function, task = task_of(*cell, **options)
    return function(task)


# What is printed ---------------------------------------------------------------------------------


def test_every_published_cell_has_a_row_and_a_method():
    for table in STUDY.tables:
        for row, column in table.published:
            methods = [m for m in table.methods if column in m.columns]
            assert any(m.rows is None or row in m.rows for m in methods), (row, column)
            assert any(r.label == row for r in table.rows)
        for row, column in table.reasons:
            assert row == "*" or any(r.label == row for r in table.rows)
            assert column == "*" or any(column in m.columns for m in table.methods)
    cells = {key: len(table.published) for key, table in TABLES.items()}
    assert cells == {
        "I–III": 12, "IV–V": 8, "VI": 18, "VII": 29, "Kernel sizes": 18, "USPS": 2, "Fig. 3": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("key", "sizes"), [("I–III", (10, 200)), ("IV–V", (12, 30))])
def test_counts_add_up_to_the_test_sets(key, sizes):
    table = TABLES[key]
    for row in table.rows:
        a, b, c, d = (table.published[row.label, column].value for column in COUNTS)
        assert (a + b, c + d) == sizes


def test_what_the_text_says_of_the_tables():
    first, sixth, seventh = (TABLES[key].published for key in ("I–III", "VI", "VII"))
    # "it misclassifies only 9 data points", "38 erroneously classified class one data points"
    parzen = [first["Parzen window Bayes", column].value for column in COUNTS]
    assert parzen[1] + parzen[2] == 9
    assert first["Laplacian", "ω₂ω̂₁"].value == 38
    # Bold entries: the better of Laplacian and SVM.
    best = {row: max(("σ̃_cv Laplacian", "Rätsch SVM"), key=lambda c: sixth[row, c].value)
            for row in ("Banana", "Thyroid", "Image", "Twonorm")}  # fmt: skip
    assert [row for row in best if best[row] == "Rätsch SVM"] == ["Image"]
    for width, winners in (("σ̃_cv", {"WBC"}), ("σ̃_mise", {"Wine", "Iris", "Ionos", "WBC", "Pima"})):
        columns = (f"{width} Laplacian", f"{width} SVM")
        won = {
            row.label
            for row in TABLES["VII"].rows
            if seventh[row.label, columns[0]].value > seventh[row.label, columns[1]].value
        }
        assert won == winners
    wine = seventh["Wine", "σ̃_mise SVM"]
    assert (wine.value, wine.spread) == (58.5, 11.4)
    assert sixth["Image", "KFDA"].value == 95.8
    assert sixth["Thyroid", "KFDA"].spread == 0.6


def test_listed_widths_are_those_of_the_text():
    listed = {row.label: row.options["listed"] for row in TABLES["VII"].rows}
    assert listed["Wine"] == {"laplacian": 2.3, "svm": 3.0}
    assert listed["Pen"] == {"laplacian": 0.3, "svm": 3.0}
    sizes = TABLES["Kernel sizes"].published
    assert [sizes[row.label, "σ̃_mise"].value for row in TABLES["VII"].rows] == [
        1.0, 0.7, 1.1, 0.7, 0.7, 0.8,
    ]  # fmt: skip
    assert [sizes["Pima", c].value for c in ("σ̃_cv Laplacian", "σ̃_cv SVM")] == [1.1, 10.0]


def test_all_replications_of_the_paper():
    assert [row.replications for row in TABLES["VI"].rows] == [100, 100, 20, 100]
    assert {row.replications for row in TABLES["VII"].rows} == {100}
    assert all(m.replications is None for t in STUDY.tables for m in t.methods)


# Confusion ---------------------------------------------------------------------------------------


def literal_scores(name, X, y, new):
    """γ_c of (18)–(19), or the sums of (20), by the formulas."""
    h = silverman_bandwidth(X)

    def window(A, B, width):
        squares = ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2)
        return np.exp(-squares / (2 * width**2)) / (2 * np.pi * width**2)

    if name == "parzen":
        return np.column_stack([window(new, X[y == c], h).sum(axis=1) for c in (0, 1)])
    alpha = window(X, X, h).mean(axis=1) ** -0.5
    scores = []
    for c in (0, 1):
        A, a = X[y == c], alpha[y == c]
        V = np.sqrt(a @ window(A, A, np.sqrt(2) * h) @ a)
        scores.append(window(new, A, np.sqrt(2) * h) @ a / V)
    return np.column_stack(scores)


@pytest.mark.parametrize(
    ("row", "name"), [("Parzen window Bayes", "parzen"), ("Laplacian", "laplacian")]
)
def test_confusion_is_that_of_the_printed_rule(row, name):
    outcome = run("I–III", row, "ω₁ω̂₁", draws=4)
    for draw in range(4):
        X, y, new, truth = imbalanced_draw(np.random.default_rng([5, draw]))
        assert (np.bincount(y).tolist(), np.bincount(truth).tolist()) == ([5, 100], [10, 200])
        predicted = literal_scores(name, X, y, new).argmax(axis=1)
        assert np.array_equal(predicted, outcome.predictions["predicted"][draw])
        for k, column in enumerate(COUNTS):
            wanted = np.sum((truth == k // 2) & (predicted == k % 2))
            assert outcome.values[column][draw] == wanted


def test_confusion_of_the_svm_is_that_of_a_hard_margin():
    outcome = run("I–III", "SVM", "ω₁ω̂₁", draws=8)
    for draw in range(8):
        X, y, new, _ = imbalanced_draw(np.random.default_rng([5, draw]))
        machine = SVC(C=1e6, gamma=1 / (4 * silverman_bandwidth(X) ** 2)).fit(X, y)
        assert machine.score(X, y) == 1
        assert np.array_equal(machine.predict(new), outcome.predictions["predicted"][draw])


def test_the_gaussians_are_those_of_the_text():
    X, y = two_gaussians(np.random.default_rng(0), 4000, 8000)
    for c, mean in enumerate((0.6, 2.0)):  # the rare class, the common one
        np.testing.assert_allclose(X[y == c].mean(axis=0), mean, atol=0.08)
        np.testing.assert_allclose(np.cov(X[y == c].T), np.eye(2), atol=0.1)


def test_more_draws_begin_with_the_same():
    few, many = (run("I–III", "Laplacian", "ω₁ω̂₁", draws=n) for n in (2, 5))
    for column in COUNTS:
        assert np.array_equal(few.values[column], many.values[column][:2])


@pytest.mark.data
@pytest.mark.parametrize("protocol", ["paper", "honest"])
@pytest.mark.parametrize(
    ("row", "name"), [("Parzen window Bayes", "parzen"), ("Laplacian", "laplacian")]
)
def test_echocardiogram_is_drawn_in_the_shape_of_the_paper(row, name, protocol):
    function, task = task_of("IV–V", row, "ω₁ω̂₁", protocol=protocol, draws=3)
    assert function is count_echocardiogram
    outcome = function(task)
    data = task.load()
    first, last = (data.feature_names.index(f) for f in ("age", "mult"))
    X = data.X[:, first : last + 1]
    assert X.shape[1] == 8
    alive = np.array(data.target_names)[data.y] == "alive"
    for draw in range(3):
        rng = np.random.default_rng([task.seed, draw])
        rare, common = rng.permutation(np.flatnonzero(alive)), rng.permutation(np.where(~alive)[0])
        train, test = np.r_[rare[:3], common[:7]], np.r_[rare[3:15], common[7:37]]
        assert (len(train), len(test)) == (10, 42)
        by = X if protocol == "paper" else X[train]
        Z = (X - by.mean(axis=0)) / np.where(by.std(axis=0) > 0, by.std(axis=0), 1)
        predicted = literal_scores(name, Z[train], ~alive[train], Z[test]).argmax(axis=1)
        assert np.array_equal(predicted, outcome.predictions["predicted"][draw])
        assert outcome.values["ω₁ω̂₁"][draw] == np.sum(predicted[:12] == 0)
        assert outcome.values["ω₂ω̂₁"][draw] == np.sum(predicted[12:] == 0)


# Rates -------------------------------------------------------------------------------------------


def literal(task, model):
    part = holdout(task, scale=True)
    predicted = model.fit(part.X_train, part.y_train).predict(part.X_test)
    return 100 * np.mean(predicted == part.y_test)


@pytest.mark.parametrize("protocol", ["paper", "honest"])
def test_laplacian_at_silvermans_width(protocol):
    function, task = task_of("VII", "Wine", "σ̃_mise Laplacian", protocol=protocol)
    h = silverman_bandwidth(holdout(task, scale=True).X_train)
    assert function(task).values == literal(task, LaplacianClassifier(bandwidth=h))


def test_the_papers_width_is_the_listed_one():
    function, task = task_of("VII", "Wine", "σ̃_cv Laplacian", protocol="paper")
    outcome = function(task)
    assert outcome.details["bandwidth"] == pytest.approx(2.3 / np.sqrt(2))
    assert outcome.values == literal(task, LaplacianClassifier(bandwidth=2.3 / np.sqrt(2)))


@pytest.mark.parametrize("column", ["σ̃_cv Laplacian", "σ̃_cv SVM"])
def test_an_honest_choice_does_not_know_the_test_rows(column):
    """Other values and labels in the test half change nothing of what is chosen."""
    function, task = task_of("VII", "Wine", column, protocol="honest", C=[1.0, 100.0])

    class Spoilt(Task):
        def load(self, name=None):
            data = super().load(name)
            rows = holdout(task, scale=False).rows
            X, y = data.X.copy(), data.y.copy()
            X[rows], y[rows] = X[rows][::-1] * 3, 2 - y[rows]
            return replace(data, X=X, y=y)

    spoilt = function(Spoilt(**vars(task)))
    plain = function(task)
    assert plain.details == spoilt.details
    assert plain.values != spoilt.values


def test_the_svm_has_the_width_it_is_told():
    def gamma(column, **options):
        return run("VII", "Wine", column, protocol="paper", C=[1.0], **options).details["gamma"]

    assert gamma("σ̃_cv SVM") == pytest.approx(1 / (2 * 3.0**2))
    _, task = task_of("VII", "Wine", "σ̃_mise SVM", protocol="paper")
    h = silverman_bandwidth(holdout(task, scale=True).X_train)
    assert gamma("σ̃_mise SVM") == pytest.approx(1 / (4 * h**2))
    assert gamma("σ̃_mise SVM", reading="exp(−d²/σ̃²)") == pytest.approx(1 / (2 * h**2))


def test_the_last_reading_explains_the_published_failures_of_the_svm():
    """At σ̃_mise the SVM is published at 58.5 ± 11.4 on wine: the 2 of the kernel was lost."""
    printed, narrow = (
        [
            function(replace(task, seed=seed)).values
            for function, task in [
                task_of("VII", "Wine", "σ̃_mise SVM", reading=reading, protocol="paper", C=[10.0])
            ]
            for seed in range(6)
        ]
        for reading in ("", "exp(−d²/σ̃²)")
    )
    assert np.mean(printed) > 58.5 + 11.4
    assert np.mean(narrow) == pytest.approx(58.5, abs=11.4)


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (run_laplacian, {"width": "loo", "rule": "auto"}),
        (run_laplacian, {"width": "cv"}),
        (run_parzen, {"width": "cv"}),
        (run_parzen, {"width": "silverman"}),
        (run_svm, {"width": "cv", "folds": 3, "C": [1.0, 10.0], "widths": [2.0, 4.0]}),
        (run_fisher, {}),
        (run_gaussian_process, {}),
        (run_fixed_svm, {"C": 10.0, "gamma": 0.1}),
    ],
)
def test_every_method_repeats_itself_and_beats_guessing(function, options):
    row = Row(label="Iris", dataset="iris", options={"scale": True})
    task = Task(row=row, protocol="either", replication=0, seed=1, options=row.options | options)
    other = replace(task, seed=2)
    first, _, again = function(task), function(other), function(task)
    assert first.values == again.values
    assert np.array_equal(first.predictions["predicted"], again.predictions["predicted"])
    kept = first.predictions
    assert first.values == pytest.approx(100 * np.mean(kept["predicted"] == kept["truth"]))
    assert first.values > 85


@pytest.mark.data
@pytest.mark.parametrize("column", ["σ̃_cv Laplacian", "Rätsch SVM", "KFDA", "Parzen"])
def test_raetschs_partitions_are_used_as_they_come(column):
    function, task = task_of("VI", "Thyroid", column, C=[10.0], widths=[2.0])
    outcome = function(replace(task, replication=3))
    assert np.array_equal(outcome.predictions["rows"], task.load().test_idx[3])
    assert outcome.values > 85


# Kernel sizes ------------------------------------------------------------------------------------


def test_sizes_by_rule_are_those_of_the_formula():
    values = run("Kernel sizes", "Wine", "σ̃_mise", protocol="paper").values
    assert len(values["of halves"]) == 20
    # (21) on columns of variance 1: by hand, with the sample variance of all rows.
    n, d = 178, 13
    sigma = np.sqrt(n / (n - 1)) * (4 / ((2 * d + 1) * n)) ** (1 / (d + 4))
    assert values["of all rows"] == pytest.approx(np.sqrt(2) * sigma, rel=1e-3)
    assert np.mean(values["of halves"]) == pytest.approx(
        np.sqrt(2) * sigma * 2 ** (1 / (d + 4)), rel=0.03
    )


@pytest.mark.parametrize("model", ["Laplacian", "SVM"])
def test_sizes_by_folds_are_the_best_ones(model):
    options = {"widths": [0.3, 1.0, 3.0, 9.0], "C": [0.1, 10.0], "halves": 3}
    function, task = task_of("Kernel sizes", "Iris", f"σ̃_cv {model}", protocol="paper", **options)
    data = task.load()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    folds = StratifiedKFold(3, shuffle=True, random_state=task.seed)
    rates = np.zeros((3, 4))
    for k in range(3):
        half = np.random.default_rng([task.seed, k]).permutation(150)[:75]
        for j, width in enumerate(options["widths"]):
            models = [LaplacianClassifier(bandwidth=width / np.sqrt(2))]
            if model == "SVM":
                models = [SVC(C=C, gamma=1 / (2 * width**2)) for C in options["C"]]
            rates[k, j] = max(
                cross_val_score(m, X[half], data.y[half], cv=folds).mean() for m in models
            )
    # Of equally good ones the widest.
    best = [options["widths"][3 - np.argmax(row[::-1])] for row in (*rates, rates.mean(axis=0))]
    values = function(task).values
    assert values == {"one for each half": best[:3], "one for all halves": best[3]}
    assert np.ptp(rates.mean(axis=0)) > 0


def test_an_outlier_changes_next_to_nothing_and_a_wrong_class_would_show():
    for row in TABLES["Fig. 3"].rows:
        values = run("Fig. 3", row.label, "changed, %", draws=3).values
        assert np.max(values["changed, %"]) <= 1
        assert np.min(values["right with it, %"]) > 95
        assert (values["its weight"] <= values["the bound"] * (1 + 1e-12)).all()


# Figures -----------------------------------------------------------------------------------------


def panels(key, seed=5):
    figure = FIGURES[key]
    task = Task(
        row=Row(label=key), protocol="either", replication=0, seed=seed, options=figure.options
    )
    return figure.run(task)


def points(panel):
    return [layer for layer in panel.layers if isinstance(layer, Points)]


def test_figure_1_shows_angles():
    data, laplacian, pca = panels("Fig. 1")
    assert {layer.label: len(layer.x) for layer in points(data)} == {"Gaussian": 200, "ring": 63}
    right = [float(re.search(r"([\d.]+) %", p.title)[1]) for p in (laplacian, pca)]
    assert right[0] > 95 > right[1]


def test_figure_2_has_the_density_and_its_inverse_roots():
    density, weights, marked = panels("Fig. 2")
    X, y = ring(np.random.default_rng(5))
    h = silverman_bandwidth(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    f = np.exp(-squares / (2 * h**2)).mean(axis=1) / (2 * np.pi * h**2)
    for layer, c in zip(points(weights), (0, 1), strict=True):
        np.testing.assert_allclose(layer.y, f[y == c] ** -0.5)
    assert points(weights)[1].x.tolist() == list(range(63))
    (raster,) = density.layers
    assert isinstance(raster, Raster)
    left, right, bottom, top = raster.extent
    cell = (right - left) * (top - bottom) / (raster.z.shape[0] - 1) ** 2
    assert raster.z.sum() * cell == pytest.approx(1, abs=0.05)
    cross = points(marked)[-1]
    top_rows = np.argsort(f)[:3]
    assert cross.marker == "cross"
    assert set(cross.x) == set(X[top_rows, 0])


def test_figure_3_marks_the_outlier_and_bounds_its_weight():
    all_panels = panels("Fig. 3")
    for label, (train, test) in {"ring": all_panels[:2], "Gaussian": all_panels[2:]}.items():
        assert f"outlier of the {label}" in train.title
        weight, bound = map(float, re.findall(r"[\d.]+\d", train.title))
        assert weight <= bound < 20
        shown = {layer.label: layer for layer in points(train)}
        assert 8.0 in shown["significance vectors"].x
        assert 8.0 in shown[label].x
        wrong = sum(len(layer.x) for layer in points(test) if "taken" in layer.label)
        assert f"{wrong} of 263 wrong" in test.title
        assert wrong <= 3
        assert isinstance(test.layers[0], Raster)
        assert test.layers[0].scale == "classes"


def test_figures_4_and_5_say_what_they_show():
    train, test, *results = panels("Figs 4–5")
    assert sum(len(layer.x) for layer in points(train)) == 105
    assert sum(len(layer.x) for layer in points(test)) == 210
    for panel in results:
        shown = {layer.label: len(layer.x) for layer in points(panel)}
        found, alarms = map(int, re.search(r"(\d+) of 10 found, (\d+) false", panel.title).groups())
        assert shown.get("rare", 0) == found
        assert shown.get("common, taken for rare", 0) == alarms
        assert sum(shown.values()) == 210


def test_jobs_are_functions_of_their_file():
    for table in STUDY.tables:
        assert all(m.run.__qualname__ == m.run.__name__ for m in table.methods)
    assert TABLES["I–III"].methods[0].run is count_gaussians
