"""Hypothesis tests: on what was measured, with verdicts in words, and the paper's own, audited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from mercer._system.words import fixed, is_known, p_number
from mercer.comparison import compare_over_datasets
from mercer.report.charts._rank_chart import draw_ranks, groups_alike
from mercer.report.study._paper_tables import decimals
from mercer.report.study._results import records_of

_LEAST_ROWS, _LEAST_METHODS = 5, 2
_LEVEL = 0.05


@dataclass(frozen=True)
class Pair:
    """Two methods of a table, and what the test says of them."""

    better: str
    worse: str
    difference: str
    interval: str
    pvalue: float
    significant: bool
    verdict: str
    same: str


@dataclass(frozen=True)
class Verdict:
    """Methods of one table compared over its data sets."""

    basis: str
    friedman: str
    chart: Markup
    pairs: tuple[Pair, ...]

    @property
    def significant(self) -> list[Pair]:
        """The pairs that differ by more than chance explains."""
        return [pair for pair in self.pairs if pair.significant]


def compare_columns(table: Mapping[str, Any], cells: pd.DataFrame, name: str) -> Verdict | None:
    """Compare the measured columns of a table; None where there is too little to compare.

    Honest numbers are compared where there are any, and those of the paper's protocol otherwise.
    Of several readings the first counts, and of several rows of one data set too.
    """
    if table["better"] not in ("higher", "lower"):
        return None
    basis, scores = _HONEST, _scores(table, cells, ("honest", "either"))
    if scores is None:
        basis, scores = _PAPER, _scores(table, cells, ("paper", "either"))
    if scores is None:
        return None
    higher = table["better"] == "higher"
    percent = table["unit"].startswith("%")
    rope = 1.0 if percent else 0.01
    compared = compare_over_datasets(
        scores, greater_is_better=higher, rope=rope, random_state=0, confidence_level=1 - _LEVEL
    )
    pairs = records_of(compared.pairs)
    clear = [record for record in pairs if record["pvalue_holm"] < _LEVEL]
    different = {frozenset((record["a"], record["b"])) for record in clear}
    ranks = [(str(method), float(rank)) for method, rank in compared.ranks.items()]
    groups = groups_alike([method for method, _ in ranks], different)
    friedman = "" if compared.friedman is None else f"Friedman: {compared.friedman}."
    return Verdict(
        basis=f"{len(scores)} data sets, {scores.shape[1]} methods; {basis}",
        friedman=friedman,
        chart=draw_ranks(ranks, groups, f"Average ranks of the methods of {name}"),
        pairs=tuple(
            _pair(record, " points" if percent else "")
            for record in sorted(pairs, key=lambda record: record not in clear)
        ),
    )


_HONEST = "every choice made on training rows alone."
_PAPER = "the paper's protocol, as too few honest numbers were measured."


def _scores(
    table: Mapping[str, Any], cells: pd.DataFrame, protocols: tuple[str, ...]
) -> pd.DataFrame | None:
    """Return scores of data sets by methods without gaps, or None where too few are left."""
    found = cells[cells["measured"].notna() & cells["protocol"].isin(protocols)]
    found = found.drop_duplicates(["row", "column"])
    if found.empty:
        return None
    square = found.pivot(index="row", columns="column", values="measured")
    datasets = {row["label"]: row.get("dataset") or row["label"] for row in table["rows"]}
    labels = [row["label"] for row in table["rows"] if row["label"] in square.index]
    kept = pd.Series({label: datasets[label] for label in labels}, dtype=object).drop_duplicates()
    columns = [column for column in table["columns"] if column in square.columns]
    square = square.loc[list(kept.index), columns]
    while square.shape[1] >= _LEAST_METHODS:
        whole = square.dropna()
        if len(whole) >= _LEAST_ROWS:
            return whole
        square = square.drop(columns=square.notna().sum().idxmin())
    return None


def _pair(record: Mapping[str, Any], unit: str) -> Pair:
    """Write a pair with the better one first."""
    gap = record["difference"]
    turn = gap < 0
    a, b = (record["b"], record["a"]) if turn else (record["a"], record["b"])
    low, high = record["low"], record["high"]
    if turn:
        low, high = -high, -low
    p = record["pvalue_holm"]
    return Pair(
        better=a,
        worse=b,
        difference=fixed(abs(gap), 2) + unit if is_known(gap) else "–",
        interval=f"{fixed(low, 2)} to {fixed(high, 2)}"
        if is_known(low) and is_known(high)
        else "–",
        pvalue=p,
        significant=bool(p < _LEVEL),
        verdict=record["verdict"],
        same=f"{record['P(same)']:.2f}",
    )


def audit_of(study: str) -> list[dict[str, Any]]:
    """Return the audit of a paper's own hypothesis tests; nothing for papers without one."""
    return _written_audit() if "roweis" in study.lower() else []


def _written_audit() -> list[dict[str, Any]]:
    """Return the audit of the paper's hypothesis tests with its numbers written."""
    from mercer.studies import audit_roweis_saul  # here, because few pages need it

    rows = []
    for row in audit_roweis_saul().to_dict("records"):
        printed, found, p = row["printed"], row["recomputed"], row["pvalue"]
        places = max(decimals([printed]), 2) if is_known(printed) else 4
        rows.append(
            {
                "table": f"Table {row['table']}",
                "dataset": row["data set"],
                "quantity": row["quantity"],
                "printed": fixed(printed, places),
                "recomputed": fixed(found, places),
                "agreement": "–" if not is_known(printed) else "yes" if row["agrees"] else "no",
                "p": p_number(p),
                "published": row["published"],
                "decision": row["decision"],
                "changed": row["decision"] != row["published"],
                "remark": row["remark"],
            }
        )
    return rows
