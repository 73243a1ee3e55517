"""The table of mutants: mistakes that a careful person could make, as data.

One TOML file for each package.  It names the tests that judge its mutants: the package's own test
folder, less files that have nothing to say about the maths or are too slow for it, with a reason.

A mutant names a function, a ``Class.method`` or a constant by its package, and no file; where two
files of the package define the name, ``beside`` is another one that the right file defines.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants.places import ROOT, find_file, replace

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    Parameters
    ----------
    name : str
        "package/what-is-wrong".
    function : str
        Where it is made: "sums.arrange_columns", "mercer.as_counts", "spectral.PenaltyPath.at".
    file : str
        The file that defines it, from the root of the repository.
    old, new : str
        The code that is replaced, which the function has exactly once, and its replacement.
    why : str
        Why that is wrong.
    first : str
        The test file that is expected to notice; it runs before the others.
    tests : tuple of str
        All files that may notice, that one first.
    """

    name: str
    function: str
    file: str
    old: str
    new: str
    why: str
    first: str
    tests: tuple[str, ...]

    @property
    def package(self) -> str:
        """The part of the name before the stroke."""
        return self.name.partition("/")[0]

    def applied(self, text: str) -> str:
        """Return the text of the file with the mistake."""
        try:
            return replace(text, self.function.partition(".")[2], self.old, self.new)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error


def load_mutants() -> list[Mutant]:
    """Return all mutants, package by package."""
    mutants = []
    for source in sorted(FOLDER.glob("*.toml")):
        package, table = source.stem, read(source)
        tests = _test_files(table["folder"], table.get("without", {}))
        for one in table["mutant"]:
            first = f"{table['folder']}/{one['first']}"
            others = [test for test in tests if test != first]
            file = find_file(one["function"], one.get("beside"))
            mutants.append(
                Mutant(
                    name=f"{package}/{one['name']}",
                    function=one["function"],
                    file=file.relative_to(ROOT).as_posix(),
                    old=one["old"],
                    new=one["new"],
                    why=one["why"],
                    first=first,
                    tests=(first, *others),
                )
            )
    return mutants


def read(file: Path) -> dict[str, Any]:
    """Return one file of the table."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _test_files(folder: str, without: dict[str, str]) -> list[str]:
    files = sorted(file.name for file in (ROOT / folder).glob("test_*.py"))
    return [f"{folder}/{name}" for name in files if name not in without]
