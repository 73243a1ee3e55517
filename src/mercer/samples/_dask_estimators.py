"""What estimators do with Dask arrays: answer block by block, and fit in a way of their own."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from mercer._sklearn import fit_afresh
from mercer.samples._dask import by_blocks, check_dask_rows, is_dask_array, refuse_dask

__all__ = ["on_dask", "refuses_dask"]

T = TypeVar("T")


def on_dask(
    *,
    fit: Callable[..., Any] | None = None,
    **answers: Callable[[Any], tuple[int | None, Any]],
) -> Callable[[type[T]], type[T]]:
    """Return a class decorator: what an estimator does where X is a Dask array.

    Parameters
    ----------
    fit : callable or None
        Called as fit(model, X, y, …) in place of the method.
    **answers : callables
        For each method that answers row by row: the columns (None for a vector) and the type of
        its answer, from the fitted model.  The method is called for each block alone, lazily.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name, shape in answers.items():
            setattr(cls, name, _answering(getattr(cls, name), name, shape))
        if fit is not None:
            for name in ("fit", "fit_transform"):
                if name in vars(cls):
                    setattr(cls, name, _fitting(getattr(cls, name), name, fit))
        return cls

    return decorate


def _answering(
    method: Callable[..., Any], name: str, shape: Callable[[Any], tuple[int | None, Any]]
) -> Callable[..., Any]:
    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        if not is_dask_array(X):
            return method(self, X)
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        if name != "inverse_transform":
            validate_data(self, X, reset=False, skip_check_array=True)
        rows = check_dask_rows(X, "X")
        n_columns, dtype = shape(self)
        return by_blocks(getattr(self, name), rows, n_columns=n_columns, dtype=dtype)

    return answer


def _fitting(method: Callable[..., Any], name: str, fit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def fitted(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if not is_dask_array(X):
            return method(self, X, *arguments, **options)
        with fit_afresh(self):
            model = fit(self, X, *arguments, **options)
        return model.transform(X) if name == "fit_transform" else model

    return fitted


def refuses_dask(why: str) -> Callable[..., Any]:
    """Return a fit that refuses Dask arrays in one sentence."""

    def fit(model: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        refuse_dask(
            X,
            f"{type(model).__name__}.fit",
            why,
            "fit rows in memory, such as a sample X[rows].compute(); the fitted model answers "
            "Dask arrays block by block",
        )

    return fit
