"""The page of ``mercer compare`` as text: what the files hold, escaped, and clear about gaps."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mercer.comparison import ComparisonRecord, read_comparison
from mercer.report import write_comparison_report
from mercer.report._document import page_count
from mercer.report.charts._layers import picture
from mercer.report.comparison._confusion import view_confusion
from mercer.report.comparison._question import sentences
from mercer.report.comparison._ranking import draw_scores, model_line, other_measures, pair_lines
from report.comparisons import (
    NASTY,
    make_content,
    make_curves,
    make_points,
    make_scores,
    write_folder,
)
from report.parsed import Page

MANY = [f"class {k}" for k in range(100)]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_comparison_report(write_folder(tmp_path_factory.mktemp("comparison")))


def _record(content=None):
    return ComparisonRecord.from_json(make_content() if content is None else content)


def _read(path):
    return Page(path.read_text(encoding="utf-8"))


def _part(path, name):
    """The text of one section."""
    text = path.read_text(encoding="utf-8")
    start = text.index(f'id="{name}"')
    return re.sub(r"\s+", " ", Page(_whole(text[start:])).words)


def _whole(text):
    """Cut at the section's end and give it an element to stand in."""
    return "<div " + text[: re.search(r"</(section|footer)>", text).start()] + "</div>"


def test_elements_nest_ids_are_unique_and_links_lead_somewhere(page):
    parsed = _read(page)
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)


def test_nothing_is_fetched(page):
    parsed = _read(page)
    assert all(address.startswith(("data:", "#")) for address in parsed.fetched)
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|localStorage", text)


def test_the_page_is_beside_the_results_or_where_it_is_asked_for(tmp_path):
    folder = write_folder(tmp_path / "results")
    assert write_comparison_report(folder) == folder / "report.html"
    other = tmp_path / "other.html"
    assert write_comparison_report(folder, other) == other
    assert other.read_bytes() == (folder / "report.html").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other.html", "results"]


