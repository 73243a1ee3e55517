"""Generated cases at the ends of floating point, the laws they are held against, and a tally.

A case is a short recipe (how many rows, which layout, which scale, a seed) that Hypothesis draws
and shrinks; NumPy makes the arrays from it, as drawing thousands of numbers one by one would take
longer than the sums. A law is a test of one case: it returns what `answered` gave, an answer that
it found right, or a `Refusal`. Anything else that is raised is a failure.

The suite tries one case in a hundred, always the same ones. With ``--long`` all are tried, from a
seed that is printed and that the variable MERCER_TORTURE_SEED repeats.
"""

import os
import secrets
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import mercer

SHARE = 100  # the suite tries one case in so many
SEED = int(os.environ.get("MERCER_TORTURE_SEED") or secrets.randbits(32))
LAYOUTS = (
    "normal", "ties", "copies", "collinear", "constant", "offset", "scales", "outlier", "ulps",
    "zeros",
)  # fmt: skip
_SOURCE = Path(mercer.__file__).parent
_GOOD_JUDGES = ("sklearn/utils/validation.py", "sklearn/utils/_param_validation.py")


# --- Tally: what came of each law -----------------------------------------------------------


@dataclass
class Count:
    """How many cases of a law were answered, and how many refused."""

    answered: int = 0
    refused: int = 0


TALLY: dict[str, Count] = {}


def table() -> str:
    """Return the tally as Markdown: one line for each law, and their sum."""
    rows = [(law, c.answered + c.refused, c.answered, c.refused) for law, c in TALLY.items()]
    rows.append(("**all**", *(sum(row[i] for row in rows) for i in (1, 2, 3))))
    lines = ["| law | cases tried | answered, right | refused in a sentence |", "|---|---|---|---|"]
    lines += [
        f"| {law} | " + " | ".join(f"{n:,}".replace(",", " ") for n in ns) + " |"
        for law, *ns in rows
    ]
    return "\n".join(lines)


def summary() -> str:
    """Return the tally in one line."""
    answered, refused = (sum(getattr(c, n) for c in TALLY.values()) for n in vars(Count()))
    return (
        f"{len(TALLY)} laws, {answered + refused} cases: {answered} right, {refused} refused in a "
        "sentence"
    )


def law(cases: int, **strategies: st.SearchStrategy) -> Callable[[Callable[..., Any]], Any]:
    """Make a test of a function of one case: `cases` of them with ``--long``.

    The function returns a `Refusal`, or anything else for an answer that it found right.
    """

    def decorate(holds: Callable[..., Any]) -> Any:
        name = holds.__name__.removeprefix("test_").replace("_", " ")

        def test(long: bool) -> None:
            if np.finfo(np.longdouble).maxexp < 2**14:
                pytest.skip("the references need 80-bit floats")
            count = TALLY.setdefault(name, Count())

            def one(case: dict[str, Any]) -> None:
                if isinstance(holds(**case), Refusal):
                    count.refused += 1
                else:
                    count.answered += 1

            tried = settings(
                max_examples=cases if long else max(1, cases // SHARE),
                derandomize=not long,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate, Phase.shrink],
            )(given(st.fixed_dictionaries(strategies))(one))
            (seed(SEED)(tried) if long else tried)()

        test.__name__, test.__doc__ = holds.__name__, holds.__doc__
        test.__module__, test.holds = holds.__module__, holds
        return test

    return decorate


# --- Answers and refusals -------------------------------------------------------------------


@dataclass
class Refusal:
    """A ValueError in one clear sentence."""

    sentence: str


