"""The page of ``mercer explain``: what it shows of each row, curves, and text that is escaped."""

import numpy as np
import pandas as pd
import pytest

from mercer.explanations import explain_table
from mercer.models import make_model
from mercer.report import RowFacts, write_reasons_page
from mercer.tables import split_target
from report.parsed import Page

HOSTILE = '<img src=x onerror="alert(1)">&'


def table(n=120, n_classes=3):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            HOSTILE: rng.normal(size=n),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "job": rng.choice(["baker", HOSTILE, None], n),
        }
    )
    names = [HOSTILE, "b", "c"][:n_classes]
    score = frame[HOSTILE] + (frame["job"] == "baker")
    edges = np.quantile(score, [0.3, 0.6])[: n_classes - 1]
    frame["class"] = np.array(names)[np.digitize(score, edges)]
    frame.loc[::7, HOSTILE] = np.nan
    return split_target(frame, "class")


def written(tmp_path, data, name, facts=None, rows=4):
    model = make_model(name, data).fit(data.X, data.y)
    found = explain_table(model, data.X[:rows], known=data.X, labelled=(data.X, data.y))
    path = write_reasons_page(
        found, tmp_path / "p.html", model=f"model {HOSTILE}", target=f"class {HOSTILE}",
        table=f"folder/{HOSTILE}", facts=facts, notes=[HOSTILE],
    )  # fmt: skip
    return found, path.read_text()


@pytest.mark.parametrize("name", ["fisher", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_text_of_tables_is_escaped_everywhere(tmp_path, name, n_classes):
    facts = [RowFacts(0.0, HOSTILE, HOSTILE, {HOSTILE: HOSTILE})] * 4
    _, page = written(tmp_path, table(n_classes=n_classes), name, facts)
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=") > 10
    assert page.count("<script") == 1


def test_a_bar_is_as_long_as_its_share_and_on_its_side(tmp_path):
    found, page = written(tmp_path, table(), "logistic")
    largest = max(abs(part.share) for row in found.rows for part in row.parts)
    for row in found.rows:
        for part in row.parts:
            side = "for" if part.share >= 0 else "against"
            width = f"{50 * abs(part.share) / largest:.1f}"
            assert f'<span class="{side}" style="width:{width}%"></span>' in page
    assert 'style="width:50.0%"></span>' in page


def test_far_and_wrong_rows_are_said_to_be_so(tmp_path):
    data = table()
    wrong = [next(name for name in "abc" if name != y) for y in data.y[:4]]
    facts = [
        RowFacts(0.0, "job", None), RowFacts(0.031, "when", None),
        RowFacts(0.5, "when", str(data.y[2])), RowFacts(1.0, "when", wrong[3]),
    ]  # fmt: skip
    _, page = written(tmp_path, data, "fisher", facts)
    assert page.count("This row lies farther out than any training row, most of all in job") == 1
    assert "Familiarity 0.031: only 3.1 % of the training rows lie farther out" in page
    assert "It is farthest out in when" in page
    assert "Familiarity 0.50: 50.0 % of the training rows lie farther out." in page


def test_curves_are_figures_of_numbers_and_dates_and_tables_of_categories(tmp_path):
    found, page = written(tmp_path, table(), "fisher")
    kinds = {curve.column: curve.values.dtype.kind for curve in found.curves}
    assert kinds["when"] == "M"
    assert page.count('class="chart"') == 2
    assert "when (year)" in page
    assert "Where it is missing: " in page
    assert "missing</th>" in page  # the missing job is a line of its table


def test_one_row_and_no_classes_known(tmp_path):
    data = table()
    model = make_model("boosting", data).fit(data.X, data.y)
    found = explain_table(model, data.X[:1], known=data.X, numbers=[17])
    assert found.columns == found.curves == ()
    path = tmp_path / "p.html"
    page = write_reasons_page(found, path, model="m", target="t", table="x").read_text()
    assert "Reasons for the answer: t" in page
    assert "What the model goes by" not in page
    assert "Row 17: t " in page
    assert "Familiarity" not in page
    assert "Training rows that speak" not in page


def test_links_lead_to_rows_and_ids_are_there_once(tmp_path):
    _, page = written(tmp_path, table(), "fisher")
    parsed = Page(page)
    assert {f"#row-{k}" for k in range(1, 5)} <= set(parsed.links)
    assert len(set(parsed.ids)) == len(parsed.ids)