def test_names_are_never_markup(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<script>") == 1  # our own
    assert "alert(1)</script>" not in text
    for place in ("answer", "data", "ranking", "leaders", "curves", "map"):
        assert NASTY in _part(page, place), place


def test_the_answer_and_the_question(page):
    content = make_content()
    said = _part(page, "answer")
    assert content["answer"] in said
    assert "Which model predicts ki & nd?" in said
    data = _part(page, "data")
    assert "1 234 rows whose ki & nd is known" in data
    assert "Models see 2 columns: 1 of numbers and 1 of categories." in data
    assert "One column is not used: “id” (every row has its own)." in data
    assert "Values are missing in one column that is used, “width” (10.0 %)." in data
    assert (
        f"“{NASTY}” (102 rows, 33.7 %), “b” (101 rows, 33.3 %) and “a” (100 rows, 33.0 %)" in data
    )
    assert content["question"]["notes"][0] in data


def test_the_ranking_is_that_of_the_file(page):
    said = _part(page, "ranking")
    assert "the fisher 0.910 0.870 to 0.950 best best" in said
    assert "the svc 0.900 0.860 to 0.940 0.010 not told apart not told apart , p = 0.37" in said
    assert "the logistic 0.800 0.760 to 0.840 0.110 worse worse , p = 0.012" in said
    assert "the dummy 0.310 0.270 to 0.350 0.600 worse worse , p < 0.001" in said
    assert "the knn – – left out left out left out: one fit takes 9 s" in said
    assert f"the forest – – failed failed ValueError: {NASTY}" in said
    assert "traceback" not in said


def test_pairs_name_the_better_one_first():
    lines = pair_lines(_record().pairs, 0.95)
    assert [line.corrected for line in lines] == ["< 0.001"] * 3 + ["0.012", "0.020", "0.37"]
    assert [line.is_different for line in lines] == [True] * 5 + [False]
    turned = lines[3]
    assert (turned.better, turned.worse) == ("fisher", "logistic")
    # −0.16 to −0.09 the other way round
    assert (turned.difference, turned.interval) == ("+0.110", "0.090 to 0.160")
    assert turned.verdict == "fisher is better"


def test_other_measures_are_means_over_the_rounds_of_all(tmp_path):
    comparison = read_comparison(write_folder(tmp_path))
    heads, lines = other_measures(comparison)
    assert heads[:2] == ["accuracy", "balanced accuracy"]
    assert [name for name, _ in lines] == ["fisher", "svc", "logistic", "dummy"]
    values = dict(lines)
    assert values["fisher"] == ["0.910"] * 6  # a split that others have not is left out
    assert values["svc"] == ["0.900"] * 5 + ["–"]


def test_confusions_count_and_share():
    view = view_confusion("m", ["a", "b"], [[8, 2], [1, 3]])
    (_, first, found), (_, second, other) = view.rows
    assert first + second == [(8, 0.8), (2, 0.2), (1, 0.25), (3, 0.75)]
    assert (found, other) == (0.8, 0.75)
    assert list(view.right) == [8 / 9, 3 / 5]


def test_the_page_shows_right_and_wrong_answers_apart(tmp_path):
    curves = make_curves(("a", "b"))
    curves["confusion"] = {name: [[8, 2], [1, 3]] for name in curves["confusion"]}
    folder = write_folder(tmp_path, make_content(("a", "b")), curves)
    page = write_comparison_report(folder).read_text("utf-8")
    right = '<td class="right" style="--p:0.800" title="80.0 % of a">8<small>80.0 %</small></td>'
    wrong = '<td class="wrong" style="--p:0.200" title="20.0 % of a">2<small>20.0 %</small></td>'
    assert right in page
    assert wrong in page
    assert '<td class="sum">75.0 %</td>' in page  # of b


def test_the_worst_pairs_of_many_classes_are_counted_and_shared(tmp_path):
    names = tuple(f"c{k:02}" for k in range(30))
    matrix = 10 * np.eye(30, dtype=int)
    matrix[3, 4] = 6
    curves = make_curves(names)
    curves["confusion"] = {name: matrix.tolist() for name in curves["confusion"]}
    page = write_comparison_report(write_folder(tmp_path, make_content(names), curves))
    worst = '<td>c03</td><td>c04</td><td class="num">6</td><td class="num">37.5 %</td>'
    assert worst in page.read_text("utf-8")


def test_a_class_that_is_never_named_or_tested_has_no_share(tmp_path):
    view = view_confusion("m", ["a", "b"], [[5, 0], [0, 0]])
    assert view.right[0] == 1
    assert np.isnan([view.right[1], view.rows[1][2]]).all()
    curves = make_curves(("a", "b"))
    curves["confusion"] = {name: [[5, 0], [0, 0]] for name in curves["confusion"]}
    folder = write_folder(tmp_path, make_content(("a", "b")), curves)
    assert "right when named 100.0 % –" in _part(write_comparison_report(folder), "leaders")


def test_many_classes_get_a_map_and_the_worst_pairs():
    matrix = 10 * np.eye(100, dtype=int)
    matrix[3, 4], matrix[7, 1] = 6, 2
    view = view_confusion("m", MANY, matrix)
    assert view.rows == ()
    shares = matrix / matrix.sum(axis=1, keepdims=True)
    assert picture(shares[::-1], "shade") in view.map  # the first class is at the top
    assert list(view.worst) == [
        ("class 3", "class 4", 6, 0.375), ("class 7", "class 1", 2, 1 / 6)
    ]  # fmt: skip


def test_calibration_and_precision(page):
    said = _part(page, "curves")
    # gaps 0.1, 0 and 0.3 of 3, 10 and 30 rows that are promised or held
    assert "gap of calibration 0.216 –" in said
    assert "average precision of “a” 0.990 0.990" in said
    assert "without calibration: svc." in said


def test_hard_rows_costs_and_commands(page):
    content = make_content()
    hard = _part(page, "hard")
    assert "2 of the 740 rows that were tested (0.3 %) are wrong" in hard
    assert f"7 a {NASTY} 2 11 a {NASTY} 2" in hard
    assert "fisher 250 ms 1.5 s 12.3 MB 1 111" in _part(page, "cost")
    text = page.read_text(encoding="utf-8")
    shown = [re.sub("&#39;", "'", one).replace("&amp;", "&")
             for one in re.findall(r"<pre><code>(.*?)</code></pre>", text, re.DOTALL)]  # fmt: skip
    assert shown == [content["fit_command"], content["python"]]


def test_rows_that_lie_far_out(tmp_path, page):
    far = {"model": NASTY, "level": 0.05, "tested": 200, "right": 160, "far": 10, "far_right": 4}
    page_with = write_comparison_report(write_folder(tmp_path / "far", make_content(far_rows=far)))
    hard = _part(page_with, "hard")
    assert "(5.0 % of those that were tested, with a familiarity below 0.05)" in hard
    assert "predicts 40.0 % right; of all others 82.1 %." in hard
    assert "lie farthest out" not in _part(page, "hard")


def test_how_it_was_measured(page):
    said = _part(page, "measured")
    assert "Each of the 6 rounds trains on about 1 111 rows and tests on about 123" in said
    assert content_sentence() in said
    assert "over the pairs (3 of models and 3 with dummy, each family apart)" in said
    foot = _part(page, "about")
    assert all(word in foot for word in ("Seed 7", "Budget 2 min", "mercer 0.1", "Cores 2"))


def content_sentence():
    return make_content()["metric_reason"]


def test_the_map_holds_every_point(page):
    text = page.read_text(encoding="utf-8")
    points = make_points(["a", "b", NASTY])
    n = len(points)
    assert f'data-n="{n}"' in text
    packed = base64.b64decode(re.search(r'data-points="([^"]*)"', text)[1])
    assert len(packed) == 11 * n
    rows = np.frombuffer(packed, "<u4", n)
    x, y, kinds = (np.frombuffer(packed, "<u2", n, (4 + 2 * k) * n) for k in range(3))
    flags = np.frombuffer(packed, "u1", n, 10 * n)
    extent = json.loads(re.search(r'data-extent="([^"]*)"', text)[1])
    own = points.set_index("row").loc[rows]
    assert sorted(rows) == sorted(points["row"])
    assert_allclose(extent[0] + x / 65535 * (extent[1] - extent[0]), own["x"], atol=1e-3)
    assert_allclose(extent[2] + y / 65535 * (extent[3] - extent[2]), own["y"], atol=1e-3)
    assert [["a", "b", NASTY][k] for k in kinds] == list(own["class"])
    assert ((flags & 1) > 0).tolist() == own["held_out"].tolist()
    assert set(rows[(flags & 2) > 0]) == {7, 11}


def test_spreadsheet_apostrophes_are_taken_away(tmp_path):
    content = make_content(classes=("=cmd()", "'b", "c"))
    points = make_points(["'=cmd()", "'b", "c"])
    found = read_comparison(write_folder(tmp_path, content=content, points=points)).points
    assert set(found["class"]) == {"=cmd()", "'b", "c"}


def test_two_classes(tmp_path):
    folder = write_folder(tmp_path, content=make_content(classes=("no", "yes")))
    path = write_comparison_report(folder)
    assert "Precision and recall of “yes”" in _part(path, "curves")
    assert "by chance, 50.0 %" in _part(path, "curves")


def test_a_hundred_classes(tmp_path):
    folder = write_folder(tmp_path, content=make_content(classes=MANY))
    path = write_comparison_report(folder)
    data = _part(path, "data")
    assert "100 classes, of 100 rows (“class 0”) to 199 (“class 99”" in data
    assert "class 57" in data
    assert "too many for a table" in _part(path, "leaders")
    curves = _part(path, "curves")
    assert "the six classes that a model finds worst, of the first 12" in curves
    drawn = curves[curves.index("Precision and recall: fisher") : curves.index("gap of")]
    assert "class 11" in drawn
    assert "class 5" not in drawn


def test_no_probabilities(tmp_path):
    classes = ["a", "b", NASTY]
    curves = make_curves(classes, probabilities=())
    said = _part(write_comparison_report(write_folder(tmp_path, curves=curves)), "curves")
    assert "without calibration: fisher, svc" in said
    assert "Precision and recall" in said
    curves = make_curves(classes, probabilities=(), outputs=False)
    said = _part(write_comparison_report(write_folder(tmp_path, curves=curves)), "curves")
    assert "there are no curves" in said


def test_one_round_and_no_intervals(tmp_path):
    content = make_content(rounds=1, pairs=[])
    for model in content["models"]:
        model.update(low=None, high=None, pvalue=None)
        model["against_best"] = "best" if model["name"] == "fisher" else ""
    path = write_comparison_report(write_folder(tmp_path, content=content))
    said = _part(path, "answer")
    assert "Intervals of so few rounds are wide or missing." in said
    assert "To tell more: mercer compare 'a & b.csv' --budget 9m" in said
    assert "the svc 0.900 – 0.010 not tested not tested" in _part(path, "ranking")
    assert "Holm" not in _read(path).words


def test_no_leaders_no_hard_rows_no_map(tmp_path):
    content = make_content(
        leaders=[], hard_rows={"count": 0, "tested": 9, "rows": []}, map={"method": None}
    )
    points = make_points(["a"]).iloc[:0]
    path = write_comparison_report(write_folder(tmp_path, content=content, points=points))
    assert "No model but the floor is among the best." in _part(path, "leaders")
    assert "Every one of the 9 rows" in _part(path, "hard")
    assert "map" not in _read(path).ids


def test_a_map_that_was_left_out_says_why(tmp_path):
    content = make_content(map={"method": None, "notes": ["The map is left out: no time."]})
    points = make_points(["a"]).iloc[:0]
    path = write_comparison_report(write_folder(tmp_path, content=content, points=points))
    assert "The map is left out: no time." in _part(path, "map")


def test_what_is_not_told_apart_has_no_tick_and_no_p_of_one(tmp_path):
    content = make_content()
    content["models"][1]["pvalue"] = 1.0
    path = write_comparison_report(write_folder(tmp_path, content=content))
    assert "0.010 not told apart not told apart logistic" in _part(path, "ranking").replace(
        " the logistic", ""
    )
    row = re.search(r"<th scope=.row.>svc.*?</tr>", path.read_text(encoding="utf-8"))[0]
    assert "m-reached" not in row


def test_hard_rows_that_are_not_all_listed_get_no_ring(tmp_path):
    content = make_content()
    content["hard_rows"]["count"] = 300
    path = write_comparison_report(write_folder(tmp_path, content=content))
    assert "The first 2 are listed" in _part(path, "hard")
    assert "Ringed" not in _part(path, "map")


def test_stopped_runs_and_bundled_data_say_so(tmp_path):
    content = make_content(interrupted=True)
    content["question"]["is_bundled"] = True
    said = _part(write_comparison_report(write_folder(tmp_path, content=content)), "answer")
    assert "stopped before its time was up" in said
    assert "comes with scikit-learn" in said


def test_the_score_chart_draws_means_intervals_and_splits():
    lines = [line for line in map(model_line, _record().models) if line.is_scored]
    splits = {"fisher": np.array([0.9, 0.92])}
    drawn = str(draw_scores(lines, splits, "accuracy", lower_is_better=False))
    assert drawn.count("interval") == 3  # the floor is off the scale
    assert drawn.count("off-scale") == 1
    assert drawn.count("points outline") == 1  # logistic is worse
    mean = float(re.search(r'class="points" d="M([\d.]+)', drawn)[1]) + 4.5
    start, stop = map(
        float, re.search(r'line interval" d="M([\d.]+) [\d.]+H([\d.]+)', drawn).groups()
    )
    assert mean == pytest.approx((start + stop) / 2, abs=0.02)
    first, second = map(float, re.findall(r"M([\d.]+) [\d.]+v12", drawn))
    # 0.90 to 0.92 is a quarter of 0.87 to 0.95
    assert (second - first) / (stop - start) == pytest.approx(0.25, abs=1e-3)


@pytest.mark.parametrize(("metric", "last"), [("accuracy", 1.0), ("log-loss", 1.2)])
def test_an_axis_of_shares_ends_at_one(metric, last):
    content = make_content()
    for model in content["models"][:2]:
        model.update(score=0.99, low=0.9, high=1.1)
    lines = [line for line in map(model_line, _record(content).models) if line.is_scored]
    drawn = str(
        draw_scores(
            lines, {"fisher": np.array([0.99, 1.1])}, metric, lower_is_better=metric == "log-loss"
        )
    )
    ticks = [float(text) for text in re.findall(r'class="tick"[^>]*>([\d.]+)<', drawn)]
    assert 1.0 in ticks
    assert (max(ticks) > 1) == (last > 1)


def test_scores_next_to_one_are_not_written_as_one(tmp_path):
    content = make_content()
    content["models"][0].update(score=0.9996, high=0.99996)
    said = _part(write_comparison_report(write_folder(tmp_path, content=content)), "ranking")
    assert "0.9996" in said
    assert "0.99996" in said
    assert "1.000" not in said


def other_metrics():
    """What the rounds say by log loss, of which less is better; svc has none."""
    lines = [
        {"name": name, "score": value, "low": low, "high": high, "difference": gap, "pvalue": p,
         "against_best": standing}
        for name, value, low, high, gap, p, standing in (
            ("logistic", 0.21, 0.11, 0.31, 0.0, None, "best"),
            ("fisher", 0.32, 0.22, 0.42, 0.11, 0.021, "worse"),
            ("dummy", 1.05, None, None, 0.84, 0.0002, "worse"),
            ("svc", None, None, None, None, None, ""),
        )
    ]  # fmt: skip
    pairs = [
        {"a": "logistic", "b": "fisher", "difference": 0.11, "low": 0.02, "high": 0.2,
         "pvalue": 0.007, "corrected": 0.021, "verdict": "logistic is better"}
    ]  # fmt: skip
    return [{"metric": "log-loss", "lower_is_better": True, "models": lines, "pairs": pairs,
             "answer": f"logistic is better than fisher, says {NASTY}."}]  # fmt: skip


def test_other_metrics_have_a_table_a_chart_and_pairs_of_their_own(tmp_path):
    content = make_content(other_metrics=other_metrics())
    path = write_comparison_report(write_folder(tmp_path, content=content))
    said = _part(path, "ranking")
    assert "By log loss" in said
    assert "lower is better" in said
    assert "0.110 to 0.310" in said
    assert re.search("worse *, p = 0.021", said)
    assert "All 1 pair: 1 differs" in said
    assert said.index("logistic the logistic") < said.index("By log loss") < said.index("0.210")
    assert "by all 2 metrics together" in _part(path, "measured")
    assert NASTY not in path.read_text(encoding="utf-8")


def importances(columns=("width", NASTY)):
    """What two leaders go by; the second was asked about one column fewer splits."""
    models = [
        {"model": "fisher", "splits": 5, "train_rows": 1110, "fitted_rows": 1110,
         "tested_rows": 615, "columns": [
             {"name": name, "loss": 0.2 / (k + 1), "low": 0.1 / (k + 1), "high": 0.3 / (k + 1)}
             for k, name in enumerate(columns)]},
        {"model": "svc", "splits": 1, "train_rows": 1110, "fitted_rows": 300, "tested_rows": 123,
         "columns": [{"name": name, "loss": -0.0004, "low": None, "high": None}
                     for name in columns[::-1]]},
    ]  # fmt: skip
    return {"metric": "accuracy", "models": models, "caution": f"They stand in, says {NASTY}.",
            "stand_ins": [], "notes": [f"knn is left out: {NASTY}."]}  # fmt: skip


def test_columns_that_count_have_a_cell_for_each_leader(tmp_path):
    content = make_content(importances=importances())
    path = write_comparison_report(write_folder(tmp_path, content=content))
    said = _part(path, "why")
    assert "accuracy falls" in said
    assert said.index("width") < said.index("0.200 0.100 to 0.300") < said.index("−0.0004")
    assert "fisher was fitted anew on 1 110 rows of 5 splits" in said
    assert "svc was fitted anew on 300 of 1 110 rows of 1 split" in said
    assert "knn is left out" in said
    assert "They stand in" in said
    assert NASTY not in path.read_text(encoding="utf-8")


def test_without_importances_there_is_no_section(page):
    assert 'id="why"' not in page.read_text(encoding="utf-8")


def rare_classes():
    lines = [
        {"named": 5, "threshold": 0.5, "recall": 0.25, "precision": 1.0, "alarms": 0.0},
        {"named": 20.1, "threshold": 0.052, "recall": 1.0, "precision": 0.5, "alarms": 12.34},
    ]
    models = [{"model": "fisher", "lines": lines}]
    return [
        {"name": NASTY, "rows": 50, "tested": 1000, "models": models},
        {"name": "b", "rows": 60, "tested": 1000, "models": []},
    ]


def test_rare_classes_have_a_table_of_thresholds(tmp_path):
    content = make_content(rare_classes=rare_classes())
    path = write_comparison_report(write_folder(tmp_path, content=content))
    said = _part(path, "rare")
    assert "50 of the 1 000 test rows of all rounds (5.0 %)" in said
    assert "5 0.5 25.0 % 100.0 % 0.0" in said
    assert "20.1 0.052 100.0 % 50.0 % 12.3" in said
    assert "None of the leaders gives probabilities or scores" in said
    assert NASTY not in path.read_text(encoding="utf-8")


def test_hard_rows_are_shown_with_the_columns_that_count_most(tmp_path):
    names = [f"c{k}" for k in range(8)]
    content = make_content()
    hard = content["hard_rows"]
    hard["columns"] = names
    for row in hard["rows"]:
        row["cells"] = [f"cell {k}" for k in range(7)] + [NASTY]
    content["importances"] = importances(names[::-1])
    path = write_comparison_report(write_folder(tmp_path, content=content))
    said = _part(path, "hard")
    assert said.index("c7") < said.index("c6") < said.index("cell 6")
    assert "cell 3" in said
    assert "cell 2" not in said
    assert "Of 8 columns the 5 that count most are shown." in said
    assert NASTY not in path.read_text(encoding="utf-8")


def test_a_roc_curve_stands_beside_that_of_precision(tmp_path):
    curves = make_curves(("a", "b"))
    for one in curves["leaders"].values():
        one["roc"] = [
            {"class": "b", "area": 0.9876, "false_alarms": [0, 0.1, 1], "recall": [0, 0.9, 1]}
        ]
    content = make_content(("a", "b"))
    path = write_comparison_report(write_folder(tmp_path, content=content, curves=curves))
    text = path.read_text(encoding="utf-8")
    assert text.index("Precision and recall of “b”") < text.index("ROC curve of “b”")
    assert text.index("ROC curve of “b”") < text.index("Calibration: probability of")
    assert "area under the ROC curve of “b” 0.988 0.988" in _part(path, "curves")


def test_a_floor_nearby_is_drawn_as_the_others_are():
    content = make_content()
    content["models"][3].update(score=0.70, low=None, high=None)  # models span 0.76 to 0.95
    lines = [line for line in map(model_line, _record(content).models) if line.is_scored]
    drawn = str(draw_scores(lines, {}, "accuracy", lower_is_better=False))
    assert "off-scale" not in drawn


def test_sentences_of_many_columns():
    content = make_content()
    question = content["question"]
    question["columns"] = [
        {**question["columns"][2], "name": f"c{k}", "reason": "", "kind": "text"} for k in range(6)
    ]
    said = " ".join(sentences(_record(content).question))
    assert "Models see no column." in said
    assert (
        "6 columns are not used: “c0” (text), “c1” (text), “c2” (text), “c3” (text) and 2" in said
    )
    assert "No value that is used is missing." in said


def test_no_line_breaks_inside_a_count():
    assert [page_count(n) for n in (999, 45222.4)] == ["999", "45\u202f222"]


@pytest.mark.parametrize("name", ["curves.json", "scores.csv", "map.csv"])
def test_a_missing_file_is_named(tmp_path, name):
    (write_folder(tmp_path) / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name} is missing"):
        write_comparison_report(tmp_path)


def test_folders_of_others_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no results folder .*nowhere"):
        write_comparison_report(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"not a results folder of `mercer compare`"):
        write_comparison_report(tmp_path)
    write_folder(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*away"):
        write_comparison_report(tmp_path, tmp_path / "away" / "report.html")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("comparison.json", "{", r"comparison\.json is not valid JSON"),
        ("comparison.json", "[]", r"comparison\.json is not what `mercer compare` writes"),
        ("comparison.json", '{"kind": "run"}', r"is not what `mercer compare` writes"),
        (
            "comparison.json",
            '{"kind": "comparison"}',
            r"comparison\.json is not .*: it has no 'question'\.",
        ),
        ("curves.json", "{}", r"curves\.json has no 'classes'"),
        ("scores.csv", "", r"scores\.csv has no column 'model'"),
        ("scores.csv", "model,split,score\na,0,many\n", "'score' holds more than numbers"),
        ("map.csv", "row,x\n", r"map\.csv has no column 'y'"),
    ],
)
def test_a_broken_file_is_named(tmp_path, name, text, message):
    (write_folder(tmp_path) / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        write_comparison_report(tmp_path)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("models", "one of 'models' has no 'score'"),
        ("pairs", "one of 'pairs' has no 'corrected'"),
        ("question", "'question' has no 'rows'"),
    ],
)
def test_a_gap_in_the_description_is_named(tmp_path, place, message):
    content = make_content()
    part = content[place] if place == "question" else content[place][0]
    del part[re.search(r"no '(\w+)'", message)[1]]
    write_folder(tmp_path, content=content, scores=make_scores(make_content()))
    with pytest.raises(ValueError, match=message):
        write_comparison_report(tmp_path)


