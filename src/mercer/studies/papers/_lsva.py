"""Laplacian support vector analysis: Tables I–IV, Figs 1–2, and a table of few labels of our own.

[1] Arvanitopoulos, Bouzas and Tefas, ICPR 2014.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mercer.studies import _verdicts
from mercer.studies._model import Claim, Figure, Method, Outcome, Row, Study, Table, read_published
from mercer.studies._task import Task
from mercer.studies.experiments._subspaces import (
    ALL_FOLDS,
    ALL_FOLDS_PRINTED,
    EACH_FOLD,
    EACH_FOLD_PRINTED,
    FOLDS,
    run_few_labels,
    run_few_labels_nearest,
    run_maps,
    run_nearest,
    run_projection,
)

_BINARY = {
    "Australian": "australian",
    "Breast": "breast",
    "Diabetes": "pima",
    "German": "german_numeric",
    "Heart": "heart_statlog",
    "Ionosphere": "ionosphere",
    "Liver": "liver",
    "Sonar": "sonar",
    "Transfusion": "transfusion",
}
_SEVERAL = {
    "Balance": "balance",
    "Ecoli": "ecoli",
    "Glass": "glass",
    "Iris": "iris",
    "Soy (683 rows)": "soybean_large",
    "Soy (307 rows)": "soybean307",
    "Tae": "tae",
    "Thyroid": "newthyroid",
    "Vehicle": "vehicle",
    "Vowel": "vowel",
    "Wine": "wine",
}
# Where the best hinge machine soon is w = 0, and where one neighbour is not enough.
_FLAT = ("Diabetes", "German", "Liver", "Transfusion", "Balance", "Vehicle", "Vowel")
_NOISY = ("Australian", "Diabetes", "Liver", "Transfusion")

_BY_KERNEL, _AS_PRINTED = (EACH_FOLD, ALL_FOLDS), (EACH_FOLD_PRINTED, ALL_FOLDS_PRINTED)
_GRID, _SHORT_GRID = {"weights": 30}, {"weights": 4}
_WIDTHS = (0.1, 0.5)  # of the kernel: the first fits KLSVA best, the second KPCA
# With a kernel, more directions take long; the paper prints 17 at most.
_MOST = {"dimensions": 20}
# The narrower kernel is slow: on Soy one weight takes half a minute, for errors of 20 %.  It is a
# reading of the paper alone; what is honest has one width.
_NOT_SOY = tuple(label for label in (*_BINARY, *_SEVERAL) if not label.startswith("Soy"))
_SLOW: dict[str, Any] = {"rows": _NOT_SOY, "quick_replications": 0, "protocols": ("paper",)}


def _projection(
    column: str, method: str, reading: str = "", options: Any = None, **rest: Any
) -> Method:
    options = {"method": method, **(options or {})}
    return _by_fold(column, run_projection, reading=reading, options=options, **rest)


def _by_fold(column: str, run: Callable[[Task], Outcome], **rest: Any) -> Method:
    """Return a method whose replicates are folds, which share most of their training rows."""
    return _both_protocols(column, run, independent=False, **rest)


def _both_protocols(column: str, run: Callable[[Task], Outcome], **rest: Any) -> Method:
    return Method(columns=(column,), run=run, **{"protocols": ("paper", "honest"), **rest})


def _lsva(column: str, reading: str = "", options: Any = None, **rest: Any) -> Method:
    """Return LSVA with its grid of weights."""
    grid = {**_GRID, **(options or {})}
    variants = _BY_KERNEL if "gamma" in grid else (*_BY_KERNEL, *_AS_PRINTED)
    rest = {"quick": _SHORT_GRID, "variants": variants, **rest}
    return _projection(column, "LSVA", reading, grid, **rest)


def _by_width(column: str, method: str) -> tuple[Method, ...]:
    """Return a method for both widths of the kernel."""
    return tuple(_projection(column, method, f"γ = {gamma}", {"gamma": gamma}) for gamma in _WIDTHS)


_LINEAR = (
    _by_fold("1-NN", run_nearest),
    _lsva("LLSVA"),
    _lsva("LLSVA", "squared hinge", {"loss": "squared_hinge"}, rows=_FLAT),
    _projection("PCA", "PCA"),
    _projection("LDA", "LDA"),
    _projection("LPP", "LPP"),
    _projection("MMDA", "LSVA"),
)

_WIDE, _NARROW = ({"gamma": gamma, **_MOST} for gamma in _WIDTHS)
_VOTE = {"gamma": 0.1, "neighbors": 15}
_KERNEL = (
    _by_fold("1-NN", run_nearest),
    _lsva("KLSVA", "γ = 0.1", _WIDE),
    _lsva("KLSVA", "γ = 0.5", _NARROW, **_SLOW),
    _lsva("KLSVA", "γ = 0.1, 15-NN", _VOTE, rows=_NOISY),
    *_by_width("KPCA", "kernel PCA"),
    *_by_width("KDA", "KDA"),
    _projection("LE", "eigenmaps", "eigenmaps"),
    _projection("LE", "kernel LPP", "kernel LPP, same class, γ = 0.5", {"gamma": 0.5}),
    _projection("KMMDA", "LSVA", "γ = 0.1", _WIDE),
    _projection("KMMDA", "LSVA", "γ = 0.5", _NARROW, **_SLOW),
    _projection("KMMDA", "LSVA", "γ = 0.1, 15-NN", _VOTE, rows=_NOISY),
)


def _rows(names: Mapping[str, str]) -> tuple[Row, ...]:
    return tuple(
        Row(label=label, dataset=dataset, replications=FOLDS, quick=2)
        for label, dataset in names.items()
    )


_FOLDS_OPEN = "The paper's folds are not known."
_ZERO = "The best linear hinge machine soon is w = 0: directions after that would be noise."
_WIDTH = "The paper states no kernel; here it is Gaussian, with γ = 0.1 and with γ = 0.5."
_SOY = "The paper does not say which Soy it is: its 1-NN error fits 683 rows, its counts 307."
_MAPS = "The paper does not say how LE maps new rows; two readings are tried here."

_NOTE = (
    "Five folds; features scaled to [−1, 1]; nearest neighbour in the projection. The paper takes "
    "the dimension, and for LSVA the weight λ, that have the least test error, and does not say "
    "whether λ is one for all folds: both are measured. MMDA is LSVA with λ = 0. "
)
_LINEAR_NOTE = (
    "The squared hinge is a reading of ours, for rows where the hinge soon finds no direction; "
    "it was tried on ten rows, and kept where it helped. "
    "An orthonormal projection on all dimensions is a rotation: the published LLSVA of {} cannot "
    "differ from 1-NN, unless line 11 of Algorithm 1 is taken as printed, X·W, with normal vectors "
    "of their own lengths. "
)
_KERNEL_NOTE = (
    "KLSVA and KMMDA have at most 20 dimensions here. KDA is kernel PCA, then LDA with a "
    "shrinkage of 0.001. The paper calls LE the kernel form of LPP: the second reading is that, "
    "on neighbours of the same class and 99.99 % of the variance. Graph, γ and share of variance "
    "of it were chosen by their errors on these very folds: near the paper, and no evidence. "
)
_ZERO_NOTE = (
    "Where w = 0 is the best machine it names the larger class, as in folds of Transfusion."
)


def _flat_reasons(names: Mapping[str, str]) -> dict[tuple[str, str], str]:
    return {(label, c): _ZERO for label in names if label in _FLAT for c in ("LLSVA", "MMDA")}


_LINEAR_REASONS = {("*", "*"): _FOLDS_OPEN}
_KERNEL_REASONS = {("*", "*"): _WIDTH, ("*", "1-NN"): _FOLDS_OPEN, ("*", "LE"): _MAPS}
_SOY_REASONS = {(f"Soy ({count} rows)", "*"): _SOY for count in (683, 307)}

_TABLE_I = Table(
    key="I",
    title="Linear projections, two classes",
    unit="% error",
    better="lower",
    rows=_rows(_BINARY),
    methods=_LINEAR,
    published=read_published("""
                    | 1-NN  | LLSVA      | PCA        | LDA       | LPP        | MMDA
        Australian  | 20.15 | 16.82 (3)  | 18.10 (5)  | 19.43 (1) | 17.68 (5)  | 17.69 (12)
        Breast      | 4.68  | 2.49 (5)   | 3.22 (6)   | 4.40 (1)  | 3.95 (3)   | 3.66 (8)
        Diabetes    | 29.17 | 26.96 (8)  | 28.78 (6)  | 31.12 (1) | 29.17 (8)  | 29.69 (4)
        German      | 32.8  | 27.20 (2)  | 30.90 (4)  | 29.70 (1) | 31.70 (8)  | 29.80 (6)
        Heart       | 24.44 | 18.89 (2)  | 23.70 (9)  | 25.19 (1) | 21.85 (8)  | 20.74 (10)
        Ionosphere  | 13.69 | 6.83 (7)   | 10.26 (18) | 21.64 (1) | 8.83 (11)  | 8.83 (22)
        Liver       | 38.26 | 32.75 (4)  | 38.26 (6)  | 40.58 (1) | 37.97 (6)  | 36.52 (1)
        Sonar       | 12.49 | 16.97 (45) | 10.60 (18) | 31.76 (1) | 13.85 (14) | 20.71 (22)
        Transfusion | 32.09 | 25.54 (3)  | 27.68 (2)  | 26.74 (1) | 26.60 (1)  | 27.81 (3)
    """),
    reasons={**_LINEAR_REASONS, **_flat_reasons(_BINARY)},
    note=_NOTE + _LINEAR_NOTE.format("Diabetes (8 of 8)") + _ZERO_NOTE,
)

_TABLE_II = Table(
    key="II",
    title="Kernel projections, two classes",
    unit="% error",
    better="lower",
    rows=_rows(_BINARY),
    methods=_KERNEL,
    published=read_published("""
                    | 1-NN  | KLSVA     | KPCA       | KDA       | LE         | KMMDA
        Australian  | 20.15 | 14.93 (1) | 19.86 (11) | 17.25 (1) | 25.36 (14) | 16.24 (7)
        Breast      | 4.68  | 2.78 (3)  | 3.22 (10)  | 3.66 (1)  | 4.24 (1)   | 3.80 (7)
        Diabetes    | 29.17 | 23.43 (1) | 30.74 (7)  | 27.87 (1) | 36.47 (7)  | 23.83 (4)
        German      | 32.8  | 28.60     | 31.50 (21) | 29.10 (1) | 28.40 (15) | 28.30 (4)
        Heart       | 24.44 | 18.89 (4) | 29.63 (11) | 22.22 (1) | 20.74 (11) | 19.26 (2)
        Ionosphere  | 13.69 | 5.13 (3)  | 6.27 (8)   | 5.71 (1)  | 6.27 (1)   | 5.99 (11)
        Liver       | 38.26 | 26.96 (1) | 42.03 (4)  | 36.81 (1) | 40.00 (3)  | 26.67 (4)
        Sonar       | 12.49 | 10.58 (4) | 25.89 (30) | 13.01 (1) | 12.03 (5)  | 12.99 (1)
        Transfusion | 32.09 | 16.66 (2) | 28.88 (3)  | 27.41 (1) | 29.95 (4)  | 20.72 (1)
    """),
    reasons=_KERNEL_REASONS,
    note=_NOTE + _KERNEL_NOTE,
)

_TABLE_III = Table(
    key="III",
    title="Linear projections, several classes",
    unit="% error",
    better="lower",
    rows=_rows(_SEVERAL),
    methods=_LINEAR,
    published=read_published("""
                       | 1-NN  | LLSVA      | PCA        | LDA       | LPP
        Balance        | 20.00 | 8.81 (2)   | 23.84 (4)  | 10.40 (2) | 23.52 (4)
        Ecoli          | 17.07 | 12.67 (6)  | 17.07 (7)  | 14.62 (7) | 16.22 (6)
        Glass          | 30.30 | 24.79 (7)  | 30.31 (8)  | 42.52 (3) | 29.87 (7)
        Iris           | 4.00  | 2.67 (1)   | 4.00 (4)   | 3.33 (1)  | 4.00 (2)
        Soy (683 rows) | 8.46  | 4.56 (25)  | 7.17 (30)  | 8.81 (2)  | 7.50 (6)
        Soy (307 rows) | 8.46  | 4.56 (25)  | 7.17 (30)  | 8.81 (2)  | 7.50 (6)
        Tae            | 35.10 | 29.79 (1)  | 31.10 (1)  | 33.16 (2) | 34.47 (3)
        Thyroid        | 4.65  | 2.79 (3)   | 2.32 (3)   | 5.12 (1)  | 3.72 (3)
        Vehicle        | 29.32 | 20.10 (18) | 29.32 (16) | 25.42 (3) | 21.75 (14)
        Vowel          | 1.61  | 1.52 (9)   | 1.61 (10)  | 1.31 (10) | 1.92 (10)
        Wine           | 4.56  | 0 (8)      | 3.88 (3)   | 1.72 (2)  | 1.16 (3)
    """),
    reasons={**_LINEAR_REASONS, **_flat_reasons(_SEVERAL), **_SOY_REASONS},
    note=_NOTE + _LINEAR_NOTE.format("Vehicle (18 of 18)"),
)

_TABLE_IV = Table(
    key="IV",
    title="Kernel projections, several classes",
    unit="% error",
    better="lower",
    rows=_rows(_SEVERAL),
    methods=_KERNEL,
    published=read_published("""
                       | 1-NN  | KLSVA      | KPCA       | KDA       | LE
        Balance        | 20.00 | 2.24 (3)   | 19.51 (4)  | 4.48 (2)  | 15.19 (1)
        Ecoli          | 17.07 | 15.69 (7)  | 15.73 (6)  | 14.34 (7) | 22.39 (7)
        Glass          | 30.30 | 25.62 (6)  | 33.16 (7)  | 27.97 (5) | 35.06 (9)
        Iris           | 4.00  | 2.67 (3)   | 4.00 (3)   | 4.00 (2)  | 4.00 (2)
        Soy (683 rows) | 8.46  | 5.55 (11)  | 11.08 (26) | 13.37 (2) | 8.48 (12)
        Soy (307 rows) | 8.46  | 5.55 (11)  | 11.08 (26) | 13.37 (2) | 8.48 (12)
        Tae            | 35.10 | 31.81 (5)  | 46.99 (5)  | 52.22 (2) | 43.70 (4)
        Thyroid        | 4.65  | 1.40 (3)   | 2.79 (2)   | 4.18 (2)  | 12.09 (5)
        Vehicle        | 29.32 | 15.83 (17) | 36.40 (18) | 15.83 (3) | 19.27 (10)
        Vowel          | 1.61  | 0.81 (10)  | 2.12 (10)  | 1.41 (10) | 1.01 (10)
        Wine           | 4.56  | 2.22 (5)   | 2.30 (13)  | 1.70 (2)  | 2.81 (2)
    """),
    reasons={**_KERNEL_REASONS, **_SOY_REASONS},
    note=_NOTE + _KERNEL_NOTE,
)

_FEW = {"gamma": 0.1, "dimensions": 10}
_FEW_LABELS = Table(
    key="few labels",
    title="A tenth of the training rows have labels",
    unit="% error",
    better="lower",
    rows=(
        Row(label="Digits", dataset="digits8x8", replications=10, quick=2),
        Row(label="Ionosphere", dataset="ionosphere", replications=10, quick=2),
    ),
    methods=(
        Method(columns=("1-NN",), run=run_few_labels_nearest),
        _both_protocols(
            "KMMDA, labelled rows", run_few_labels, options={**_FEW, "graph": "labelled rows"}
        ),
        _both_protocols(
            "KLSVA, labelled rows",
            run_few_labels,
            options={**_FEW, "graph": "labelled rows", "weights": 4},
            variants=_BY_KERNEL,
        ),
        _both_protocols(
            "KLSVA, all rows",
            run_few_labels,
            options={**_FEW, "graph": "all rows", "weights": 4},
            variants=_BY_KERNEL,
        ),
    ),
    note=(
        "Not in the paper. Each replication keeps 30 % of the rows for testing, and nothing is "
        "fitted to them. Of the others a tenth have labels; the rest are left out, or join the "
        "graph. λ is 0.1, 1, 10 or 100, and there are at most 10 dimensions; both are chosen as "
        "in the tables above."
    ),
)

STUDY = Study(
    name="lsva",
    title="Laplacian support vector analysis for subspace discriminative learning",
    reference="N. Arvanitopoulos, D. Bouzas and A. Tefas, ICPR 2014.",
    protocol={
        "paper": (
            "Five folds of one partition. The weight λ is the one of 30 with the least test error, "
            "in each fold or in all of them, and the dimension is the one with the least mean test "
            "error. Features are scaled by all rows. The paper prints 208 rates; ten are of a "
            "table called Soy, which may be either of two, so that 218 are compared."
        ),
        "honest": (
            "The same folds. Weight and dimension are chosen by three folds inside the training "
            "part, which also gives the scale of the features."
        ),
    },
    tables=(_TABLE_I, _TABLE_II, _TABLE_III, _TABLE_IV, _FEW_LABELS),
    figures=(
        Figure(
            key="1",
            title="Thyroid in two dimensions, linear methods",
            caption="All 215 patients. The paper does not state λ here: it is 1.",
            run=run_maps,
            dataset="newthyroid",
            options={
                "maps": {"LLSVA": "LSVA", "LDA": "LDA", "PCA": "PCA", "LPP": "LPP"},
                "weight": 1.0,
            },
        ),
        Figure(
            key="2",
            title="Thyroid in two dimensions, other methods",
            caption="All 215 patients. The paper states neither λ nor the kernel: λ = 1, γ = 0.1.",
            run=run_maps,
            dataset="newthyroid",
            options={
                "maps": {"KLSVA": "LSVA", "KDA": "KDA", "KPCA": "kernel PCA", "LE": "eigenmaps"},
                "weight": 1.0,
                "gamma": 0.1,
            },
        ),
    ),
    claims=(
        Claim(
            said="LLSVA has higher accuracy than the other linear methods on almost all data sets.",
            where="section IV, Tables I and III",
            judge=_verdicts.linear_is_best,
        ),
        Claim(
            said="KLSVA is better than the other kernel methods on all data sets but German, "
            "Liver, Ecoli and Wine.",
            where="section IV, Tables II and IV",
            judge=_verdicts.kernel_is_best,
        ),
        Claim(
            said="In most cases KLSVA is ahead by more than two points, and where it loses, by "
            "less than one.",
            where="section IV, Tables II and IV",
            judge=_verdicts.kernel_wins_by_two_points,
        ),
    ),
)
