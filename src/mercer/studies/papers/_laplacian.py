"""The Laplacian classifier, R. Jenssen et al. (2007): Tables I–VII, kernel sizes, USPS, Figs 1–5.

Numbers of equations are those of the paper.  Its σ is our bandwidth h, its σ̃ = √2·h the width of
the kernel of two windows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer._arrays import Array
from mercer.bandwidth import bandwidth_ladder, silverman_bandwidth
from mercer.classifiers import LaplacianClassifier, ParzenClassifier
from mercer.discriminants import KernelFisherDiscriminant
from mercer.kernels import gamma_from_width, mercer_width, parzen_bandwidth
from mercer.studies import _verdicts
from mercer.studies._model import (
    Claim,
    Figure,
    Method,
    Outcome,
    Protocol,
    Row,
    Study,
    Table,
    read_published,
)
from mercer.studies._task import Task
from mercer.studies.experiments._holdout import Holdout, compact, holdout, judge
from mercer.studies.experiments._kernel_sizes import (
    BY_FOLDS,
    BY_RULE,
    size_by_folds,
    size_by_rule,
)
from mercer.studies.experiments._laplacian_figures import (
    BESIDE,
    CLASSIFIERS,
    classifier_by_rule,
    classify_beside_outlier,
    draw_feature_maps,
    draw_gaussians,
    draw_outlier,
    draw_weights,
    imbalanced_draw,
)

_Draw = tuple[Array, Array, Array, Array]  # X and y to learn from, X and y to classify

# Tables I–V: counts of confusion ------------------------------------------------------------------

# The tables call the rare class ω₁, the text calls it class two; here it is 0.
_COUNTS = ("ω₁ω̂₁", "ω₁ω̂₂", "ω₂ω̂₁", "ω₂ω̂₂")


def count_gaussians(task: Task) -> Outcome:
    """Tables I–III: 5 and 100 points to learn from, 10 and 200 to classify."""
    return _count(task, imbalanced_draw)


def count_echocardiogram(task: Task) -> Outcome:
    """Tables IV and V: 3 survivors and 7 others to learn from, 12 and 30 to classify."""
    data = task.load()
    X = data.X[:, 1:9]  # the paper's eight features: neither months of survival nor the group
    y = np.where(data.y == data.target_names.index("alive"), 0, 1)

    def draw(rng: np.random.Generator) -> _Draw:
        rare, common = (rng.permutation(np.flatnonzero(y == c)) for c in (0, 1))
        train, test = np.r_[rare[:3], common[:7]], np.r_[rare[3:15], common[7:37]]
        scaler = StandardScaler().fit(X if task.protocol == "paper" else X[train])
        return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]

    return _count(task, draw)


def _count(task: Task, draw: Callable[[np.random.Generator], _Draw]) -> Outcome:
    """Return the four counts of confusion of every draw."""
    counts, truths, guesses = [], [], []
    for number in range(task.options["draws"]):
        X, y, X_test, y_test = draw(np.random.default_rng([task.seed, number]))
        predicted = classifier_by_rule(task.options["classifier"], X).fit(X, y).predict(X_test)
        counts.append(np.bincount(2 * y_test + predicted, minlength=4))
        truths.append(y_test)
        guesses.append(predicted)
    return Outcome(
        values=dict(zip(_COUNTS, np.transpose(counts), strict=True)),
        predictions={"truth": compact(np.array(truths)), "predicted": compact(np.array(guesses))},
    )


# Tables VI and VII, and USPS: per cent correct ----------------------------------------------------


def run_laplacian(task: Task) -> Outcome:
    """Classify by the Laplacian classifier; the options say how its width is found."""
    part, options = _part(task), task.options
    if options["width"] != "cv":  # "silverman" or "loo"
        model = LaplacianClassifier(bandwidth=options["width"], rule=options.get("rule", "cosine"))
    elif "listed" in options and task.protocol == "paper":
        model = LaplacianClassifier(bandwidth=parzen_bandwidth(options["listed"]["laplacian"]))
    else:
        model = _width_by_folds(LaplacianClassifier(), task, part)
    return judge(model, part)


def run_parzen(task: Task) -> Outcome:
    """Classify by Parzen windows (20), of Silverman's width or the best one of three folds."""
    part = _part(task)
    model = ParzenClassifier(bandwidth="silverman")
    if task.options["width"] == "cv":
        model = _width_by_folds(model, task, part)
    return judge(model, part)


