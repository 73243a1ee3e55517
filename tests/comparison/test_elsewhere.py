"""Verdicts on scores from elsewhere against the tests they are made of, and their folder."""

import itertools

import numpy as np
import pandas as pd
import pytest

from mercer.comparison import (
    average_ranks,
    bayesian_correlated_t_test,
    bayesian_signed_rank_test,
    cochran_q_test,
    compare_predictions,
    compare_scores,
    corrected_t_test,
    friedman_test,
    holm_correction,
    mcnemar_test,
    read_comparison,
    record_scores,
    score_lines,
    wilcoxon_test,
    write_scores,
)

RNG = np.random.default_rng(3)
MEANS = {"svc": 0.90, "forest": 0.89, "knn": 0.84}
FOLDS = pd.DataFrame({name: mean + 0.02 * RNG.normal(size=10) for name, mean in MEANS.items()})


def many(n_datasets=12, n_splits=5, metric="acc"):
    lines = []
    for k in range(n_datasets):
        for name, mean in MEANS.items():
            scores = mean - k / 100 + 0.03 * RNG.normal() + 0.01 * RNG.normal(size=n_splits)
            lines += [
                {"framework": name, "task": f"t{k}", "fold": fold, metric: score}
                for fold, score in enumerate(scores)
            ]
    return pd.DataFrame(lines)


def test_one_data_set_is_judged_by_the_corrected_t_test_with_holm_s_correction():
    found = compare_scores(FOLDS, metric="accuracy")
    for line in found.pairs.itertuples():
        test = corrected_t_test(FOLDS[line.a], FOLDS[line.b], n_train=90, n_test=10)
        assert line.pvalue == pytest.approx(test.pvalue)
        numbers = (line.difference, line.low, line.high)
        assert numbers == pytest.approx((test.effect, *test.interval))
    corrected = holm_correction(found.pairs["pvalue"])
    assert found.pairs["pvalue_holm"].tolist() == pytest.approx(corrected.tolist())
    order = FOLDS.mean().sort_values(ascending=False).index
    assert list(found.summary.index) == list(order)
    for (ahead, behind), step in zip(
        itertools.pairwise(order), found.neighbours.itertuples(), strict=True
    ):
        assert (step.a, step.b) == (ahead, behind)
        assert step.difference == pytest.approx((FOLDS[ahead] - FOLDS[behind]).mean())
        bayes = bayesian_correlated_t_test(FOLDS[ahead], FOLDS[behind], n_train=90, n_test=10)
        chances = found.neighbours.loc[step.Index, ["P(a better)", "P(same)", "P(b better)"]]
        assert chances.tolist() == pytest.approx([bayes.p_a, bayes.p_rope, bayes.p_b])


def test_errors_give_the_verdicts_of_what_they_lack_to_one():
    right = compare_scores(FOLDS, metric="accuracy")
    wrong = compare_scores(1 - FOLDS, metric="error")
    assert list(wrong.summary.index) == list(right.summary.index)
    for column in ("difference", "pvalue_holm", "P(same)"):
        assert wrong.pairs[column].tolist() == pytest.approx(
            right.pairs[column].tolist(), nan_ok=True
        )
    assert wrong.answer == right.answer
    assert wrong.summary["score"].tolist() == pytest.approx((1 - right.summary["score"]).tolist())


def test_many_data_sets_are_judged_by_wilcoxon_s_test_of_their_means():
    table = many()
    found = compare_scores(table, random_state=0)
    means = table.groupby(["task", "framework"], sort=False)["acc"].mean().unstack()
    assert found.summary["score"].to_dict() == pytest.approx(average_ranks(means).to_dict())
    assert str(found.overall) == str(friedman_test(means))
    for line in found.pairs.itertuples():
        test = wilcoxon_test(means[line.a], means[line.b])
        assert (line.pvalue, line.difference) == pytest.approx((test.pvalue, test.effect))
    first, second = found.summary.index[:2]
    bayes = bayesian_signed_rank_test(means[first], means[second], random_state=1)
    chance = found.neighbours.loc[0, "P(a better)"]
    assert chance == pytest.approx(bayes.p_a, abs=0.03)  # both are shares of draws


