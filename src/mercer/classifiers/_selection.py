"""The bandwidth of a classifier: as given, by a rule, or by leave-one-out.

Leave-one-out chooses from a ladder around Silverman's bandwidth that may grow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer.bandwidth import bandwidth_ladder, resolve_bandwidth
from mercer.classifiers._leave_one_out import Ladder
from mercer.classifiers._race import TIE, Rules, Table, choose, has_stages, race
from mercer.samples import SortedSample

_EXTENSIONS, _STEPS = 4, 8  # A ladder is extended up to four times, by eight rungs.
_ERRORS = 2  # If only some rows are judged, a score must rise by this many standard errors.
_LADDER_REACH = 16  # The ladder reaches from the centre / 16 to the centre · 16.
_QUARTILE_ROWS = 2**15  # Quartiles are taken from at least this many rows of a large sample.


@dataclass(frozen=True)
class Choice:
    """The bandwidth, or one for each class, the rule, and what leave-one-out found if it chose."""

    bandwidth: Any
    rule: str
    results: Table | None = None
    ladder: Ladder | None = None  # at that bandwidth, with what has been computed of it


def settle(
    estimator: Any,
    sample: SortedSample,
    rules: Rules,
    prepare: Callable[[tuple[float, ...]], Ladder],
) -> Choice:
    """Return the bandwidth and the rule that an estimator's parameters ask for.

    Parameters
    ----------
    estimator : estimator
        Its `bandwidth`, `per_class`, `kernel`, `scoring` and `loo_rows` count.
    sample : SortedSample
        The rows.
    rules : mapping
        By name, how rows are scored without them; of several, leave-one-out chooses one.
    prepare : callable
        Returns the ladder at some bandwidths, widest first.
    """
    given, scoring, most = estimator.bandwidth, estimator.scoring, estimator.loo_rows
    if isinstance(given, str) and given == "loo":
        if estimator.per_class:
            raise ValueError(
                "bandwidth='loo' chooses one width for all classes; with per_class=True take "
                "a rule, or pass one number for each class."
            )
        results, best, ladder = self_tune(prepare, rules, sample, scoring, most)
    else:
        bandwidth = resolve_widths(estimator, sample)
        if "append" in rules and not isinstance(bandwidth, float):
            raise ValueError(
                f"rule={estimator.rule!r} puts a point into every class in turn and takes one "
                "width for all classes; give one bandwidth, or take another rule."
            )
        if len(rules) == 1:
            return Choice(bandwidth, next(iter(rules)))
        ladder = prepare((bandwidth,))
        results = race(ladder, rules, sample.in_memory, scoring, most)
        best = choose(results, scoring)
    bandwidth, rule = float(results["bandwidth"][best]), str(results["rule"][best])
    return Choice(bandwidth, rule, results, ladder)


def resolve_widths(estimator: Any, sample: SortedSample) -> Any:
    """Return the bandwidth as a number, or as one for each class: given, or by a rule."""
    given, kernel = estimator.bandwidth, estimator.kernel
    if isinstance(given, Real):
        return float(given)
    if not isinstance(given, str):
        return sample.per_class(_check_widths(given, sample.n_classes))
    pooled = sample_bandwidth(given, sample, kernel=kernel)
    if not estimator.per_class:
        return pooled
    widths = []
    for X, weights in map(sample.of_class, range(sample.n_classes)):
        varies = bool(array_namespace(X).any(X[:1, :] != X))
        rule = {"sample_weight": weights, "kernel": kernel}
        widths.append(resolve_bandwidth(given, X, **rule) if varies else pooled)
    return sample.per_class(widths)


def _check_widths(bandwidth: Any, n_classes: int) -> NDArray[np.float64]:
    widths = np.asarray(bandwidth, dtype=float)
    if widths.shape != (n_classes,):
        raise ValueError(
            f"bandwidth must be one number or one for each of the {n_classes} classes, got "
            f"shape {widths.shape}."
        )
    if not (np.isfinite(widths).all() and (widths > 0).all()):
        raise ValueError(f"bandwidth must be positive and finite, got {widths.tolist()}.")
    return widths


def self_tune(
    prepare: Callable[[tuple[float, ...]], Ladder],
    rules: Rules,
    sample: SortedSample,
    scoring: str,
    most: int | None = None,
) -> tuple[Table, int, Ladder]:
    """Return leave-one-out results, which of them is the best, and the ladder at its bandwidth.

    `prepare` takes bandwidths, widest first; at most `most` rows are judged.
    """
    winners: dict[float, Ladder] = {}

    def run(bandwidths: tuple[float, ...]) -> Table:
        ladder = prepare(bandwidths)
        table = race(ladder, rules, sample.in_memory, scoring, most)
        bandwidth = float(table["bandwidth"][choose(table, scoring)])
        winners[bandwidth] = ladder.at([bandwidths.index(bandwidth)])
        return table

    results, best = search(run, sample, scoring, has_stages(sample.in_memory, most))
    return results, best, winners[float(results["bandwidth"][best])]


def sample_bandwidth(bandwidth: Any, sample: SortedSample, **options: Any) -> float:
    """Return a bandwidth as a number; for rules, N is what the weights add up to."""
    n_rows = float(sample.weights.sum())
    return resolve_bandwidth(bandwidth, sample.X, sample.weights, n_rows=n_rows, **options)


def search(
    run: Callable[[tuple[float, ...]], Table],
    sample: SortedSample,
    scoring: str,
    in_stages: bool = False,
) -> tuple[Table, int]:
    """Return the leave-one-out results of a ladder of bandwidths, and which of them is the best.

    `run` takes bandwidths, widest first.  They are Silverman's times 16 … 1/16; if the score still
    rises at an end of the ladder, the ladder is extended there.
    """
    results = run(tuple(bandwidth_ladder(_centre(sample))[::-1].tolist()))
    best = choose(results, scoring)
    for _ in range(_EXTENSIONS):
        end = _rising_end(results, best, scoring)
        if end is None:
            break
        so_far = results["bandwidth"][best]
        steps = bandwidth_ladder(so_far)
        more = steps[:_STEPS] if end == "narrow" else steps[-_STEPS:]
        more = more[(more > 1e-140) & (more < 1e140)]
        if more.size == 0:
            break
        if not in_stages:
            results = _merged(results, run(tuple(more[::-1].tolist())))
            best = choose(results, scoring)
            continue
        # Only scores of one race can be compared, so that the best so far takes part again.
        latest = run(tuple(np.sort(np.append(more, so_far))[::-1].tolist()))
        rule, bandwidth = (latest[key][choose(latest, scoring)] for key in ("rule", "bandwidth"))
        results = _merged(results, latest)
        is_best = (results["rule"] == rule) & (results["bandwidth"] == bandwidth)
        best = int(np.flatnonzero(is_best)[0])
    return results, best


def _centre(sample: SortedSample) -> float:
    """Return Silverman's bandwidth, from quartiles if a few far rows make it much too large."""
    silverman = sample_bandwidth("silverman", sample)
    xp = array_namespace(sample.X)
    unit = float(xp.max(xp.abs(sample.X))) or 1.0
    X, weights = xp.astype(sample.X, xp.float64) / unit, sample.weights / xp.sum(sample.weights)
    spread = float(xp.mean(weights @ (X - weights @ X) ** 2))

    rows, shares = sample.thinned(max(1, X.shape[0] // _QUARTILE_ROWS), X, weights)
    order = np.argsort(rows, axis=0)
    below = np.cumsum(shares[order], axis=0) / shares.sum()
    low, high = (
        np.take_along_axis(rows, order, axis=0)[np.argmax(below > q, axis=0), np.arange(X.shape[1])]
        for q in (0.25, 0.75)
    )
    usual = np.mean((high - low) ** 2) / 1.349**2
    ratio = float(np.sqrt(usual / spread)) if spread > 0 else 0.0
    return silverman * ratio if 0 < ratio < 1 / _LADDER_REACH else silverman


def _rising_end(results: Table, best: int, scoring: str) -> str | None:
    """Return the end of the ladder at which the best is better than its neighbour, if any."""
    same_rule = np.flatnonzero(results["rule"] == results["rule"][best])
    place = int(np.flatnonzero(same_rule == best)[0])
    ends = {"narrow": (0, 1), "wide": (same_rule.size - 1, same_rule.size - 2)}
    for end, (last, neighbour) in ends.items():
        if same_rule.size > 1 and place == last:
            other = same_rule[neighbour]
            is_out = results["rows"][other] < results["rows"][best]
            rise = results[scoring][best] - results[scoring][other]
            if is_out or rise > max(TIE, _ERRORS * results["error"][other]):
                return end
    return None


def _merged(a: Table, b: Table) -> Table:
    """Put two tables into one, in the order of rules and bandwidths.

    Of a candidate in both, the result from more rows is kept.
    """
    both = {key: np.concatenate([a[key], b[key]]) for key in a}
    rules = list(dict.fromkeys(a["rule"].tolist()))
    rank = np.array([rules.index(rule) for rule in both["rule"].tolist()])
    order = np.lexsort((-both["rows"], both["bandwidth"], rank))
    rank, bandwidth = rank[order], both["bandwidth"][order]
    is_new = np.append(True, (np.diff(rank) != 0) | (np.diff(bandwidth) != 0))
    return {key: values[order[is_new]] for key, values in both.items()}