def run_svm(task: Task) -> Outcome:
    """Classify by a support vector machine; C, and the width where it is not given, by folds.

    The option "factor" is for toolboxes that leave out the 2 of exp(−d²/2σ̃²).
    """
    part, options = _part(task), task.options
    if options["width"] == "silverman":
        widths = [mercer_width(silverman_bandwidth(part.X_train)) * options.get("factor", 1.0)]
    elif "listed" in options and task.protocol == "paper":
        widths = [options["listed"]["svm"]]
    else:
        widths = options["widths"]
    grid = {"C": options["C"], "gamma": [gamma_from_width(width) for width in widths]}
    return judge(GridSearchCV(SVC(), grid, cv=_folds(task, options["folds"])), part)


def run_fisher(task: Task) -> Outcome:
    """Classify by the kernel Fisher discriminant, which chooses width and ridge itself."""
    return judge(KernelFisherDiscriminant(kernel="rbf"), _part(task))


def run_gaussian_process(task: Task) -> Outcome:
    """Classify by a Gaussian process, its height and width by marginal likelihood."""
    part = _part(task)
    start = ConstantKernel(1.0, (1e-3, 1e5)) * RBF(part.X_train.shape[1] ** 0.5, (1e-2, 1e4))
    return judge(GaussianProcessClassifier(start, random_state=task.seed), part)


def run_fixed_svm(task: Task) -> Outcome:
    """Classify by one support vector machine for each class, of given C and γ."""
    machine = SVC(C=task.options["C"], gamma=task.options["gamma"])
    return judge(OneVsRestClassifier(machine), _part(task))


def _part(task: Task) -> Holdout:
    return holdout(task, scale=task.options.get("scale", False))


def _folds(task: Task, number: int) -> StratifiedKFold:
    return StratifiedKFold(number, shuffle=True, random_state=task.seed)


def _width_by_folds(model: Any, task: Task, part: Holdout) -> GridSearchCV:
    """Return a search by three folds of the training rows; of equally good widths the widest."""
    ladder = bandwidth_ladder(silverman_bandwidth(part.X_train))[::-1]
    return GridSearchCV(model, {"bandwidth": ladder}, cv=_folds(task, 3))


# Tables -------------------------------------------------------------------------------------------

_BOTH: tuple[Protocol, ...] = ("paper", "honest")
_GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "widths": [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]}
_SHORT_GRID = {"C": [1.0, 10.0, 100.0], "widths": [1.0, 2.0, 4.0, 8.0]}
# The grids of the table of kernel sizes: steps of √2, and those about the listed 2.5, 3 and 10.
_SIZES_TRIED = [round(0.1 * 2 ** (k / 2), 3) for k in range(15)]
_WIDER_TRIED = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0]
_CV, _MISE, _LOO = {"width": "cv"}, {"width": "silverman"}, {"width": "loo"}
_OURS = (
    Method(columns=("Laplacian, leave-one-out",), run=run_laplacian, options=_LOO),
    Method(
        columns=("Laplacian, leave-one-out, either rule",),
        run=run_laplacian,
        options={**_LOO, "rule": "auto"},
    ),
)

_GAUSSIANS = Table(
    key="I–III",
    title="Confusion on two overlapping Gaussians, 100 rows against 5",
    unit="rows",
    better=None,
    rows=tuple(
        Row(label=label, options={"classifier": name}) for label, name in CLASSIFIERS.items()
    ),
    methods=(
        Method(columns=_COUNTS, run=count_gaussians, options={"draws": 300}, quick={"draws": 30}),
    ),
    published=read_published("""
                            | ω₁ω̂₁ | ω₁ω̂₂ | ω₂ω̂₁ | ω₂ω̂₂
        Parzen window Bayes | 1     | 9     | 0     | 200
        SVM                 | 3     | 7     | 9     | 191
        Laplacian           | 9     | 1     | 38    | 162
    """),
    one_draw=True,
    note="ω₁ω̂₂ counts rows of class ω₁ that were given to ω₂. The paper shows one draw; measured "
    "are mean and standard deviation over 300 (30 in a quick run). These tables call the rare "
    "class ω₁, the text calls it class two. Widths are Silverman's (21). C of the SVM is not "
    "printed: a hard margin is taken.",
)

