"""Many rows, many threads and many processes: the memory is bounded and the answers are one's."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn

from contract.subjects import (
    SUBJECTS,
    WRAPPERS,
    answers,
    assert_same_bits,
    baseline,
    every_subject,
    rows,
)
from load.workers import answer

AT_ONCE = 8
ROOM = 2.0  # MiB beyond the budget: what Python and NumPy take for themselves
# Tables of text and dates are turned into numbers in one piece.
WHOLE = ("CategoryDummies", "DateFeatures", "FeatureClipper")
SLOW = {"LaplacianEigenmaps": 10}  # some 0.1 ms a row: a tenth of the rows
HERE = Path(__file__).parent


def _pairs(long):
    """Estimators and methods: classes and coordinates of all rows in the long run.

    In the suite probabilities too, but of no wrapper, which has to import torch or to tune.
    """
    for subject in SUBJECTS:
        if subject.name in WHOLE or " " in subject.name:
            continue
        if subject.name in WRAPPERS and (not long or find_spec("torch") is None):
            continue
        first = next(m for m in ("predict", "transform", "score_samples") if m in subject.methods)
        yield f"{subject.name}:{first}"
        if not long and "predict_proba" in subject.methods:
            yield f"{subject.name}:predict_proba"


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to measure by")
@pytest.mark.timeout(900)
def test_answers_stream_within_the_memory_budget(long):
    n_rows, budget = (10_000_000, 64.0) if long else (60_000, 1.0)
    by_size = {}
    for pair in _pairs(long):
        share = SLOW.get(pair.split(":")[0], 1)
        by_size.setdefault(n_rows // share, []).append(pair)
    found = [line for size, pairs in by_size.items() for line in _measured(size, budget, pairs)]
    if long:
        print(
            f"\n| {n_rows} rows, `working_memory={budget:g}` | answer, MiB | beside it | seconds |"
        )
        print("|---|---|---|---|")
        for one in found:
            name = f"`{one['name']}.{one['method']}`"
            print(f"| {name} | {one['answer']:.0f} | {one['extra']:.1f} | {one['seconds']:.1f} |")
    beyond = [one for one in found if one["extra"] > budget + ROOM]
    assert not beyond


def _measured(n_rows, budget, pairs):
    path = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-W", "ignore", str(HERE / "measure_memory.py")]
    done = subprocess.run(
        [*command, str(n_rows), str(budget), *pairs],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _many(long):
    data = rows()
    return np.repeat(data.new, 400 if long else 20, axis=0)


@every_subject
def test_threads_agree_with_one(subject, long):
    model, _ = baseline(subject)
    new = _many(long)
    expected = answers(model, new, subject.methods)
    start = threading.Barrier(AT_ONCE)

    def ask(number):
        turned = subject.methods[number % len(subject.methods) :] + subject.methods
        start.wait()
        return answers(model, new, turned[: len(subject.methods)])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for found in pool.map(ask, range(AT_ONCE)):
            assert_same_bits(found, expected)


def test_threads_with_budgets_of_their_own_agree_with_one():
    """Settings of scikit-learn are those of a thread."""
    model, _ = baseline(SUBJECTS[0])
    new, methods = _many(False), SUBJECTS[0].methods

    def ask(budget):
        with sklearn.config_context(working_memory=budget):
            return answers(model, new, methods)

    budgets = [0.02 * 4**i for i in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for found, budget in zip(pool.map(ask, budgets), budgets, strict=True):
            assert_same_bits(found, ask(budget))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forkserver on this system")
def test_processes_agree_with_one(long):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mercer.models", "mercer.projections"])
    new = _many(long)
    some = ("ParzenClassifier", "LaplacianEigenmaps", "LaplacianSVC", "KernelFisherDiscriminant")
    # Without torch, whose threads do not outlive a fork.
    asked = [one for one in SUBJECTS if one.name in some or (long and one.name != "OnDevice")]
    with ProcessPoolExecutor(AT_ONCE, mp_context=context) as pool:
        for subject in asked:
            model, _ = baseline(subject)
            expected = answers(model, new, subject.methods)
            content = pickle.dumps(model)
            jobs = [pool.submit(answer, content, subject.methods, new) for _ in range(AT_ONCE)]
            for job in jobs:
                assert_same_bits(job.result(), expected)


@pytest.mark.timeout(600)
def test_predict_takes_a_long_table(long, tmp_path):
    """`mercer predict` reads its table whole: what that takes is printed."""
    if not long:
        pytest.skip("a million rows: in the long run")
    n_rows, rng = 1_000_000, np.random.default_rng(0)
    small, table = tmp_path / "small.csv", tmp_path / "table.csv"
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(3), columns=["a", "b", "c"])
    frame.to_csv(table, index=False)
    frame[:300].assign(kind=np.where(frame["a"][:300] > 0, "up", "down")).to_csv(small, index=False)
    model, out = tmp_path / "model.skops", tmp_path / "out.csv"
    mercer = [sys.executable, "-c", "from mercer.cli import main; main()"]
    fit = [*mercer, "fit", small, "-t", "kind", "-m", "fisher", "-o", model]
    subprocess.run(fit, check=True, capture_output=True)
    child = subprocess.Popen([*mercer, "predict", model, table, "-o", out])
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    found = pd.read_csv(out)
    assert len(found) == n_rows
    right = np.where(frame["a"] > 0, "up", "down") == found["predicted"]
    assert right.mean() > 0.95
    seconds, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    size = table.stat().st_size / 2**20
    print(
        f"\nmercer predict: {n_rows} rows, {size:.0f} MiB of CSV: {seconds:.0f} s, {peak:.0f} MiB"
    )
