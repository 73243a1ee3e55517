"""``compare``: the same splits for all, honest failures, and what scikit-learn itself gives."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder
from sklearn.svm import SVC

from mercer.comparison import (
    compare,
    compare_in_rounds,
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    holm_correction,
    kfold_paired_t_test,
    mcnemar_test,
)

X, Y = load_iris(return_X_y=True)
MODELS = {
    "bayes": GaussianNB(),
    "lda": LinearDiscriminantAnalysis(),
    "knn": KNeighborsClassifier(),
}
ALL_TESTS = ("corrected_t", "mcnemar", "kfold_t", "five_by_two_t", "five_by_two_f")


class Fails(ClassifierMixin, BaseEstimator):
    """Fails to fit or to predict."""

    def __init__(self, how="fit"):
        self.how = how

    def fit(self, X, y):
        if self.how == "fit":
            raise RuntimeError("no <b>luck</b> [red]today[/red]")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        if self.how == "predict":
            raise KeyError("nothing")
        return np.full(len(X), self.classes_[0])


class FailsWith(GaussianNB):
    """Fails where the training set holds the sample, known by its first feature."""

    def __init__(self, sample=None, size=None):
        super().__init__()
        self.sample = sample
        self.size = size

    def fit(self, X, y):
        if self.sample in X[:, 0] or len(X) == self.size:
            raise RuntimeError("bad sample\nand more of it")
        return super().fit(X, y)


class GroupSpy(GaussianNB):
    """Refuses training sets that hold the marker of a tested group."""

    def fit(self, X, y):
        self.trained_ = set(X[:, 0])
        return super().fit(X[:, 1:], y)

    def predict(self, X):
        if self.trained_ & set(X[:, 0]):
            raise AssertionError("a group is on both sides")
        return super().predict(X[:, 1:])


def test_scores_and_predictions_are_scikit_learn_s():
    result = compare(MODELS, X, Y, cv=5, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, model in MODELS.items():
        assert result.scores[name].tolist() == cross_val_score(model, X, Y, cv=folds).tolist()
        by_sample = result.predictions[name].droplevel("split").sort_index()
        assert by_sample.tolist() == cross_val_predict(model, X, Y, cv=folds).tolist()
    truth = result.predictions["y_true"].droplevel("split").sort_index()
    assert truth.tolist() == Y.tolist()


def test_every_test_is_the_function_of_the_same_name():
    result = compare(MODELS, X, Y, cv=5, tests=ALL_TESTS, random_state=0)
    options = {"names": ("bayes", "lda")}
    scores = result.scores["bayes"], result.scores["lda"]
    halves = result.five_by_two_scores["bayes"], result.five_by_two_scores["lda"]
    truth, *labels = (result.predictions[name] for name in ("y_true", "bayes", "lda"))
    expected = {
        "corrected_t": corrected_t_test(*scores, n_train=120, n_test=30, **options),
        "mcnemar": mcnemar_test(truth, *labels, **options),
        "kfold_t": kfold_paired_t_test(*scores, **options),
        "five_by_two_t": five_by_two_t_test(*halves, **options),
        "five_by_two_f": five_by_two_f_test(*halves, **options),
    }
    assert {test: result.results[test, "bayes", "lda"] for test in ALL_TESTS} == expected
    assert len(result.pairs) == len(ALL_TESTS) * 3
    for _, block in result.pairs.groupby("test"):
        assert block["pvalue_holm"].tolist() == holm_correction(block["pvalue"]).tolist()


def test_five_by_two_scores_come_from_stratified_halves():
    result = compare(MODELS, X, Y, cv=2, tests="five_by_two_f", random_state=4)
    rng = np.random.RandomState(4)
    expected = [
        cross_val_score(GaussianNB(), X, Y, cv=StratifiedKFold(2, shuffle=True, random_state=rng))
        for _ in range(5)
    ]
    assert result.five_by_two_scores["bayes"].tolist() == np.ravel(expected).tolist()
    assert result.five_by_two_scores.index.names == ["replication", "half"]


def test_verdicts_use_the_corrected_p_values():
    result = compare({"dummy": DummyClassifier(), **MODELS}, X, Y, random_state=0)
    pairs = result.pairs.set_index(["a", "b"])
    assert pairs.loc[("dummy", "lda"), "verdict"] == "lda is better"
    assert pairs.loc[("bayes", "lda"), "verdict"] == "could be chance"
    decided = pairs["verdict"].str.endswith("is better")
    assert decided.tolist() == (pairs["pvalue_holm"] < 0.05).tolist()
    means = result.summary["mean"]
    assert means.tolist() == sorted(result.scores.mean(), reverse=True)
    assert means.index[-1] == "dummy"


def test_an_estimator_against_its_twin_shows_no_difference():
    result = compare([GaussianNB(), GaussianNB()], X, Y, tests=ALL_TESTS, random_state=0)
    assert list(result.scores) == ["GaussianNB-1", "GaussianNB-2"]
    assert result.pairs["pvalue"].tolist() == [1.0] * 5
    assert set(result.pairs["verdict"]) == {"no difference seen"}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("fit", "split 0: RuntimeError: no <b>luck</b> [red]today[/red]"),
        ("predict", "split 0: KeyError: 'nothing'"),
    ],
)
def test_a_failing_estimator_is_a_row_with_its_error(how, message):
    result = compare({"broken": Fails(how), **MODELS}, X, Y, cv=3, random_state=0)
    assert dict(result.errors) == {"broken": message}
    assert result.summary.loc["broken", "error"] == message
    assert np.isnan(result.summary.loc["broken", "mean"])
    assert result.summary.index[-1] == "broken"
    assert len(result.pairs) == 3
    assert "broken" not in result.predictions
    assert message.split(":")[1] in str(result)


def test_one_failing_split_is_enough_and_is_named():
    marked = X.copy()
    marked[7, 0] = 99
    split = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]
    result = compare({"broken": FailsWith(99), **MODELS}, marked, Y, cv=split)
    assert dict(result.errors) == {"broken": "split 1: RuntimeError: bad sample\nand more of it"}
    assert result.scores["broken"].isna().tolist() == [False, True]
    assert np.isnan(result.summary.loc["broken", "mean"])
    assert not (result.pairs[["a", "b"]] == "broken").any(axis=None)
    assert "split 1: RuntimeError: bad sample" in str(result)
    assert "and more of it" not in str(result)  # the tables show the first line


def test_a_failing_half_spoils_the_five_by_two_tests_only():
    models = {"broken": FailsWith(size=75), **MODELS}  # 75 of 150 samples: a half
    result = compare(models, X, Y, cv=3, tests=["corrected_t", "five_by_two_f"], random_state=0)
    assert result.errors["broken"].startswith("5×2 half 0: RuntimeError: bad sample")
    own = result.pairs[result.pairs["a"] == "broken"].set_index("test")
    assert own.loc["corrected_t", "pvalue"].notna().all()
    assert own.loc["five_by_two_f", "verdict"].str.contains("needs all ten halves").all()
    assert result.summary["mean"].notna().all()


def test_nan_scores_are_a_failure_too():
    def sometimes(estimator, X, y):
        return np.nan if isinstance(estimator, GaussianNB) else 1.0

    result = compare(MODELS, X, Y, cv=3, scoring=sometimes, random_state=0)
    assert dict(result.errors) == {"bayes": "split 0: ValueError: the score is nan"}
    assert result.scoring == "sometimes"


def test_scoring_that_gives_more_than_one_number():
    result = compare(MODELS, X, Y, cv=2, scoring=lambda *_: {"a": 1.0}, random_state=0)
    assert set(result.errors.values()) == {
        "split 0: TypeError: scoring must give one number; got {'a': 1.0}"
    }


def test_a_scorer_that_needs_probabilities():
    models = {"svc": SVC(), **MODELS}
    result = compare(models, X, Y, cv=3, scoring="neg_log_loss", random_state=0)
    assert list(result.errors) == ["svc"]
    assert "predict_proba" in result.errors["svc"]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    expected = cross_val_score(GaussianNB(), X, Y, cv=folds, scoring="neg_log_loss")
    assert result.scores["bayes"].tolist() == pytest.approx(expected.tolist())


def test_a_made_scorer_is_called_by_what_it_does():
    scorer = make_scorer(f1_score, average="macro")
    assert "f1_score" in compare(MODELS, X, Y, cv=2, scoring=scorer, random_state=0).scoring


def test_a_class_rarer_than_the_folds_warns_and_goes_on():
    y = np.where(np.arange(len(Y)) < 3, 9, Y)
    with pytest.warns(UserWarning, match="least populated class in y has only 3 members"):
        result = compare(MODELS, X, y, cv=5, random_state=0)
    assert result.pairs["pvalue"].notna().all()


def test_masks_and_lists_are_splits_too():
    even = np.arange(len(Y)) % 2 == 0
    indices = [
        (np.flatnonzero(even), np.flatnonzero(~even)),
        (np.flatnonzero(~even), np.flatnonzero(even)),
    ]
    expected = compare(MODELS, X, Y, cv=indices, tests="mcnemar")
    for cv in (
        [(even, ~even), (~even, even)],
        [(train.tolist(), test.tolist()) for train, test in indices],
    ):
        result = compare(MODELS, X, Y, cv=cv, tests="mcnemar")
        pd.testing.assert_frame_equal(result.predictions, expected.predictions)
        pd.testing.assert_frame_equal(result.pairs, expected.pairs)


def test_polars_frames_and_lists_give_the_same_as_arrays():
    labels = np.array(["setosa", "versicolor", "virginica"])[Y]
    expected = compare(MODELS, X, labels, cv=3, random_state=0)
    inputs = [(X.tolist(), labels.tolist()), (pd.DataFrame(X), pd.Series(labels, dtype="category"))]
    try:
        import polars

        inputs.append((polars.DataFrame(X), polars.Series(labels)))
    except ImportError:
        pass
    for samples, y in inputs:
        pd.testing.assert_frame_equal(
            compare(MODELS, samples, y, cv=3, random_state=0).predictions,
            expected.predictions,
            check_dtype=False,
        )


def test_errors_name_the_estimator_that_made_them():
    result = compare({"typo": SVC(kernel="rfb"), "bayes": GaussianNB()}, X, Y, cv=2)
    assert "The 'kernel' parameter of SVC must be" in result.errors["typo"]


def test_precomputed_kernels_are_cut_on_both_sides():
    kernel = X @ X.T
    models = {"here": SVC(kernel="precomputed"), "again": SVC(kernel="precomputed", C=0.1)}
    result = compare(models, kernel, Y, cv=3, random_state=0)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    expected = cross_val_score(SVC(kernel="linear"), X, Y, cv=folds)
    assert result.scores["here"].tolist() == pytest.approx(expected.tolist())


def test_all_may_fail():
    result = compare([Fails("fit"), Fails("predict")], X, Y, cv=2, random_state=0)
    assert len(result.errors) == 2
    assert result.pairs.empty
    assert "RuntimeError" in result._repr_html_()


def test_the_estimators_given_are_not_fitted():
    model = GaussianNB()
    compare({"a": model, "b": LinearDiscriminantAnalysis()}, X, Y, cv=2)
    assert not hasattr(model, "classes_")


def test_groups_stay_together_in_folds_and_halves():
    groups = np.arange(len(Y)) % 30
    marked = np.column_stack([groups, X])
    models = [GroupSpy(), GroupSpy(var_smoothing=0.5)]
    kept = compare(models, marked, Y, cv=3, tests="five_by_two_f", groups=groups, random_state=0)
    assert kept.errors == {}
    mixed = compare(models, marked, Y, cv=3, random_state=0)
    assert len(mixed.errors) == 2


def test_other_scores_and_inputs():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = np.where(y == 1, "benign", "malignant")
    models = [("bayes", GaussianNB()), ("lda", LinearDiscriminantAnalysis())]
    result = compare(models, X, names, cv=4, scoring="roc_auc", tests="mcnemar", random_state=0)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    expected = cross_val_score(
        GaussianNB(), X, LabelEncoder().fit_transform(names), cv=folds, scoring="roc_auc"
    )
    assert result.scores["bayes"].tolist() == pytest.approx(expected.tolist())
    assert set(result.predictions["lda"]) == {"benign", "malignant"}
    sparse = compare([DummyClassifier(), KNeighborsClassifier()], csr_matrix(X), y, cv=3)
    assert sparse.errors == {}


def test_repeated_splits_suit_the_corrected_test_only():
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    result = compare(MODELS, X, Y, cv=cv, tests=["corrected_t", "mcnemar", "kfold_t"])
    verdicts = result.pairs.set_index("test")["verdict"]
    assert result.scores.shape == (15, 3)
    assert len(result.predictions) == 3 * len(Y)
    assert result.pairs.loc[result.pairs["test"] == "corrected_t", "pvalue"].notna().all()
    assert verdicts["mcnemar"].str.contains("every sample in one test fold at most").all()
    assert verdicts["kfold_t"].str.contains("use corrected_t").all()


def test_one_split_cannot_be_tested_by_t_but_by_mcnemar():
    split = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    result = compare(MODELS, X, Y, cv=split, tests=["corrected_t", "mcnemar"])
    verdicts = result.pairs.set_index("test")["verdict"]
    assert verdicts["corrected_t"].str.contains("at least two scores").all()
    assert (result.pairs.loc[result.pairs["test"] == "mcnemar", "pvalue"] <= 1).all()
    assert result.summary["mean"].notna().all()


def test_seeds_and_jobs_do_not_change_the_numbers():
    one = compare(MODELS, X, Y, cv=3, tests=ALL_TESTS, random_state=1)
    two = compare(MODELS, X, Y, cv=3, tests=ALL_TESTS, random_state=1, n_jobs=2)
    other = compare(MODELS, X, Y, cv=3, random_state=2)
    pd.testing.assert_frame_equal(one.pairs, two.pairs)
    assert not one.scores.equals(other.scores)


@pytest.mark.parametrize(
    ("estimators", "y", "options", "sentence"),
    [
        ([GaussianNB()], Y, {}, "at least two estimators; got 1"),
        ([("a", GaussianNB()), ("a", GaussianNB())], Y, {}, "a name of its own"),
        ({"y_true": GaussianNB(), "b": GaussianNB()}, Y, {}, "'y_true' is taken"),
        (GaussianNB(), Y, {}, "a dict or a list of at least two; got one estimator"),
        (make_pipeline(GaussianNB()), Y, {}, "a dict or a list of at least two"),
        (MODELS, Y, {"cv": 1}, "n_splits=2 or more"),
        (MODELS, Y, {"cv": []}, "cv gives no split"),
        (MODELS, Y, {"groups": np.arange(150) % 3}, "10 folds by group need 10 groups or more"),
        (MODELS, Y, {"scoring": ["accuracy", "f1_macro"]}, "scoring must be one name"),
        (MODELS, Y, {"scoring": None}, "scoring must be one name"),
        (MODELS, Y, {"scoring": "acuracy"}, "'acuracy' is not a valid scoring value"),
        (MODELS, Y, {"scoring": accuracy_score}, "metric function rather than a scorer"),
        (MODELS, Y, {"tests": "anova"}, "tests must be among corrected_t, mcnemar"),
        (MODELS, Y, {"tests": ()}, "at least one"),
        (MODELS, Y + 0.5, {}, "y must hold class labels"),
        (MODELS, np.where(Y == 1, np.nan, Y), {}, "y has no label at position 50"),
        (MODELS, Y[:-1], {}, "inconsistent numbers of samples"),
        (MODELS, Y, {"confidence_level": 0}, "confidence_level must lie"),
    ],
)
def test_bad_input_gets_one_clear_sentence(estimators, y, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        compare(estimators, X, y, **options)


class Steps(GaussianNB):
    """Has a parameter of the name that pipelines have, and says no number of rows."""

    n_rows_fitted_ = None

    def __init__(self, steps=100, priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.steps = steps


class Duck:
    """Has what a comparison calls, and nothing of scikit-learn's."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self

    def fit(self, X, y):
        self.model = GaussianNB().fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X)


@pytest.mark.parametrize("other", [Steps(), Duck()], ids=["steps", "duck"])
def test_what_is_kept_beside_the_scores_fails_no_estimator(other):
    models = {"bayes": GaussianNB(), "other": other}
    for found in (
        compare(models, X, Y, cv=3, random_state=0),
        compare_in_rounds(models, X, Y, max_rounds=2, random_state=0),
    ):
        assert not dict(found.errors)
        scores = found.scores if isinstance(found.scores, pd.DataFrame) else None
        if scores is not None:
            np.testing.assert_array_equal(scores["bayes"], scores["other"])
