"""How familiar rows are: ranks that are uniform, far rows found, and the rows in a model file."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context

from mercer.models import (
    Familiarity,
    FamiliarityNotes,
    ModelCard,
    TrainingSample,
    load_model,
    load_model_parts,
    make_model,
    read_card,
    save_model,
)
from mercer.tables import split_target, typed_frame


def sentences(known, X, ranks):
    """Return what is said of rows with these ranks, counted in two parts."""
    found = FamiliarityNotes(known)
    for part in (slice(0, 3), slice(3, None)):
        found.add(X.iloc[part], ranks[part])
    return found.sentences()


def mixed(n, seed=0):
    """A typed table with numbers of long tails, gaps, dates and categories."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10, 1, n)
    income[rng.random(n) < 0.1] = np.nan
    job = rng.choice(["baker", "clerk", "smith", None], n, p=[0.5, 0.3, 0.15, 0.05])
    return pd.DataFrame(
        {
            "age": rng.normal(45, 15, n),
            "income": income,
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, n),
            "job": pd.Categorical(job, categories=["baker", "clerk", "smith"]),
        }
    )


def literal_ranks(known, new):
    """The definition, one pair of rows at a time."""
    numbers = ["age", "income", "since"]

    def number(frame, name):
        values = frame[name]
        if name == "since":
            values = values.to_numpy("datetime64[us]").astype(float) / 86_400e6
        return np.asarray(values, dtype=float)

    def squared(a, i, b, j):
        total = 0.0
        for name in numbers:
            own = number(known, name)
            low, middle, high = np.nanquantile(own, [0.25, 0.5, 0.75])
            x, y = number(a, name)[i], number(b, name)[j]
            total += np.isnan(x) != np.isnan(y)
            x, y = (0.0 if np.isnan(v) else np.arcsinh(1.3489795 * (v - middle) / (high - low))
                    for v in (x, y))  # fmt: skip
            total += (x - y) ** 2
        x, y = a["job"].astype(object).iloc[i], b["job"].astype(object).iloc[j]
        same = (pd.isna(x) and pd.isna(y)) or (x == y and (known["job"] == x).sum() > 1)
        return total + 2.0 * (not same)

    n, p = len(known), 4
    D = np.array([[squared(known, i, known, j) for j in range(n)] for i in range(n)])
    np.fill_diagonal(D, 0.0)
    h2 = D.sum() / (n * (n - 1)) / 2 / p * (4 / ((p + 2) * n)) ** (2 / (p + 4))
    E = np.array([[squared(new, i, known, j) for j in range(n)] for i in range(len(new))])
    left_out = [np.exp(-np.delete(D[i], i) / 2 / h2).mean() for i in range(n)]
    found = np.exp(-E / 2 / h2).mean(axis=1)
    return np.array([np.mean(left_out < one) for one in found])


def test_ranks_are_those_of_the_definition():
    known, new = mixed(40), mixed(15, seed=1)
    np.testing.assert_array_equal(Familiarity(known).rank(new), literal_ranks(known, new))


def test_ranks_of_rows_of_the_same_table_are_uniform():
    """Over many tables, a share of q has a rank below q, up to the grid of 1/n."""
    ranks = np.concatenate(
        [Familiarity(mixed(200, seed)).rank(mixed(20, 1000 + seed)) for seed in range(150)]
    )
    for share in (0.02, 0.05, 0.25, 0.5, 0.75, 0.95):
        # One rank more than there are rows; three standard errors of draws of training rows.
        expected, error = share * 200 / 201, np.sqrt(share * (1 - share) / 200 / 150)
        error = np.hypot(error, np.sqrt(share * (1 - share) / 3000))
        assert np.mean(ranks < share) == pytest.approx(expected, abs=3 * error + 0.005)


@pytest.mark.parametrize(
    ("column", "value"),
    [("age", 400.0), ("income", 1e12), ("income", 1e300), ("since", np.datetime64("1815-06-18"))],
)
def test_a_wild_value_is_farther_out_than_all_training_rows(column, value):
    known, new = mixed(300), mixed(5, seed=1)
    assert (Familiarity(known).rank(new) > 0).any()
    new[column] = value
    found = Familiarity(known)
    assert (found.rank(new) == 0).all()
    assert set(found.farthest_column(new)) == {column}


def test_an_unknown_category_is_no_nearer_than_a_known_one():
    known = mixed(300)
    new = mixed(50, seed=1).dropna(subset=["job"])
    strange = new.assign(job=pd.Categorical(["pilot"] * len(new)))
    found = Familiarity(known)
    assert (found.rank(strange) <= found.rank(new)).all()
    assert found.rank(strange).mean() < found.rank(new).mean() / 2
    missing = new.assign(age=np.nan)  # no age is missing in training
    assert found.rank(missing).mean() < found.rank(new).mean()


