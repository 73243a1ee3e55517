"""Jobs of studies and fits of comparisons on a cluster, and what is said where that fails."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from lazy import Slow
from mercer._system import cluster
from mercer.cli import main
from mercer.comparison import compare_in_rounds
from mercer.studies import run_studies

pytest.importorskip("distributed")

STUDY = '''
import numpy as np
from mercer.studies import Method, Outcome, Row, Study, Table, read_published


def measure(task):
    if task.options.get("broken"):
        raise RuntimeError("this method is broken")
    return Outcome(values=float(task.rng().normal()))


STUDY = Study(
    name="toy",
    title="A toy",
    reference="Nobody (2026)",
    protocol={"paper": "as printed", "honest": "as printed"},
    tables=(
        Table(
            key="1",
            title="Numbers",
            unit="%",
            better="higher",
            rows=(Row(label="one", replications=3), Row(label="two", replications=2)),
            methods=(
                Method(columns=("number",), run=measure),
                Method(columns=("broken",), run=measure, options={"broken": True}),
            ),
            published=read_published("""
                    | number | broken
                one | 1      | 1
            """),
        ),
    ),
)
'''


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text(STUDY, encoding="utf-8")
    return str(path)


def test_a_study_finds_what_it_finds_here_and_resumes(scheduler, study, tmp_path):
    here = run_studies([study], tmp_path / "here", n_jobs=1)
    steps = []
    there = run_studies([study], tmp_path / "there", scheduler=scheduler,
                        on_progress=lambda step: steps.append(step.done))  # fmt: skip
    assert there.run["workers"] == 2
    np.testing.assert_array_equal(np.sort(there.scores["value"]), np.sort(here.scores["value"]))
    assert set(there.failures["error"]) == {"RuntimeError: this method is broken"}
    assert steps[-1] == 10
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "there/jobs").rglob("*.npz")}
    assert len(before) == 5
    run_studies([study], tmp_path / "there", scheduler=scheduler)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_comparison_finds_what_it_finds_here(scheduler):
    X, y = load_iris(return_X_y=True)
    models = {"bayes": GaussianNB(), "knn": KNeighborsClassifier()}
    options = {"random_state": 0, "max_rounds": 3, "budget": 60}
    here = compare_in_rounds(models, X, y, **options)
    there = compare_in_rounds(models, X, y, scheduler=scheduler, **options)
    assert there.answer == here.answer
    np.testing.assert_array_equal(there.scores, here.scores)


def test_a_fit_that_takes_too_long_is_given_up(scheduler):
    X, y = load_iris(return_X_y=True)
    start = time.perf_counter()
    result = compare_in_rounds({"bayes": GaussianNB(), "slow": Slow()}, X, y, budget=4,
                               max_rounds=2, random_state=0, scheduler=scheduler)  # fmt: skip
    assert time.perf_counter() - start < 20
    assert "left out" in str(result)


@pytest.mark.parametrize("command", [["compare"], ["reproduce", "equivalences"]])
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_nobody_there(command, address, tmp_path, capsys):
    start = time.perf_counter()
    assert main([*command, "--scheduler", address, "-o", str(tmp_path)]) == 2
    assert time.perf_counter() - start < 10
    said = capsys.readouterr().err
    assert said.startswith(f"mercer: No Dask scheduler answers at '{address}'")
    assert said.count("\n") == 1


def test_jobs_or_scheduler(tmp_path, capsys):
    for command in ("compare", "reproduce"):
        arguments = [command, "--jobs", "1", "--scheduler", "tcp://127.0.0.1:9"]
        assert main([*arguments, "-o", str(tmp_path)]) == 2
        assert "Give --jobs or --scheduler, not both." in capsys.readouterr().err


def test_other_versions_are_refused(scheduler, monkeypatch):
    monkeypatch.setattr(cluster, "versions", lambda: {"mercer": "99.0"})
    with (
        pytest.raises(ValueError, match=r"mercer is .* on the worker .* and 99\.0 here"),
        cluster.connected(scheduler),
    ):
        pass


def test_folders_must_be_on_the_workers(scheduler):
    with (
        cluster.connected(scheduler) as client,
        pytest.raises(
            ValueError, match=r"/no/such/folder \(the data folder\) is not on the worker"
        ),
    ):
        cluster.require_on_workers(client, ["/no/such/folder"], "the data folder")
