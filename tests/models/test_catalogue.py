"""Models by name: each answers for a mixed table, and rare classes count where asked."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.fixes import parse_version

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.models import (
    CappedClassifier,
    OnDevice,
    choose_model,
    describe_model,
    list_models,
    make_model,
    on_device,
    score_model,
)
from mercer.tables import split_target


def two_bumps(n, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    is_rare = rng.random(n) < share
    frame = pd.DataFrame(rng.normal(size=(n, 2)) + 1.3 * is_rare[:, None], columns=["a", "b"])
    frame["target"] = np.where(is_rare, "rare", "usual")
    return frame


def test_names_are_in_the_promised_order():
    assert list_models() == [
        "fisher", "laplacian", "parzen", "ise", "laplacian-svc", "roweis-saul", "logistic", "svc",
        "knn", "forest", "boosting", "dummy",
    ]  # fmt: skip
    kinds = [describe_model(name).kind for name in list_models()]
    assert kinds == ["mercer"] * 6 + ["peer"] * 5 + ["floor"]
    by_name = [name for name in list_models() if not describe_model(name).by_default]
    assert by_name == ["laplacian-svc", "roweis-saul"]


def test_models_that_use_a_device_are_those_that_it_wraps(data):
    for name in list_models():
        on_it = on_device(make_model(name, data), "cpu")[-1]
        assert isinstance(on_it, OnDevice) == describe_model(name).uses_device


def test_unknown_name_is_one_sentence_that_lists_the_names(data):
    with pytest.raises(
        ValueError,
        match=r"^There is no model 'fischer': choose fisher, .*dummy, .*, or FILE\.py:NAME for one "
        r"of yours\.$",
    ):
        make_model("fischer", data)


@pytest.mark.parametrize("name", list_models())
def test_every_model_is_a_pipeline_with_probabilities(data, name):
    model = make_model(name, data).fit(data.X, data.y)
    assert [step for step, _ in model.steps] == ["table", "model"]
    shares = model.predict_proba(data.X)
    assert shares.shape == (len(data.y), 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    predicted = model.predict(data.X)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], predicted)
    if name != "dummy":
        assert np.mean(predicted == data.y) > 0.65


@pytest.mark.parametrize(
    "name", [name for name in list_models() if name not in ("dummy", "knn", "roweis-saul")]
)
def test_balanced_models_find_rare_classes(name):
    if name == "forest" and parse_version(sklearn.__version__) < parse_version("1.9"):
        pytest.skip("weights hardly move the forest of scikit-learn 1.7, as they do that of 1.9")
    train, test = two_bumps(300, 0.1), two_bumps(1000, 0.1, seed=1)
    data, new = split_target(train, "target"), split_target(test, "target")
    scores = [
        balanced_accuracy_score(
            new.y, make_model(name, data, balanced=balanced).fit(data.X, data.y).predict(new.X)
        )
        for balanced in (False, True)
    ]
    assert scores[1] > 0.74, scores
    if name not in ("laplacian", "ise"):  # which know no priors in the first place
        assert scores[1] > scores[0] + 0.04, scores


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("name", list_models())
def test_what_classes_are_called_changes_no_answer(name, balanced):
    frame = two_bumps(120, 0.1)
    is_usual = frame["target"] == "usual"
    answers = [
        make_model(name, data, balanced=balanced).fit(data.X, data.y).predict(data.X)
        == np.unique(data.y)[1]
        for classes in (("rare", "usual"), (0, 1), (0.0, 1.0), (False, True), ("1", "22"), (-1, 7))
        for data in [
            split_target(frame.assign(target=np.asarray(classes)[is_usual.astype(int)]), "target")
        ]
    ]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_forest_is_scikit_learns_but_for_names(class_weight):
    frame = two_bumps(150, 0.1)
    X, codes = frame[["a", "b"]].to_numpy(), (frame["target"] == "usual").to_numpy().astype(int)
    options = {"n_estimators": 20, "class_weight": class_weight, "random_state": 0}
    theirs = RandomForestClassifier(**options).fit(X, codes)
    forest = make_model("forest", split_target(frame, "target"))[-1]
    ours = forest.set_params(**options).fit(X, codes.astype(str))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.predict(X).tolist() == theirs.predict(X).astype(str).tolist()
    assert ours.classes_.tolist() == ["0", "1"]


def test_fisher_is_exact_for_few_rows_and_sparse_for_many():
    few, many = (split_target(two_bumps(n), "target") for n in (10_000, 10_001))
    assert isinstance(make_model("fisher", few)[-1], KernelFisherDiscriminant)
    assert isinstance(make_model("fisher", many)[-1], SparseKernelFisherDiscriminant)


@pytest.mark.parametrize("name", ["laplacian", "parzen", "ise", "laplacian-svc", "svc"])
def test_quadratic_methods_are_capped(name):
    data = split_target(two_bumps(400), "target")
    assert not isinstance(make_model(name, data)[-1], CappedClassifier)
    model = make_model(name, data, max_rows=100).fit(data.X, data.y)
    assert model[-1].n_rows_fitted_ == 100
    assert np.mean(model.predict(data.X) == data.y) > 0.7
    assert make_model(name, split_target(two_bumps(10_001), "target"))[-1].max_rows == 10_000


def test_the_laplacian_machine_is_exact_for_few_rows_and_has_landmarks_for_many():
    few, many = (split_target(two_bumps(n), "target") for n in (1500, 1501))
    assert make_model("laplacian-svc", few)[-1].estimator.landmarks is None
    assert make_model("laplacian-svc", many)[-1].estimator.landmarks == 500


def test_the_roweis_saul_classifier_takes_more_columns_than_rows():
    rng = np.random.default_rng(0)
    is_rare = rng.random(60) < 0.4
    frame = pd.DataFrame(rng.normal(size=(60, 100)) + 0.8 * is_rare[:, None])
    frame.columns = [f"c{i}" for i in range(100)]
    frame["target"] = np.where(is_rare, "rare", "usual")
    assert score_model("roweis-saul", split_target(frame, "target")).accuracy > 0.9


def test_score_is_that_of_rows_left_out():
    frame = two_bumps(300)
    frame["target"] = np.random.default_rng(0).permutation(frame["target"])
    data = split_target(frame, "target")
    forest = score_model("forest", data)  # knows every row that it was fitted on
    assert abs(forest.accuracy - 0.5) < 0.1
    assert abs(forest.balanced_accuracy - 0.5) < 0.1
    assert forest.floor == max(np.mean(data.y == "rare"), np.mean(data.y == "usual"))
    assert forest.n_rows == 300
    assert score_model("logistic", data, max_rows=100).n_rows == 100


def test_score_with_a_class_of_two_rows(data):
    frame = two_bumps(60)
    frame.loc[:1, "target"] = "two"
    score = score_model("svc", split_target(frame, "target"))
    assert score.n_splits == 2
    assert 0 < score.accuracy < 1


def test_choose_takes_the_best_and_keeps_all_scores():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    frame["target"] = np.where(frame["a"] * frame["b"] > 0, "same", "different")
    seen = []
    scores = choose_model(split_target(frame, "target"), on_progress=seen.append)
    assert seen == ["fisher", "boosting", "logistic"]
    assert scores[-1].model == "logistic"  # no line divides them
    assert [s.accuracy for s in scores] == sorted((s.accuracy for s in scores), reverse=True)
    assert scores[0].accuracy > 0.9
    assert scores[-1].accuracy < 0.65


@pytest.mark.parametrize("n_rows", [12, 20, 60])
def test_neighbours_are_no_more_than_a_small_table_has(n_rows):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n_rows), "y": ["a", "b"] * (n_rows // 2)})
    data = split_target(frame, "y")
    fitted = make_model("knn", data).fit(data.X.iloc[: n_rows // 2], data.y[: n_rows // 2])
    assert fitted.predict(data.X).shape == (n_rows,)
