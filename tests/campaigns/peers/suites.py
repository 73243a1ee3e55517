"""Whose tests are run, from where, and which of their names are replaced by Mercer's."""

from dataclasses import dataclass, field

_ALL_ESTIMATORS = {
    "sklearn.utils:all_estimators": "estimators:all_estimators",
    "sklearn.utils.discovery:all_estimators": "estimators:all_estimators",
    "sklearn.utils.discovery:all_displays": "estimators:nothing",
    "sklearn.utils.discovery:all_functions": "estimators:nothing",
    "sklearn.utils._test_common.instance_generator:all_estimators": "estimators:all_estimators",
}


@dataclass(frozen=True)
class Suite:
    """One run of pytest."""

    title: str
    tests: tuple[str, ...]  # modules (a.b.c), or files below this one or the folder of archives
    replaced: dict[str, str] = field(default_factory=dict)  # "module:name" of theirs and of ours
    before: tuple[str, ...] = ()  # functions that are called before the tests are imported
    environment: str = "peers"


SUITES = {
    "common": Suite(
        "scikit-learn: all estimators",
        ("sklearn.tests.test_common", "sklearn.tests.test_metaestimators"),
        _ALL_ESTIMATORS,
        ("estimators:say_how_to_make_wrappers",),
    ),
    "docstrings": Suite(
        "scikit-learn: docstrings",
        ("sklearn.tests.test_docstrings", "sklearn.tests.test_docstring_parameters"),
        _ALL_ESTIMATORS,
        ("estimators:say_how_to_make_wrappers",),
    ),
    "lda": Suite(
        "scikit-learn: linear discriminant analysis",
        ("sklearn.tests.test_discriminant_analysis",),
        {
            "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": (
                "classifiers:LinearDiscriminantAnalysis"
            )
        },
    ),
    "svm": Suite(
        "scikit-learn: support vector machines",
        ("sklearn.svm.tests.test_svm",),
        {"sklearn.svm:SVC": "classifiers:svc"},
    ),
    "propagation": Suite(
        "scikit-learn: label propagation",
        ("sklearn.semi_supervised.tests.test_label_propagation",),
        {
            "sklearn.semi_supervised._label_propagation:LabelPropagation": (
                "classifiers:LabelPropagation"
            ),
            "sklearn.semi_supervised._label_propagation:LabelSpreading": (
                "classifiers:LabelSpreading"
            ),
        },
    ),
    "embedding": Suite(
        "scikit-learn: spectral embedding",
        ("sklearn.manifold.tests.test_spectral_embedding",),
        {
            "sklearn.manifold:SpectralEmbedding": "embeddings:SpectralEmbedding",
            "sklearn.manifold:spectral_embedding": "embeddings:spectral_embedding",
        },
    ),
    "kde": Suite(
        "scikit-learn: kernel density",
        ("sklearn.neighbors.tests.test_kde",),
        {"sklearn.neighbors:KernelDensity": "densities:KernelDensity"},
    ),
    "scipy": Suite(
        "SciPy: gaussian_kde",
        ("scipy.stats.tests.test_kdeoth",),
        {"scipy.stats:gaussian_kde": "densities:GaussianDensity"},
    ),
    "mlxtend": Suite(
        "mlxtend: tests of significance",
        tuple(
            f"mlxtend.evaluate.tests.test_{name}"
            for name in (
                "mcnemar_test",
                "paired_ttest_5x2cv",
                "combined_ftest_5x2cv",
                "paired_ttest_kfold",
                "paired_ttest_resampled",
            )
        ),
        {
            "sklearn.linear_model:LogisticRegression": "comparisons:logistic_regression",
            **{
                f"mlxtend.evaluate:{name}": f"comparisons:{name}"
                for name in (
                    "mcnemar",
                    "paired_ttest_5x2cv",
                    "combined_ftest_5x2cv",
                    "paired_ttest_kfold_cv",
                    "paired_ttest_resampled",
                )
            },
        },
    ),
    "statsmodels": Suite(
        "statsmodels: numbers of R for McNemar and Holm",
        tuple(
            f"statsmodels.stats.tests.test_{name}"
            for name in ("nonparametric", "contingency_tables", "multi")
        ),
        {
            "statsmodels.stats.contingency_tables:mcnemar": "comparisons:mcnemar_of_statsmodels",
            "statsmodels.stats.multitest:multipletests": "comparisons:multipletests",
        },
    ),
    "printed": Suite("R, Demšar: printed values", ("values/test_printed_values.py",)),
    # test_lazytensor_gaussian_cpu takes second derivatives while it is imported, which Mercer does
    # not give; test_gpu_cpu has the same sums.
    "keops": Suite(
        "KeOps: Gaussian, Laplace and Cauchy sums",
        tuple(
            f"pykeops.test.test_{name}"
            for name in (
                "gpu_cpu",
                "lazytensor_gaussian_batch",
                "lazytensor_gaussian_fromhost",
                "lazytensor_gaussian_inplace",
                "torch",
                "torch_func",
                "transpose",
                "vmap",
            )
        ),
        {f"pykeops.torch:{name}": f"keops:{name}" for name in ("LazyTensor", "Vi", "Vj", "Pm")},
    ),
    "ensembles": Suite(
        "clients: ensembles, calibration, search, imbalanced-learn",
        ("clients/test_ensembles.py",),
        environment="clients",
    ),
    "tools": Suite(
        "clients: dask-ml, skops, skore, SHAP, MLflow, MAPIE, fairlearn, optuna, skrub",
        ("clients/test_tools.py",),
        environment="clients",
    ),
}
