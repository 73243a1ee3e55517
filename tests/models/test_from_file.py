"""Models in Python files of users, by ``my.py:model``: what they are given, and what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from mercer.models import check_model, describe_model, make_model, score_model

FILE = """
import numpy as np
from helper_of_this_model import CHOSEN
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

trees = ExtraTreesClassifier(5)
seeded = ExtraTreesClassifier(5, random_state=7)

class Seen(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), X
        return self
    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

def pipeline():
    chosen = FunctionTransformer(lambda X: X.select_dtypes(CHOSEN).fillna(0))
    return make_pipeline(chosen, GaussianNB())

def search():
    return GridSearchCV(pipeline(), {"gaussiannb__var_smoothing": [1e-9, 1e-3]})

plain = make_pipeline(LogisticRegression())
regression = FunctionTransformer()
number = 3
def broken():
    raise RuntimeError("no luck")
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "helper_of_this_model.py").write_text('CHOSEN = "number"\n')
    path = tmp_path / "my.py"
    path.write_text(FILE)
    return path


def test_a_classifier_gets_the_numbers_that_our_models_get(data, file):
    model = make_model(f"{file}:Seen", data).fit(data.X, data.y)
    ours = make_model("logistic", data)[0].fit_transform(data.X)
    np.testing.assert_array_equal(model[-1].estimator_.seen_, ours)
    assert set(model.predict(data.X)) == {np.unique(data.y)[0]}
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("name", ["pipeline", "search"])
def test_a_pipeline_gets_the_columns_of_the_table(data, file, name):
    model = make_model(f"{file}:{name}", data).fit(data.X, data.y)
    assert model[-1].n_features_in_ == data.X.shape[1]
    assert model.predict_proba(data.X).shape == (len(data.y), len(model.classes_))


def test_a_pipeline_that_cannot_read_the_columns_says_what_it_was_given(data, file):
    with pytest.raises(ValueError, match=r"\(a pipeline is given the columns as they are, .*\)$"):
        make_model(f"{file}:plain", data).fit(data.X, data.y)


def test_what_has_no_seed_gets_that_of_the_comparison(data, file):
    def seeds(name, seed):
        return make_model(f"{file}:{name}", data, random_state=seed)[-1].estimator.random_state

    assert [seeds("trees", 3), seeds("seeded", 3)] == [3, 7]
    answers = [
        make_model(f"{file}:trees", data, random_state=3).fit(data.X, data.y).predict_proba(data.X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*answers)


def test_it_goes_to_other_processes_by_its_file(data, file):
    model = pickle.loads(  # noqa: S301
        pickle.dumps(clone(make_model(f"{file}:Seen", data)))
    )
    assert set(model.fit(data.X, data.y).predict(data.X)) == {np.unique(data.y)[0]}


def test_a_file_that_has_changed_is_refused(data, file):
    model = make_model(f"{file}:trees", data)
    file.write_text(FILE + "# changed\n")
    import sys

    for key in [key for key in sys.modules if key.startswith("mercer_model_file_")]:
        del sys.modules[key]
    with pytest.raises(ValueError, match="has changed since it was first read: begin again"):
        model.fit(data.X, data.y)


def test_it_is_scored_like_any_other(data, file):
    assert 0.3 < score_model(f"{file}:trees", data).accuracy <= 1


def test_it_follows_costs(data, file):
    costs = np.ones((3, 3)) - np.eye(3)
    model = make_model(f"{file}:trees", data, costs=costs).fit(data.X, data.y)
    assert model[-1].decision_


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("number", "'number' in .* is not a model: give a classifier or pipeline .*"),
        ("regression", "'regression' in .* has no predict: give a classifier or pipeline .*"),
        ("broken", r"broken\(\) in .* fails \(RuntimeError: no luck\): it is called without .*"),
        ("tres", ".* has no 'tres': did you mean 'trees'"),
    ],
)
def test_what_is_no_model_is_refused_in_one_sentence(file, name, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}[.?]$"):
        check_model(f"{file}:{name}")


def test_files_that_cannot_be_read_or_run_are_refused_in_one_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.py cannot be read .*: check the path\.$"):
        check_model(f"{tmp_path}/none.py:model")
    bad = tmp_path / "bad.py"
    for text, why in [
        ("x = 1\nmodel = nothing", "line 2: NameError: name 'nothing' is not defined"),
        ("model = (", "line 1: SyntaxError: '\\(' was never closed"),
        ("import sys\nsys.exit(3)", "line 2: SystemExit: 3"),
    ]:
        bad.write_text(text)
        with pytest.raises(ValueError, match=rf"bad\.py cannot be run \({why}\): repair it\.$"):
            check_model(f"{bad}:model")


def test_a_name_alone_opens_no_file():
    info = describe_model("nowhere.py:model")
    assert (info.kind, info.by_default, info.is_saved) == ("peer", False, False)
