"""Who is held to the contract, on which rows, and what their docs except them from.

The list is read from the packages' `__all__`: an estimator is held to every law from the moment
it is exported.  What an estimator need not keep stands in `EXCEPTIONS` with the reason, and
nowhere else.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.svm import SVC

import mercer
from mercer.models import CappedClassifier, DecidingClassifier, OnDevice, TunedClassifier
from test_public_api import PACKAGES

METHODS = (
    "predict", "predict_proba", "predict_log_proba", "predict_set", "decision_function",
    "transform", "score_samples",
)  # fmt: skip

# Estimators around another one.  One cell and room for all rows: then no fold and no draw, which
# go by row, decides anything.
WRAPPERS = {
    "CappedClassifier": lambda: CappedClassifier(mercer.ParzenClassifier(), random_state=0),
    "DecidingClassifier": lambda: DecidingClassifier(mercer.KernelFisherDiscriminant()),
    "OnDevice": lambda: OnDevice(mercer.ISEClassifier(), device="cpu", dtype="float64"),
    "TunedClassifier": lambda: TunedClassifier(
        mercer.ParzenClassifier(), {"scoring": ["accuracy"]}, random_state=0
    ),
}
# Settings that take another way through the code.
VARIANTS = {
    "ISEClassifier append": lambda: mercer.ISEClassifier(rule="append"),
    "ISEClassifier margin": lambda: mercer.ISEClassifier(weighting="margin"),
    "DensityOutlierDetector share": lambda: mercer.DensityOutlierDetector(contamination=0.1),
    "KernelDensity adaptive": lambda: mercer.KernelDensity(adaptive=True),
    "KernelDensity cross-validated": lambda: mercer.KernelDensity(bandwidth="likelihood-cv"),
    "KernelDensity debiased": lambda: mercer.KernelDensity(debiased=True),
    "KernelDensity mahalanobis": lambda: mercer.KernelDensity(
        bandwidth="scott", metric="mahalanobis"
    ),
    "KernelFisherDiscriminant iterative": lambda: mercer.KernelFisherDiscriminant(
        solver="iterative", tol=1e-10
    ),
    "KernelFisherDiscriminant landmarks": lambda: mercer.KernelFisherDiscriminant(
        n_landmarks=20, random_state=0
    ),
    "LaplacianClassifier append": lambda: mercer.LaplacianClassifier(rule="append"),
    "LaplacianClassifier per class": lambda: mercer.LaplacianClassifier(
        bandwidth="silverman", per_class=True
    ),
    "LaplacianClassifier nodes": lambda: mercer.LaplacianClassifier(n_nodes=20),
    "LaplacianSVC least squares": lambda: mercer.LaplacianSVC(
        loss="squared_error", normalized=True
    ),
    "LaplacianSVC linear": lambda: mercer.LaplacianSVC(kernel="linear"),
    "LaplacianSupportVectorAnalysis rbf": lambda: mercer.LaplacianSupportVectorAnalysis(
        kernel="rbf"
    ),
    "LocalityPreservingProjection rbf": lambda: mercer.LocalityPreservingProjection(
        kernel="rbf", pca_components=0.9
    ),
    "ParzenClassifier per class": lambda: mercer.ParzenClassifier(
        bandwidth="silverman", per_class=True
    ),
    "RoweisSaulProjection rbf": lambda: mercer.RoweisSaulProjection(
        kernel="rbf", pca_components=0.9
    ),
    "SparseKernelFisherDiscriminant few": lambda: mercer.SparseKernelFisherDiscriminant(
        max_nodes=9, random_state=0
    ),
    "TunedClassifier svc": lambda: TunedClassifier(SVC(), {"C": [1, 10]}, random_state=0),
}

_UNITS = "its parameters are in the units of the columns"
_DRAWN = "landmarks are rows drawn at random"
_FOLDS = "folds are drawn by row"
_DATES = "it reads numbers as dates"
_CLIPS = "it clips at a limit that is in the units of the columns"
EXCEPTIONS = {
    "CategoryDummies": {
        "float32": "a number is a category by its decimals, and those are others in float32",
    },
    "ConditionalDensity": {
        "names of 2": "its targets are numbers, and other names have others",
        "names of 3": "its targets are numbers, and other names have others",
    },
    "DateFeatures": {"offset": _DATES, "scale": _DATES},
    "FeatureClipper": {"offset": _CLIPS, "scale": _CLIPS},
    "DensityOutlierDetector": {"scale of score_samples": "a density is per volume"},
    "KernelDensity": {"scale of score_samples": "a density is per volume"},
    "KernelFisherDiscriminant landmarks": {"order": _DRAWN},
    "LaplacianSVC linear": {"scale": _UNITS},
    "LaplacianSupportVectorAnalysis": {
        "names of 3": "classes have their turn in alphabetical order",
        "offset": "a projection is the product with the row itself, from the origin",
        "scale": _UNITS,
    },
    "LaplacianSupportVectorAnalysis rbf": {"offset": "", "scale": ""},
    "NearestAngleClassifier": {"offset": "angles are taken from the origin"},
    "ParzenClassifier per class": {"scale of decision_function": "a density is per volume"},
    "TunedClassifier svc": {
        "order": _FOLDS,
        "offset": "scikit-learn's SVC takes distances by products",
    },
}
# Answers of solvers agree within what they solve to, all others within rounding.
TOLERANCES = {
    "ISEClassifier margin": 1e-6,
    "KernelFisherDiscriminant iterative": 1e-5,
    "TunedClassifier svc": 1e-2,
}


def public_estimators(packages: Any = PACKAGES) -> dict[str, type]:
    """Every estimator in `__all__` of these packages."""
    found = {}
    for name in packages:
        package = importlib.import_module(name)
        for public in package.__all__:
            value = getattr(package, public)
            if isinstance(value, type) and issubclass(value, BaseEstimator):
                found[value.__name__] = value
    return found


def needs_another(cls: type) -> bool:
    """Tell whether it wraps an estimator."""
    return "estimator" in signature(cls).parameters


@dataclass(frozen=True)
class Subject:
    """An estimator with its settings."""

    name: str
    make: Callable[[], Any]

    @property
    def methods(self) -> list[str]:
        model = self.make()
        return [name for name in METHODS if hasattr(model, name)]

    @property
    def tolerance(self) -> float:
        return TOLERANCES.get(self.name, 1e-7)

    def made(self) -> Any:
        """Return the estimator, if what it needs to be fitted is installed."""
        if self.name.startswith("OnDevice"):
            pytest.importorskip("torch", reason="torch is not installed")
        return self.make()

    def fit(self, X: Any, y: Any, **options: Any) -> Any:
        return self.made().fit(X, self.targets(y), **options)

    def targets(self, y: Any) -> Any:
        """Return classes, or numbers in their place for what estimates numbers."""
        if not is_regressor(self.make()):
            return y
        return np.unique(np.asarray(y), return_inverse=True)[1]

    def excuse(self, law: str) -> str:
        """Return why a law does not hold; nothing where it does."""
        own = EXCEPTIONS.get(self.name, {})
        return own.get(law, EXCEPTIONS.get(self.name.split()[0], {}).get(law, ""))

    def held_to(self, law: str) -> None:
        if reason := self.excuse(law):
            pytest.skip(reason)


def _seeded(cls: type) -> Callable[[], Any]:
    seed = {"random_state": 0} if "random_state" in signature(cls).parameters else {}
    return lambda: cls(**seed)


_MAKERS = {
    name: WRAPPERS[name] if needs_another(cls) else _seeded(cls)
    for name, cls in public_estimators().items()
}
SUBJECTS = [Subject(name, make) for name, make in {**_MAKERS, **VARIANTS}.items()]


def _every(subjects: list[Subject]) -> Any:
    return pytest.mark.parametrize("subject", subjects, ids=lambda one: one.name)


every_subject = _every(SUBJECTS)
every_weighted = _every(
    [one for one in SUBJECTS if "sample_weight" in signature(one.make().fit).parameters]
)
# What only the door of an estimator decides is tried with one of its settings.
_PLAIN = SUBJECTS[: len(_MAKERS)]
every_estimator = _every(_PLAIN)
every_classifier = _every([one for one in _PLAIN if is_classifier(one.make())])
every_transformer = _every([one for one in _PLAIN if hasattr(one.make(), "set_output")])


@dataclass(frozen=True)
class Rows:
    X: Any
    y: Any
    new: Any


@cache
def rows(n_classes: int = 3, n_features: int = 4, seed: int = 0) -> Rows:
    """Overlapping classes of unequal size, and new rows; whole multiples of 2⁻¹².

    So offsets and powers of two change them exactly.
    """
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(n_classes), [30, 20, 12][:n_classes]))
    centres = 1.5 * rng.normal(size=(n_classes, n_features))
    X = centres[codes] + rng.normal(size=(codes.size, n_features))
    new = 1.5 * rng.normal(size=(25, n_features))
    X, new = (np.round(A * 2**12) / 2**12 for A in (X, new))
    return Rows(X, np.array(["ant", "bee", "cat"])[codes], new)


@cache
def baseline(subject: Subject, n_classes: int = 3) -> tuple[Any, dict[str, Any]]:
    """A fit on the rows, and its answers for the new ones."""
    data = rows(n_classes)
    model = subject.fit(data.X, data.y)
    return model, answers(model, data.new, subject.methods)


def answers(model: Any, X: Any, methods: list[str]) -> dict[str, Any]:
    return {name: np.asarray(getattr(model, name)(X)) for name in methods}


def assert_close(found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    """Classes are equal, numbers differ by no more than a share of the largest of them."""
    for method, wanted in expected.items():
        if wanted.dtype.kind == "f":
            room = tolerance * np.abs(wanted).max()
            np.testing.assert_allclose(found[method], wanted, rtol=0, atol=room, err_msg=method)
        else:
            np.testing.assert_array_equal(found[method], wanted, err_msg=method)


def assert_same_bits(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for method, wanted in expected.items():
        assert found[method].dtype == wanted.dtype, method
        np.testing.assert_array_equal(found[method], wanted, err_msg=method)
