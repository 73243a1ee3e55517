"""How many files and functions of Mercer some public calls visit, and where the lines are.

    python benchmarks/trace_walks.py [--files] [--functions]

Each call is made once to warm up, so that imports and compilation are done, and once under a
profile of all threads.  A function is counted once, however often it is called; nested functions
and lambdas count as functions, comprehensions do not.  Compiled loops are not Python and show
only by the function that calls them, and templates of pages are not counted.  `mercer compare` fits
logistic, knn and dummy in this process; its map and the columns that count are found out in
processes of their own, which the second of its lines counts as if it were done here.  The second
table counts the modules and lines of each package, and the third where the sources ask
`is_dask_array(`.
"""

import argparse
import io
import re
import sys
import threading
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pandas as pd

import mercer
from mercer import (
    KernelFisherDiscriminant,
    LaplacianClassifier,
    ParzenClassifier,
    SparseKernelFisherDiscriminant,
)
from mercer._system.workers import answers_within
from mercer.cli import main as mercer_main
from mercer.comparison import compare_in_rounds
from mercer.information import renyi_quadratic_entropy
from mercer.sums import kernel_sum, log_kernel_sum
from mercer.views import _last_parts

ROOT = Path(mercer.__file__).parent
_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


def calls():
    """Return a function without arguments for each call, by what is called."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 50)
    X = rng.normal(size=(150, 4)) + y[:, None]
    fitted = LaplacianClassifier().fit(X, y)
    return {
        "kernel_sum": lambda: kernel_sum(X, bandwidth=1.0),
        "log_kernel_sum, a row left out": lambda: log_kernel_sum(
            X, bandwidth=1.0, exclude_self=True
        ),
        "renyi_quadratic_entropy": lambda: renyi_quadratic_entropy(X, bandwidth=1.0),
        "KernelFisherDiscriminant.fit": lambda: KernelFisherDiscriminant().fit(X, y),
        "SparseKernelFisherDiscriminant.fit": lambda: SparseKernelFisherDiscriminant(
            random_state=0
        ).fit(X, y),
        "LaplacianClassifier.fit": lambda: LaplacianClassifier().fit(X, y),
        "LaplacianClassifier.predict": lambda: fitted.predict(X),
        "ParzenClassifier.fit": lambda: ParzenClassifier().fit(X, y),
        "mercer compare": lambda: compare_here(X, y),
        "mercer compare, last parts here": lambda: compare_here(X, y, here=True),
    }


def compare_here(X, y, *, here=False):
    """Run `mercer compare` on a table, with all fits and perhaps its last parts in this process."""

    def rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 5})

    def answers(seconds, *tasks):
        if here:
            return [function(*given) for function, given in tasks]
        return answers_within(seconds, *tasks)

    with (
        TemporaryDirectory() as folder,
        mock.patch("mercer.comparison.compare_in_rounds", rounds),
        mock.patch.object(_last_parts, "answers_within", answers),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        table = Path(folder, "table.csv")
        pd.DataFrame(X, columns=list("abcd")).assign(kind=y).to_csv(table, index=False)
        arguments = ["compare", str(table), "--target", "kind", "--models", "logistic,knn,dummy"]
        assert mercer_main([*arguments, "-o", str(Path(folder, "results"))]) == 0


def _is_ours(file):
    return file.startswith(f"{ROOT}/") and file.endswith(".py")


class Walk:
    """The functions of Mercer's sources that were called since it was cleared, in order.

    It must be installed before the first call: threads keep the profile with which they start.
    """

    def __init__(self):
        self._codes = {}

    def install(self):
        threading.setprofile(self._visit)
        sys.setprofile(self._visit)

    def _visit(self, frame, event, _):
        if event == "call" and _is_ours(frame.f_code.co_filename):
            self._codes[frame.f_code] = None

    def of(self, call):
        """Return the (file, function) pairs that a call visits when it is made again."""
        call()
        self._codes.clear()
        call()
        return [
            (Path(code.co_filename).relative_to(ROOT).as_posix(), code.co_qualname)
            for code in tuple(self._codes)
            if code.co_name not in _COMPREHENSIONS
        ]


def sources():
    """Yield the path of each module under the package's root, and its text."""
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def print_walks(options):
    walk = Walk()
    walk.install()
    print(f"{'':38}{'files':>8}{'functions':>12}")
    for name, call in calls().items():
        visited = walk.of(call)
        by_file = Counter(file for file, _ in visited)
        print(f"{name:38}{len(by_file):8d}{len(visited):12d}")
        if options.files or options.functions:
            for file, count in by_file.items():
                print(f"    {file:40}{count:4d}")
                if options.functions:
                    for own, function in visited:
                        if own == file:
                            print(f"        {function}")


def print_sizes():
    files, lines = Counter(), Counter()
    for path, text in sources():
        package = path.parts[0] if len(path.parts) > 1 else "."
        files[package] += 1
        lines[package] += text.count("\n")
    print(f"\n{'package':38}{'files':>8}{'lines':>12}")
    for package in sorted(files):
        print(f"{package:38}{files[package]:8d}{lines[package]:12d}")
    print(f"{'all':38}{files.total():8d}{lines.total():12d}")


def print_questions():
    asked = Counter()
    for path, text in sources():
        asked[path.as_posix()] += len(re.findall(r"(?<!def )\bis_dask_array\(", text))
    asked = +asked
    print(f"\nis_dask_array( stands {asked.total()} times in {len(asked)} files:")
    for path, count in asked.most_common():
        print(f"    {path:34}{count:8d}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="list the files that a call visits")
    parser.add_argument("--functions", action="store_true", help="list their functions too")
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, Mercer {mercer.__version__}\n")
    print_walks(options)
    print_sizes()
    print_questions()


if __name__ == "__main__":
    main()
