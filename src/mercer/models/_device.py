"""Classifiers on a GPU between NumPy arrays: rows go there, answers and fitted arrays come back."""

import copy
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar

import numpy as np
from array_api_compat import is_torch_array
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import detached, refuse_tensor, to_numpy
from mercer._memory import by_slabs
from mercer._sklearn import HasMethods, StrOptions, fit_context
from mercer._system.extras import how_to_install
from mercer.models._wrappers import DelegatingClassifier, keep_features
from mercer.samples import check_row_weights

# The classifiers of these packages compute with tensors.
_PACKAGES = ("mercer.classifiers.", "mercer.discriminants.")


class MissingTorchError(ImportError, ValueError):
    """Torch is not installed."""


def check_device(device: str) -> None:
    """Raise if a device cannot be computed on.

    Parameters
    ----------
    device : str
        As torch calls it: "cpu", "cuda" or "cuda:1".

    Raises
    ------
    ValueError
        Where torch is not installed, there is no such device, or its name is wrong; one
        sentence says which.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingTorchError(
            f"Device {device!r} needs torch: {how_to_install('gpu')}."
        ) from error
    name, _, number = device.partition(":")
    if name not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise ValueError(f"A device is cpu, cuda or cuda:1, not {device!r}.")
    if name == "cpu":
        return
    if not torch.cuda.is_available():
        raise ValueError(
            f"Device {device!r} is not there: torch finds no CUDA device. Use cpu, or install a "
            "driver and a build of torch for it."
        )
    if number and int(number) >= torch.cuda.device_count():
        there = ", ".join(f"cuda:{i}" for i in range(torch.cuda.device_count()))
        raise ValueError(f"Device {device!r} is not there: choose {there}.")


class OnDevice(DelegatingClassifier):
    """Fit and predict on a device what is given and answered as NumPy arrays.

    Rows are put on the device as tensors, and the classifier computes there.  What it has
    fitted comes back, so that ``estimator_`` can be saved, opened and used where there is
    no such device.  Where the rows are tensors already, this is not needed: pass them
    to the classifier itself.

    Parameters
    ----------
    estimator : classifier
        One of :mod:`mercer.classifiers` or :mod:`mercer.discriminants`.
    device : str, default="cuda"
        As torch calls it: "cuda", "cuda:1", or "cpu" for torch on the CPU.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the rows there.

    Attributes
    ----------
    estimator_ : classifier
        Fitted; its arrays are NumPy arrays.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    mercer.sums.kernel_sum : Takes tensors as they are.

    Notes
    -----
    Every prediction carries the fitted arrays to the device again.  Scikit-learn switches its
    array API dispatch on only where the environment variable ``SCIPY_ARRAY_API`` is 1, since
    some of its own estimators pass tensors on to SciPy.  Mercer's do not, and the
    variable is set here for as long as a call lasts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.classifiers import ParzenClassifier
    >>> from mercer.models import OnDevice
    >>> X, y = load_iris(return_X_y=True)
    >>> OnDevice(ParzenClassifier(), device="cpu").fit(X, y).predict(X[:2])  # doctest: +SKIP
    array([0, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "device": [str],
        "dtype": [StrOptions({"float32", "float64"})],
    }

    def __init__(self, estimator: Any, *, device: str = "cuda", dtype: str = "float32") -> None:
        self.estimator = estimator
        self.device = device
        self.dtype = dtype

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "OnDevice":
        """Fit the classifier on the device, and fetch what it has fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed on.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_device(self.device)
        refuse_tensor(X, self)
        if not _runs_on_device(self.estimator):
            raise ValueError(
                f"{type(self.estimator).__name__} does not compute with tensors: only classifiers "
                "of mercer.classifiers and mercer.discriminants run on a device."
            )
        X, y = validate_data(self, detached(X), y, dtype=[np.float64, np.float32])
        weights = {}
        if sample_weight is not None:
            weights["sample_weight"] = check_row_weights(sample_weight, X.shape[0])
        with _dispatching():
            fitted = clone(self.estimator).fit(self._put(X), y, **weights)
        self.estimator_ = _with_arrays(
            fitted, lambda value: to_numpy(value) if is_torch_array(value) else value
        )
        if hasattr(self, "feature_names_in_"):  # Tensors have no names.
            self.estimator_.feature_names_in_ = self.feature_names_in_
        self.classes_ = self.estimator_.classes_
        return self

    def _answer(self, method: str, X: Any, **options: Any) -> NDArray[Any]:
        """Call a method of the classifier on the device."""
        check_is_fitted(self)
        check_device(self.device)
        refuse_tensor(X, self)
        X = validate_data(self, detached(X), reset=False, dtype=[np.float64, np.float32])
        with _dispatching():
            there = _with_arrays(self.estimator_, self._carry)
            vars(there).pop("feature_names_in_", None)
            return np.asarray(
                by_slabs(
                    lambda rows: to_numpy(getattr(there, method)(self._put(rows), **options)),
                    X,
                    8 * (X.shape[1] + len(self.classes_)),
                )
            )

    def _put(self, X: NDArray[Any]) -> Any:
        """Return rows as a tensor on the device."""
        import torch

        return torch.as_tensor(np.array(X, dtype=self.dtype), device=self.device)

    def _carry(self, value: Any) -> Any:
        """Return an array of numbers as a tensor on the device, and anything else as it is."""
        import torch

        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return torch.tensor(value, device=self.device)
        return value


def _runs_on_device(estimator: Any) -> bool:
    """Whether a classifier computes with tensors: one of ours, or made from one."""
    return any(base.__module__.startswith(_PACKAGES) for base in type(estimator).__mro__)


def on_device(pipeline: Pipeline, device: str) -> Pipeline:
    """Return a pipeline whose classifier runs on a device, fitted or not.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        As :func:`make_model` or :func:`load_model` returns it.
    device : str
        As torch calls it: "cuda", "cuda:1", or "cpu" for torch on the CPU.

    Returns
    -------
    sklearn.pipeline.Pipeline
        The same one where its classifier does not compute with tensors.
    """

    def wrap(model: Any) -> Any:
        if not _runs_on_device(model):
            return model
        wrapper = OnDevice(model, device=device)
        if hasattr(model, "classes_"):  # fitted
            wrapper.estimator_, wrapper.classes_ = model, model.classes_
            keep_features(wrapper, model)
        return wrapper

    return _with_classifier(pipeline, wrap)


def off_device(pipeline: Pipeline) -> Pipeline:
    """Return a fitted pipeline without its :class:`OnDevice`, for use on any machine."""

    def unwrap(model: Any) -> Any:
        if not isinstance(model, OnDevice):
            return model
        return getattr(model, "estimator_", model.estimator)

    return _with_classifier(pipeline, unwrap)


def _with_classifier(pipeline: Pipeline, change: Callable[[Any], Any]) -> Pipeline:
    """Return the pipeline with another classifier, also where there are others around it."""
    *steps, (name, model) = pipeline.steps
    return Pipeline([*steps, (name, _changed_within(model, change))])


def _changed_within(model: Any, change: Callable[[Any], Any]) -> Any:
    """Return a classifier with another one within what draws rows and what decides."""
    if not _is_around(model):
        return change(model)
    model = copy.copy(model)
    model.estimator = _changed_within(model.estimator, change)
    if hasattr(model, "estimator_"):
        model.estimator_ = _changed_within(model.estimator_, change)
    return model


def _is_around(model: Any) -> bool:
    """Whether this draws rows for a classifier, or decides by its probabilities."""
    return isinstance(model, DelegatingClassifier) and not isinstance(model, OnDevice)


def within(model: Any) -> Any:
    """Return the fitted classifier that gives the scores, without what is around it."""
    while isinstance(model, DelegatingClassifier):
        model = model.estimator_
    return model


class _ArrayAPIVariable:
    """Sets ``SCIPY_ARRAY_API`` to 1 for as long as any thread is within."""

    _name = "SCIPY_ARRAY_API"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._before: str | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._within == 0:
                self._before = os.environ.get(self._name)
                os.environ[self._name] = "1"
            self._within += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0:
                del os.environ[self._name]
                if self._before is not None:
                    os.environ[self._name] = self._before


_VARIABLE = _ArrayAPIVariable()


@contextmanager
def _dispatching() -> Iterator[None]:
    """Let estimators have tensors as they are."""
    with _VARIABLE, config_context(array_api_dispatch=True):
        yield


def _with_arrays(estimator: Any, change: Callable[[Any], Any]) -> Any:
    """Return a fitted estimator with other arrays; its parameters stay."""
    moved = copy.copy(estimator)
    parameters = estimator.get_params(deep=False)
    for name, value in vars(estimator).items():
        if name not in parameters:
            setattr(moved, name, _moved(value, change))
    return moved


def _moved(value: Any, change: Callable[[Any], Any]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: _moved(getattr(value, part.name), change) for part in fields(value)}
        return replace(value, **parts)
    return change(value)
