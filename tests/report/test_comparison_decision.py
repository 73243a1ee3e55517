"""What a rule comes to, on the page of a comparison."""

import pytest

from mercer.report import write_comparison_report
from report.comparisons import NASTY, make_content, write_folder

LINES = [
    {"name": "fisher", "recall": 0.985, "precision": 0.5, "alarms": 12.34, "plain_recall": 0.91,
     "plain_precision": 0.9, "plain_alarms": 1.5},
    {"name": "svc", "recall": 0.97, "precision": None, "alarms": 0.0},
]  # fmt: skip


def page(tmp_path, decision):
    folder = write_folder(tmp_path / "c", make_content(decision=decision))
    return write_comparison_report(folder).read_text(encoding="utf-8")


def test_a_wish_is_told_with_what_it_costs(tmp_path):
    decision = {
        "class_name": NASTY, "wanted": 0.98, "confidence": 0.95, "note": f"Few rows of {NASTY}.",
        "lines": LINES, "hindsight_of": "fisher", "hindsight": [{"share": 1.0, "alarms": 40.25}],
    }  # fmt: skip
    text = page(tmp_path, decision)
    for words in ("98.5 %<small>91.0 %", "12.3<small>1.5", "–<small>–", "kept", "missed"):
        assert words in text
    assert "finds all at 40.2 false alarms" in text
    assert NASTY not in text
    assert 'href="#decision"' in text


def test_costs_are_shown_with_what_they_come_to(tmp_path):
    lines = [{"name": "fisher", "mean_cost": 0.25, "plain_mean_cost": 1.0},
             {"name": "svc", "mean_cost": 1.5, "plain_mean_cost": 1.0},
             {"name": "knn", "mean_cost": 1.5}]  # fmt: skip
    decision = {"costs": [[0, 1, 2], [3, 0, 4], [5, 6, 0.0]], "lines": lines}
    text = page(tmp_path, decision)
    for words in ("0.25<small>1", "75.0 %", "−50.0 %", "1.5<small>–", "What mistakes cost"):
        assert words in text
    assert NASTY not in text


def test_without_a_rule_nothing_is_said_of_one(tmp_path):
    assert 'id="decision"' not in page(tmp_path, None)


@pytest.mark.parametrize("decision", [{"costs": "much"}, {"lines": [{}]}, {"wanted": "0.9"}])
def test_a_rule_that_is_none_is_refused(tmp_path, decision):
    with pytest.raises(ValueError, match="is not what `mercer compare` writes"):
        page(tmp_path, decision)
