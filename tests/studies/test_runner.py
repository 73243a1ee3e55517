"""Studies become results: the same ones in any order, by any number of workers, after any stop."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mercer.studies import run_studies
from mercer.studies._store import read_outcome
from studies.toy import content


@pytest.fixture
def results(toy, tmp_path):
    return run_studies([toy()], tmp_path / "results", n_jobs=1)


def cell(results, row, column, reading="", protocol=None):
    found = results.cells.query("row == @row and column == @column and reading == @reading")
    if protocol is not None:
        found = found.query("protocol == @protocol")
    (line,) = found.itertuples()
    return line


def test_scores_are_those_of_the_function(results):
    from sklearn.neighbors import KNeighborsClassifier

    from mercer.datasets import load_dataset

    data = load_dataset("wine")
    scores = results.scores.query("row == 'Wine' and column == '1-NN'")
    for line in scores.itertuples():
        order = np.random.default_rng(line.seed).permutation(178)
        train, test = order[::2], order[1::2]
        model = KNeighborsClassifier(1).fit(data.X[train], data.y[train])
        assert line.value == 100 * model.score(data.X[test], data.y[test])
    line = cell(results, "Wine", "1-NN")
    assert line.measured == pytest.approx(scores["value"].mean())
    assert line.spread == pytest.approx(scores["value"].std())
    assert line.n == 4


def test_all_methods_of_a_data_set_see_the_same_splits(results):
    seeds = results.scores.groupby(["row", "replication"])["seed"].nunique()
    assert (seeds == 1).all()
    assert results.scores.groupby("row")["seed"].nunique()["Iris"] == 4


def test_marks(results):
    assert cell(results, "Iris", "1-NN").mark == "reached"
    wine = cell(results, "Wine", "1-NN")
    assert (wine.mark, wine.reason) == ("short", "wine wants scaling")
    assert cell(results, "Iris", "5-NN").mark == "better"
    assert cell(results, "Iris", "5-NN", "seven", "honest").mark == "honest"
    assert cell(results, "Wine", "5-NN").mark == "ours"
    assert cell(results, "Absent", "1-NN").mark == "no data"
    assert "usps" in cell(results, "Absent", "1-NN").reason
    lost = cell(results, "Lost", "1-NN")
    assert (lost.mark, lost.reason) == ("not available", "nobody has it")
    never = cell(results, "Iris", "never")
    assert (never.mark, never.reason) == ("not run", "nobody knows how")


def test_misprints_and_single_draws_are_not_judged(toy, tmp_path):
    misprints = {("Iris", "1-NN"): "95 elsewhere", ("Lost", "1-NN"): "2 elsewhere"}
    path = toy(change=('note="A toy."', f"note='A toy.', misprints={misprints}, one_draw=True"))
    results = run_studies([path], tmp_path / "r", n_jobs=1)
    for row, reason in (("Iris", "95 elsewhere"), ("Lost", "2 elsewhere")):
        line = cell(results, row, "1-NN")
        assert (line.mark, line.reason, line.counts) == ("misprint", reason, True)
    wine = cell(results, "Wine", "1-NN")
    assert (wine.mark, wine.reason) == ("one draw", "")
    draws = results.scores.query("row == 'Wine' and column == '1-NN'")["value"]
    assert wine.at_or_below == (draws <= 90.5).sum()
    assert cell(results, "Absent", "1-NN").mark == "no data"
    assert cell(results, "Wine", "5-NN").mark == "ours"
    assert cell(results, "Iris", "5-NN", "seven", "honest").mark == "honest"
    assert not results.cells["one_reading"].any()


def test_a_misprint_whose_job_fails_is_still_one(toy, tmp_path):
    change = ('note="A toy."', "note='A toy.', misprints={('Iris', 'best'): '95 elsewhere'}")
    path = Path(toy(change=change))
    path.write_text(path.read_text().replace("run=by_dimension", "run=broken"))
    results = run_studies([str(path)], tmp_path / "r", quick=True, n_jobs=1)
    line = cell(results, "Iris", "best")
    assert (line.mark, line.reason) == ("misprint", "95 elsewhere")
    assert len(results.failures) == 2


def test_means_of_independent_replicates_have_a_standard_error(results, toy, tmp_path):
    wine = cell(results, "Wine", "1-NN")
    assert wine.standard_error == pytest.approx(wine.spread / 2)
    change = ('options={"k": 1,', 'independent=False, options={"k": 1,')
    other = run_studies([toy(change=change, name="b.py")], tmp_path / "r", n_jobs=1)
    assert np.isnan(cell(other, "Wine", "1-NN").standard_error)
    assert cell(other, "Wine", "1-NN").spread == wine.spread


def test_claims_are_judged_by_the_cells_of_their_study(results):
    (study,) = json.loads((results.folder / "studies.json").read_text())
    first, broken = study["claims"]
    rates = {row: cell(results, row, "1-NN").measured for row in ("Iris", "Wine")}
    assert first == {
        "said": "Wine is easier than iris.",
        "where": "section 3",
        "judged": f"{max(rates, key=rates.get)} is easier.",
    }
    assert broken["said"] == "It ends."
    assert broken["judged"].startswith("Not judged")
    assert "KeyError" in broken["judged"]


def test_every_published_cell_counts_once_and_the_nearest_reading_for_it(results):
    counted = results.cells[results.cells["counts"]]
    assert sorted(zip(counted["row"], counted["column"], strict=True)) == [
        ("Absent", "1-NN"), ("Absent", "5-NN"), ("Iris", "1-NN"), ("Iris", "5-NN"),
        ("Iris", "best"), ("Iris", "never"), ("Lost", "1-NN"), ("Wine", "1-NN"),
    ]  # fmt: skip
    readings = results.cells.query("row == 'Iris' and column == '5-NN' and protocol == 'paper'")
    nearest = readings.loc[(readings["measured"] - 50.0).abs().idxmin()]
    assert nearest["counts"]
    assert readings["counts"].sum() == 1


def test_the_best_dimension_has_the_best_mean(results):
    line = cell(results, "Iris", "best")
    curves = np.concatenate([
        stored.values["best"]
        for file in sorted((results.folder / "jobs").rglob("*best*.npz"))
        if (stored := read_outcome(file))
    ])  # fmt: skip
    assert curves.shape == (4, 4)
    assert line.measured == pytest.approx(curves.mean(axis=0).max())
    assert line.dimension == 1 + curves.mean(axis=0).argmax()


def test_a_job_may_fill_several_columns_with_several_replicates(results):
    rows = cell(results, "Iris", "rows")
    assert (rows.measured, rows.n) == (150.0, 4)
    assert cell(results, "Iris", "seed").n == 2


def test_predictions_and_details_are_kept(results):
    files = [f for f in (results.folder / "jobs").rglob("*.npz") if "Wine-1_NN" in f.name]
    assert len(files) == 4
    with np.load(files[0], allow_pickle=False) as stored:
        assert stored["predictions_predicted"].shape == (89,)
    assert json.loads(results.scores["details"].iloc[0]) == {"k": 1}


def test_figures_and_descriptions(results):
    (study,) = json.loads((results.folder / "studies.json").read_text())
    one, two, three = study["figures"]
    assert json.loads((results.folder / one["file"]).read_text())["panels"][0]["title"] == "Iris"
    assert json.loads((results.folder / two["file"]).read_text())["panels"][0]["title"] == "Rates"
    assert three["file"] is None
    assert "letter.npz" in three["skipped"]
    assert study["tables"][0]["columns"] == [
        "1-NN", "5-NN", "best", "never", "rows", "seed", "threads",
    ]  # fmt: skip
    run = json.loads((results.folder / "run.json").read_text())
    assert run["mode"] == "full"
    assert run["jobs"]["done"] == run["jobs"]["of"]
    assert {"numpy", "python", "scikit-learn", "mercer"} <= set(run["versions"])


def test_protocols_can_be_had_alone(toy, tmp_path):
    paper = run_studies([toy()], tmp_path / "p", quick=True, protocol="paper", n_jobs=1)
    assert set(paper.cells["protocol"]) == {"paper", "either"}
    honest = run_studies([toy()], tmp_path / "h", quick=True, protocol="honest", n_jobs=1)
    measured = honest.cells[honest.cells["measured"].notna()]
    assert set(measured["protocol"]) == {"honest", "either"}


def test_a_full_run_uses_what_a_quick_one_found(toy, tmp_path):
    path = toy()
    run_studies([path], tmp_path / "r", quick=True, n_jobs=1)
    before = {f: f.stat().st_mtime_ns for f in (tmp_path / "r" / "jobs").rglob("*.npz")}
    run_studies([path], tmp_path / "r", n_jobs=1)
    after = {f: f.stat().st_mtime_ns for f in (tmp_path / "r" / "jobs").rglob("*.npz")}
    assert before.items() < after.items()


def test_a_run_that_goes_on_says_how_many_jobs_were_done_and_since_when(toy, tmp_path):
    def earlier(results):
        return json.loads((results.folder / "run.json").read_text())["earlier"]

    path = toy()
    first = run_studies([path], tmp_path / "r", quick=True, n_jobs=1)
    assert earlier(first) == {"jobs": 0, "since": None}
    files = sorted((tmp_path / "r" / "jobs").rglob("*.npz"))
    os.utime(files[0], (1e9, 1e9))
    second = run_studies([path], tmp_path / "r", n_jobs=1)
    assert earlier(second) == {"jobs": len(files), "since": "2001-09-09T01:46:40+00:00"}
    assert len(files) < second.run["jobs"]["done"]
    fresh = run_studies([path], tmp_path / "r", quick=True, n_jobs=1, fresh=True)
    assert earlier(fresh) == {"jobs": 0, "since": None}


def test_a_changed_study_is_run_again(toy, tmp_path):
    first = run_studies([toy(name="a.py")], tmp_path / "r", quick=True, n_jobs=1)
    other = toy(change=("STEP = 2", "STEP = 3"), name="b.py")
    second = run_studies([other], tmp_path / "r", quick=True, n_jobs=1)
    assert not first.scores["value"].equals(second.scores["value"])


def test_a_new_remark_runs_nothing_again(toy, tmp_path):
    run_studies([toy(name="a.py")], tmp_path / "r", quick=True, n_jobs=1)
    steps = []
    other = toy(change=("wine wants scaling", "it does"), name="b.py")
    run_studies([other], tmp_path / "r", quick=True, n_jobs=1, on_progress=steps.append)
    assert len(steps) == 1
    assert steps[0].done == steps[0].total


def test_a_damaged_file_is_run_again(toy, tmp_path):
    path = toy()
    run_studies([path], tmp_path / "r", quick=True, n_jobs=1)
    before = content(tmp_path / "r")
    files = sorted((tmp_path / "r" / "jobs").rglob("*.npz"))
    files[0].write_bytes(files[0].read_bytes()[:100])
    files[1].write_bytes(b"")
    run_studies([path], tmp_path / "r", quick=True, n_jobs=1)
    assert content(tmp_path / "r") == before


def test_one_broken_method_does_not_stop_the_others(toy, tmp_path):
    path = toy(change=("run=by_dimension", "run=broken"))
    seen = []
    results = run_studies([path], tmp_path / "r", quick=True, n_jobs=1, on_progress=seen.append)
    assert set(results.failures["error"]) == {"RuntimeError: this method is broken"}
    line = cell(results, "Iris", "best")
    assert (line.mark, line.reason) == ("failed", "RuntimeError: this method is broken")
    assert cell(results, "Iris", "1-NN").mark in ("reached", "short", "better")
    assert sum(bool(step.error) for step in seen) == 2


def test_a_job_that_ends_its_process_is_said_and_the_others_are_kept(toy, tmp_path):
    path = Path(toy(change=("run=by_dimension", "run=broken")))
    source = path.read_text()
    fatal = source.replace(
        'raise RuntimeError("this method is broken")', "__import__('os')._exit(1)"
    )
    assert fatal != source
    path.write_text(fatal)
    with pytest.raises(MemoryError, match=r"A worker process died.* fewer --jobs .* is kept\."):
        run_studies([str(path)], tmp_path / "r", quick=True, n_jobs=2)


def test_progress_counts_every_job_and_ends_with_nothing_left(toy, tmp_path):
    seen = []
    run_studies([toy()], tmp_path / "r", quick=True, n_jobs=1, on_progress=seen.append)
    assert [step.done for step in seen] == list(range(len(seen)))
    assert seen[-1].done == seen[-1].total
    assert seen[-1].seconds_left == 0


def test_two_workers_find_what_one_finds(toy, tmp_path, monkeypatch):
    """With one thread for each job, however many there would be."""
    study = toy()
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # of the workers
    for folder, n_jobs in (("one", 1), ("two", 2)):
        with threadpool_limits(2):  # of this process
            found = run_studies([study], tmp_path / folder, n_jobs=n_jobs)
        assert set(found.scores.loc[found.scores["column"] == "threads", "value"]) == {1.0}
    assert content(tmp_path / "one") == content(tmp_path / "two")


HELD = """
import os, signal, sys, threading, time
from multiprocessing import resource_tracker
from mercer._system.processes import interrupts_held
signal.signal(signal.SIGINT, signal.default_int_handler)
# A thread that was there before, as those of BLAS are, does not hold the signal back.
threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
try:
    with interrupts_held():
        resource_tracker.ensure_running()  # as the start of a first process does
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        print("held")
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no masks")
def test_ctrl_c_waits_until_processes_are_started():
    output = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True)
    assert (output.stdout, output.stderr) == ("held\nheard\n", "")


def test_what_one_process_takes_several_take_too(toy, tmp_path):
    """Read-only mappings and panels that are yielded cannot be sent to another process."""
    path = Path(toy())
    text = path.read_text()
    path.write_text(
        text.replace("return Outcome(", "return _as_proxy(", 1)
        + "\n\ndef _as_proxy(*given, **options):\n"
        "    from dataclasses import replace\n"
        "    from types import MappingProxyType\n"
        "    outcome = Outcome(*given, **options)\n"
        "    return replace(outcome, details=MappingProxyType({**outcome.details, 'a': 1}))\n"
    )
    assert "_as_proxy(" in path.read_text()
    results = run_studies([str(path)], tmp_path / "r", quick=True, n_jobs=2)
    assert results.failures.empty
