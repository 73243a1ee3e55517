"""A table → a map: two coordinates for each row, from part of the rows for all of them.

The map on the page of a comparison shows some of the rows, and is drawn if there is time.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from mercer._arrays import FloatArray, to_numpy
from mercer._system.words import count_of, grouped
from mercer.comparison import ColumnShareRecord, MapRecord
from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.projections import (
    LaplacianEigenmaps,
    LaplacianSupportVectorAnalysis,
    LocalityPreservingProjection,
    RoweisSaulProjection,
)
from mercer.spectral import stratified_rows
from mercer.tables import LabelledTable, Table, make_preprocessor, source_columns

_EXACT_ROWS = 10_000  # Up to this many rows, Fisher's discriminant is expanded on all of them.
_HELD_OUT = 0.25  # A method that sees classes is fitted without this share of the rows.
_TAIL = 0.005  # This share of the values at either end may lie farther out than the rest.
_ROWS_OF_A_PAGE = 1000  # A page can show them all, and three quarters are fitted in seconds.


@dataclass(frozen=True)
class _Method:
    sees_classes: bool
    max_rows: int


_METHODS = {
    "fisher": _Method(sees_classes=True, max_rows=50_000),
    "lsva": _Method(sees_classes=True, max_rows=1000),
    "roweis-saul": _Method(sees_classes=True, max_rows=5000),
    "lpp": _Method(sees_classes=False, max_rows=5000),
    "lda": _Method(sees_classes=True, max_rows=1_000_000),
    "pca": _Method(sees_classes=False, max_rows=1_000_000),
    "eigenmaps": _Method(sees_classes=False, max_rows=5000),
}

PROJECTIONS = tuple(_METHODS)


def project_table(data: LabelledTable, method: str = "fisher", *, random_state: int = 0) -> Table:
    """Return two coordinates for each row of a table.

    A method that sees classes can pull apart even classes that do not differ, on the rows it was
    fitted on.  So it is fitted on three quarters of the rows, and places the others too:
    these show what the map is worth.  Numbers that lie farther from 99 % of their column than these
    span are drawn in first, so that one of them does not become the direction of the map.

    ===========  ==========================================  ============  ================
    method       what it is                                  sees classes  most rows fitted
    ===========  ==========================================  ============  ================
    fisher       kernel Fisher discriminants, self-tuned     yes           50 000
    lsva         Laplacian support vector analysis, "rbf"    yes           1 000
    roweis-saul  discriminant Roweis–Saul projection         yes           5 000
    lpp          locality preserving projection              no            5 000
    lda          linear discriminants                        yes           1 000 000
    pca          principal components                        no            1 000 000
    eigenmaps    Laplacian eigenmaps                         no            5 000
    ===========  ==========================================  ============  ================

    Parameters
    ----------
    data : LabelledTable
        Rows with classes.
    method : str, default="fisher"
        One of :data:`PROJECTIONS`.
    random_state : int, default=0
        Seed of the choice of rows, and of the method.

    Returns
    -------
    Table
        Columns ``row`` (its number in the table, from 1), ``x``, ``y``, ``class`` and
        ``held_out`` (whether the method was fitted without it); notes.  Where a method has one
        direction only (of two classes, or of one column), y is the first principal component of
        what x leaves.

    Raises
    ------
    ValueError
        Where there is no such method.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.views import project_table
    >>> from mercer.tables import split_target
    >>> data = split_target(load_iris(as_frame=True).frame, "target")
    >>> list(project_table(data, "fisher").frame.columns)
    ['row', 'x', 'y', 'class', 'held_out']
    """
    return _project(data, method, random_state)[0]


def _project(
    data: LabelledTable, method: str, random_state: int
) -> tuple[Table, tuple[ColumnShareRecord, ...], str]:
    """Return the map, what its kernel makes of the columns, and the sentence about the kernel."""
    if method not in _METHODS:
        raise ValueError(f"There is no method {method!r}: choose {', '.join(_METHODS)}.")
    chosen = _METHODS[method]
    _, labels = np.unique(data.y, return_inverse=True)
    share = 1 - _HELD_OUT if chosen.sees_classes else 1.0
    n_fitted = min(chosen.max_rows, max(2, round(share * len(labels))))
    rows = stratified_rows(labels, n_fitted, 1.0, check_random_state(random_state))

    X = _with_outliers_drawn_in(data, rows)
    scale = "soft-ranks" if method == "fisher" else True
    preprocessor = make_preprocessor(data.columns, scale=scale).fit(X.iloc[rows])
    Z = np.asarray(preprocessor.transform(X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        n_components = min(2, *Z[rows].shape)
        projection = _make_projection(method, len(rows), n_components, random_state)
        mapping = projection.fit(Z[rows], data.y[rows])
        found = np.asarray(mapping.transform(Z))[:, :2]
    said = [one.message for one in caught if issubclass(one.category, UserWarning)]
    notes = [str(message).splitlines()[0] for message in said]
    if found.shape[1] < 2:
        found = np.column_stack([found[:, 0], _second_axis(Z, found[:, 0], rows)])
        notes.append("There is one direction only; y is the first principal component of the rest.")
    is_held_out = ~np.isin(np.arange(len(labels)), rows)
    if is_held_out.any():
        every = count_of(len(labels), "row")
        notes.append(f"{grouped(len(rows))} of {every} were used to find the directions.")
    frame = pd.DataFrame(
        {
            "row": data.row_numbers,
            "x": found[:, 0],
            "y": found[:, 1],
            "class": data.y.astype(object),
            "held_out": is_held_out,
        }
    )
    table = Table(frame, method, tuple(dict.fromkeys(notes)))
    return table, shares_by_column(preprocessor, mapping), getattr(mapping, "choice_", "")


def shares_by_column(preprocessor: Any, model: Any) -> tuple[ColumnShareRecord, ...]:
    """Return share and scale of each column of a table, the largest first.

    Parameters
    ----------
    preprocessor : ColumnTransformer
        Fitted, of :func:`mercer.tables.make_preprocessor`.
    model : estimator
        Fitted on what it returns; one without ``column_shares_`` gives nothing.
    """
    shares = getattr(model, "column_shares_", None)
    if shares is None:
        return ()
    shares, scales = to_numpy(shares), model.column_scales_
    found = pd.DataFrame({"name": source_columns(preprocessor), "share": shares})
    found["scale"] = np.nan if scales is None else to_numpy(scales)
    by_name = found.groupby("name", sort=False).agg({"share": "sum", "scale": "mean"})
    by_name = by_name.sort_values("share", ascending=False, kind="stable")
    return tuple(
        ColumnShareRecord(
            name=str(name),
            share=float(row["share"]),
            scale=None if scales is None else float(row["scale"]),
        )
        for name, row in by_name.iterrows()
    )


def _make_projection(method: str, n_rows: int, n_components: int, seed: int) -> Any:
    """Return the projection of a method, not fitted."""
    match method:
        case "fisher":
            is_small = n_rows <= _EXACT_ROWS
            fisher = KernelFisherDiscriminant if is_small else SparseKernelFisherDiscriminant
            return fisher(random_state=seed)
        case "lsva":
            # The plain hinge has no direction where classes hardly differ.
            return LaplacianSupportVectorAnalysis(
                n_components=2, kernel="rbf", loss="squared_hinge", random_state=seed
            )
        case "roweis-saul":
            return RoweisSaulProjection(n_components=n_components, random_state=seed)
        case "lpp":
            return LocalityPreservingProjection(n_components=n_components, random_state=seed)
        case "lda":
            return LinearDiscriminantAnalysis()
        case "pca":
            return PCA(n_components, random_state=seed)
        case "eigenmaps":
            return LaplacianEigenmaps(n_components=2)
    raise NotImplementedError(f"Method {method!r} has no projection.")


def _with_outliers_drawn_in(data: LabelledTable, rows: NDArray[np.intp]) -> pd.DataFrame:
    """Return the columns with numbers that lie far out drawn in.

    One row with a number a million times too large would be the scale of its column, for which all
    others are the same, and the direction of a map. So what is farther from 99 % of the values than
    these span is taken to lie just there.
    """
    X = data.X.copy()
    for column in data.columns:
        if column.used and column.kind == "number":
            values = X[column.name].to_numpy(dtype=np.float64)
            known = values[rows][np.isfinite(values[rows])]
            low, high = np.quantile(known, [_TAIL, 1 - _TAIL]) if len(known) else (0.0, 0.0)
            if low < high:  # Where nearly all are the same, the others must stay visible.
                X[column.name] = values.clip(low - (high - low), high + (high - low))
    return X


def _second_axis(Z: FloatArray, x: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
    """Return the first principal component of what a regression on x leaves of Z."""
    centre, x_centre = Z[rows].mean(axis=0), x[rows].mean()
    Z, x = Z - centre, x - x_centre
    scale = float(x[rows] @ x[rows]) or 1.0
    rest = Z - np.outer(x, x[rows] @ Z[rows] / scale)
    _, _, directions = np.linalg.svd(rest[rows], full_matrices=False)
    return np.asarray(rest @ directions[0])


def draw_map(data: LabelledTable, seed: int) -> tuple[pd.DataFrame, MapRecord]:
    """Return row, x, y, class and held_out of at most 1 000 rows, and what the map is.

    By the kernel Fisher discriminant; linear discriminants where that fails.
    """
    part = rows_of_map(data, seed)
    method = "fisher"
    with warnings.catch_warnings(), threadpool_limits(1):  # as all fits of a comparison
        warnings.simplefilter("ignore")
        try:
            table, columns, kernel = _project(part, method, seed)
        except (ValueError, np.linalg.LinAlgError):
            method = "lda"
            table, columns, kernel = _project(part, method, seed)
    found = MapRecord(method=method, notes=table.notes, kernel=kernel, columns=columns)
    return table.frame, found


def rows_of_map(data: LabelledTable, seed: int) -> LabelledTable:
    """Return as many rows as a page can show, the classes in their shares."""
    _, labels = np.unique(data.y, return_inverse=True)
    rows = stratified_rows(labels, _ROWS_OF_A_PAGE, 1.0, np.random.RandomState(seed))
    return replace(data, X=data.X.iloc[rows], y=data.y[rows])
