"""The checks of a table that ``mercer compare`` makes before it fits anything."""

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

import typer

from mercer._system.words import count_of, listed
from mercer.cli._output import one_line
from mercer.cli._splitting import SplitRows, Splitting

if TYPE_CHECKING:
    from mercer.comparison import CheckRecord
    from mercer.tables import Table

Strict = Annotated[
    bool, typer.Option("--strict", help="End with an error where a check of the table asks.")
]


def ask_about(
    table: "Table",
    split: SplitRows,
    splitting: Splitting,
    *,
    settled: Collection[str],
    seed: int,
    is_strict: bool,
) -> "tuple[CheckRecord, ...]":
    """Check the rows, print what is to be asked about them, and return it.

    Nothing is asked about the columns that are settled: those which the command names.
    """
    from mercer.checks import check_rows
    from mercer.comparison import CheckRecord

    findings = check_rows(
        split.data,
        table,
        groups=splitting.groups,
        time=splitting.time,
        test=split.test,
        test_name=split.source,
        settled=settled,
        random_state=seed,
    )
    for one in findings:
        print(f"check: {one_line(one.text)} ({one.link})", file=sys.stderr)
    if findings and is_strict:
        codes = list(dict.fromkeys(one.code for one in findings))
        raise ValueError(
            f"--strict: {count_of(len(findings), 'check')} ({listed(codes)}) of {table.name} "
            f"{'asks' if len(findings) == 1 else 'ask'} for an answer: change the table, or name "
            "the columns in --exclude or --kind."
        )
    return tuple(
        CheckRecord(code=one.code, text=one.text, columns=one.columns, link=one.link)
        for one in findings
    )
