"""Run in a process of its own: how much memory answers for many rows take beside themselves.

    python measure_memory.py ROWS MEBIBYTES [NAME:METHOD …]

For each estimator and method, one line of JSON: the MiB of the answer, those that the process
had at most beyond what it held before and the answer, and the seconds.
"""

import json
import os
import sys
import time

# Freed memory goes back at once, so that one call does not hide in what another has left.
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", "65536")
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", "0")
if __name__ == "__main__" and "MERCER_LOAD" not in os.environ:
    os.environ["MERCER_LOAD"] = "1"
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - malloc reads them at the start

import numpy as np
import sklearn

from contract.subjects import SUBJECTS

N_CLASSES = 10


def sample(n_rows):
    """Forty rows of ten classes to fit, and many new ones; two columns."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % N_CLASSES
    X = rng.normal(size=(40, 2)) + 3 * np.column_stack([y % 4, y // 4])
    new = rng.random((n_rows, 2))
    new *= 12.0
    return X, y, new


def peak():
    """Return the most MiB that this process has had since `forget`."""
    with open("/proc/self/status", encoding="ascii") as status:
        (line,) = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def forget():
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def main():
    n_rows, budget, *wanted = sys.argv[1:]
    X, y, new = sample(int(n_rows))
    models = {}
    by_name = {subject.name: subject for subject in SUBJECTS}
    for pair in wanted:
        name, method = pair.split(":")
        if name not in models:
            models = {name: by_name[name].make().fit(X, y)}
        answer = getattr(models[name], method)
        with sklearn.config_context(working_memory=float(budget)):
            answer(new[:5000])  # loads and compiles what there is to
            forget()
            before, start = peak(), time.process_time()
            out = answer(new)
            seconds, extra = time.process_time() - start, peak() - before
        size = np.asarray(out).nbytes / 2**20
        found = {"name": name, "method": method, "answer": size, "extra": extra - size}
        print(json.dumps({**found, "seconds": seconds}), flush=True)
        del out


if __name__ == "__main__":
    main()
