"""What no measured number can judge: misprints, by the papers' own numbers, and single draws."""

import numpy as np
import pytest

from mercer.studies import list_studies, load_study

TABLES = {table.key: table for table in load_study("roweis-saul").tables}


def printed(key, row, *columns):
    """Return what the Roweis-Saul paper prints in some columns."""
    return np.array([TABLES[key].published[row, column].value for column in columns])


def misprints(key):
    return set(TABLES[key].misprints)


def test_statistics_of_mcnemar_that_are_not_those_of_their_counts_are_misprints():
    found = {}
    for row in ("ORL", "FERET", "YALE"):
        e01, e10, statistic = printed("4", row, "e01", "e10", "χ²")
        by_counts = (abs(e01 - e10) - 1) ** 2 / (e01 + e10)
        if abs(statistic - by_counts) > 0.05:
            found[row] = by_counts
    assert found == {"ORL": 2.5, "FERET": 4.9}
    # At 5 % the limit is 3.84: of the two only the decision on ORL changes.
    assert misprints("4") == {("ORL", "χ²"), ("FERET", "χ²"), ("ORL", "verdict")}
    for row, value in found.items():
        assert f"{value:g}" in TABLES["4"].misprints[row, "χ²"]


def test_tables_6_and_7_contradict_each_other_on_orl_only():
    found = {}
    for row in ("ORL", "YALE"):
        means = printed("6", row, *(f"p̄{i}" for i in range(1, 6)))
        variances = printed("6", row, *(f"s{i}²" for i in range(1, 6)))
        (n,) = printed("7", row, "N")
        asked = n - 2 * (means**2).sum() - np.delete(variances, 1).sum()
        if abs(asked - variances[1]) > 0.04 * means.sum():  # as the audit has it: p̄ is rounded
            variances[1] = asked
            t = (means[0] + np.sqrt(variances[0] / 2)) / np.sqrt(variances.mean())
            found[row] = [asked, t, variances.sum(), n / (2 * variances.sum())]
    assert list(found) == ["ORL"]
    assert found["ORL"] == pytest.approx([6.125, 3.287, 14.0, 6.732], abs=1e-3)
    assert misprints("6") == {("ORL", "s2²"), ("ORL", "t")}
    assert misprints("7") == {("ORL", "M"), ("ORL", "f")}
    reasons = {**TABLES["6"].misprints, **TABLES["7"].misprints}
    for column, text in (("s2²", "6.125"), ("t", "3.29"), ("M", "14"), ("f", "6.73")):
        assert text in reasons["ORL", column]


def test_tables_of_one_draw():
    found = {
        (name, table.key)
        for name in list_studies()
        for table in load_study(name).tables
        if table.one_draw
    }
    papers = {"roweis-saul": ("4", "5", "6", "7"), "laplacian": ("I–III", "IV–V")}
    assert found == {(name, key) for name, keys in papers.items() for key in keys}
    assert all(not TABLES[key].reasons for key in papers["roweis-saul"])


def test_replicates_that_overlap_are_not_independent():
    dependent = {
        (name, protocol)
        for name in list_studies()
        for table in load_study(name).tables
        for method in table.methods
        for protocol in method.protocols
        if not method.independent
    }
    assert dependent == {("fisher", "paper"), ("lsva", "paper"), ("lsva", "honest")}
    fisher = load_study("fisher").tables[0].methods
    assert all(method.independent == (method.protocols != ("paper",)) for method in fisher)
