"""``compare_in_rounds(checkpoint=…)``: what was finished is not made again, and nothing else."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from mercer._system.files import held_alone
from mercer.comparison import compare_in_rounds

X, Y = load_iris(return_X_y=True)
MODELS = {"dummy": DummyClassifier(), "bayes": GaussianNB(), "knn": KNeighborsClassifier()}


class Counts(ClassifierMixin, BaseEstimator):
    """Counts its fits, and is interrupted in one of them."""

    fits = 0
    until = np.inf

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        Counts.fits += 1
        if Counts.fits > Counts.until:
            raise KeyboardInterrupt
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


@pytest.fixture(autouse=True)
def nothing_counted():
    Counts.fits, Counts.until = 0, np.inf


def same(a, b):
    pd.testing.assert_frame_equal(a.metrics, b.metrics)
    pd.testing.assert_frame_equal(a.predictions, b.predictions)
    assert a.pairs.drop(columns="test").equals(b.pairs.drop(columns="test"))
    for name in a.outputs:
        np.testing.assert_array_equal(a.outputs[name], b.outputs[name])
    assert a.answer == b.answer


@pytest.mark.parametrize("until", [0, 1, 4, 5])
def test_an_interrupted_comparison_ends_as_if_it_had_not_been(tmp_path, until):
    models = {**MODELS, "counts": Counts()}
    options = {"max_rounds": 6, "random_state": 0, "checkpoint": tmp_path / "kept"}
    Counts.until = until
    if until < 1:
        with pytest.raises(KeyboardInterrupt):
            compare_in_rounds(models, X, Y, **options)
    else:
        assert compare_in_rounds(models, X, Y, **options).interrupted
    Counts.until, Counts.fits = np.inf, 0
    remarks = []
    found = compare_in_rounds(
        models, X, Y, **options, on_progress=lambda one: remarks.append(one.remark)
    )
    assert Counts.fits == 6 - until
    assert found.n_resumed == until
    rounds = "1 round" if until == 1 else f"{until} rounds"
    assert remarks[0] == f"Goes on with {rounds} that an interrupted run has finished."
    assert not any(remarks[1:])
    same(found, compare_in_rounds(models, X, Y, max_rounds=6, random_state=0))


@pytest.mark.parametrize(
    "change",
    [
        {"X": X + 1e-9},
        {"Y": np.where(np.arange(150) == 3, 1, Y)},
        {"seed": 1},
        {"models": {**MODELS, "counts": Counts(shift=1.0)}},
        {"n_folds": 5},
    ],
)
def test_another_question_begins_anew_and_says_so(tmp_path, change):
    def ask(X=X, Y=Y, seed=0, models=None, n_folds=10, told=None):
        return compare_in_rounds(
            models or {**MODELS, "counts": Counts()}, X, Y, random_state=seed, n_folds=n_folds,
            max_rounds=3, checkpoint=tmp_path / "kept", on_progress=told,
        )  # fmt: skip

    ask()
    Counts.fits = 0
    remarks = []
    found = ask(**change, told=lambda one: remarks.append(one.remark))
    assert (Counts.fits, found.n_resumed) == (3, 0)
    assert remarks[0].startswith("The table, the options or the versions are not those of the run")
    ask(**change)
    assert Counts.fits == 3  # of this question all is kept now


def test_frames_with_categories_are_told_apart_by_their_values(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=pd.Categorical(["u", "v"] * 75))
    other = frame.assign(e=pd.Categorical(["v", "u"] * 75))

    resumed = [
        compare_in_rounds(
            {"dummy": DummyClassifier()},
            table,
            Y,
            max_rounds=2,
            random_state=0,
            checkpoint=tmp_path / "kept",
        ).n_resumed
        for table in (frame, frame.copy(), other)
    ]
    assert resumed == [0, 2, 0]


@pytest.mark.parametrize("spoil", [b"", b"PK\x03\x04 half a file", None])
def test_a_damaged_file_is_one_fit_that_is_made_again(tmp_path, spoil):
    options = {"max_rounds": 3, "random_state": 0, "checkpoint": tmp_path}
    whole = compare_in_rounds({"counts": Counts()}, X, Y, **options)
    file = sorted(tmp_path.glob("*.npz"))[1]
    if spoil is None:
        with np.load(file) as arrays:
            facts = arrays["facts"]
        np.savez(file, facts=facts, predicted=np.full(15, 7))
    else:
        file.write_bytes(spoil)
    same(compare_in_rounds({"counts": Counts()}, X, Y, **options), whole)
    assert Counts.fits == 4


def test_what_was_spent_counts(tmp_path, monkeypatch):
    options = {"random_state": 0, "checkpoint": tmp_path, "max_rounds": 20}
    compare_in_rounds(MODELS, X, Y, **{**options, "max_rounds": 2})
    for file in tmp_path.glob("*.npz"):
        with np.load(file) as arrays:
            kept = dict(arrays)
        facts = json.loads(kept.pop("facts").tobytes())
        facts["spent"] = 99.0
        np.savez(file, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **kept)
    found = compare_in_rounds(MODELS, X, Y, budget=99.0, **options)
    assert found.rounds == (0, 1)
    assert found.seconds >= 99


def test_two_comparisons_cannot_have_one_checkpoint(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    with held_alone(folder), pytest.raises(ValueError, match=r"^Another comparison is running in "):
        compare_in_rounds(MODELS, X, Y, random_state=0, checkpoint=folder)


def test_a_checkpoint_needs_a_seed(tmp_path):
    with pytest.raises(ValueError, match=r"^random_state must be a whole number where there is"):
        compare_in_rounds(MODELS, X, Y, checkpoint=tmp_path)


def test_errors_and_those_left_out_are_kept(tmp_path):
    class Fails(GaussianNB):
        def fit(self, X, y):
            Counts.fits += 1
            raise RuntimeError("no luck")

    models = {"bayes": GaussianNB(), "fails": Fails()}
    for _ in range(2):
        found = compare_in_rounds(models, X, Y, max_rounds=2, random_state=0, checkpoint=tmp_path)
        assert found.errors == {"fails": "split 0: RuntimeError: no luck"}
    assert Counts.fits == 1
