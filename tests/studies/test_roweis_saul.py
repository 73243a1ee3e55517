"""The Roweis-Saul study: published numbers, splits, protocols and tests against direct use."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mercer.datasets import load_dataset
from mercer.projections import (
    LocalityPreservingProjection,
    RoweisSaulProjection,
    laplacianfaces,
    roweis_saul_classifier,
)
from mercer.studies import Row, Task, plan_jobs
from mercer.studies.experiments import _faces as experiment
from mercer.studies.experiments import _nearest_neighbour
from mercer.studies.papers import _roweis_saul as study

DIGITS = Row(label="digits", dataset="digits8x8")
SMALL = {"per_class": 15, "dimensions": 20, "folds": 3, "every": 4}


def task(protocol="paper", seed=1, row=DIGITS, **options):
    return Task(row=row, protocol=protocol, replication=0, seed=seed, options=options)


class FacesTask(Task):
    """Eight people, six noisy 64×64 images each, in two light conditions."""

    def load(self, name=None):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(8), 6)
        faces = rng.normal(size=(8, 4096))
        light = np.outer(rng.normal(size=48), rng.normal(size=4096))
        X = faces[y] + 2 * light + 2.5 * rng.normal(size=(48, 4096))
        return SimpleNamespace(X=X.astype(np.float32), y=y, train_idx=None, test_idx=None)


def faces(seed=1, **options):
    return FacesTask(row=DIGITS, protocol="either", replication=0, seed=seed, options=options)


# Splits and images --------------------------------------------------------------------------------


def test_split_takes_so_many_of_every_class():
    y = load_dataset("digits8x8").y
    train, test = experiment._split(task(per_class=15))
    np.testing.assert_array_equal(np.bincount(y[train]), 15)
    assert len(np.intersect1d(train, test)) == 0
    assert len(train) + len(test) == len(y)
    np.testing.assert_array_equal(experiment._split(task(per_class=15, every=4))[1], test[::4])
    assert not np.array_equal(experiment._split(task(per_class=15, seed=2))[0], train)


def test_first_images_are_those_that_come_first():
    """Of rows in any order: the first two of class 0 are 1 and 4, of class 1 0 and 2."""

    class Mixed(Task):
        def load(self, name=None):
            y = np.array([1, 0, 1, 1, 0, 0, 1, 0])
            return SimpleNamespace(y=y, train_idx=None, test_idx=None)

    for seed in (0, 1):
        job = Mixed(
            row=DIGITS, protocol="paper", replication=0, seed=seed,
            options={"per_class": 2, "first": True},
        )  # fmt: skip
        train, test = experiment._split(job)
        np.testing.assert_array_equal(train, [0, 1, 2, 4])
        np.testing.assert_array_equal(test, [3, 5, 6, 7])


def test_first_images_are_of_the_registered_training_part():
    class Registered(Task):
        def load(self, name=None):
            y = np.arange(12) % 2
            return SimpleNamespace(
                y=y, train_idx=np.array([[9, 8, 7, 6, 5, 4]]), test_idx=np.arange(4)[None]
            )

    job = Registered(
        row=DIGITS, protocol="paper", replication=0, seed=0,
        options={"per_class": 1, "first": True},
    )  # fmt: skip
    train, test = experiment._split(job)
    np.testing.assert_array_equal(train, [8, 9])
    np.testing.assert_array_equal(test, np.arange(4))


def test_a_registered_test_set_is_kept():
    class Registered(Task):
        def load(self, name=None):
            y = np.arange(100) % 2
            order = np.arange(100)[None]
            return SimpleNamespace(y=y, train_idx=order[:, :60], test_idx=order[:, 60:])

    train, test = experiment._split(
        Registered(row=DIGITS, protocol="paper", replication=0, seed=0, options={"per_class": 5})
    )
    assert train.max() < 60
    np.testing.assert_array_equal(test, np.arange(60, 100))


def test_small_images_are_means_of_four_pixels():
    big = experiment._images(faces(size=64))[3].reshape(64, 64)
    small = experiment._images(faces(size=32))[3].reshape(32, 32)
    assert small[5, 7] == pytest.approx(big[10:12, 14:16].mean())
    assert small.sum() == pytest.approx(big.sum() / 4)


def test_rotation_keeps_distances():
    X = experiment._images(faces(size=64))
    Z = experiment._rotated(X)
    assert Z.shape == (48, 48)
    np.testing.assert_allclose(pdist(Z), pdist(X), rtol=1e-10)


# Tables 2 and 3 -----------------------------------------------------------------------------------

READINGS = {
    "RS": ({"neighborhood": "knn"}, RoweisSaulProjection(n_neighbors=4, neighborhood="knn")),
    "Laplacian": (
        {"label_weight": 0.9, "perturbation": "printed"},
        LocalityPreservingProjection(
            n_neighbors=4, label_weight=0.9, perturbation="printed", pca_components=0.98,
            unit_length=True,
        ),
    ),
    "PCA": ({}, PCA(svd_solver="full")),
}  # fmt: skip


@pytest.mark.parametrize("method", READINGS)
def test_rates_are_those_of_direct_use(method):
    parameters, model = READINGS[method]
    job = task(method=method, parameters=parameters, **SMALL)
    outcome = experiment.rates(job)
    data = load_dataset("digits8x8")
    train, test = experiment._split(job)
    if method != "PCA":
        model.set_params(n_components=20)
    A = model.fit(data.X[train], data.y[train]).transform(data.X[train])
    B = model.transform(data.X[test])
    assert np.shape(outcome.values) == (1, 20)
    for d in (1, 2, 7, 20):
        nearest = KNeighborsClassifier(1).fit(A[:, :d], data.y[train])
        expected = 100 * nearest.score(B[:, :d], data.y[test])
        assert outcome.values[0, d - 1] == pytest.approx(expected)


@pytest.mark.parametrize(("stated", "dimension"), [(7, 7), ("C − 1", 9)])
@pytest.mark.parametrize("method", ["RS", "LDA"])
def test_a_stated_dimension_is_the_one_of_the_rate(method, stated, dimension):
    options = {"method": method, "parameters": {}, **SMALL}
    outcome = experiment.rates(task("either", **options, dimension=stated))
    curve = experiment.rates(task("paper", **options)).values[0]
    assert outcome.details == {"dimension": dimension}
    assert outcome.values == pytest.approx(curve[dimension - 1])
    assert outcome.values != pytest.approx(curve[dimension - 2])
    kept = outcome.predictions
    assert outcome.values == pytest.approx(100 * np.mean(kept["truth"] == kept["predicted"]))


def test_parameters_replace_those_of_laplacianfaces_and_fisherfaces():
    laplacian = experiment._projection("Laplacian", {"pca_components": 0.95}, 30)
    assert (laplacian.pca_components, laplacian.n_components, laplacian.unit_length) == (
        0.95, 30, True,
    )  # fmt: skip
    assert not experiment._projection("Laplacian", {"unit_length": False}, 30).unit_length
    fisher = experiment._projection("LDA", {"pca_components": 0.95}, 30)
    assert fisher.named_steps["pca"].n_components == 0.95


def test_readings_with_a_stated_dimension_choose_nothing():
    stated = 0
    for table in (study.TABLE_2, study.TABLE_3):
        for method in table.methods:
            if method.run is experiment.rates:
                dimension = method.options.get("dimension")
                assert method.protocols == (
                    ("paper", "honest") if dimension is None else ("either",)
                )
                assert (f"d = {dimension}" in method.reading) == (dimension is not None)
                stated += dimension is not None
    assert stated == 10 + 14


def test_first_images_have_one_split():
    for table, count in ((study.TABLE_2, 20), (study.TABLE_3, 0), (study.TABLE_4, 1)):
        first = [method for method in table.methods if "first images" in method.reading]
        assert len(first) == count
        assert all(method.replications == 1 and method.options["first"] for method in first)
        rest = [method for method in table.methods if method not in first]
        assert not any(method.options.get("first") for method in rest)


def test_step_0_is_in_the_parameters_where_the_reading_says_so():
    for method in study.TABLE_3.methods:
        parameters = method.options.get("parameters", {})
        assert (parameters.get("pca_components") == 0.95) == ("PCA 95 %" in method.reading)


def test_readings_differ_and_work():
    best = {}
    for method in study.TABLE_3.methods:
        if method.run is experiment.rates:
            outcome = experiment.rates(task(**{**method.options, **SMALL, "every": 2}))
            best[method.columns[0], method.reading] = np.max(outcome.values)
    assert len(best) == 27
    assert min(best["RS", "same class"], best["Laplacian", "same class"], best["PCA", ""]) > 85
    assert best["RS", "nearest (literal)"] < 80  # orthonormal: where nothing varies
    assert len({round(value, 6) for value in best.values()}) > 5


def test_honest_dimension_is_chosen_without_test_rows(monkeypatch):
    options = {"method": "PCA", "parameters": {}, **SMALL}
    outcome = experiment.rates(task("honest", **options))
    kept = outcome.predictions
    assert outcome.values == pytest.approx(100 * np.mean(kept["truth"] == kept["predicted"]))
    curve = experiment.rates(task("paper", **options)).values[0]
    assert outcome.values == pytest.approx(curve[outcome.details["dimension"] - 1])

    data = load_dataset("digits8x8")
    train, _ = experiment._split(task(**options))
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    inner = [
        cross_val_score(
            make_pipeline(PCA(d, svd_solver="full"), KNeighborsClassifier(1)),
            data.X[train], data.y[train], cv=folds,
        ).mean()
        for d in range(1, 21)
    ]  # fmt: skip
    assert outcome.details["dimension"] == np.argmax(inner) + 1

    y = data.y.copy()
    y[kept["rows"]] = 9 - y[kept["rows"]]
    train, test = experiment._split(task(**options))
    monkeypatch.setattr(experiment, "_split", lambda _: (train, test))
    shuffled = SimpleNamespace(X=data.X, y=y, train_idx=None, test_idx=None)
    monkeypatch.setattr(Task, "load", lambda self, name=None: shuffled)
    changed = experiment.rates(task("honest", **options))
    assert changed.details == outcome.details
    np.testing.assert_array_equal(changed.predictions["predicted"], kept["predicted"])
    assert changed.values < outcome.values


def test_honest_choice_uses_so_many_folds(monkeypatch):
    calls = []
    original = _nearest_neighbour.error_surface

    def error_surface(fit, part, *rest, **options):
        calls.append(len(part.y_train))
        return original(fit, part, *rest, **options)

    monkeypatch.setattr(_nearest_neighbour, "error_surface", error_surface)
    experiment.rates(task("honest", method="PCA", **SMALL))
    experiment.rates(task("honest", method="PCA", **SMALL, folds_used=1))
    assert calls == [100] * 4


def test_plain_nearest_neighbour():
    job = task(**SMALL)
    data = load_dataset("digits8x8")
    train, test = experiment._split(job)
    nearest = KNeighborsClassifier(1).fit(data.X[train], data.y[train])
    assert experiment.plain(job).values == pytest.approx(
        100 * nearest.score(data.X[test], data.y[test])
    )


# Tables 4-7 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", ["class_knn", "knn"])
def test_mcnemar_counts(graph):
    outcome = experiment.mcnemar(faces(per_class=3, graph=graph))
    kept, found = outcome.predictions, outcome.values
    rs, lap = (kept[name] == kept["truth"] for name in ("predicted", "laplacianfaces"))
    counts = {"e00": ~rs & ~lap, "e01": rs & ~lap, "e10": ~rs & lap, "e11": rs & lap}
    assert {name: found[name] for name in counts} == {n: c.sum() for n, c in counts.items()}
    one, other = found["e01"], found["e10"]
    expected = max(abs(one - other) - 1, 0) ** 2 / max(one + other, 1)
    assert found["χ²"] == pytest.approx(expected)
    assert found["verdict"] == (expected > 3.84) * np.sign(one - other)
    data = faces().load()
    train, test = experiment._split(faces(per_class=3))
    model = roweis_saul_classifier(neighborhood=graph, n_neighbors=4)
    model.fit(data.X[train].astype(float), data.y[train])
    np.testing.assert_array_equal(model.predict(data.X[test].astype(float)), kept["predicted"])


def literal_scores(seed, folds, repeats):
    """Differences of the rates, RS minus Laplacianfaces, as the text has the parts drawn."""
    data, rng = faces().load(), np.random.default_rng(seed)
    X, y = data.X.astype(float), data.y
    differences = []
    for _ in range(repeats):
        splits = KFold(folds, shuffle=True, random_state=int(rng.integers(2**31))).split(X)
        for a, b in splits:
            rates = [
                100
                * make(neighborhood="class_knn", n_neighbors=4).fit(X[a], y[a]).score(X[b], y[b])
                for make in (roweis_saul_classifier, laplacianfaces)
            ]
            differences.append(rates[0] - rates[1])
    return np.array(differences)


def test_ten_folds():
    p = literal_scores(3, 10, 1)
    t = np.sqrt(10) * p.mean() / p.std(ddof=1)
    found = experiment.ten_folds(faces(seed=3, graph="class_knn")).values
    assert found["t"] == pytest.approx(t)
    assert found["corrected t"] == pytest.approx(p.mean() / np.sqrt((0.1 + 1 / 9) * p.var(ddof=1)))
    assert found["verdict"] == (abs(t) > 2.2622) * np.sign(t)


def test_five_by_two():
    p = literal_scores(4, 2, 5).reshape(5, 2)
    means = p.sum(axis=1) / 2
    variances = [(a - m) ** 2 + (b - m) ** 2 for (a, b), m in zip(p, means, strict=True)]
    job = faces(seed=4, graph="class_knn")
    six, seven = experiment.five_by_two_t(job).values, experiment.five_by_two_f(job).values
    np.testing.assert_allclose([six[f"p̄{i}"] for i in range(1, 6)], means)
    np.testing.assert_allclose([six[f"s{i}²"] for i in range(1, 6)], variances, atol=1e-12)
    assert six["t"] == pytest.approx(p[0, 0] / np.sqrt(sum(variances) / 5))
    assert seven["N"] == pytest.approx((p**2).sum())
    assert seven["M"] == pytest.approx(sum(variances))
    assert seven["f"] == pytest.approx((p**2).sum() / (2 * sum(variances)))


def test_all_tests_favour_the_better_one(monkeypatch):
    good, bad = KNeighborsClassifier(1), DummyClassifier()
    for pair, sign in (((good, bad), 1), ((bad, good), -1)):
        monkeypatch.setattr(experiment, "_pair", lambda graph, pair=pair: pair)
        job = task(per_class=15, every=4, graph="")
        four, five = experiment.mcnemar(job).values, experiment.ten_folds(job).values
        six, seven = experiment.five_by_two_t(job).values, experiment.five_by_two_f(job).values
        assert sign * (four["e01"] - four["e10"]) > 100
        assert min(sign * five["t"], sign * six["t"]) > 10
        assert sign * six["p̄1"] > 50
        assert [four["verdict"], five["verdict"], five["corrected verdict"]] == [sign] * 3
        assert [six["verdict"], seven["verdict"]] == [sign] * 2


@pytest.mark.parametrize(
    ("effect", "pvalue", "verdict"), [(1, 0.04, 1), (-1, 0.04, -1), (1, 0.06, 0), (-1, 0.06, 0)]
)
def test_verdict_tells_who_is_better(effect, pvalue, verdict):
    assert experiment._verdict(SimpleNamespace(effect=effect, pvalue=pvalue)) == verdict


# Table 1, Fig. 1, choices -------------------------------------------------------------------------


def test_counting_faces():
    assert experiment.count_faces(faces()).values == {
        "No. of people": 8,
        "No. of images per person": 6,
    }
    with pytest.raises(ValueError, match="different numbers of images"):
        experiment.count_faces(task())


def test_training_images_help_and_are_drawn():
    cells = []
    for count in (2, 4):
        found = experiment.training_images(faces(per_class=count, graph="class_knn")).values
        cells += [(f"ORL, {count}", column, "same class", value, 1.0)
                  for column, value in found.items()]  # fmt: skip
    cells += [("YALE, 8", "RS", "nearest (literal)", 50.0, None), *cells[:1]]
    cells[-1] = ("YALE, 2", "RS", "nearest (literal)", 40.0, None)
    frame = pd.DataFrame(cells, columns=["row", "column", "reading", "measured", "spread"])
    orl, yale = experiment.draw_training_images(frame)
    assert (orl.title, yale.title) == ("ORL", "YALE")
    assert [line.label for line in orl.layers] == ["RS, same class", "Laplacian, same class"]
    assert [line.colour for line in orl.layers] == [0, 1]
    for line in orl.layers:
        assert list(line.x) == [2, 4]
        assert list(line.spread) == [1.0, 1.0]
    assert list(orl.layers[0].y) == [cells[0][3], cells[2][3]]
    (dashed,) = yale.layers
    assert (list(dashed.x), list(dashed.y)) == ([2, 8], [40.0, 50.0])
    assert dashed.dashed
    assert dashed.spread is None
    assert orl.as_json()["layers"][0]["kind"] == "line"


def test_choices_run_on_digits():
    found = {}
    for method in study.CHOICES.methods:
        if method.rows == ("Digits 8×8",):
            outcome = experiment.choice(task(**method.options, per_class=100))
            kept = outcome.predictions
            rate = 100 * np.mean(kept["truth"] == kept["predicted"])
            assert outcome.values == pytest.approx(rate)
            found[method.reading] = outcome.values
    assert found["unit covariance"] > 90 > 70 > found["orthonormal"]


def test_every_choice_runs_on_faces():
    methods = [method for method in study.CHOICES.methods if method.rows == ("ORL",)]
    found = [
        float(experiment.choice(faces(**method.options, per_class=4)).values) for method in methods
    ]
    assert len(found) == 9
    assert min(found) >= 0
    assert max(found) <= 100
    assert len(set(found)) > 2


def test_jobs_do_not_depend_on_order():
    jobs = [faces(seed=seed, per_class=3, graph="knn") for seed in (5, 6)]
    forth = [experiment.mcnemar(job).values for job in jobs]
    back = [experiment.mcnemar(job).values for job in jobs[::-1]]
    assert forth == back[::-1]
    assert forth[0] != forth[1]


# What is printed ----------------------------------------------------------------------------------


def printed(table, row):
    cells = table.published
    return {column: cell.value for (label, column), cell in cells.items() if label == row}


def test_published_rates():
    orl = printed(study.TABLE_2, "ORL 32×32")
    assert orl == {"RS": 95.41, "RS α": 95.41, "Laplacian": 91.66, "Laplacian α": 92.50,
                   "PCA": 87.91, "LDA": 93.33}  # fmt: skip
    feret = printed(study.TABLE_2, "FERET 32×32")
    assert {name for name in orl if orl[name] != feret[name]} == {"LDA"}
    assert list(printed(study.TABLE_3, "MNIST").values()) == [92.5, 93.5, 90, 91.5, 87.5, 89]
    assert len(study.TABLE_2.published) == 54


@pytest.mark.parametrize(("row", "images"), [("ORL", 240), ("YALE", 90)])
def test_published_rates_are_of_so_many_images(row, images):
    for size in ("32×32", "64×64", "128×128"):
        for rate in printed(study.TABLE_2, f"{row} {size}").values():
            right = round(rate * images / 100)
            assert rate == pytest.approx(100 * right / images, abs=0.01)


def test_of_the_rates_of_feret_only_one_is_of_212_images():
    rates = {cell.value for (row, _), cell in study.TABLE_2.published.items() if "FERET" in row}
    whole = {r for r in rates if abs(r - 100 * round(r * 2.12) / 212) < 0.0051}
    assert whole == {92.92}


def test_published_counts_add_up_to_the_test_images():
    for row, images in (("ORL", 240), ("FERET", 212), ("YALE", 90)):
        counts = printed(study.TABLE_4, row)
        assert sum(counts[name] for name in ("e00", "e01", "e10", "e11")) == images


def test_published_sums_of_yale_fit_together():
    six, seven = printed(study.TABLE_6, "YALE"), printed(study.TABLE_7, "YALE")
    means = np.array([six[f"p̄{i}"] for i in range(1, 6)])
    variances = np.array([six[f"s{i}²"] for i in range(1, 6)])
    assert variances.sum() == pytest.approx(seven["M"], abs=1e-3)
    assert 2 * (means**2).sum() + variances.sum() == pytest.approx(seven["N"], abs=0.3)
    differences = np.concatenate([means + np.sqrt(variances / 2), means - np.sqrt(variances / 2)])
    np.testing.assert_allclose(differences * 1.5, np.round(differences * 1.5), atol=0.02)


def test_parameters_are_those_of_the_paper():
    for table in (study.TABLE_2, study.TABLE_3):
        for method in table.methods:
            weight = method.options.get("parameters", {}).get("label_weight")
            assert weight == (0.9 if "α" in method.columns[0] else None)
    rows = [row for row in study.TABLE_2.rows if row.dataset]
    training = {row.dataset: row.options["per_class"] for row in rows}
    assert training == {"orl": 4, "yale": 5}
    assert [row.options.get("per_class") for row in study.TABLE_4.rows] == [4, None, 5]


def test_reasons_and_methods_name_what_is_there():
    for table in study.STUDY.tables:
        rows = {"*", *(row.label for row in table.rows)}
        columns = {"*", *(column for method in table.methods for column in method.columns)}
        assert {row for row, _ in table.reasons} <= rows
        assert {column for _, column in table.reasons} <= columns
        assert {column for _, column in table.published} <= columns
        assert all(set(method.rows or ()) <= rows for method in table.methods)


def test_rows_that_cannot_be_had():
    missing = {row.label for table in study.STUDY.tables for row in table.rows if row.missing}
    assert missing == {"FERET", "FERET 32×32", "FERET 64×64", "FERET 128×128", "ORL 128×128",
                       "YALE 128×128"}  # fmt: skip
    published = {row for row, _ in study.TABLE_2.published}
    assert published == {row.label for row in study.TABLE_2.rows}


@pytest.mark.data
def test_jobs_cover_every_table():
    jobs = plan_jobs(("roweis-saul",), quick=True).jobs
    assert {job.part for job in jobs} == set(range(9))
    mnist = [job for job in jobs if study.STUDY.tables[job.part].key == "3"]
    assert all(job.options["every"] == 5 for job in mnist)
    assert len(mnist) == 2 * (11 + 2) + 14 + 1


def first_images(table, label, column, reading):
    """Return what the jobs of one cell have, by protocol."""
    row = next(row for row in table.rows if row.label == label)
    (method,) = [m for m in table.methods if (m.columns[0], m.reading) == (column, reading)]
    options = {**row.options, **method.options}
    return {
        protocol: method.run(
            Task(row=row, protocol=protocol, replication=0, seed=0, options=options)
        )
        for protocol in method.protocols
    }


@pytest.mark.data
def test_the_first_four_images_of_orl_give_the_published_rate():
    found = first_images(
        study.TABLE_2, "ORL 32×32", "RS", "same class, first images, d = C − 1"
    )["either"]  # fmt: skip
    kept = found.predictions
    assert np.count_nonzero(kept["truth"] == kept["predicted"]) == 229
    assert len(kept["truth"]) == 240
    assert found.details == {"dimension": 39}
    published = study.TABLE_2.published["ORL 32×32", "RS"].value
    assert found.values == pytest.approx(published, abs=0.01)


@pytest.mark.data
def test_the_first_four_images_of_orl_nearly_give_the_published_counts():
    found = first_images(study.TABLE_4, "ORL", "e00", "same class, first images")["either"].values
    counts = {name: found[name] for name in ("e00", "e01", "e10", "e11")}
    assert counts == {"e00": 10, "e01": 8, "e10": 2, "e11": 220}  # published: 11, 8, 2, 219
    assert found["χ²"] == pytest.approx(2.5)


@pytest.mark.data
def test_orl_reaches_the_paper():
    row = study.TABLE_2.rows[0]
    rates = []
    for seed in range(4):
        job = Task(
            row=row, protocol="paper", replication=0, seed=seed,
            options={**row.options, "method": "RS"},
        )  # fmt: skip
        rates.append(experiment.rates(job).values[0])
    best = np.mean(rates, axis=0).max()
    assert best == pytest.approx(study.TABLE_2.published["ORL 32×32", "RS"].value, abs=2)
    assert experiment.count_faces(job).values == {
        "No. of people": 40,
        "No. of images per person": 10,
    }
