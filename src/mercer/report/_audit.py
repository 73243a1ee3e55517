"""The audit of a paper's own hypothesis tests, its numbers written."""

from typing import Any

from mercer.report._numbers import decimals, fixed, known

__all__ = ["written_audit"]


def written_audit() -> list[dict[str, Any]]:
    """Return the audit of the paper's hypothesis tests with its numbers written."""
    from mercer.studies import audit_roweis_saul  # here, because few pages need it

    rows = []
    for row in audit_roweis_saul().to_dict("records"):
        printed, found, p = row["printed"], row["recomputed"], row["pvalue"]
        places = max(decimals([printed]), 2) if known(printed) else 4
        rows.append(
            {
                "table": f"Table {row['table']}",
                "dataset": row["data set"],
                "quantity": row["quantity"],
                "printed": fixed(printed, places) if known(printed) else "–",
                "recomputed": fixed(found, places),
                "agrees": bool(row["agrees"]),
                "compared": known(printed),
                "p": "" if not known(p) else "< 0.001" if p < 0.001 else f"{p:.3f}",
                "published": row["published"],
                "decision": row["decision"],
                "changed": row["decision"] != row["published"],
                "remark": row["remark"],
            }
        )
    return rows