_ECHOCARDIOGRAM = Table(
    key="IV–V",
    title="Confusion on the echocardiogram data",
    unit="rows",
    better=None,
    rows=tuple(
        Row(label=label, dataset="echocardiogram", options={"classifier": name})
        for label, name in CLASSIFIERS.items()
        if name != "svm"
    ),
    methods=(
        Method(
            columns=_COUNTS,
            run=count_echocardiogram,
            protocols=_BOTH,
            options={"draws": 300},
            quick={"draws": 30},
        ),
    ),
    published=read_published("""
                            | ω₁ω̂₁ | ω₁ω̂₂ | ω₂ω̂₁ | ω₂ω̂₂
        Parzen window Bayes | 2     | 10    | 2     | 28
        Laplacian           | 9     | 3     | 10    | 20
    """),
    one_draw=True,
    note="3 survivors and 7 others to learn from, 12 and 30 to classify: mean and standard "
    "deviation over 300 random draws of that shape (30 in a quick run). ω₁ is the class of those "
    "still alive, the label that the data come with. The eight features are age to mult. Gaps "
    "are filled by medians. Widths are Silverman's (21), columns scaled to unit variance.",
)

_RAETSCH = Table(
    key="VI",
    title="Four of Rätsch's data sets",
    unit="% correct",
    better="higher",
    rows=(
        Row(label="Banana", dataset="ida_banana", replications=100, quick=3),
        Row(label="Thyroid", dataset="ida_thyroid", replications=100, quick=3),
        Row(label="Image", dataset="ida_image", replications=20, quick=2),
        Row(label="Twonorm", dataset="ida_twonorm", replications=100, quick=3),
    ),
    methods=(
        Method(columns=("σ̃_cv Laplacian",), run=run_laplacian, options=_CV),
        Method(
            columns=("Rätsch SVM",),
            run=run_svm,
            options={**_CV, **_GRID, "folds": 5},
            quick=_SHORT_GRID,
        ),
        Method(columns=("σ̃_mise Laplacian",), run=run_laplacian, options=_MISE),
        Method(columns=("KFDA",), run=run_fisher),
        Method(columns=("Parzen",), run=run_parzen, options=_CV),
        *_OURS,
    ),
    published=read_published("""
                | σ̃_cv Laplacian | Rätsch SVM | σ̃_mise Laplacian | KFDA       | Parzen
        Banana  | 89.4 ± 0.5     | 89.2 ± 0.7 | 88.4 ± 0.6       | 89.2 ± 0.5 | 87.4 ± 0.6
        Thyroid | 95.7 ± 2.2     | 95.2 ± 2.2 | 94.4 ± 2.6       | 95.2 ± 0.6 | 93.4 ± 2.6
        Image   | 96.6 ± 0.6     | 97.0 ± 0.6 | 96.2 ± 0.7       | 95.8 ± 2.1 | –
        Twonorm | 97.4 ± 0.2     | 97.0 ± 0.2 | 97.3 ± 0.3       | 97.4 ± 0.2 | –
    """),
    reasons={
        ("Image", "σ̃_mise Laplacian"): "Not reached in any reading of (21) that was tried.",
        ("Twonorm", "σ̃_mise Laplacian"): "Not reached in any reading of (21) that was tried.",
        ("*", "*"): "Most of these partitions were drawn anew.",
    },
    note="Mean and standard deviation over 100 partitions (Image 20; a quick run takes 2 or 3). "
    "The first 10 of Banana and Image and the first of Twonorm are Rätsch's; the others were "
    "drawn anew with the same sizes. Banana tests on 4900 rows and Twonorm on 7000, where the "
    "paper prints 4800 and 4600. Columns are as the data come. Widths of the Laplacian classifier "
    "and of Parzen windows by three folds of the training rows, C and width of the SVM by five; "
    "the kernel Fisher discriminant takes width and ridge by leave-one-out. KFDA and Parzen are "
    "from the text, where KFDA's Thyroid and Image seem to be exchanged: ± 0.6 is too small for "
    "75 test rows.",
)

