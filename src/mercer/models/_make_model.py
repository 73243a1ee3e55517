"""The models by name: Mercer's classifiers, what people would otherwise pick, and the floor."""

import math
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets

from mercer._system.vocabulary import MODELS_QUICK_FIRST
from mercer.classifiers import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.models._catalogue import MOST_ROWS, describe_model, is_from_file
from mercer.models._device import on_device
from mercer.models._from_file import ModelFromFile
from mercer.models._packages import check_package, packaged_classifier
from mercer.models._tuned import TunedClassifier
from mercer.models._wrappers import CappedClassifier
from mercer.models.deciding._classifier import DecidingClassifier
from mercer.models.deciding._sentences import check_costs
from mercer.projections import LaplacianSVC, roweis_saul_classifier
from mercer.tables import LabelledTable, make_preprocessor

_EXACT_ROWS = 10_000  # Up to this many rows, Fisher's discriminant is expanded on all of them.
# In a comparison they see these in two minutes; more time gives more rows, less time never fewer
# than the least.
_ROWS_IN_TWO_MINUTES, _LEAST_ROWS = MOST_ROWS, 5_000
# There Fisher's discriminant is expanded on all of so many rows, in some ten seconds a fit.
_EXACT_ROWS_IN_TWO_MINUTES = 3_000
# Beyond so many rows the Laplacian machine, of cubic cost, has so many columns of its kernel.
_EXACT_MACHINE_ROWS, _MACHINE_LANDMARKS = 1_500, 500


# What models need of the numbers of a table: trees no scale, and the floor does not look at them;
# sums of absolute differences columns without long tails.
_SCALES: dict[str, bool | str] = {
    "forest": False,
    "boosting": False,
    "dummy": False,
    "fisher": "soft-ranks",
}


def _make_classifier(name: str, n_rows: int, balanced: bool, seed: int, exact_rows: int) -> Any:
    """Return the classifier of a model, not fitted."""
    scoring = "balanced_accuracy" if balanced else "accuracy"
    class_weight = "balanced" if balanced else None
    if is_from_file(name):
        return ModelFromFile.of(name, seed)
    match name:
        case "fisher":
            is_small = n_rows <= exact_rows
            fisher = KernelFisherDiscriminant if is_small else SparseKernelFisherDiscriminant
            return fisher(class_weight=class_weight, scoring=scoring, random_state=seed)
        case "laplacian":
            # Angles do not depend on priors; equal priors would weigh the classes a second time.
            return LaplacianClassifier(scoring=scoring, random_state=seed)
        case "parzen":
            return ParzenClassifier(priors="uniform" if balanced else None, scoring=scoring)
        case "ise":
            return ISEClassifier(scoring=scoring)
        case "laplacian-svc":
            landmarks = None if n_rows <= _EXACT_MACHINE_ROWS else _MACHINE_LANDMARKS
            # Squared errors are solved in closed form, where hinge machines take seconds a cell;
            # and what they leave on rows left out says how probable a rare class is.
            machine = LaplacianSVC(loss="squared_error", landmarks=landmarks, random_state=seed)
            cells: dict[str, list[Any]] = {"C": [0.1, 1, 10], "laplacian_weight": [1, 10]}
            # Each cell has a factor of its own: the folds are made of half as many rows as usual.
            return TunedClassifier(
                machine, cells, max_rows=1000, scoring=scoring, random_state=seed
            )
        case "roweis-saul":
            # Brute force, as of knn.  None is one direction less than there are classes.
            faces = roweis_saul_classifier().set_params(classifier__algorithm="brute")
            cells = {
                "projection__n_components": [None, 10, 30],
                "classifier__n_neighbors": _neighbor_counts(n_rows),
            }
            return TunedClassifier(faces, cells, scoring=scoring, random_state=seed)
        case "logistic":
            return LogisticRegression(class_weight=class_weight, max_iter=1000)
        case "svc":
            svc = SVC(class_weight=class_weight, cache_size=500)
            cells = {"C": [1, 10, 100], "gamma": ["scale", 0.01, 0.1]}
            return TunedClassifier(svc, cells, scoring=scoring, random_state=seed)
        case "knn":
            cells = {"n_neighbors": _neighbor_counts(n_rows)}
            # Brute force: trees of neighbours hold raw indices, which a model file should not.
            knn = KNeighborsClassifier(algorithm="brute")
            return TunedClassifier(knn, cells, max_rows=5000, scoring=scoring, random_state=seed)
        case "forest":
            return NamedForest(class_weight=class_weight, n_jobs=-1, random_state=seed)
        case "boosting":
            return HistGradientBoostingClassifier(class_weight=class_weight, random_state=seed)
        case "dummy":
            return DummyClassifier(strategy="prior")
    return packaged_classifier(name, balanced, seed)


