import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from mercer.tables import (
    CategoryDummies,
    Column,
    DateFeatures,
    FeatureClipper,
    describe_columns,
    make_preprocessor,
    match_columns,
    split_target,
)
from mercer.tables.preparing._table_transformer import TableTransformer


def mixed(n: int = 90, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(5, 3, n),
            "full": rng.normal(-5, 0.1, n),
            "pet": rng.choice(["cat", "dog", "emu"], n, p=[0.6, 0.37, 0.03]),
            "day": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype(str),
            "time": (np.datetime64("2020-01-01T00:00") + rng.integers(0, 10**6, n)).astype(str),
            "y": rng.choice(["p", "q"], n),
        }
    )
    frame.loc[rng.random(n) < 0.2, ["size", "pet"]] = None
    frame.loc[rng.random(n) < 0.1, "day"] = None
    frame.loc[3, "size"] = 1e6  # wild
    return frame


def literal(train: pd.DataFrame, new: pd.DataFrame, scale: bool) -> dict[str, list[float]]:
    """What the docstring of make_preprocessor says, cell by cell."""
    found: dict[str, list[float]] = {}

    def number(name: str, train_cells: list[float | None], cells: list[float | None]) -> None:
        present = sorted(cell for cell in train_cells if cell is not None)
        half = len(present) // 2
        median = present[half] if len(present) % 2 else (present[half - 1] + present[half]) / 2
        filled = [median if cell is None else cell for cell in train_cells]
        mean = sum(filled) / len(filled)
        spread = (sum((cell - mean) ** 2 for cell in filled) / len(filled)) ** 0.5
        values = [median if cell is None else cell for cell in cells]
        if scale:
            values = [max(-4.0, min(4.0, (cell - mean) / (spread or 1))) for cell in values]
        found[name] = values

    def cells_of(frame: pd.DataFrame, name: str) -> list:
        return [None if pd.isna(cell) else cell for cell in frame[name]]

    def indicator(part: str, name: str) -> None:
        if None in cells_of(train, name):
            label = f"{part}__missingindicator_{name}"
            found[label] = [float(cell is None) for cell in cells_of(new, name)]

    for name in ("size", "full"):
        number(f"number__{name}", cells_of(train, name), cells_of(new, name))
    indicator("missing", "size")
    indicator("missing", "full")
    for part, name in (("date", "day"), ("time", "time")):
        parts = {
            "days": lambda t: (t - pd.Timestamp(0)) / pd.Timedelta("1D"),
            "year": lambda t: t.year,
            "month": lambda t: t.month,
            "weekday": lambda t: t.day_of_week,
        }
        if part == "time":
            parts["hour"] = lambda t: t.hour + t.minute / 60
        for label, compute in parts.items():
            both = [
                [
                    None if cell is None else compute(pd.Timestamp(cell))
                    for cell in cells_of(f, name)
                ]
                for f in (train, new)
            ]
            number(f"{part}__{name}_{label}", *both)
    if None in cells_of(train, "day"):
        found["undated__missingindicator_day_days"] = [
            float(cell is None) for cell in cells_of(new, "day")
        ]
    pets = [cell for cell in cells_of(train, "pet") if cell is not None]
    often = sorted({pet for pet in pets if pets.count(pet) >= 5})
    rare = {pet for pet in pets if pets.count(pet) < 5}
    for pet in often:
        found[f"category__pet={pet}"] = [float(cell == pet) for cell in cells_of(new, "pet")]
    if rare:
        label = "category__pet=(infrequent)"
        found[label] = [float(cell in rare) for cell in cells_of(new, "pet")]
    if None in cells_of(train, "pet"):
        found["category__pet=(missing)"] = [float(cell is None) for cell in cells_of(new, "pet")]
    return found


@pytest.mark.parametrize("scale", [True, False])
def test_against_the_literal_version(scale: bool) -> None:
    frame = mixed()
    data = split_target(frame, "y")
    train, new = data.X[:60], data.X[60:].copy()
    new["pet"] = new["pet"].cat.add_categories("yak").where(np.arange(30) > 0, "yak")
    transformer = make_preprocessor(data.columns, scale=scale).set_output(transform="pandas")
    found = transformer.fit(train).transform(new)
    expected = literal(frame[:60], frame[60:].assign(pet=new["pet"].astype(object)), scale)
    assert sorted(found.columns) == sorted(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9, err_msg=name)
    if scale:
        assert np.abs(found.to_numpy(float)).max() <= 4
        assert np.abs(transformer.transform(train).to_numpy(float)).max() == 4  # the wild value
    pets = [name for name in found if "pet" in name]
    assert (found[pets].iloc[0] == 0).all()  # a category that nobody saw


def test_rows_that_are_held_out_do_not_touch_the_others() -> None:
    """What a fold's training rows become does not depend on what the other rows hold."""
    frame = mixed()
    other = frame.copy()
    other.loc[60:, "size"] = 1e9
    other.loc[60:, "full"] = None
    other.loc[60:, "pet"] = "yak"
    other.loc[60:, "day"] = "1700-01-01"
    found = []
    for table in (frame, other):
        data = split_target(table, "y")
        found.append(make_preprocessor(data.columns).fit(data.X[:60]).transform(data.X[:60]))
    np.testing.assert_array_equal(*found)


