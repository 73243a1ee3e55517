"""Tables of results in the forms of other tools, read by ``score_table``."""

import numpy as np
import pandas as pd
import pytest

from mercer.comparison import score_table

RNG = np.random.default_rng(0)
MODELS = ("svc", "forest", "knn")


def long(n_splits=5, datasets=("adult",), **names):
    """A line for each model, data set and split, under the names of columns that are given."""
    lines = [
        {"model": model, "dataset": dataset, "split": split, "score": 0.8 + RNG.random() / 10}
        for dataset in datasets
        for model in MODELS
        for split in range(n_splits)
    ]
    return pd.DataFrame(lines).rename(columns=names)


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ({}, {}),
        ({"model": "estimator", "score": "test_accuracy"}, {}),  # cross_validate, put together
        ({"model": "framework", "dataset": "task", "split": "fold", "score": "acc"}, {}),  # AMLB
        (
            {"model": "params.model", "split": "params.fold", "score": "metrics.roc_auc"},
            {},
        ),  # MLflow
        ({"model": "tags.mlflow.runName", "score": "metrics.f1"}, {}),
        (
            {"model": "Model", "split": "Fold", "score": "score_test"},
            {},
        ),  # AutoGluon's leaderboards
        ({"score": "result"}, {"better": "higher"}),
        ({"score": "my_number"}, {"metric": "my_number", "better": "higher"}),
    ],
    ids=["plain", "scikit-learn", "amlb", "mlflow", "mlflow run", "autogluon", "asked", "named"],
)
def test_columns_are_known_by_the_names_of_other_tools(names, options):
    table = long().assign(fit_time=1.0, score_time=0.1, seed=7)
    found = score_table(table.rename(columns=names), **options)
    (scores,) = found.scores.values()
    assert scores.shape == (5, 3)
    expected = table.pivot(index="split", columns="model", values="score")
    np.testing.assert_array_equal(scores[list(MODELS)], expected[list(MODELS)])
    assert not found.lower_is_better
    assert found.overlap == 1 / 4


def test_wide_and_long_are_one():
    table = long()
    wide = table.pivot(index="split", columns="model", values="score")
    for form in (wide, wide.reset_index(), wide.reset_index().rename(columns={"split": "fold"})):
        (scores,) = score_table(form, metric="accuracy").scores.values()
        (expected,) = score_table(table).scores.values()
        np.testing.assert_array_equal(scores[list(MODELS)], expected[list(MODELS)])


def test_the_index_that_pandas_writes_is_not_a_model():
    wide = long().pivot(index="split", columns="model", values="score").reset_index(drop=True)
    written = wide.rename_axis("column 1").reset_index()
    (scores,) = score_table(written, metric="accuracy").scores.values()
    assert sorted(scores) == sorted(MODELS)


def test_tabarena_s_errors_are_lower_is_better_by_data_set_and_test_a_third():
    names = {"model": "method", "split": "fold", "score": "metric_error"}
    table = long(9, ("a", "b"), **names)
    table["metric"] = np.where(table["dataset"] == "a", "roc_auc", "rmse")
    table["imputed"] = table["method"] == "knn"
    found = score_table(table)
    assert found.lower_is_better
    assert found.metrics == {"a": "error by roc_auc", "b": "error by rmse"}
    assert (found.overlap, found.has_units) == (pytest.approx(1 / 2), True)
    assert found.notes == (
        "18 of 54 scores are imputed, as the table says; they count like the others.",
    )


def test_skore_s_lines_are_of_one_metric_on_test_rows():
    lines = []
    for name, higher in (("accuracy", True), ("log_loss", False)):
        for source in ("train", "test"):
            part = long().drop(columns="dataset").rename(columns={"model": "estimator"})
            lines.append(
                part.assign(name=name, greater_is_better=higher, data_source=source, label=None)
            )
    table = pd.concat(lines, ignore_index=True)
    first = score_table(table)
    assert (first.metric, first.lower_is_better) == ("accuracy", False)
    assert first.notes == ("Judged by accuracy; --metric takes log_loss too.",)
    second = score_table(table, metric="log_loss")
    assert (second.metric, second.lower_is_better) == ("log_loss", True)
    is_second = (table["name"] == "log_loss") & (table["data_source"] == "test")
    (scores,) = second.scores.values()
    assert (
        scores["svc"].tolist()
        == table.loc[is_second & (table["estimator"] == "svc"), "score"].tolist()
    )