def answered(call: Callable[..., Any], *args: Any, names: tuple[str, ...], **options: Any) -> Any:
    """Return what the call returns, or a `Refusal` if it says why it can not, naming a parameter.

    The sentence must be Mercer's own or scikit-learn's validation's, must end like a sentence, and
    must hold one of the `names`. All else that is raised comes from deep inside, and fails.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Column .* spreads .* times as far")
            return call(*args, **options)
    except ValueError as error:
        where = traceback.extract_tb(error.__traceback__)[-1].filename
        sentence = str(error)
        ours = Path(where).is_relative_to(_SOURCE) or where.endswith(_GOOD_JUDGES)
        if not (ours and sentence.rstrip().endswith(".") and any(n in sentence for n in names)):
            raise AssertionError(f"no clear refusal, from {where}: {sentence}") from error
        return Refusal(sentence)


def agree(out: Any, expected: Any, *, rtol: Any = 0.0, atol: Any = 0.0) -> None:
    """Assert that two arrays agree within tolerances (arrays, too); NaN agrees with nothing.

    An infinity agrees with itself only.
    """
    out, expected = np.asarray(out), np.asarray(expected)
    assert out.shape == expected.shape, (out.shape, expected.shape)
    assert not np.isnan(out).any(), f"NaN in {out}, expected {expected}"
    wide = np.longdouble
    out, expected = out.astype(wide), expected.astype(wide)
    same = out == expected
    with np.errstate(invalid="ignore"):
        off = np.abs(out - expected)
        allowed = np.asarray(atol, wide) + np.asarray(rtol, wide) * np.abs(expected)
        near = np.isfinite(out) & np.isfinite(expected) & (off <= allowed)
        wrong = ~(same | near)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{out[at]!r} at {at}, expected {expected[at]!r} within "
            f"{np.broadcast_to(allowed, out.shape)[at]!r} ({wrong.sum()} of {wrong.size} are off)"
        )


def between(out: Any, least: Any, most: Any) -> None:
    """Assert that numbers lie in their bounds, once these are rounded outwards to their precision.

    NaN lies nowhere; −inf only where a bound is beyond the range.
    """
    out = np.asarray(out)
    assert not np.isnan(out).any(), f"NaN in {out}, expected {least} to {most}"
    with np.errstate(over="ignore"):
        low = np.nextafter(np.asarray(least).astype(out.dtype), -np.inf)
        high = np.nextafter(np.asarray(most).astype(out.dtype), np.inf)
    wrong = ~((low <= out) & (out <= high))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        ends = tuple(np.broadcast_to(end, out.shape)[at] for end in (least, most))
        raise AssertionError(
            f"{out[at]!r} at {at}, expected {ends[0]!r} to {ends[1]!r} "
            f"({wrong.sum()} of {wrong.size} are off)"
        )


# --- Recipes --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Points:
    """A recipe for rows: n × d numbers about 10**scale, laid out in one of `LAYOUTS`."""

    n: int
    d: int
    layout: str
    scale: int
    seed: int
    dtype: str = "float64"

    def rows(self, n: int | None = None, stream: int = 0) -> np.ndarray:
        """Return the rows; other streams of one recipe lie in the same region."""
        n = self.n if n is None else n
        shared = np.random.default_rng(self.seed)  # what all streams have in common
        rng = np.random.default_rng((self.seed, stream + 1))
        shift, slopes = shared.normal(size=self.d), shared.normal(size=(1, self.d))
        powers = 10.0 ** shared.uniform(-1, 1, size=self.d)
        Z = rng.normal(size=(n, self.d))
        match self.layout:
            case "ties":
                Z = np.rint(Z)
            case "copies":
                Z = np.random.default_rng(self.seed).normal(size=(2, self.d))[
                    rng.integers(2, size=n)
                ]
            case "collinear":
                Z = Z[:, :1] * slopes
            case "constant":
                Z = np.broadcast_to(shift, (n, self.d)).copy()
            case "offset":
                Z = Z * 2.0**-24 + shift
            case "scales":
                Z = Z * powers ** (8 if self.dtype == "float64" else 2)
            case "outlier" if n:
                Z[rng.integers(n)] *= 1e12
            case "ulps":
                eps = np.finfo(self.dtype).eps
                Z = shift * (1 + eps * rng.integers(-2, 3, size=(n, self.d)))
            case "zeros":
                Z = Z * rng.integers(2, size=(n, self.d))
        with np.errstate(over="ignore", under="ignore"):
            return (Z * 10.0**self.scale).astype(self.dtype)


def points(
    *,
    n: tuple[int, int] = (1, 12),
    d: tuple[int, ...] = (1, 2, 3, 5, 8, 40),
    scale: int = 150,
    layouts: tuple[str, ...] = LAYOUTS,
    dtypes: tuple[str, ...] = ("float64",),
) -> st.SearchStrategy[Points]:
    """Draw recipes for rows: n in a range, d from a list, scales from 10**−scale to 10**scale.

    float32 rows keep to what float32 can hold, 1e-30 to 1e20.
    """
    # Each draw costs Hypothesis a tenth of a millisecond: three draws instead of six.
    shapes = list(product(dtypes, layouts, d, range(n[0], n[1] + 1)))

    def recipe(shape: tuple[str, str, int, int], power: int, seed: int) -> Points:
        dtype, layout, d, n = shape
        if dtype == "float32":
            power = min(max(power, -30), 20)
        return Points(n=n, d=d, layout=layout, scale=power, seed=seed, dtype=dtype)

    powers = st.integers(-scale, scale) if scale else st.just(0)
    return st.builds(recipe, st.sampled_from(shapes), powers, st.integers(0, 2**32 - 1))


WEIGHTS = ("ones", "near one", "wide", "widest", "zeros", "one heavy", "all heavy", "all light")


def weights(kind: str, n: int, seed: int, dtype: str = "float64") -> np.ndarray:
    """Return n weights of one of the kinds of `WEIGHTS`, the widest from 1e-300 to 1e300.

    None is negative and at least one is positive; float32 keeps to 1e-30…1e30.
    """
    rng = np.random.default_rng((seed, 101))
    top = 300 if dtype == "float64" else 30
    w = rng.uniform(0.5, 2, size=n)
    match kind:
        case "ones":
            w = np.ones(n)
        case "wide":
            w = 10.0 ** rng.uniform(-top / 10, top / 10, size=n)
        case "widest":
            w = 10.0 ** rng.uniform(-top, top, size=n)
        case "zeros":
            w *= rng.integers(2, size=n)
            w[rng.integers(n)] = 1
        case "one heavy":
            w *= 10.0**-top
            w[rng.integers(n)] = 10.0**top
        case "all heavy":
            w *= 10.0**top
        case "all light":
            w *= 10.0**-top
    return w.astype(dtype)


LABELS = ("mixed", "sorted", "lonely")


def labels(kind: str, n: int, n_classes: int, seed: int) -> np.ndarray:
    """Return n labels of one of the kinds of `LABELS`, each class with a row if n suffices.

    "lonely" has one row in each class but class 0.
    """
    rng = np.random.default_rng((seed, 102))
    first = np.arange(min(n_classes, n))
    rest = n - first.size
    more = np.zeros(rest, int) if kind == "lonely" else rng.integers(n_classes, size=rest)
    y = np.concatenate([first, more]).astype(np.int64)
    return np.sort(y) if kind == "sorted" else rng.permutation(y)


def log_ratios(least: float = -8.0, most: float = 8.0) -> st.SearchStrategy[float]:
    """Draw powers of ten of bandwidths in units of the data, half of them near 0."""
    near = np.linspace(0, 1.5, 16)
    far = np.linspace(0, 1, 16)
    return st.sampled_from([*near, *-near, *(most * far), *(least * far)])