def test_each_data_set_is_judged_by_itself_too():
    table = many(4)
    found = compare_scores(table, random_state=0)
    for name, part in table.groupby("task"):
        alone = compare_scores(part.drop(columns="task"))
        line = found.datasets.loc[name]
        assert (line["best"], line["apart"]) == (alone.leader, alone.n_apart)
        n_alike = (alone.summary["against_best"] == "not told apart").sum()
        assert (line["splits"], line["alike"]) == (5, n_alike)


def test_scores_of_one_split_are_ranked_without_a_verdict():
    found = compare_scores(FOLDS.iloc[:1], metric="accuracy")
    assert found.answer == f"One split tells nothing apart; {FOLDS.iloc[0].idxmax()} leads."
    assert found.pairs["pvalue"].isna().all()


def test_units_of_data_sets_change_no_verdict_on_errors():
    table = many(metric="rmse")
    factors = {name: 10.0**k for k, name in enumerate(table["task"].unique())}
    other = table.assign(rmse=table["rmse"] * table["task"].map(factors))
    found, scaled = (compare_scores(one, random_state=0) for one in (table, other))
    assert scaled.pairs["pvalue"].tolist() == pytest.approx(found.pairs["pvalue"].tolist())
    assert scaled.pairs["difference"].tolist() == pytest.approx(found.pairs["difference"].tolist())


def test_scores_of_several_metrics_that_are_not_errors_are_refused():
    table = many(metric="score")
    table["metric"] = np.where(table["task"] == "t0", "roc_auc", "accuracy")
    with pytest.raises(
        ValueError, match=r"cannot be compared with each other.*accuracy and roc_auc"
    ):
        compare_scores(table)


def test_names_of_models_in_another_order_change_nothing():
    table = many()
    found = compare_scores(table, random_state=0)
    turned = compare_scores(table.iloc[::-1], random_state=0)
    pd.testing.assert_frame_equal(
        found.summary, turned.summary.loc[found.summary.index], check_exact=False
    )


def predictions():
    truth = RNG.choice(["yes", "no"], 200)
    said = {name: np.where(RNG.random(200) < mean, truth, "no") for name, mean in MEANS.items()}
    return pd.DataFrame({"row": range(200), "truth": truth, **said})


def test_predictions_are_judged_by_cochran_s_and_mcnemar_s_tests():
    table = predictions()
    found = compare_predictions(table)
    assert found.overall == cochran_q_test(table["truth"], table[list(MEANS)])
    for line in found.pairs.itertuples():
        test = mcnemar_test(table["truth"], table[line.a], table[line.b])
        assert (line.pvalue, line.difference) == pytest.approx((test.pvalue, test.effect))
    assert found.summary["score"].to_dict() == pytest.approx(
        {name: (table[name] == table["truth"]).mean() for name in MEANS}
    )


def test_a_row_that_is_predicted_again_counts_once():
    table = predictions()
    again = pd.concat([table, table.assign(svc="no")], ignore_index=True)
    found = compare_predictions(again)
    assert found.summary["score"].to_dict() == compare_predictions(table).summary["score"].to_dict()
    assert found.table.notes == ("200 lines that were predicted before do not count.",)


@pytest.mark.parametrize("kind", ["splits", "data sets", "rows"])
def test_the_folder_gives_back_what_was_found(tmp_path, kind):
    found = {
        "splits": lambda: compare_scores(FOLDS, metric="accuracy"),
        "data sets": lambda: compare_scores(many(), random_state=0),
        "rows": lambda: compare_predictions(predictions()),
    }[kind]()
    record = record_scores(found, "results.csv", seed=0)
    write_scores(tmp_path, record, score_lines(found))
    back = read_comparison(tmp_path)
    assert back.record == record
    assert [one.name for one in record.models] == list(found.summary.index)
    means = back.scores.groupby("model")["score"].mean()
    assert means.to_dict() == pytest.approx(found.summary["score"].to_dict())
    assert len(record.elsewhere.steps) == 2


def test_it_prints_as_tables():
    text = str(compare_scores(FOLDS, metric="accuracy"))
    assert "accuracy over 10 splits" in text
    assert "Neighbours in the ranking" in text
