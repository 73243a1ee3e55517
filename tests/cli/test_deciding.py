"""``--costs`` and ``--recall`` of ``mercer fit`` and ``compare``, and what other commands say."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

import mercer.comparison
from mercer.cli import main
from mercer.cli._deciding import Rule
from mercer.cli._fit import fit_lines
from mercer.comparison import ImportancesRecord, compare_in_rounds
from mercer.models import load_model
from mercer.views import draw_map

EVIL = "<script>alert(1)</script>"
WISH = f"{EVIL}=0.9"


def moons(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    size = rng.normal(size=n) + 2 * y
    return pd.DataFrame({"size": size, "kind": np.where(y, EVIL, "=1+1")})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("deciding")
    moons().to_csv(place / "moons.csv", index=False)
    moons(50, 1).to_csv(place / "new.csv", index=False)
    (place / "costs.csv").write_text(f"truth,{EVIL},=1+1\n{EVIL},0,20\n=1+1,1,0\n")
    return place


@pytest.fixture
def here(monkeypatch):
    """Fit and draw in this process and for two rounds."""

    def two_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 2})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", two_rounds)
    monkeypatch.setattr(
        "mercer.views.last_parts_within",
        lambda data, leaders, seed, *_: (*draw_map(data, seed), ImportancesRecord()),
    )


def fit(folder, tmp_path, *options, model="logistic"):
    path = tmp_path / "m.skops"
    command = ["fit", str(folder / "moons.csv"), "-t", "kind", "-m", model, "-o", str(path)]
    assert main([*command, *options]) == 0
    return path


@pytest.mark.parametrize("options", [["--costs", "costs.csv"], ["--recall", WISH]])
def test_a_rule_is_fitted_told_and_followed(folder, tmp_path, capsys, monkeypatch, options):
    monkeypatch.chdir(folder)
    path = fit(folder, tmp_path, *options)
    said = capsys.readouterr().out
    pipeline, card = load_model(path)
    assert f"decides {card.decision}" in said
    assert "(the most probable class: " in said
    assert main(["info", str(path)]) == 0
    assert card.decision in capsys.readouterr().out
    assert main(["predict", str(path), "new.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["decision"] == card.decision
    assert card.decision in found["notes"]
    rows = pd.DataFrame(found["rows"])
    named = rows["predicted"] == EVIL
    assert rows.loc[named, f"p({EVIL})"].min() > rows.loc[~named, f"p({EVIL})"].max()
    assert rows.loc[named, f"p({EVIL})"].min() < 0.5  # both rules name it sooner
    assert set(pipeline.predict(moons(50, 1))) == {EVIL, "=1+1"}


def test_json_has_the_rule(folder, tmp_path, capsys):
    fit(folder, tmp_path, "--recall", WISH, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["decision"]["recall"] == {EVIL: 0.9}
    assert found["decision"]["promised_recall"] >= 0.9
    assert found["decision"]["n_left_out"] == 80
    assert found["scores"]["logistic"]["recall"] >= found["scores"]["logistic"]["plain_recall"]
    assert found["card"]["decision"] == found["decision"]["sentence"]


def test_auto_takes_the_model_of_the_least_cost(folder, tmp_path, capsys):
    fit(folder, tmp_path, "--costs", str(folder / "costs.csv"), "--json", model="auto")
    found = json.loads(capsys.readouterr().out)
    costs = {name: one["mean_cost"] for name, one in found["scores"].items()}
    assert found["model"] == min(costs, key=costs.get)


def test_too_few_rows_are_a_note(folder, tmp_path, capsys):
    fit(folder, tmp_path, "--recall", f"{EVIL}=99%")
    assert "has 80 rows to choose a threshold by, and it takes 299" in capsys.readouterr().err


def test_kernel_fisher_says_its_kernel_and_columns_within_a_rule(folder, tmp_path, capsys):
    fit(folder, tmp_path, "--recall", WISH, "--json", model="fisher")
    assert "chose" in json.loads(capsys.readouterr().out)["kernel"]


WRONG = {
    "both": (["--costs", "costs.csv", "--recall", WISH], "not both"),
    "balanced": (["--costs", "costs.csv", "--balanced"], "not both"),
    "no share": (["--recall", EVIL], "such as malignant=0.98"),
    "beyond": (["--recall", f"{EVIL}=1"], "between 0 and 1"),
    "unknown": (["--recall", "maybe=0.9"], "not among the classes"),
    "no file": (["--costs", "none.csv"], "none.csv"),
    "no table": (["--costs", "moons.csv"], "no row for class"),
    "gains": (["--costs", "gains.csv"], "gains.csv: costs say"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_refused_in_one_sentence(folder, capsys, monkeypatch, case):
    monkeypatch.chdir(folder)
    (folder / "gains.csv").write_text(f"truth,{EVIL},=1+1\n{EVIL},1,0\n=1+1,0,1\n")
    options, words = WRONG[case]
    assert main(["fit", "moons.csv", "-t", "kind", "-m", "dummy", *options]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert words in said


def compare(folder, tmp_path, capsys, *options):
    command = ["compare", str(folder / "moons.csv"), "-t", "kind", "--models", "logistic,dummy"]
    assert main([*command, "-o", str(tmp_path / "c"), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out), (tmp_path / "c" / "report.html").read_text()


def test_models_are_compared_by_what_they_cost(folder, tmp_path, capsys, here):
    costs = str(folder / "costs.csv")
    found, page = compare(folder, tmp_path, capsys, "--costs", costs)
    assert (found["metric"], found["lower_is_better"]) == ("cost", True)
    table = found["decision"]["costs"]
    assert table == [[0.0, 20.0], [1.0, 0.0]] or table == [[0.0, 1.0], [20.0, 0.0]]
    scores = {one["name"]: one["score"] for one in found["models"]}
    for line in found["decision"]["lines"]:
        assert line["mean_cost"] == pytest.approx(scores[line["name"]])
    logistic = next(one for one in found["decision"]["lines"] if one["name"] == "logistic")
    assert logistic["mean_cost"] < logistic["plain_mean_cost"]
    assert shlex.split(found["fit_command"])[-4:-2] == ["--costs", costs]
    assert f"cost_table(read_table({costs!r}), np.unique(data.y))" in found["python"]
    assert "What mistakes cost" in page


def test_a_wish_is_held_against_rows_that_were_tested(folder, tmp_path, capsys, here):
    found, page = compare(folder, tmp_path, capsys, "--recall", WISH)
    decision = found["decision"]
    assert (decision["class_name"], decision["wanted"], decision["confidence"]) == (EVIL, 0.9, 0.95)
    line = next(one for one in decision["lines"] if one["name"] == "logistic")
    assert line["recall"] > line["plain_recall"]
    assert line["alarms"] > line["plain_alarms"]
    alarms = [one["alarms"] for one in decision["hindsight"]]
    assert alarms == sorted(alarms)
    assert shlex.split(found["fit_command"])[-4:-2] == ["--recall", WISH]
    assert "With hindsight" in page
    assert EVIL not in page


def test_a_class_with_few_rows_is_said_once(folder, tmp_path, capsys, here):
    found, page = compare(folder, tmp_path, capsys, "--recall", f"{EVIL}=0.99")
    assert "it takes 299" in found["decision"]["note"]
    assert all(one["warning"] == "" for one in found["models"])
    assert page.count("it takes 299") == 1


def test_cost_needs_costs(folder, capsys):
    command = ["compare", str(folder / "moons.csv"), "-t", "kind", "--metric", "cost"]
    assert main(command) == 2
    assert "--costs with --metric cost" in capsys.readouterr().err


@pytest.mark.parametrize("rule", ["costs", "recall"])
def test_the_lines_of_python_fit_the_model_that_the_command_fits(
    folder, tmp_path, monkeypatch, rule
):
    monkeypatch.chdir(folder)
    given = {"costs": Rule("costs.csv", np.zeros((2, 2))), "recall": Rule(recall={EVIL: 0.9})}
    options = ["--costs", "costs.csv"] if rule == "costs" else ["--recall", WISH]
    loaded, _ = load_model(fit(folder, tmp_path, *options))
    from mercer.cli._reading import Reading

    names, reading = ("logistic", "moons.csv", "kind"), Reading()
    lines = fit_lines(
        *names, balanced=False, seed=0, max_rows=None, reading=reading, rule=given[rule]
    )
    space = {}
    exec(lines, space)  # noqa: S102
    new = moons(50, 1)
    np.testing.assert_array_equal(space["model"].predict(new), loaded.predict(new))
