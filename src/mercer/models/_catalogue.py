"""The models by name: what each is called by people, whose it is, and how many rows it takes."""

from dataclasses import dataclass

MOST_ROWS = 10_000  # Methods of quadratic cost are fitted on these in one to four seconds.


@dataclass(frozen=True)
class ModelInfo:
    """What a model of the catalogue is.

    Parameters
    ----------
    name : str
        By which it is asked for.
    label : str
        For people.
    kind : {"mercer", "peer", "floor"}
        Ours, what people would otherwise pick, or what any model must beat.  That of a file of the
        user's is a peer.
    max_rows : int or None
        The most rows that it is fitted on unless :func:`make_model` is told otherwise; None is all.
    by_default : bool
        Whether ``mercer compare`` runs it without being asked to.
    uses_device : bool
        Whether it computes on a GPU where it is told to.
    package : str or None
        What must be installed for it beside Mercer.
    is_saved : bool
        Whether a model file can hold it.
    """

    name: str
    label: str
    kind: str
    max_rows: int | None = None
    by_default: bool = True
    uses_device: bool = False
    package: str | None = None
    is_saved: bool = True


MODELS = {
    info.name: info
    for info in (
        ModelInfo("fisher", "kernel Fisher discriminant", "mercer", uses_device=True),
        ModelInfo("laplacian", "Laplacian classifier", "mercer", MOST_ROWS, uses_device=True),
        ModelInfo("parzen", "Parzen windows", "mercer", MOST_ROWS, uses_device=True),
        ModelInfo("ise", "ISE classifier", "mercer", MOST_ROWS, uses_device=True),
        ModelInfo(
            "laplacian-svc",
            "Laplacian regularised least squares",
            "mercer",
            MOST_ROWS,
            by_default=False,
        ),
        ModelInfo("roweis-saul", "Roweis–Saul classifier", "mercer", by_default=False),
        ModelInfo("logistic", "logistic regression", "peer"),
        ModelInfo("svc", "support vector machine", "peer", MOST_ROWS),
        ModelInfo("knn", "nearest neighbours", "peer"),
        ModelInfo("forest", "random forest", "peer"),
        ModelInfo("boosting", "gradient boosting", "peer"),
        ModelInfo("dummy", "always the largest class", "floor"),
    )
}


def _packaged(package: str, label: str, max_rows: int | None = None) -> ModelInfo:
    return ModelInfo(
        package, label, "peer", max_rows, by_default=False, package=package, is_saved=False
    )


# They are run by name only, so that what a comparison runs does not depend on what is installed.
_PACKAGED = {
    info.name: info
    for info in (
        _packaged("lightgbm", "gradient boosting by LightGBM"),
        _packaged("xgboost", "gradient boosting by XGBoost"),
        _packaged("catboost", "gradient boosting by CatBoost"),
        _packaged("tabpfn", "pre-trained network by TabPFN", MOST_ROWS),
    )
}


def list_models() -> list[str]:
    """Return the names of the models: Mercer's first, then the peers, then the floor.

    ``mercer compare`` runs those whose :class:`ModelInfo` says ``by_default``, and others by name.
    Wherever a name is asked for, ``lightgbm``, ``xgboost``, ``catboost`` and ``tabpfn`` are models
    too, if their package is installed, and so is ``my.py:model``: a classifier, a pipeline or a
    function that returns one, in a Python file, which is run.

    Returns
    -------
    list of str
        The names, in this order.

    Examples
    --------
    >>> from mercer.models import list_models
    >>> list_models()[:4]
    ['fisher', 'laplacian', 'parzen', 'ise']
    """
    return list(MODELS)


def describe_model(name: str) -> ModelInfo:
    """Return what a model is called by people, and whose it is.

    Parameters
    ----------
    name : str
        One of :func:`list_models`, or another that it tells of; no file is opened.

    Returns
    -------
    ModelInfo
        Its label and whose it is.

    Raises
    ------
    ValueError
        Where there is no such model.

    Examples
    --------
    >>> from mercer.models import describe_model
    >>> describe_model("knn").label
    'nearest neighbours'
    """
    if is_from_file(name):
        return ModelInfo(name, "a model of yours", "peer", by_default=False, is_saved=False)
    known = MODELS | _PACKAGED
    if name not in known:
        raise ValueError(
            f"There is no model {name!r}: choose {', '.join(known)}, or FILE.py:NAME for one of "
            "yours."
        )
    return known[name]


def is_from_file(name: str) -> bool:
    """Tell whether a name is that of a model in a Python file."""
    path, colon, model = name.rpartition(":")
    return bool(colon) and path.endswith(".py") and model.isidentifier()
