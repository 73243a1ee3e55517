"""Densities: seconds and the worst relative error of Mercer and its peers, in one run.

    python benchmarks/bench_density.py --out density.jsonl                     # to 10⁷ rows; hours
    python benchmarks/bench_density.py --max-rows 1000000 --peer-seconds 60    # half an hour
    python benchmarks/bench_density.py --only mercer SciPy --columns 1 8 --max-rows 100000

Everybody fits a Gaussian window of one width to n rows of d columns (five Gaussians, whitened;
Scott's rule) and says the density at 10 000 other points, or at n where d ≤ 3. Seconds are those of
both together, the best of three where they are fewer than one; in brackets is the error, the worst
of 64 points, an eighth of them the farthest out, against a literal log-sum-exp over all rows.
"Exact" are the methods whose error there is at most 1e-6; "within tol" those whose error is at most
``--tol``, whatever they were asked for: the last two columns divide the seconds of the quickest
peer of either kind by ours. The file has the memory that each took, too. Who works on a grid gets
one as fine as its memory allows, and lines go between its points; fastKDE chooses a width of its
own, so that it has no error and no ratio.

Every cell runs in a process of its own, after a fit of a few rows that compiles and loads. One that
takes longer than ``--peer-seconds`` is ended, and not asked for more rows (its cells then say at
how many rows it was ended); nor is one that wants more memory than ``--memory`` GiB. ``--out``
keeps what is found, one line a cell: a run that was broken off goes on, and says how many cells
earlier runs had done. Peers that are not installed are left out: pip install KDEpy statsmodels
pyfigtree fastkde.
"""

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from _density_peers import CONTENDERS, checked_rows, literal_logs, mixture

COLUMNS = (1, 2, 3, 8, 16)
FEWEST_ROWS, MOST_ROWS = 10_000, 10_000_000
QUERIES, CHECKED = 10_000, 64
EXACT = 1e-6  # the largest error of a method that counts as exact
QUICK, REPEATS = 1.0, 3  # fewer seconds are the best of so many runs
MODULES = {
    "scikit-learn": "sklearn",
    "SciPy": "scipy",
    "FIGTree": "pyfigtree",
}  # others are called as their package
PACKAGES = (
    "mercer",
    "scikit-learn",
    "scipy",
    "KDEpy",
    "statsmodels",
    "fastkde",
    "pyfigtree",
    "finufft",
)


def n_queries(n_rows, n_columns):
    return n_rows if n_columns <= 3 else QUERIES


