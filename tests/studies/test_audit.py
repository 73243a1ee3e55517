"""The audit of the paper's Tables 4-7, checked with bare arithmetic on what the paper prints."""

import pytest
from scipy import stats

from mercer.studies import audit_roweis_saul

AUDIT = audit_roweis_saul().set_index(["table", "data set", "quantity"])


@pytest.mark.parametrize(
    ("key", "printed", "recomputed"),
    [
        ((4, "ORL", "χ²"), 4.9, (8 - 2 - 1) ** 2 / 10),
        ((4, "FERET", "χ²"), 5.6, (9 - 1 - 1) ** 2 / 10),
        ((4, "YALE", "χ²"), 1.5, (5 - 1 - 1) ** 2 / 6),
        ((4, "ORL", "Laplacianfaces %"), 91.66, 100 * (219 + 2) / 240),
        ((4, "ORL", "Roweis-Saul %"), 94.58, 100 * (219 + 8) / 240),
        ((4, "FERET", "Laplacianfaces %"), 91.25, 100 * (188 + 1) / 212),
        ((4, "YALE", "Laplacianfaces %"), 90.00, 100 * (80 + 1) / 90),
        ((6, "ORL", "t"), 3.6770, 5.5 / ((0.5 + 6.125 + 3.125 + 3.125 + 1.125) / 5) ** 0.5),
        ((7, "ORL", "f"), 8.4246, 188.5 / (2 * 14)),
        ((7, "ORL", "N"), 188.5, 2 * (25 + 5.0625 + 7.5625 + 39.0625 + 10.5625) + 11.1875),
        ((7, "ORL", "M"), 11.5625, 0.5 + 3.3125 + 3.125 + 3.125 + 1.125),
        ((7, "YALE", "f"), 2.8587, 68.3824 / (2 * 11.9602)),
    ],
)
def test_each_number_by_hand(key, printed, recomputed):
    row = AUDIT.loc[key]
    assert row["printed"] == printed
    assert row["recomputed"] == pytest.approx(recomputed, abs=1e-9)


def test_printed_numbers_and_decisions_are_those_of_the_paper():
    """Typed from the paper once more, because the audit reads the tables of the study."""
    printed = {
        (4, "ORL"): {"χ²": 4.9, "Roweis-Saul %": 94.58, "Laplacianfaces %": 91.66},
        (4, "FERET"): {"χ²": 5.6, "Roweis-Saul %": 92.92, "Laplacianfaces %": 91.25},
        (4, "YALE"): {"χ²": 1.5, "Roweis-Saul %": 94.44, "Laplacianfaces %": 90.00},
        (5, "ORL"): {"t": 2.5038},
        (5, "YALE"): {"t": 1.0437},
        (6, "ORL"): {"t": 3.6770},
        (6, "YALE"): {"t": 1.2932},
        (7, "ORL"): {"N": 188.5, "M": 11.5625, "f": 8.4246},
        (7, "YALE"): {"N": 68.3824, "M": 11.9602, "f": 2.8587},
    }
    found = {}
    for (table, data, quantity), value in AUDIT["printed"].dropna().items():
        found.setdefault((table, data), {})[quantity] = value
    assert found == printed
    decisions = AUDIT["published"][AUDIT["published"] != ""]
    assert {data: set(decisions.xs(data, level=1)) for data in ("ORL", "FERET", "YALE")} == {
        "ORL": {"reject"}, "FERET": {"reject"}, "YALE": {"accept"},
    }  # fmt: skip


def test_what_does_not_agree():
    wrong = AUDIT.index[~AUDIT["agrees"]].tolist()
    assert wrong == [
        (4, "ORL", "χ²"),
        (4, "ORL", "Laplacianfaces %"),
        (4, "FERET", "χ²"),
        (4, "FERET", "Laplacianfaces %"),
        (6, "ORL", "t"),
        (7, "ORL", "N"),
        (7, "ORL", "M"),
        (7, "ORL", "f"),
    ]
    assert AUDIT.loc[wrong, "remark"].str.len().min() > 0


def test_only_one_published_decision_falls_and_one_more_with_the_corrected_test():
    tested = AUDIT[AUDIT["decision"] != ""]
    changed = tested.index[tested["decision"] != tested["published"]].tolist()
    assert changed == [(4, "ORL", "χ²"), (5, "ORL", "corrected t")]


def test_why_s2_should_be_6_125():
    """With it N = 2 Σ p̄² + Σ s² holds, and the two differences are whole images of 200."""
    half_gap = (6.125 / 2) ** 0.5
    assert (2.25 - half_gap, 2.25 + half_gap) == (0.5, 4.0)
    assert 2 * (25 + 5.0625 + 7.5625 + 39.0625 + 10.5625) + 14.0 == 188.5


def test_p_values_belong_to_the_recomputed_statistics():
    assert AUDIT.loc[(4, "ORL", "χ²"), "pvalue"] == pytest.approx(stats.chi2.sf(2.5, 1))
    assert AUDIT.loc[(5, "ORL", "t"), "pvalue"] == pytest.approx(2 * stats.t.sf(2.5038, 9))
    corrected = 2.5038 * (0.1 / (0.1 + 1 / 9)) ** 0.5
    assert AUDIT.loc[(5, "ORL", "corrected t"), "pvalue"] == pytest.approx(
        2 * stats.t.sf(corrected, 9)
    )
    assert AUDIT.loc[(7, "ORL", "f"), "pvalue"] == pytest.approx(stats.f.sf(188.5 / 28, 10, 5))
