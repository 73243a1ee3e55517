"""The kernel Fisher study: published numbers, protocols, and fits against the paper's formulas."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mercer.studies import Task, load_study, plan_jobs
from mercer.studies.papers import _fisher as study
from oracles.fisher import select_nodes, two_class_alpha

ROW = study.TABLE_1.rows[0]
NEAREST_MEAN = {"threshold": "nearest mean"}


def overlapping_clouds():
    """Three partitions of two unequal classes that overlap."""
    rng = np.random.default_rng(0)
    y = (np.arange(120) % 3 == 0).astype(int)
    X = rng.normal(size=(120, 2)) + 1.2 * y[:, None]
    orders = [rng.permutation(120) for _ in range(3)]
    train, test = (
        np.array([order[part] for order in orders]) for part in (slice(70), slice(70, 120))
    )
    return SimpleNamespace(name="clouds", X=X, y=y, train_idx=train, test_idx=test)


class CloudTask(Task):
    data = overlapping_clouds()

    def load(self, name=None):
        return self.data


def task(replication=0, **options):
    return CloudTask(row=ROW, protocol="paper", replication=replication, seed=1, options=options)


def kernels(X, A, variance):
    return np.exp(-cdist(X, A, "sqeuclidean") / (2 * variance))


def literal_nodes(train, scatter, count):
    A, labels = CloudTask.data.X[train], CloudTask.data.y[train]
    return select_nodes(kernels(A, A, A.var(axis=0).sum()), labels, 0.001, count, scatter)


def literal_predictions(train, nodes, scatter):
    """Eqs (10), (21) and (22) on the rows `nodes` of the training part, for all rows."""
    X, y = CloudTask.data.X, CloudTask.data.y
    A, variance = X[train][nodes], X[train].var(axis=0).sum()
    K = kernels(A, X[train], variance)
    alpha = two_class_alpha(K, y[train], 0.001, scatter)
    f = kernels(X, A, variance) @ alpha
    near = [abs(f - f[train][y[train] == label].mean()) for label in (0, 1)]
    return (near[1] < near[0]).astype(int)


@pytest.mark.parametrize("scatter", ["class", "total", "sum"])
def test_all_rows_as_in_the_paper(scatter):
    data = CloudTask.data
    outcome = study.first_partition(task(model="all rows", scatter=scatter, **NEAREST_MEAN))
    train = data.train_idx[0]
    expected = literal_predictions(train, np.arange(70), scatter)
    np.testing.assert_array_equal(outcome.predictions["predicted"], expected)
    errors = [100 * np.mean(expected[test] != data.y[test]) for test in data.test_idx]
    np.testing.assert_allclose(outcome.values, errors)
    seen = np.mean([len(set(test) & set(train)) / 50 for test in data.test_idx])
    assert outcome.details["test rows that were trained on, %"] == pytest.approx(
        100 * seen, abs=0.05
    )


@pytest.mark.parametrize("scatter", ["class", "total", "sum"])
def test_nodes_as_in_the_paper(scatter):
    data = CloudTask.data
    nodes, _ = literal_nodes(data.train_idx[0], scatter, 6)
    outcome = study.first_partition(task(model="nodes", nodes=6, scatter=scatter, **NEAREST_MEAN))
    expected = literal_predictions(data.train_idx[0], nodes, scatter)
    np.testing.assert_array_equal(outcome.predictions["predicted"], expected)


def test_each_partition_has_its_own_fit():
    data = CloudTask.data
    options = {"model": "all rows", "scatter": "class", **NEAREST_MEAN}
    both = study.own_partitions(task(partitions=3, **options))
    third = study.own_partitions(task(2, partitions=1, **options))
    np.testing.assert_array_equal(both.predictions["rows"], data.test_idx)
    for part, (train, test) in enumerate(zip(data.train_idx, data.test_idx, strict=True)):
        expected = literal_predictions(train, np.arange(70), "class")[test]
        np.testing.assert_array_equal(both.predictions["predicted"][part], expected)
        assert both.values[part] == pytest.approx(100 * np.mean(expected != data.y[test]))
    assert third.values == both.values[2:]
    np.testing.assert_array_equal(both.predictions["truth"], data.y[data.test_idx])


def test_test_rows_do_not_reach_the_honest_fit(monkeypatch):
    options = {"model": "self-tuned", "scatter": "total", "threshold": "priors", "partitions": 1}
    before = study.own_partitions(task(**options))
    changed = overlapping_clouds()
    changed.y[changed.test_idx[0]] = 0
    monkeypatch.setattr(CloudTask, "data", changed)
    after = study.own_partitions(task(**options))
    np.testing.assert_array_equal(after.predictions["predicted"], before.predictions["predicted"])
    assert after.values != before.values


def test_priors_move_the_threshold_towards_the_smaller_class():
    options = {"model": "all rows", "scatter": "total", "partitions": 3}
    middle = study.own_partitions(task(**options, **NEAREST_MEAN)).predictions["predicted"]
    priors = study.own_partitions(task(**options, threshold="priors")).predictions["predicted"]
    assert priors.sum() < middle.sum()  # class 1 is the smaller one


@pytest.mark.parametrize(
    ("path", "count"), [([1, 2, 2.001, 3], 3), ([1, 1.004], 2), ([1, 2, 3], 3), ([5], 1)]
)
def test_stop_rule(path, count):
    assert study.stop_at(np.array(path), 0.008) == count


def test_counted_nodes_follow_the_literal_path():
    data = CloudTask.data
    _, path = literal_nodes(data.train_idx[0], "class", 30)
    epsilon = 0.02
    small = [s for s in range(1, 30) if abs(path[s] - path[s - 1]) < epsilon]
    options = {"model": "nodes", "scatter": "class", "nodes": 30}
    one = study.count_nodes(task(rule="one gain", epsilon=epsilon, **options))
    assert one.values == small[0] + 1
    ten = study.count_nodes(task(rule="ten gains", epsilon=epsilon, tol=epsilon, **options))
    assert 1 <= ten.values <= 20


def test_figure_shows_errors_along_the_nodes():
    options = {"model": "nodes", "scatter": "total", "nodes": 8, "partitions": 2, "published": 5}
    error, criterion = study.along_nodes(task(label="clouds", **options))
    nodes, rows, published = error.layers
    last = study.own_partitions(task(threshold="priors", **options))
    assert nodes.y[-1] == pytest.approx(np.mean(last.values))
    every = study.own_partitions(
        task(model="all rows", scatter="total", threshold="priors", partitions=2)
    )
    np.testing.assert_allclose(rows.y, np.mean(every.values))
    assert (published.x, published.y) == ([5], [nodes.y[4]])
    assert len(criterion.layers[0].y) == 8
    assert np.all(np.diff(criterion.layers[0].y) > 0)


def test_jobs_do_not_depend_on_order():
    first, second = (task(r, model="nodes", nodes=4, scatter="class", partitions=1, **NEAREST_MEAN)
                     for r in (0, 1))  # fmt: skip
    forth = [study.own_partitions(job).values for job in (first, second)]
    back = [study.own_partitions(job).values for job in (second, first)]
    assert forth == back[::-1]


def test_published_numbers():
    one, two = study.TABLE_1.published, study.TABLE_2.published
    assert (one["Banana", "Error rate"].value, one["Banana", "Error rate"].spread) == (13.7, 0.1)
    assert one["Splice", "Error rate"].value == 11.0
    assert (two["Thyroid", "Error rate"].value, two["Thyroid", "Error rate"].spread) == (4.11, 1.8)
    values = [[cell.value for cell in table.values()] for table in (one, two)]
    assert np.mean(values, axis=1) == pytest.approx([17.08, 18.641])
    counts = [cell.value for cell in study.TABLE_2_NODES.published.values()]
    assert counts == [62, 32, 20, 24, 27, 60, 15, 62, 23, 3]
    assert [row.options["nodes"] for row in study.TABLE_2.rows] == counts
    for table in study.STUDY.tables:
        labels = {row.label for row in table.rows}
        assert {row for row, _ in table.published} == labels
        assert {row for row, _ in table.reasons} <= {"*", *labels}


@pytest.mark.data
def test_plan_has_one_fit_per_set_for_the_paper_and_all_partitions_for_the_honest():
    assert load_study("fisher") is study.STUDY
    jobs = [job for job in plan_jobs(("fisher",)).jobs if job.kind == "table" and job.part < 2]
    for table in (0, 1):
        for row, (label, _, _) in enumerate(study._SETS):
            here = [job for job in jobs if (job.part, job.row) == (table, row)]
            assert sum(job.protocol == "paper" for job in here) == 3
            honest = [job for job in here if job.method == 1]
            partitions = 20 if label in ("Image", "Splice") else 100
            assert sum(job.options["partitions"] for job in honest) == partitions


@pytest.mark.data
def test_shares_of_nodes_are_those_printed():
    shares = [16, 16, 4, 3, 16, 5, 2, 6, 16, 2]
    for row, share in zip(study.TABLE_2.rows, shares, strict=True):
        data = Task(row=row, protocol="paper", replication=0, seed=0, options={}).load()
        assert 100 * row.options["nodes"] / data.train_idx.shape[1] == pytest.approx(share, abs=0.5)
        jobs = row.replications * row.options["partitions"]
        assert jobs == len(data.train_idx)


@pytest.mark.data
def test_german_comes_near_the_paper():
    (row,) = (row for row in study.TABLE_2.rows if row.label == "German")
    for table, model in ((study.TABLE_1, "all rows"), (study.TABLE_2, "nodes")):
        options = {**row.options, "model": model, "scatter": "class", **NEAREST_MEAN}
        outcome = study.first_partition(
            Task(row=row, protocol="paper", replication=0, seed=0, options=options)
        )
        assert len(outcome.values) == 100
        published = table.published["German", "Error rate"]
        assert np.mean(outcome.values) == pytest.approx(published.value, abs=0.6)