def answer(connection, name, n_rows, n_columns, tol, memory):
    """Compute one cell: the life of a process.  "ready" comes before what is timed."""
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (int(memory * 2**30),) * 2)
    try:
        X, Q, bandwidth = mixture(n_rows, n_queries(n_rows, n_columns), n_columns)
        checked = checked_rows(Q, CHECKED)
        if name == "truth":
            connection.send("ready")
            connection.send({"values": literal_logs(X, Q[checked], bandwidth).tolist()})
            return
        contender = CONTENDERS[name]
        contender.compute(X[:400], Q[:100], 1.0, tol)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        connection.send("ready")
        seconds = []
        while not seconds or (seconds[0] < QUICK and len(seconds) < REPEATS):
            start = time.perf_counter()
            found = np.asarray(contender.compute(X, Q, bandwidth, tol))
            seconds.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        with np.errstate(divide="ignore", invalid="ignore"):  # a grid's density may be negative
            logs = found[checked] if contender.is_log else np.log(found[checked])
        values = [float(v) if np.isfinite(v) else None for v in logs]
        connection.send({"seconds": min(seconds), "mebibytes": peak / 1024, "values": values})
    except MemoryError:
        connection.send({"failure": f"more than {memory:g} GiB"})
    except Exception as error:  # Each cell of the table fails alone.
        connection.send({"failure": f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"})


def ask(name, n_rows, n_columns, options):
    """Return what a process finds, or the reason why it found nothing."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    arguments = (theirs, name, n_rows, n_columns, options.tol, options.memory)
    process = context.Process(target=answer, args=arguments, daemon=True)
    process.start()
    theirs.close()
    limit = None if name == "truth" else options.peer_seconds
    try:
        # Making the data and a first small call: some peers take minutes for it.
        reply = ours.recv() if ours.poll(None if limit is None else limit + 120) else None
        if reply == "ready":
            reply = ours.recv() if ours.poll(limit) else None
        return reply if reply is not None else {"failure": f"over {limit:g} s"}
    except EOFError:
        return {"failure": "the process died, as without memory"}
    finally:
        process.kill()
        process.join()
        ours.close()


def error_of(values, truth):
    """Return the worst relative error of densities whose logarithms these are."""
    logs = np.array([np.nan if v is None else v for v in values])
    with np.errstate(over="ignore"):
        errors = np.abs(np.expm1(logs - truth))
    return float(np.where(np.isnan(errors), np.inf, errors).max())


class Store:
    """The lines of a file: one for each cell that is known."""

    def __init__(self, path, options):
        self.path, self.found = path, {}
        self.same = {"tol": options.tol, "threads": options.threads}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                one = json.loads(line)
            except ValueError:
                continue  # a line that was broken off
            if all(one.get(name) == value for name, value in self.same.items()):
                self.found[one["name"], one["n"], one["d"]] = one
        self.earlier = 0

    def known(self, name, n, d, options):
        """Return a cell that need not run again: with a result, or a limit that was no shorter."""
        one = self.found.get((name, n, d))
        if one is None or ("failure" in one and _was_shorter(one, options)):
            return None
        self.earlier += name != "truth"
        return one

    def add(self, one):
        one |= self.same
        self.found[one["name"], one["n"], one["d"]] = one
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")


def _was_shorter(one, options):
    return one["limit"] < options.peer_seconds or one["memory"] < options.memory


def cell(store, name, n, d, options):
    """Return a cell: stored, computed, or given up because fewer rows were too many."""
    limits = {"limit": options.peer_seconds, "memory": options.memory}
    for (other, rows, columns), fewer in store.found.items():
        is_fewer = (other, columns) == (name, d) and rows < n and "failure" in fewer
        if is_fewer and not _was_shorter(fewer, options):
            return {"failure": f"{fewer['failure']}, {short(rows)}"}
    one = store.known(name, n, d, options)
    if one is None:
        if sys.stderr.isatty():
            print(f"  {name}, n = {n}, d = {d} …\033[K", end="\r", file=sys.stderr, flush=True)
        one = {"name": name, "n": n, "d": d, **ask(name, n, d, options), **limits}
        one["when"] = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        store.add(one)
    return one


def short(count):
    return f"{count:.0e}".replace("e+0", "e")


def ratio(cells, errors, most, ours):
    """Return the seconds of the quickest peer that is as accurate as `most`, divided by ours."""
    able = {name: one["seconds"] for name, one in cells.items() if errors.get(name, 1.0) <= most}
    mine = min((seconds for name, seconds in able.items() if name in ours), default=None)
    peers = {name: s for name, s in able.items() if not name.startswith("mercer")}
    if mine is None:
        return "–"
    if not peers:
        return "alone"
    quickest = min(peers, key=peers.get)
    return f"{peers[quickest] / mine:.3g}× ({quickest})"


def print_row(n, d, names, store, options):
    """Compute and print one row of the table."""
    cells = {name: cell(store, name, n, d, options)
             for name in names if d <= CONTENDERS[name].most_columns}  # fmt: skip
    done = {name: one for name, one in cells.items() if "seconds" in one}
    errors = {}
    if done:
        truth = np.array(cell(store, "truth", n, d, options)["values"])
        errors = {name: error_of(one["values"], truth) for name, one in done.items()
                  if not CONTENDERS[name].own_width}  # fmt: skip
    texts = [str(d), short(n), short(n_queries(n, d))]
    for name in names:
        one = cells.get(name)
        if one is None or "failure" in one:
            texts.append("–" if one is None else one["failure"].replace("|", "¦"))
            continue
        about = f"{errors[name]:.0e}" if name in errors else "own width"
        texts.append(f"{one['seconds']:.3g} s ({about})")
    texts.append(ratio(done, errors, EXACT, ("mercer",)))
    texts.append(ratio(done, errors, options.tol, ("mercer", "mercer, tol")))
    print("| " + " | ".join(texts) + " |", flush=True)


def asked_names(options):
    """Return the contenders that were asked for and are installed."""
    unknown = {*(options.only or ())} - {*CONTENDERS, "mercer"}
    if unknown:
        raise SystemExit(f"--only knows {', '.join(CONTENDERS)}; got {', '.join(sorted(unknown))}.")
    names = []
    for name in CONTENDERS:
        if options.only and name not in options.only:
            continue
        package = name.partition(",")[0].partition(" ")[0]
        module = MODULES.get(package, package if package == "KDEpy" else package.lower())
        if find_spec(module) is None:
            print(f"{package} is not installed: {name} is left out", file=sys.stderr)
        else:
            names.append(name)
    return names


def print_header(options):
    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    print("    " + " ".join(["python", *sys.argv]))
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    cores = len(os.sched_getaffinity(0))
    print(f"\n{when}, {cores} core(s), {', '.join(versions)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-rows", type=int, default=MOST_ROWS)
    parser.add_argument(
        "--peer-seconds", type=float, default=600, help="limit of one cell, ours too"
    )
    parser.add_argument("--memory", type=float, default=12, help="GiB of one cell; 0: no limit")
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS, help="values of d")
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"of {', '.join(CONTENDERS)}")
    parser.add_argument("--tol", type=float, default=1e-3, help="of those that take a tolerance")
    parser.add_argument("--threads", choices=["1", "all"], default="all")
    parser.add_argument("--out", type=Path, default=Path("density.jsonl"), help="file of the cells")
    options = parser.parse_args()
    if options.threads == "1":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        os.environ.update(dict.fromkeys(names, "1"))
    os.environ["PYTHONWARNINGS"] = "ignore"
    names, store = asked_names(options), Store(options.out, options)
    print_header(options)
    print(
        f"limit {options.peer_seconds:g} s and {options.memory:g} GiB a cell, tol {options.tol:g}\n"
    )
    heads = ("d", "n", "queries", *names, "exact: best peer ÷ mercer", "within tol: the same")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads), flush=True)
    n = FEWEST_ROWS
    while n <= options.max_rows:
        for d in options.columns:
            print_row(n, d, names, store, options)
        n *= 10
    if store.earlier:
        print(f"\n{store.earlier} cells are from earlier runs, which {options.out} holds.")


if __name__ == "__main__":
    main()
