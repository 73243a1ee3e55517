"""The table of mutants: mistakes that a careful person could make, as data.

One TOML file for each package.  It names the tests that judge its mutants: the package's own test
folder, less files that have nothing to say about the maths or are too slow for it, with a reason.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    Parameters
    ----------
    name : str
        "package/what-is-wrong".
    file : str
        Where it is made, from the root of the repository.
    old, new : str
        The text that is replaced, which the file has exactly once, and its replacement.
    why : str
        Why that is wrong.
    first : str
        The test file that is expected to notice; it runs before the others.
    tests : tuple of str
        All files that may notice, that one first.
    """

    name: str
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
        count = text.count(self.old)
        if count != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: {self.file} has the text to replace {count} times.")
        return text.replace(self.old, self.new)


def load_mutants() -> list[Mutant]:
    """Return all mutants, package by package."""
    mutants = []
    for file in sorted(FOLDER.glob("*.toml")):
        package, table = file.stem, read(file)
        tests = _test_files(table["folder"], table.get("without", {}))
        for one in table["mutant"]:
            first = f"{table['folder']}/{one['first']}"
            others = [test for test in tests if test != first]
            mutants.append(
                Mutant(
                    name=f"{package}/{one['name']}",
                    file=f"src/mercer/{one['file']}",
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