# The kernel sizes that the text lists.
_LISTED = read_published("""
          | σ̃_mise | σ̃_cv Laplacian | σ̃_cv SVM
    Wine  | 1.0    | 2.3            | 3.0
    Iris  | 0.7    | 0.4            | 3.0
    Ionos | 1.1    | 1.4            | 2.5
    WBC   | 0.7    | 1.1            | 10
    Pima  | 0.7    | 1.1            | 10
    Pen   | 0.8    | 0.3            | 3.0
""")
_HALVES = {
    "Wine": "wine",
    "Iris": "iris",
    "Ionos": "ionosphere",
    "WBC": "wbc",
    "Pima": "pima",
    "Pen": "pendigits012",
}


def _listed(label: str) -> dict[str, float]:
    """Return the σ̃_cv of the text for a data set."""
    columns = {"laplacian": "σ̃_cv Laplacian", "svm": "σ̃_cv SVM"}
    return {model: _LISTED[label, column].value for model, column in columns.items()}


_UCI = Table(
    key="VII",
    title="Six data sets of the UCI repository, random halves",
    unit="% correct",
    better="higher",
    rows=tuple(
        Row(
            label=label,
            dataset=name,
            replications=100,
            quick=3,
            options={"scale": True, "listed": _listed(label)},
        )
        for label, name in _HALVES.items()
    ),
    methods=(
        Method(columns=("σ̃_cv Laplacian",), run=run_laplacian, protocols=_BOTH, options=_CV),
        Method(
            columns=("σ̃_cv SVM",),
            run=run_svm,
            protocols=_BOTH,
            options={**_CV, **_GRID, "folds": 3},
            quick=_SHORT_GRID,
        ),
        Method(columns=("σ̃_mise Laplacian",), run=run_laplacian, protocols=_BOTH, options=_MISE),
        Method(
            columns=("σ̃_mise SVM",),
            run=run_svm,
            protocols=_BOTH,
            options={**_MISE, "C": _GRID["C"], "folds": 3},
        ),
        Method(
            columns=("σ̃_mise SVM",),
            run=run_svm,
            reading="exp(−d²/σ̃²)",
            protocols=("paper",),
            options={**_MISE, "C": _GRID["C"], "folds": 3, "factor": 0.5**0.5},
        ),
        Method(
            columns=("Parzen",),
            run=run_parzen,
            reading="σ_mise",
            protocols=("paper",),
            options=_MISE,
            rows=("Wine", "Ionos"),
        ),
        Method(columns=("Parzen",), run=run_parzen, reading="σ_cv", protocols=_BOTH, options=_CV),
        Method(
            columns=("Gaussian process",),
            run=run_gaussian_process,
            protocols=_BOTH,
            rows=("Ionos", "WBC", "Pima"),
        ),
        *_OURS,
    ),
    published={
        **read_published("""
              | σ̃_cv Laplacian | σ̃_cv SVM  | σ̃_mise Laplacian | σ̃_mise SVM
        Wine  | 97.3 ± 1.4     | 97.5 ± 1.6 | 96.0 ± 1.7       | 58.5 ± 11.4
        Iris  | 94.5 ± 2.1     | 95.7 ± 2.0 | 92.6 ± 3.6       | 92.4 ± 2.7
        Ionos | 92.5 ± 1.7     | 94.1 ± 1.2 | 91.9 ± 1.7       | 72.1 ± 10.6
        WBC   | 97.1 ± 0.7     | 96.9 ± 0.7 | 96.9 ± 0.7       | 94.6 ± 1.1
        Pima  | 73.9 ± 1.7     | 76.8 ± 1.5 | 73.3 ± 1.7       | 64.6 ± 1.7
        Pen   | 98.9 ± 0.4     | 99.6 ± 0.2 | 96.6 ± 0.8       | 98.3 ± 0.5
    """),
        **read_published("""
              | Parzen     | Gaussian process
        Wine  | 95.8 ± 2.4 | –
        Ionos | 83.4 ± 3.7 | 92.0
        WBC   | –          | 96.8
        Pima  | –          | 77.4
    """),
    },
    reasons={
        ("Ionos", "σ̃_cv Laplacian"): "The printed rule stays near 88 in every reading tried. The "
        "rule that the text describes gets there: last column.",
        ("Ionos", "σ̃_mise Laplacian"): "The printed rule stays near 88 in every reading tried.",
        ("*", "Parzen"): "The text does not say which width was taken.",
        ("*", "Gaussian process"): "A number from another paper: other inference, other splits.",
        ("*", "*"): "The paper's halves are not known.",
    },
    note="Mean and standard deviation over 100 random halves (3 in a quick run), columns scaled "
    "to unit variance. Paper: scaled over all rows, one listed width σ̃_cv for each data set, "
    "which has seen the test rows of other halves. Honest: scaled by the training rows, σ̃_cv by "
    "three folds of them. C of the SVM is by three folds of the training rows in any case. At "
    "σ̃_mise it does better than published with the kernel as printed, exp(−d²/2σ̃²); without the "
    "2 it comes to the published numbers. Parzen and Gaussian process are from the text, which "
    "does not say how wide Parzen's windows were, and has the Gaussian process from another "
    "paper and other splits.",
)

