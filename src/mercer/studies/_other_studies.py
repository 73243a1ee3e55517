"""Studies that an earlier run left in the same folder, and that this run did not run."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class OtherStudies:
    """What is kept of them, so that one study may be run again without the page losing the rest.

    Parameters
    ----------
    described : sequence of dict
        All studies of the earlier run, as ``studies.json`` has them.
    folder : Path or None
        Where its tables are; None where nothing is kept.
    names : frozenset of str
        Those that this run did not run.
    """

    described: Sequence[dict[str, Any]] = ()
    folder: Path | None = None
    names: frozenset[str] = field(default=frozenset())

    @classmethod
    def of(cls, folder: Path, run: Mapping[str, Any]) -> Self:
        """Return the other studies in a folder, if they were run in the mode of this run.

        Quick and full runs, and those of different protocols, do not stand on one page.
        """
        with suppress(OSError, ValueError, KeyError, TypeError):
            earlier = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            described = json.loads((folder / "studies.json").read_text(encoding="utf-8"))
            names = frozenset(str(one["name"]) for one in described) - set(run["studies"])
            if all(earlier[key] == run[key] for key in ("mode", "protocol", "mercer")):
                return cls(described, folder, names)
        return cls()

    def with_those(self, described: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return all studies in the order of the earlier run, those of this run in their place."""
        new = {one["name"]: one for one in described}
        kept = [new.pop(one["name"], one) for one in self.described]
        return [*kept, *new.values()]

    def appended(self, name: str, text: str) -> str:
        """Return a table of this run with the lines of the other studies behind it."""
        if self.folder is None or not self.names:
            return text
        with (
            suppress(OSError, ValueError),
            open(self.folder / name, newline="", encoding="utf-8") as stream,
        ):
            earlier = csv.DictReader(stream)
            header = next(csv.reader(io.StringIO(text)))
            if earlier.fieldnames == header:
                lines = io.StringIO()
                writer = csv.DictWriter(lines, header, lineterminator="\n")
                writer.writerows(line for line in earlier if line["study"] in self.names)
                return text + lines.getvalue()
        return text