def test_a_pipeline_is_fitted_on_the_training_part_of_each_fold() -> None:
    data = split_target(mixed(), "y")
    model = make_pipeline(make_preprocessor(data.columns), LogisticRegression())
    found = cross_validate(model, data.X, data.y, cv=3, return_estimator=True, return_indices=True)
    for fitted, train in zip(found["estimator"], found["indices"]["train"], strict=True):
        scaler = fitted[0].named_transformers_["number"]["scale"]
        sizes = data.X["full"].to_numpy()[train]
        assert scaler.mean_[1] == pytest.approx(sizes.mean(), rel=1e-12)
        assert scaler.mean_[1] != pytest.approx(data.X["full"].mean(), rel=1e-12)


def test_order_of_columns_does_not_matter() -> None:
    data = split_target(mixed(), "y")
    model = make_preprocessor(data.columns).fit(data.X)
    backwards = data.X[data.X.columns[::-1]]
    np.testing.assert_array_equal(model.transform(backwards), model.transform(data.X))


def test_order_of_rows_does_not_matter() -> None:
    data = split_target(mixed(), "y")
    rows = np.random.default_rng(0).permutation(len(data.X))
    model = make_preprocessor(data.columns)
    first = clone(model).fit(data.X).transform(data.X)
    second = clone(model).fit(data.X.iloc[rows]).transform(data.X)
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


def test_missing_values_that_training_did_not_have() -> None:
    frame = mixed()
    columns = describe_columns(frame.dropna(), "y")
    train = match_columns(frame.dropna(), columns).frame
    new = match_columns(frame, columns).frame
    found = make_preprocessor(columns).fit(train).transform(new)
    assert np.isfinite(found).all()
    lost = pd.DataFrame({name: [None] for name in train}).astype(train.dtypes.to_dict())
    assert np.isfinite(make_preprocessor(columns).fit(train).transform(lost)).all()


def test_column_without_values_in_a_fold() -> None:
    data = split_target(mixed(), "y")
    train = data.X[:40].assign(size=np.nan)
    found = make_preprocessor(data.columns).fit(train).transform(data.X)
    assert np.isfinite(found).all()


def test_no_column_is_refused() -> None:
    with pytest.raises(ValueError, match="No column is used"):
        make_preprocessor([Column("a", "empty", False, "", 3, 0)])


def test_saved_by_skops_and_by_pickle() -> None:
    data = split_target(mixed(), "y")
    model = make_pipeline(make_preprocessor(data.columns), LogisticRegression())
    model.fit(data.X, data.y)
    content = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=content)
    ours = (CategoryDummies, DateFeatures, FeatureClipper, TableTransformer)
    named = {f"{one.__module__}.{one.__name__}" for one in ours}
    assert set(unknown) - {"numpy.dtype"} == named  # SimpleImputer keeps the type of an array.
    for again in (skops.io.loads(content, trusted=unknown), pickle.loads(pickle.dumps(model))):  # noqa: S301
        np.testing.assert_array_equal(again.predict_proba(data.X), model.predict_proba(data.X))


# The parts


def test_dummies_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.choice(list("abcdefgh"), 300, p=np.arange(1, 9) / 36),
            "b": rng.choice(["x", "y"], 300),
        }
    )
    ours = CategoryDummies(min_frequency=20, max_categories=5).fit(X)
    # scikit-learn counts the infrequent as one of max_categories
    theirs = OneHotEncoder(
        min_frequency=20, max_categories=6, handle_unknown="ignore", sparse_output=False
    ).fit(X)
    new = pd.concat([X, pd.DataFrame({"a": ["new"], "b": ["x"]})])
    np.testing.assert_array_equal(ours.transform(new), theirs.transform(new))
    for column, infrequent in zip(
        ours.infrequent_categories_, theirs.infrequent_categories_, strict=True
    ):
        assert column.tolist() == ([] if infrequent is None else infrequent.tolist())


def test_dummies_of_categories_that_are_declared_but_absent() -> None:
    X = pd.DataFrame({"a": pd.Categorical(["x", "y"] * 5, categories=["w", "x", "y"])})
    assert CategoryDummies().fit(X).get_feature_names_out().tolist() == ["a=x", "a=y"]


def test_date_features_of_numbers_and_of_arrays() -> None:
    dates = np.array([["1969-12-31T12:00"], ["NaT"], ["2000-02-29T18:30"]], dtype="datetime64[m]")
    parts = ("days", "year", "month", "weekday", "hour")
    expected = [[-0.5, 1969, 12, 2, 12], [np.nan] * 5, [11016 + 18.5 / 24, 2000, 2, 1, 18.5]]
    features = DateFeatures(parts=parts).fit(dates)
    np.testing.assert_allclose(features.transform(dates), expected)
    np.testing.assert_allclose(features.transform([[-0.5], [np.nan], [expected[2][0]]]), expected)
    assert np.isfinite(features.transform([[1e300], [-1e300]])).all()
    with pytest.raises(ValueError, match="parts must be among days, year"):
        DateFeatures(parts=("century",)).fit(dates)


def test_clipper_keeps_gaps() -> None:
    found = FeatureClipper(limit=2).fit_transform([[np.nan, 3.0], [-5.0, 1.0]])
    np.testing.assert_array_equal(found, [[np.nan, 2.0], [-2.0, 1.0]])