_SIZES = Table(
    key="Kernel sizes",
    title="Kernel sizes of Table VII, from the text",
    unit="",
    better=None,
    rows=tuple(Row(label=label, dataset=name) for label, name in _HALVES.items()),
    methods=(
        Method(
            columns=("σ̃_mise",),
            run=size_by_rule,
            variants=BY_RULE,
            protocols=("paper",),
            options={"halves": 20},
        ),
        Method(
            columns=("σ̃_cv Laplacian",),
            run=size_by_folds,
            variants=BY_FOLDS,
            protocols=("paper",),
            options={"model": "laplacian", "widths": _SIZES_TRIED, "halves": 3},
            quick={"halves": 2},
        ),
        Method(
            columns=("σ̃_cv SVM",),
            run=size_by_folds,
            variants=BY_FOLDS,
            protocols=("paper",),
            options={"model": "svm", "widths": _WIDER_TRIED, "C": _GRID["C"], "halves": 3},
            quick={"halves": 2},
        ),
    ),
    published=_LISTED,
    reasons={
        ("*", "σ̃_mise"): "The rule (21) gives this for neither halves nor all rows.",
        ("*", "*"): "Rates hardly change over a wide range of sizes, and the paper's grid is not "
        "printed.",
    },
    note="The width σ̃ of the kernel, on columns of unit variance. σ̃_mise is √2 times (21), of "
    "20 random halves or of all rows. σ̃_cv is the best of a grid by three folds of 3 halves (2 in "
    "a quick run): the one with the best mean rate, as the paper lists one size for each data set, "
    "or one for each half, with its deviation over halves, which says how little the rates "
    "determine it. The paper does not print its grid.",
)

_OUTLIER = Table(
    key="Fig. 3",
    title="What an outlier changes, over many draws",
    unit="",
    better=None,
    rows=(
        Row(label="Outlier of the ring", options={"outlier": "ring"}),
        Row(label="Outlier of the Gaussian", options={"outlier": "Gaussian"}),
    ),
    methods=(
        Method(
            columns=BESIDE,
            run=classify_beside_outlier,
            options={"draws": 50},
            quick={"draws": 10},
        ),
    ),
    note="A ring of 63 points about a Gaussian of 200 and one outlier at (8, 8), to learn from; "
    "as many points again, without an outlier, to classify. Mean and standard deviation over 50 "
    "draws (10 in a quick run). Changed: the share of new points that get another class than "
    "without the outlier.",
)