def test_order_units_slabs_and_other_columns_change_nothing():
    known, new = mixed(200), mixed(300, seed=1)
    ranks = Familiarity(known).rank(new)
    shuffled = known.sample(frac=1, random_state=0)[["job", "since", "income", "age"]]
    np.testing.assert_allclose(Familiarity(shuffled).rank(new), ranks, atol=1 / 200)
    scaled = [frame.assign(age=frame["age"] * -1e9 + 1e12) for frame in (known, new)]
    np.testing.assert_allclose(Familiarity(scaled[0]).rank(scaled[1]), ranks, atol=2 / 200)
    with config_context(working_memory=0.05):
        np.testing.assert_allclose(Familiarity(known).rank(new), ranks, atol=1 / 200)
    np.testing.assert_array_equal(Familiarity(known).rank(new.assign(more=1.0)), ranks)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(-1e300, 1e300) | st.just(np.nan), st.sampled_from(["a", "b", "c", None])
        ),
        min_size=2,
        max_size=12,
    )
)
def test_ranks_are_shares_whatever_the_rows(cells):
    frame = pd.DataFrame(cells, columns=["x", "kind"]).astype({"x": float, "kind": "category"})
    ranks = Familiarity(frame).rank(frame)
    assert ((ranks >= 0) & (ranks <= 1)).all()
    assert np.isfinite(Familiarity(frame).training_scores_).all()
    assert len(Familiarity(frame).farthest_column(frame)) == len(frame)


def test_each_row_of_a_table_is_ranked_among_the_others(monkeypatch):
    from mercer.models import _familiarity, familiarity_of_rows

    X = mixed(60)
    ranks = familiarity_of_rows(X)
    # The ranks of n scores among each other are the numbers from 0 to n − 1, over n − 1.
    np.testing.assert_allclose(np.sort(ranks), np.arange(60) / 59)
    known = Familiarity(X)
    assert np.argmin(ranks) == np.argmin(known._left_out)
    monkeypatch.setattr(_familiarity, "MOST_ROWS", 30)
    some = familiarity_of_rows(X, random_state=1)
    drawn = np.random.default_rng(1).choice(60, 30, replace=False)
    others = np.setdiff1d(np.arange(60), drawn)
    few = Familiarity(X.iloc[drawn])
    np.testing.assert_array_equal(some[others], few.rank(X.iloc[others]))
    np.testing.assert_array_equal(some[drawn], few.rank_left_out())


def test_rows_that_are_all_the_same_have_a_width():
    known = pd.DataFrame({"x": [3.0] * 5})
    found = Familiarity(known)
    assert found.bandwidth_ == 1.0
    assert found.rank(pd.DataFrame({"x": [3.0, 9.0]})).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="two training rows or more; got 1"):
        Familiarity(known[:1])


def test_notes_name_rows_far_out_and_a_table_that_differs():
    known = Familiarity(mixed(300))
    new = mixed(200, seed=1)
    assert sentences(known, new, known.rank(new).clip(1 / 300)) == []
    new.loc[[3, 17], "income"] = 1e12
    ranks = known.rank(new)
    ranks[ranks == 0] = np.where(np.isin(np.flatnonzero(ranks == 0), [3, 17]), 0, 0.01)
    notes = sentences(known, new, ranks)
    (note,) = notes
    assert note == (
        "2 of 200 rows lie farther out than any training row: rows 4 (most of all 'income') and "
        "18 (most of all 'income'). What the model says of them is a guess."
    )
    (note,) = sentences(known, new, np.linspace(0.01, 0.3, 200))
    assert note == (
        "14.0 % of the rows have a familiarity below 0.05, where 5 % is usual: these rows are "
        "unlike those that the model was trained on."
    )
    few = sentences(known, new[:4], np.array([0.01, 0.5, 0.5, 0.5]))
    assert few == []


@pytest.fixture(scope="module")
def labelled():
    frame = mixed(120)
    frame["kind"] = np.where(frame["age"] > 45, "old", "young")
    return split_target(frame, "kind")


def test_rows_are_drawn_without_return_and_keep_their_numbers(labelled):
    rows = TrainingSample.draw(labelled, max_rows=30, random_state=1)
    assert len(set(rows.row_numbers)) == len(rows.y) == 30
    assert (np.diff(rows.row_numbers) > 0).all()
    pd.testing.assert_frame_equal(rows.X, labelled.X.loc[rows.row_numbers - 1])
    assert rows.y.tolist() == labelled.y[rows.row_numbers - 1].tolist()
    assert len(TrainingSample.draw(labelled).y) == 120


def test_rows_come_back_from_a_file_and_older_files_have_none(labelled, tmp_path):
    model = make_model("logistic", labelled).fit(labelled.X, labelled.y)
    card = ModelCard.describe("logistic", labelled)
    rows = TrainingSample.draw(labelled, max_rows=50)
    save_model(tmp_path / "m.skops", model, card, rows=rows)
    loaded, read, back = load_model_parts(tmp_path / "m.skops")
    assert read == card
    np.testing.assert_array_equal(loaded.predict(labelled.X), load_model(tmp_path / "m.skops")[0]
                                  .predict(labelled.X))  # fmt: skip
    assert back.y.tolist() == rows.y.tolist()
    assert back.row_numbers.tolist() == rows.row_numbers.tolist()
    pd.testing.assert_frame_equal(
        back.X, rows.X, check_dtype=False, check_categorical=False, check_index_type=False
    )
    new, _ = typed_frame(mixed(20, seed=3), labelled.columns)
    np.testing.assert_array_equal(Familiarity(back.X).rank(new), Familiarity(rows.X).rank(new))
    assert read_card(tmp_path / "m.skops").n_training_rows == 50

    save_model(tmp_path / "old.skops", model, card)
    assert load_model_parts(tmp_path / "old.skops").rows is None
    assert read_card(tmp_path / "old.skops").n_training_rows == 0
