"""``mercer compare``: a table in, a folder of results out; exit codes; JSON; Ctrl-C."""

import json
import os
import shlex
import signal
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix

import mercer.comparison
from mercer.cli import main
from mercer.cli._compare import _model_names, longer_command
from mercer.cli._fit import how_to_fit
from mercer.cli._output import check_folder, parse_seconds
from mercer.cli._reading import Reading
from mercer.comparison import compare_in_rounds, hard_rows
from mercer.models import make_models, max_rows_within
from mercer.tables import read_table, split_target
from mercer.views import draw_map, find_importances, without_last_parts

FILES = [
    "comparison.json", "curves.json", "hard-rows.csv", "map.csv", "predictions.csv",
    "report.html", "scores.csv",
]  # fmt: skip
EVIL = "<script>alert(1)</script>"
QUICK = ["--models", "logistic,parzen,dummy", "--jobs", "1"]


def two_moons(n=90, seed=0):
    """Two classes of unlike size with odd names, a column of text and some gaps."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + 2 * y,
            "colour": rng.choice(["red", "blue"], n),
            "note": [f"it was number {i} of all that we have seen" for i in range(n)],
            "kind": np.where(y, EVIL, "=1+1"),
        }
    )
    frame.loc[::10, "size"] = np.nan
    frame.loc[5, "kind"] = None
    return frame


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "moons.csv"
    two_moons().to_csv(path, index=False)
    return str(path)


@pytest.fixture
def here(monkeypatch):
    """Fit and draw in this process and for two rounds: processes have tests of their own."""

    def two_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 2})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", two_rounds)

    def last_parts(data, leaders, seed, seconds, budget):
        found = find_importances(leaders, data.X, data.y, seed, time.time() + 60)
        return *draw_map(data, seed), found

    monkeypatch.setattr("mercer.views.last_parts_within", last_parts)


def test_a_table_becomes_a_folder_of_results(table, tmp_path, monkeypatch, capsys):
    def four_rounds(*args, **options):  # in a process of their own
        return compare_in_rounds(*args, **{**options, "max_rounds": 4})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", four_rounds)
    folder = tmp_path / "new" / "results"
    command = ["compare", table, "--target", "kind", *QUICK, "--budget", "10m", "-o", str(folder)]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "against the best" in printed.out
    assert str(folder) in printed.out
    assert "note: 1 row without a value of 'kind' is left out." in printed.err
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert list((tmp_path / "new").iterdir()) == [folder]  # nothing is left beside it

    content = json.loads((folder / "comparison.json").read_text())
    assert content["kind"] == "comparison"
    question = content["question"]
    assert question["rows"] == 89
    assert {one["name"]: one["rows"] for one in question["classes"]} == {EVIL: 30, "=1+1": 59}
    unused = [column["name"] for column in question["columns"] if not column["used"]]
    assert unused == ["note"]
    assert content["metric"] == "accuracy"
    names = [one["name"] for one in content["models"]]
    assert set(names) == {"logistic", "parzen", "dummy"}
    assert [one["score"] for one in content["models"]] == sorted(
        (one["score"] for one in content["models"]), reverse=True
    )
    assert {one["name"]: one["kind"] for one in content["models"]} == {
        "logistic": "peer", "parzen": "mercer", "dummy": "floor"
    }  # fmt: skip
    assert all(one["bytes"] > 0 and one["n_rows_fitted"] == 80 for one in content["models"])
    assert len(content["pairs"]) == 3
    assert content["leader"] == names[0]
    assert content["answer"] in printed.out
    assert shlex.split(content["fit_command"])[:3] == ["mercer", "fit", table]

    scores = read_table(folder / "scores.csv").frame
    own = scores[(scores["model"] == names[0]) & (scores["split"] < content["rounds"])]
    assert own["score"].mean() == pytest.approx(content["models"][0]["score"])
    assert (own["score"] == own["accuracy"]).all()


def test_predictions_rows_and_curves_agree(table, tmp_path, here):
    assert main(["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path)]) == 0
    content = json.loads((tmp_path / "comparison.json").read_text())
    predictions = read_table(tmp_path / "predictions.csv").frame
    source = two_moons()["kind"]
    assert (predictions["truth"].to_numpy() == source.loc[predictions["row"] - 1]).all()
    leader = content["leader"]
    right = predictions[leader] == predictions["truth"]
    by_split = right.groupby(predictions["split"]).mean()
    assert by_split.mean() == pytest.approx(content["models"][0]["score"])
    assert (
        (predictions[f"p:{leader}:{EVIL}"] + predictions[f"p:{leader}:=1+1"]).round(5).eq(1).all()
    )

    curves = json.loads((tmp_path / "curves.json").read_text())
    literal = confusion_matrix(predictions["truth"], predictions[leader], labels=curves["classes"])
    assert curves["confusion"][leader] == literal.tolist()
    assert curves["leaders"][leader]["precision_recall"][0]["class"] == EVIL
    assert sum(curves["leaders"][leader]["calibration"]["n"]) == len(predictions)

    points = read_table(tmp_path / "map.csv").frame
    assert (points["class"].to_numpy() == source.loc[points["row"] - 1]).all()
    assert points["held_out"].any()


def test_hard_rows_are_there_with_all_that_stands_in_them(table, tmp_path, here):
    assert main(["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path)]) == 0
    hard = json.loads((tmp_path / "comparison.json").read_text())["hard_rows"]
    listed = read_table(tmp_path / "hard-rows.csv").frame
    assert len(listed) == hard["count"] > 0
    source = two_moons()
    own = source.iloc[listed["row"].to_numpy() - 1].reset_index(drop=True)
    for column in ("size", "colour", "note", "kind"):
        pd.testing.assert_series_equal(listed[column], own[column], check_dtype=False)
    assert (listed["truth"] == listed["kind"]).all()
    assert hard["columns"] == ["size", "colour"]  # those that models see
    for line in hard["rows"]:
        row = source.iloc[line["row"] - 1]
        assert line["cells"][1] == row["colour"]
        size = line["cells"][0].replace("−", "-")
        assert (
            size == "" if np.isnan(row["size"]) else float(size) == pytest.approx(row["size"], 1e-5)
        )


def test_without_a_table_a_bundled_one_is_used_and_said(tmp_path, here, no_last_parts, capsys):
    assert main(["compare", *QUICK, "--metric", "auc", "--json", "-o", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    content = json.loads(printed.out)  # and nothing else
    assert content["question"]["is_bundled"]
    assert content["folder"] == str(tmp_path)
    assert content["metric"] == "auc"
    assert content["budget_seconds"] == 40
    assert read_table(tmp_path / "table.csv").frame.shape == (569, 31)
    assert main(["compare", *QUICK, "-o", str(tmp_path)]) == 0
    assert "No table was given" in capsys.readouterr().out


def test_the_laplacian_machine_and_roweis_saul_are_compared_when_asked_for(
    tmp_path, no_last_parts, monkeypatch, capsys
):
    def one_round(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 1})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", one_round)
    names = "laplacian-svc,roweis-saul,logistic"
    command = ["compare", "--models", names, "--budget", "10m", "--json", "-o", str(tmp_path)]
    assert main(command) == 0
    content = json.loads(capsys.readouterr().out)
    lines = {one["name"]: one for one in content["models"]}
    assert list(lines["laplacian-svc"]) == list(lines["logistic"])
    assert {name: one["kind"] for name, one in lines.items()} == {
        "laplacian-svc": "mercer", "roweis-saul": "mercer", "logistic": "peer"
    }  # fmt: skip
    assert all(one["score"] > 0.9 for one in lines.values())
    assert "Roweis–Saul classifier" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_without_names_models_are_those_of_the_default():
    found = _model_names(None)
    assert len(found) == 10
    assert not {"laplacian-svc", "roweis-saul"} & set(found)
    assert _model_names("roweis-saul, laplacian-svc") == ["roweis-saul", "laplacian-svc"]


def test_the_lines_of_python_run(table, tmp_path, here, capsys):
    command = ["compare", table, "-t", "kind", *QUICK, "--metric", "balanced", "--json"]
    assert main([*command, "-o", str(tmp_path / "a")]) == 0
    content = json.loads(capsys.readouterr().out)
    assert "--balanced" in content["fit_command"]
    scope = {}
    exec(content["python"], scope)  # noqa: S102
    assert len(scope["model"].predict(scope["data"].X)) == 89


def test_rare_classes_are_scored_by_balanced_accuracy(tmp_path, here, capsys):
    frame = two_moons()
    frame["kind"] = np.where(np.arange(90) < 8, "rare", "usual")
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert (
        main(["compare", str(tmp_path / "t.csv"), "-t", "kind", *QUICK, "-o", str(tmp_path)]) == 0
    )
    printed = capsys.readouterr().out
    assert "balanced accuracy" in printed
    assert "…" not in printed  # the ranking fits 80 columns
    assert json.loads((tmp_path / "comparison.json").read_text())["splits"]["folds"] == 8


def test_old_results_are_replaced_and_other_files_kept(table, tmp_path, here):
    (tmp_path / "mine.txt").write_text("keep")
    for seed in ("1", "2"):
        command = ["compare", table, "-t", "kind", *QUICK, "--seed", seed, "-o", str(tmp_path)]
        assert main(command) == 0
        assert json.loads((tmp_path / "comparison.json").read_text())["seed"] == int(seed)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*FILES, "mine.txt"])


def test_a_full_disk_leaves_no_half_of_a_folder(table, tmp_path, here, monkeypatch, capsys):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mercer.comparison._folder._write_json", full)
    assert main(["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path / "r")]) == 2
    assert "No space left" in capsys.readouterr().err
    # No file of results is there; the rounds are kept, for when there is room again.
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["unfinished"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["TABLE"], ["--target"]),
        (["TABLE", "--target", "kinb"], ["kinb", "kind"]),
        (["TABLE", "--target", "kind", "--models", "fisher,oracle"], ["oracle", "fisher"]),
        (["TABLE", "--target", "kind", "--models", "fisher"], ["two names"]),
        (["TABLE", "--target", "kind", "--budget", "soon"], ["--budget", "soon"]),
        (["TABLE", "--target", "kind", "--metric", "r2"], ["r2"]),
        (["TABLE", "--target", "kind", "--metric", "auc,acuracy"], ["'acuracy'", "'accuracy'"]),
        (["TABLE", "--target", "kind", "--metric", ","], ["--metric"]),
        (["TABLE", "--target", "kind", "-o", "TABLE"], ["is a file"]),
        (["nowhere.csv", "--target", "kind"], ["nowhere.csv"]),
        (["--target", "kind"], ["Without a table"]),
    ],
)
def test_wrong_input_is_exit_code_2(table, tmp_path, arguments, words, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *(table if one == "TABLE" else one for one in arguments)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(word in printed.err for word in words)
    assert list(tmp_path.iterdir()) == []


def test_few_rounds_are_said_with_the_command_for_more(table, tmp_path, here, capsys):
    command = ["compare", table, "-t", "kind", *QUICK, "--seed", "5", "-o", str(tmp_path)]
    assert main([*command, "--budget", "30s"]) == 0
    printed = capsys.readouterr().out
    content = json.loads((tmp_path / "comparison.json").read_text())
    assert content["too_few_rounds"]
    assert content["answer"].startswith("Too few rounds to tell (2): ")
    assert content["answer"] in printed
    longer = shlex.split(content["longer_command"])
    assert longer == [
        "mercer", "compare", table, "--target", "kind", "--models", "logistic,parzen,dummy",
        "--jobs", "1", "--seed", "5", "-o", str(tmp_path), "--budget", "3m",
    ]  # fmt: skip
    assert f"To tell more: {content['longer_command']}" in printed.replace("\n", " ")
    for word in ("indistinguishable", "same", "p = 1", "p ≥ 1", "0.000 to 1.000"):
        assert word not in printed
    page = (tmp_path / "report.html").read_text()
    assert content["answer"] in page
    assert "--budget 3m" in page


@pytest.mark.parametrize(
    ("rounds", "budget", "longer"), [(1, 9, "90s"), (2, 120, "10m"), (4, 90, "4m")]
)
def test_the_longer_budget_is_for_ten_rounds(rounds, budget, longer):
    few = SimpleNamespace(
        has_few_rounds=True, interrupted=False, is_complete=False, rounds=range(rounds)
    )
    command = longer_command({"": "a b.csv", "--target": "y", "--metric": None}, few, budget)
    assert command == f"mercer compare 'a b.csv' --target y --budget {longer}"
    few.interrupted = True
    assert longer_command({"": "t.csv"}, few, budget) is None
    few.interrupted, few.is_complete = False, True  # there are no more groups or times
    assert longer_command({"": "t.csv"}, few, budget) is None


def test_the_map_comes_after_the_comparison_from_time_that_is_left(
    table, tmp_path, here, monkeypatch, capsys
):
    """A map that would take for ever costs the rounds nothing, and is left out with a sentence."""
    order, answered = [], []
    fast = mercer.comparison.compare_in_rounds

    def rounds(*args, **options):
        order.append("rounds")
        return fast(*args, **options)

    def never(data, leaders, seed, seconds, budget):
        order.append("map")
        answered.append((capsys.readouterr().out, sorted(os.listdir(tmp_path))))
        assert 0 < seconds <= 0.98 * 60
        return without_last_parts(f"it takes more than the {seconds:.0f} s that the rounds left")

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", rounds)
    monkeypatch.setattr("mercer.views.last_parts_within", never)
    command = ["compare", table, "-t", "kind", *QUICK, "--budget", "60s", "-o", str(tmp_path)]
    assert main(command) == 0
    assert order == ["rounds", "map"]
    [(printed_before, files_before)] = answered
    assert "Too few rounds to tell (2)" in printed_before
    assert files_before == [name for name in FILES if name != "report.html"]
    printed = capsys.readouterr()
    assert "note: The map is left out: it takes more than the " in printed.err
    content = json.loads((tmp_path / "comparison.json").read_text())
    assert content["map"]["method"] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    assert "The map is left out: it takes" in (tmp_path / "report.html").read_text()


def test_ctrl_c_keeps_finished_rounds(table, tmp_path, monkeypatch, capsys):
    def interrupted(*args, **options):
        count = 0

        def stop(progress):
            nonlocal count
            count += 1
            if count == 7:
                raise KeyboardInterrupt

        return compare_in_rounds(*args, **{**options, "n_jobs": None, "on_progress": stop})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", interrupted)
    assert main(["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path)]) == 130
    printed = capsys.readouterr()
    assert "finished are kept" in printed.err
    content = json.loads((tmp_path / "comparison.json").read_text())
    assert content["rounds"] == 2
    assert content["interrupted"]


@pytest.mark.skipif(os.name != "posix", reason="needs SIGTERM")
def test_batch_systems_get_the_finished_rounds(table, tmp_path, monkeypatch, capsys):
    """SIGTERM, by which they end a job, is answered like Ctrl-C."""

    def terminated(*args, **options):
        def stop(progress):
            if progress.rounds == 2:
                os.kill(os.getpid(), signal.SIGTERM)

        return compare_in_rounds(*args, **{**options, "n_jobs": None, "on_progress": stop})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", terminated)
    assert main(["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path)]) == 143
    assert "finished are kept" in capsys.readouterr().err
    assert json.loads((tmp_path / "comparison.json").read_text())["rounds"] == 2
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_ctrl_c_before_anything_is_finished(table, tmp_path, monkeypatch, capsys):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", interrupted)
    assert main(["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path / "r")]) == 130
    assert "before the first round" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("2m", 120),
        ("1h", 3600),
        ("1h30m", 5400),
        ("1.5m", 90),
        (" 45 ", 45),
        ("2M", 120),
    ],
)
def test_times_are_read(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "-3s", "2 weeks", "1m1h", "nan", "0", "1e9h", "99999999"]
)
def test_wrong_times_are_refused(text):
    with pytest.raises(ValueError, match="--budget"):
        parse_seconds(text)


def test_rows_that_all_get_wrong_are_counted():
    bunch = load_breast_cancer(as_frame=True)
    frame = bunch.data.assign(diagnosis=bunch.target_names[bunch.target])
    data = split_target(frame, "diagnosis")
    models = make_models(["dummy", "logistic"], data)
    found = compare_in_rounds(models, data.X, data.y, max_rounds=10, random_state=0)
    rows = np.arange(569) + 1
    hard = hard_rows(found, ["dummy", "logistic"], rows)
    wrong = found.predictions[["dummy", "logistic"]].ne(found.predictions["y_true"], axis=0)
    literal = sorted(wrong.index.get_level_values("sample")[wrong.all(axis=1)] + 1)
    assert len(hard) == len(literal) > 0
    assert sorted(hard["row"]) == literal
    assert set(hard["truth"]) == {"malignant"}
    assert set(hard["predicted"]) == {"benign"}
    assert set(zip(hard["rounds"], hard["wrong"], strict=True)) == {(1, 2)}


def test_rows_that_lie_far_out_are_counted_over_all_rounds():
    from mercer.comparison._details import far_counts
    from mercer.models import familiarity_of_rows

    bunch = load_breast_cancer(as_frame=True)
    data = split_target(bunch.data.assign(d=bunch.target_names[bunch.target]), "d")
    models = make_models(["dummy", "logistic"], data)
    found = compare_in_rounds(models, data.X, data.y, max_rounds=2, random_state=0)
    familiarity = familiarity_of_rows(data.X)
    counts = far_counts(found, "logistic", familiarity, 0.05)
    literal = {"tested": 0, "right": 0, "far": 0, "far_right": 0}
    for (*_, sample), row in found.predictions.iterrows():
        right, far = row["logistic"] == row["y_true"], familiarity[sample] < 0.05
        literal["tested"] += 1
        literal["right"] += right
        literal["far"] += far
        literal["far_right"] += right and far
    assert counts == literal
    assert 0 < counts["far"] < counts["tested"] / 5


def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="choose another folder"):
        check_folder(tmp_path / "deep" / "below")


def test_help_shows_an_example(capsys):
    assert main(["compare", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Example: mercer compare people.csv --target income" in shown


def test_the_command_to_copy_is_quoted():
    data = SimpleNamespace(target="who's who", y=np.zeros(9))
    options = {
        "balanced": True,
        "max_rows": 20_000,
        "seed": 3,
        "device": None,
        "reading": Reading(),
    }
    found = how_to_fit("parzen", "my people; rm -rf ~.csv", data, **options)
    command = shlex.split(found["fit_command"])
    assert command == ["mercer", "fit", "my people; rm -rf ~.csv", "--target", "who's who",
                       "--model", "parzen", "--balanced", "--seed", "3", "-o",
                       "parzen.skops"]  # fmt: skip


def test_models_that_saw_a_sample_say_so_wherever_their_verdict_stands(
    table, tmp_path, here, capsys, monkeypatch
):
    monkeypatch.setattr("mercer.models._make_model._ROWS_IN_TWO_MINUTES", 10)
    monkeypatch.setattr("mercer.models._make_model._LEAST_ROWS", 40)
    monkeypatch.setenv("COLUMNS", "120")  # In fewer, a verdict takes two lines.
    assert main(["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    content = json.loads((tmp_path / "comparison.json").read_text())
    lines = {one["name"]: one for one in content["models"]}
    assert {name: one["n_rows_fitted"] for name, one in lines.items()} == {
        "parzen": 40, "logistic": 80, "dummy": 80
    }  # fmt: skip
    assert {name: one["sample"] for name, one in lines.items()} == {
        "parzen": "saw 40 of 80 rows", "logistic": "", "dummy": ""
    }  # fmt: skip
    assert f"{lines['parzen']['against_best']} (saw 40 of 80 rows)" in printed
    assert "parzen saw 40 of 80 rows." in content["answer"]
    assert "It saw 40 of 80 rows." in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("budget", "rows"), [(1, 5000), (30, 5000), (120, 10_000), (480, 20_000), (3600, 54_772)]
)
def test_more_time_gives_more_rows_and_the_command_says_so(budget, rows):
    n = 12_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n), "y": rng.choice(["p", "q"], n)})
    data = split_target(frame, "y")
    assert max_rows_within(budget) == rows
    models = make_models(["parzen", "logistic"], data, max_rows=rows)
    assert getattr(models["parzen"][-1], "max_rows", n) == min(rows, n)
    options = {"balanced": False, "seed": 0, "max_rows": rows, "device": None, "reading": Reading()}
    commands = {name: how_to_fit(name, "t.csv", data, **options) for name in models}
    assert ("--max-rows" in commands["parzen"]["fit_command"]) == (rows > 10_000)
    assert ("max_rows=" in commands["parzen"]["python"]) == (rows > 10_000)
    assert "--max-rows" not in commands["logistic"]["fit_command"]


def test_the_option_takes_every_metric_and_several():
    from mercer._system.vocabulary import METRICS
    from mercer.cli._metrics import read_metrics

    assert read_metrics(", ".join(METRICS), "costs.csv") == list(METRICS)
    assert read_metrics("auc,auc", None) == ["auc"]
    assert read_metrics(None, None) is None


def test_several_metrics_are_ranked_by_the_first_and_corrected_together(
    table, tmp_path, here, capsys
):
    command = ["compare", table, "-t", "kind", *QUICK, "-o", str(tmp_path)]
    assert main([*command, "--metric", "auc,accuracy,log-loss"]) == 0
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "comparison.json").read_text())
    assert found["metric"] == "auc"
    assert [one["metric"] for one in found["other_metrics"]] == ["accuracy", "log-loss"]
    assert "by all 3 metrics together" in found["metric_reason"]
    for other in found["other_metrics"]:
        assert other["answer"] in printed
        means = [one["score"] for one in other["models"]]
        assert means == sorted(means, reverse=other["metric"] == "accuracy")
    scores = read_table(tmp_path / "scores.csv").frame
    by_hand = scores.groupby("model")["log-loss"].mean()
    losses = {one["name"]: one["score"] for one in found["other_metrics"][1]["models"]}
    assert losses == pytest.approx(by_hand.to_dict())