_USPS = Table(
    key="USPS",
    title="USPS digits, from the text",
    unit="% correct",
    better="higher",
    rows=(Row(label="USPS", dataset="usps"),),
    methods=(
        Method(columns=("Laplacian",), run=run_laplacian, reading="σ̃_mise", options=_MISE),
        Method(columns=("SVM",), run=run_fixed_svm, options={"C": 10.0, "gamma": 1 / (0.3 * 256)}),
        *_OURS,
    ),
    published=read_published("""
             | Laplacian | SVM
        USPS | 94        | 96
    """),
    reasons={("USPS", "SVM"): "Quoted from a book, without its C and width."},
    note="7291 images to learn from, 2007 to classify, grey values as they are. The paper does "
    "not print its width. SVM: C = 10, γ = 1/(0.3·256), one machine for each class.",
)

STUDY = Study(
    name="laplacian",
    title="The Laplacian Classifier",
    reference="R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft (2007). The Laplacian "
    "classifier. IEEE Transactions on Signal Processing 55(7), 3262–3271. "
    "doi:10.1109/TSP.2007.894391",
    tables=(_GAUSSIANS, _ECHOCARDIOGRAM, _RAETSCH, _UCI, _SIZES, _USPS, _OUTLIER),
    figures=(
        Figure(
            key="Fig. 1",
            title="Why angles",
            caption="A ring of 63 points about a Gaussian of 200, and its first two coordinates "
            "by (22). Dashed: from the origin through the class means.",
            run=draw_feature_maps,
        ),
        Figure(
            key="Fig. 2",
            title="Weights without optimisation",
            caption="A ring as in Fig. 1, at Silverman's width: density, weights f̂^(−1/2) (rows 0 "
            "to 62 are the ring), and the points with the largest 1 % of them.",
            run=draw_weights,
        ),
        Figure(
            key="Fig. 3",
            title="What an outlier does",
            caption="(a) and (b): the paper's, an outlier of the ring. (c) and (d): what the text "
            "says of it, that the same holds where it belongs to the Gaussian in the middle. The "
            "paper prints 47112 for the outlier's weight. The density at a point includes its own "
            "window, so that no weight exceeds √(N·2πh²).",
            run=draw_outlier,
        ),
        Figure(
            key="Figs 4–5",
            title="A rare class",
            caption="A draw like those of Tables I–III. Shapes are the true classes, colours "
            "those given; the background shows the regions.",
            run=draw_gaussians,
        ),
    ),
    missing={
        "Fig. 3, the outlier's weight of 47112": "Impossible where the density at a point includes "
        "its own window, as in (8): the bound is √(N·2πh²), less than 20 here.",
        "Table VI, most of Rätsch's partitions": "Their archive was public; in the folder of data "
        "sets are 10 of Banana, 10 of Image and 1 of Twonorm. The others were drawn anew with the "
        "same sizes.",
    },
    protocol={
        "paper": "Columns scaled over all rows; in Table VII one listed width for each data set.",
        "honest": "Columns scaled by the training rows; every choice by folds of these.",
    },
    claims=(
        Claim(
            said="The Parzen window Bayes classifier performs consistently worse than the "
            "Laplacian classifier.",
            where="section VI, of Tables VI and VII",
            judge=_verdicts.parzen_is_worse,
        ),
        Claim(
            said="In many cases the Laplacian classifier is comparable to the support vector "
            "machine.",
            where="abstract, Tables VI and VII",
            judge=_verdicts.laplacian_is_comparable,
        ),
        Claim(
            said="The results at σ̃_mise are comparable to those of cross-validation for the "
            "Laplacian classifier; an SVM does not do very well there.",
            where="section VI, of Tables VI and VII",
            judge=_verdicts.rule_is_good_enough,
        ),
        Claim(
            said="Where classes overlap, the Laplacian classifier emphasizes the least probable "
            "class, unlike Parzen windows, perhaps at the cost of more errors.",
            where="section V-D, Tables I–V",
            judge=_verdicts.rare_class_is_found,
        ),
        Claim(
            said="An outlier does not dominate the Laplacian classifier, whichever class it "
            "belongs to.",
            where="section V-C, Fig. 3",
            judge=_verdicts.outlier_changes_little,
        ),
    ),
)