def test_the_page_reads_what_the_command_writes(tmp_path, monkeypatch):
    from mercer.cli import main
    from mercer.comparison import compare_in_rounds

    def three_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 3})

    monkeypatch.setattr("mercer.comparison.compare_in_rounds", three_rounds)
    rng = np.random.default_rng(0)
    kind = np.array(["x", NASTY])[np.arange(60) % 2]
    table = tmp_path / "t.csv"
    pd.DataFrame({"a": rng.normal(size=60) + (kind == "x"), "kind": kind}).to_csv(table)
    folder = tmp_path / "results"
    command = ["compare", str(table), "-t", "kind", "--models", "logistic,knn,dummy"]
    assert main([*command, "-o", str(folder)]) == 0
    content = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    path = folder / "report.html"
    assert content["answer"] in _part(path, "answer")
    assert "60 rows whose kind is known" in _part(path, "data")
    ranking = _part(path, "ranking")
    assert [model["name"] for model in content["models"] if model["score"] is not None]
    for model in content["models"]:
        assert f"{model['score']:.3f}" in ranking
    assert "60 rows in two dimensions" in _part(path, "map")


def _with_sets(**changes):
    counts = {"model": NASTY, "coverage": 0.9, "rows": 740, "alone": 592, "right": 550, "held": 670}
    return make_content(sets={**counts, **changes})


def test_the_page_says_what_is_decided_and_what_is_too_close_to_call(tmp_path):
    page = write_comparison_report(write_folder(tmp_path, content=_with_sets()))
    assert (
        f"Asked for sets of classes that hold the true one in 90 % of rows, {NASTY} decides 80.0 % "
        "of the 740 tested rows alone, and 20.0 % are too close to call. The sets hold the true "
        "class in 90.5 % of rows; one class alone is right in 92.9 %."
    ) in _part(page, "curves").replace("\u202f", " ")
    assert NASTY not in page.read_text(encoding="utf-8")


def test_a_model_that_is_right_often_enough_decides_all_rows(tmp_path):
    content = _with_sets(alone=740, right=710, held=710)
    page = write_comparison_report(write_folder(tmp_path, content=content))
    said = _part(page, "curves").replace("\u202f", " ")
    assert (
        f"{NASTY} answers all 740 tested rows with one class: that alone is right in 95.9 %" in said
    )


def test_without_sets_nothing_is_said_of_them(page):
    assert "too close to call" not in page.read_text(encoding="utf-8")