@pytest.mark.parametrize(
    ("column", "lower"),
    [
        ("test_neg_log_loss", False), ("log_loss", True), ("rmse", True), ("error_rate", True),
        ("balanced_accuracy", False), ("roc_auc", False), ("r2", False), ("brier", True),
    ],
)  # fmt: skip
def test_which_way_is_better_is_known_by_the_name(column, lower):
    assert score_table(long(score=column)).lower_is_better is lower


def test_an_error_that_was_turned_round_is_higher_is_better():
    table = long(score="log_loss")
    table["log_loss"] *= -1
    assert not score_table(table).lower_is_better


def test_a_name_that_does_not_tell_is_asked_about():
    with pytest.raises(
        ValueError, match=r"higher or lower 'result' is better is not known.*--better"
    ):
        score_table(long(score="result"))
    wide = long().pivot(index="split", columns="model", values="score")
    with pytest.raises(ValueError, match="higher or lower scores are better is not known"):
        score_table(wide)


def test_repetitions_of_folds_say_how_much_is_tested():
    table = long(12)
    table["fold"], table["repeat"] = table["split"] % 3, table["split"] // 3
    found = score_table(table.drop(columns="split"))
    assert found.overlap == 1 / 2
    said = "Each repetition is taken for 3 folds, each of which tests a third of the rows."
    assert found.splits_reason == said
    (scores,) = found.scores.values()
    assert len(scores) == 12


def test_rows_in_the_table_and_the_option_say_how_much_is_tested():
    table = long(30)
    with pytest.raises(ValueError, match=r"With 30 splits it is not known .* test_share"):
        score_table(table)
    assert score_table(table, test_share=0.2).overlap == pytest.approx(1 / 4)
    assert score_table(table.assign(n_train=80, n_test=16)).overlap == pytest.approx(1 / 5)


def test_what_lacks_scores_is_left_out_and_named():
    table = long(4, ("a", "b", "c", "d"))
    table = table[(table["model"] != "knn") | (table["dataset"] == "a")]
    table = table[(table["model"] != "svc") | (table["dataset"] != "d")]
    table = table[~((table["model"] == "svc") & (table["dataset"] == "b") & (table["split"] == 2))]
    found = score_table(table)
    assert {name: scores.shape for name, scores in found.scores.items()} == {
        "a": (4, 2), "b": (3, 2), "c": (4, 2),
    }  # fmt: skip
    assert found.notes == (
        "1 model is left out because it lacks scores that others have: knn.",
        "1 data set is left out because it lacks scores that others have: d.",
        "1 split that not all models finished does not count.",
    )


def test_a_score_that_is_there_twice_counts_once():
    table = long()
    again = table.iloc[[0]].assign(score=0.5)
    found = score_table(pd.concat([table, again]))
    (scores,) = found.scores.values()
    assert scores.loc["0", "svc"] == 0.5
    assert found.notes == ("1 score is there twice: the last one counts.",)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.DataFrame(columns=["model", "score"]), "has no lines"),
        (pd.DataFrame({"test_accuracy": [0.9], "fit_time": [1.0]}), "no column that names models"),
        (long()[["model", "split"]], "Say which scores to compare by"),
        (long().query("model == 'svc'"), "does not have two models"),
        (long().assign(score="many"), "does not have two models"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        score_table(table)


def test_a_metric_that_is_not_there_is_refused_with_those_that_are():
    table = long(score="test_accuracy").assign(test_f1=0.5)
    with pytest.raises(ValueError, match="no scores by 'recall'; it has accuracy and f1"):
        score_table(table, metric="recall")
    with pytest.raises(ValueError, match=r"Say which scores to compare by.*accuracy or f1"):
        score_table(table)