def _neighbor_counts(n_rows: int) -> list[int]:
    """Return how many neighbours to try: folds inside folds of a small table have half its rows."""
    return [k for k in (1, 5, 15) if k <= n_rows // 3] or [1]


def make_model(
    name: str,
    data: LabelledTable,
    *,
    balanced: bool = False,
    random_state: int = 0,
    max_rows: int | None = None,
    exact_rows: int = _EXACT_ROWS,
    costs: Any = None,
    recall: Mapping[str, float] | None = None,
) -> Pipeline:
    """Return a pipeline for a table: its preprocessing, then a classifier.

    =============  ==============================================  ===========================
    name           classifier                                      where ``balanced``
    =============  ==============================================  ===========================
    fisher         KernelFisherDiscriminant up to 10 000 rows,     classes of equal weight
                   else SparseKernelFisherDiscriminant
    laplacian      LaplacianClassifier                             width by balanced accuracy
    parzen         ParzenClassifier                                equal priors
    ise            ISEClassifier                                   width by balanced accuracy
    laplacian-svc  LaplacianSVC of squared errors, 6 cells of C    tuned by balanced accuracy
                   and weight tuned by 3 folds; 500 landmarks
                   above 1 500 rows
    roweis-saul    roweis_saul_classifier, 9 cells of directions   tuned by balanced accuracy
                   and neighbours tuned by 3 folds
    logistic       LogisticRegression                              classes of equal weight
    svc            SVC, 9 cells of C and gamma tuned by 3 folds    classes of equal weight
    knn            1, 5 or 15 nearest neighbours, tuned by 3       tuned by balanced accuracy
                   folds
    forest         RandomForestClassifier                          classes of equal weight
    boosting       HistGradientBoostingClassifier                  classes of equal weight
    dummy          the largest class, always                       –
    lightgbm       LGBMClassifier                                  rows with weights
    xgboost        XGBClassifier                                   rows with weights
    catboost       CatBoostClassifier                              rows with weights
    tabpfn         TabPFNClassifier                                balanced probabilities
    my.py:model    what the Python file my.py calls model          as the file has it
    =============  ==============================================  ===========================

    ``mercer compare`` runs laplacian-svc, roweis-saul and those below dummy only by name.  What is
    called lightgbm to tabpfn needs the package of this name.

    The first four choose their widths by leave-one-out.  Trees and TabPFN get numbers as they are,
    the kernel Fisher discriminant soft ranks, all others standardised ones; see
    :func:`mercer.tables.make_preprocessor`.  A pipeline of a Python file, or a search over one,
    gets the columns themselves: the typed frame ``data.X``.

    Parameters
    ----------
    name : str
        One of :func:`list_models`, or another that it tells of.  A Python file is run.
    data : LabelledTable
        The rows that the pipeline is for; only their number, columns and classes are looked at.
    balanced : bool, default=False
        Whether rare classes count as much as frequent ones.
    random_state : int, default=0
        Seed.
    max_rows : int, optional
        The most rows that methods of quadratic cost (laplacian, parzen, ise, laplacian-svc, svc)
        are fitted on; 10 000 by default.  Where there are more, a :class:`CappedClassifier` draws a
        sample.
    exact_rows : int, default=10_000
        Up to this many rows fisher is the KernelFisherDiscriminant; its cost is cubic.
    costs : array-like of shape (n_classes, n_classes), optional
        What mistakes cost, as a :class:`DecidingClassifier` takes it; one is put around the
        classifier then.
    recall : dict of one class to a number, optional
        The share of its rows that are to be found, as a :class:`DecidingClassifier` takes it.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Not fitted; steps "table" and "model".

    Raises
    ------
    ValueError
        Where there is no such model, its package is not installed, or costs are given and classes
        are balanced.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.models import make_model
    >>> from mercer.tables import split_target
    >>> fruit = ["fig", "fig", "kiwi", "kiwi"]
    >>> frame = pd.DataFrame({"size": [1.5, 1.7, 4.2, 4.4], "fruit": fruit})
    >>> data = split_target(frame, "fruit")
    >>> make_model("parzen", data).fit(data.X, data.y).predict(data.X).tolist()
    ['fig', 'fig', 'kiwi', 'kiwi']
    """
    info, n_rows = describe_model(name), len(data.y)
    model = inner = _make_classifier(name, n_rows, balanced, random_state, exact_rows)
    if balanced and costs is not None:
        raise ValueError(
            "Balanced classes and costs do not go together: costs need the classes as frequent as "
            "they are, and say themselves which of them count more."
        )
    if costs is not None or recall is not None:
        # A model file holds arrays, not the frame in which costs may come.
        costs = None if costs is None else check_costs(costs, np.unique(data.y))
        model = DecidingClassifier(model, costs=costs, recall=recall, random_state=random_state)
    most = MOST_ROWS if max_rows is None else max_rows
    if info.max_rows is not None and n_rows > most:
        model = CappedClassifier(model, max_rows=most, random_state=random_state)
    prepares = isinstance(inner, ModelFromFile) and inner.takes_table
    scale = _SCALES.get(name, info.package is None)
    table = "passthrough" if prepares else make_preprocessor(data.columns, scale=scale)
    return Pipeline([("table", table), ("model", model)])


def max_rows_within(seconds: float) -> int:
    """Return the most rows that methods of quadratic cost see in a comparison of these seconds."""
    return max(_LEAST_ROWS, round(_ROWS_IN_TWO_MINUTES * math.sqrt(seconds / 120)))


def exact_rows_within(seconds: float) -> int:
    """Return up to how many rows fisher is expanded on all of them in a comparison."""
    return min(_EXACT_ROWS, round(_EXACT_ROWS_IN_TWO_MINUTES * math.cbrt(seconds / 120)))


def make_models(
    names: Iterable[str],
    data: LabelledTable,
    *,
    device: str | None = None,
    **options: Any,
) -> dict[str, Pipeline]:
    """Return models by name, those that are quick to fit first; options as in `make_model`."""
    known = [describe_model(name).name for name in names]  # an error for a name that is not
    models = {}
    order = {name: place for place, name in enumerate(MODELS_QUICK_FIRST)}
    for name in sorted(known, key=lambda name: order.get(name, len(order))):
        model = make_model(name, data, **options)
        models[name] = model if device is None else on_device(model, device)
    return models


def check_model(name: str) -> None:
    """Raise for a model that cannot be had: an unknown name, a missing package, a broken file."""
    describe_model(name)
    check_package(name)
    if is_from_file(name):
        _ = ModelFromFile.of(name, 0).estimator


def compile_models(models: Mapping[str, Pipeline], data: LabelledTable) -> None:
    """Fit Mercer's models on a few rows, so that no process has to compile them for itself."""
    rows = np.concatenate([np.flatnonzero(data.y == name)[:20] for name in np.unique(data.y)[:5]])
    X, y = data.X.iloc[rows], data.y[rows]
    for name, model in models.items():
        if describe_model(name).kind == "mercer":
            with warnings.catch_warnings(), suppress(ValueError, np.linalg.LinAlgError):
                warnings.simplefilter("ignore")
                clone(model).fit(X, y).predict(X)


class NamedForest(RandomForestClassifier):
    """A random forest that is fitted on the numbers of the classes and answers by their names.

    With ``class_weight="balanced"`` scikit-learn's forest looks the text "1" up as the number 1
    and fails where classes are whole numbers as text, as the classes of a table are.
    ``"balanced_subsample"`` does not fail, but finds rare classes less often.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NamedForest":
        """Fit the trees, as scikit-learn's forest does."""
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        super().fit(X, codes, sample_weight)
        self.classes_ = classes
        return self
