"""Tools for trained models, each used once on Mercer's estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer

FLAGSHIPS = [
    mercer.ISEClassifier(),
    mercer.KernelFisherDiscriminant(),
    mercer.LaplacianClassifier(),
    mercer.ParzenClassifier(),
    mercer.SparseKernelFisherDiscriminant(random_state=0),
]
every_flagship = pytest.mark.parametrize("estimator", FLAGSHIPS, ids=lambda one: type(one).__name__)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = pd.DataFrame(StandardScaler().fit_transform(X), columns=X.columns)
    return train_test_split(X, y, random_state=0, stratify=y)


@every_flagship
def test_dask_ml_predicts_block_by_block(estimator, wine):
    da = pytest.importorskip("dask.array")
    wrappers = pytest.importorskip("dask_ml.wrappers")
    X, new, y, _ = (np.asarray(part) for part in wine)
    model = wrappers.ParallelPostFit(clone(estimator)).fit(X, y)
    blocks = da.from_array(new, chunks=(10, -1))
    np.testing.assert_array_equal(model.predict(blocks).compute(), model.estimator.predict(new))
    np.testing.assert_allclose(
        model.predict_proba(blocks).compute(), model.estimator.predict_proba(new), atol=1e-7
    )


def test_dask_ml_searches(wine):
    search = pytest.importorskip("dask_ml.model_selection")
    X, new, y, truth = (np.asarray(part) for part in wine)
    found = search.GridSearchCV(mercer.ParzenClassifier(), {"bandwidth": [0.05, 0.7, 20.0]}, cv=3)
    assert found.fit(X, y).best_params_ == {"bandwidth": 0.7}
    assert found.score(new, truth) > 0.9


@every_flagship
def test_skops_keeps_a_pipeline(estimator, wine, tmp_path):
    io = pytest.importorskip("skops.io")
    X, new, y, _ = wine
    model = make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
    io.dump(model, tmp_path / "model.skops")
    unknown = io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith("mercer.") for name in unknown)
    again = io.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


@every_flagship
def test_skore_reports_the_accuracy(estimator, wine):
    skore = pytest.importorskip("skore")
    X, new, y, truth = wine
    report = skore.EstimatorReport(clone(estimator), X_train=X, y_train=y, X_test=new, y_test=truth)
    fitted = clone(estimator).fit(X, y)
    assert report.metrics.accuracy() == pytest.approx(fitted.score(new, truth))


@every_flagship
def test_shap_values_add_up_to_the_probability(estimator):
    shap = pytest.importorskip("shap")
    X, y = load_iris(return_X_y=True)
    model = clone(estimator).fit(X, y)
    explained = shap.Explainer(model.predict_proba, X[::5])(X[:5])
    total = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(X[:5]), atol=1e-6)


@every_flagship
def test_mlflow_logs_and_loads(estimator, wine, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    X, new, y, _ = wine
    model = make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
    mlflow.sklearn.save_model(model, tmp_path / "model", serialization_format="cloudpickle")
    again = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


@every_flagship
def test_mapie_covers_as_it_promises(estimator):
    mapie = pytest.importorskip("mapie.classification")
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X, rest, y, other = train_test_split(X, y, test_size=0.6, random_state=0, stratify=y)
    held, new, held_y, truth = train_test_split(rest, other, test_size=0.5, random_state=0)
    model = clone(estimator).fit(X, y)
    conformal = mapie.SplitConformalClassifier(model, confidence_level=0.9, prefit=True)
    _, sets = conformal.conformalize(held, held_y).predict_set(new)
    covered = sets[np.arange(len(truth)), truth, 0].mean()
    assert covered > 0.84  # 0.9, less three standard errors of 171 rows


@every_flagship
def test_fairlearn_equalises_selection(estimator):
    reductions = pytest.importorskip("fairlearn.postprocessing")
    metrics = pytest.importorskip("fairlearn.metrics")
    rng = np.random.RandomState(0)
    group = rng.randint(2, size=300)
    y = (rng.rand(300) < 0.3 + 0.4 * group).astype(int)
    X = np.c_[y + 0.8 * rng.normal(size=300), group + 0.5 * rng.normal(size=300)]
    fair = reductions.ThresholdOptimizer(
        estimator=clone(estimator),
        constraints="demographic_parity",
        predict_method="predict_proba",
    ).fit(X, y, sensitive_features=group)
    plain = clone(estimator).fit(X, y)
    gaps = [
        metrics.demographic_parity_difference(y, answer, sensitive_features=group)
        for answer in (
            fair.predict(X, sensitive_features=group, random_state=0),
            plain.predict(X),
        )
    ]
    assert gaps[0] < 0.1 < gaps[1]


@every_flagship
def test_fairlearn_reweighs(estimator):
    """A reduction fits on weights that it computes itself: not whole, and some of them zero."""
    reductions = pytest.importorskip("fairlearn.reductions")
    rng = np.random.RandomState(0)
    group = rng.randint(2, size=200)
    y = (rng.rand(200) < 0.3 + 0.4 * group).astype(int)
    X = np.c_[y + 0.8 * rng.normal(size=200), group + 0.5 * rng.normal(size=200)]
    fair = reductions.ExponentiatedGradient(
        clone(estimator), reductions.DemographicParity(), max_iter=5
    ).fit(X, y, sensitive_features=group)
    rates = [fair.predict(X, random_state=0)[group == value].mean() for value in (0, 1)]
    assert abs(rates[0] - rates[1]) < 0.25


def test_optuna_finds_a_bandwidth(wine):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, _, y, _ = wine

    def accuracy(trial):
        width = trial.suggest_float("bandwidth", 1e-2, 1e2, log=True)
        return cross_val_score(mercer.ParzenClassifier(bandwidth=width), X, y, cv=3).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(accuracy, n_trials=12)
    assert study.best_value > 0.93
    assert 0.1 < study.best_params["bandwidth"] < 10


@every_flagship
def test_skrub_prepares_a_mixed_table(estimator):
    skrub = pytest.importorskip("skrub")
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=200)
    table = pd.DataFrame(
        {
            "amount": rng.normal(size=200) + 1.5 * y,
            "place": np.where(rng.rand(200) < 0.7, np.array(["north", "south"])[y], "west"),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.randint(300, size=200), "D"),
        }
    )
    model = make_pipeline(skrub.TableVectorizer(), StandardScaler(), clone(estimator)).fit(table, y)
    assert model.score(table, y) > 0.85
