"""The tables of sim_sets.py: coverage and size on every table, beside MAPIE's."""

import numpy as np

NOMINAL = 0.9
LEAST = 0.89  # that coverage should have on every table
LEVELS = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975, 0.985]
OURS = (
    ("tuned", "jackknife+"),
    ("tuned", "left-out"),
    ("beforehand", "jackknife+"),
    ("beforehand", "left-out"),
    ("auto", "jackknife+"),
    ("auto", "left-out"),
    ("sparse", "left-out"),
    ("parzen", "left-out"),
    ("laplacian", "left-out"),
    ("ise", "left-out"),
)
PEERS = (("mapie split", "MAPIE split"), ("mapie cross", "MAPIE cross"))


def print_report(draws):
    """Print a line for each table, and what the methods come to over all of them."""
    draws = {name: lines for name, lines in draws.items() if len(lines) >= 10}
    print(
        "| table | draws | right | jackknife+ | ± | size | left-out | size | MAPIE split | size | "
        "at our coverage | MAPIE cross | size | at our coverage |"
    )
    print("|---" * 14 + "|")
    for name, lines in draws.items():
        cells = [name.replace("numeric/", ""), str(len(lines)), _percent(_right(lines, "tuned"))]
        for method in ("jackknife+", "left-out"):
            held, size, _ = _mean(lines, "tuned", method)
            cells.append(_percent(held))
            if method == "jackknife+":
                cells.append(_percent(_error(lines, "tuned", method)))
            cells.append(f"{size:.2f}")
        for peer, _ in PEERS:
            cells += _peer_cells(lines, peer)
        print("| " + " | ".join(cells) + " |")
    _print_summary(draws)


def _peer_cells(lines, peer):
    """Coverage and size at the nominal coverage, and size at that of the jackknife+."""
    lines = [one for one in lines if peer in one]
    if not lines:
        return ["–"] * 3
    held, size, _ = _peer_mean(lines, peer, "with the prediction", LEVELS.index(NOMINAL))
    ours, _, _ = _mean(lines, "tuned", "jackknife+")
    return [_percent(held), f"{size:.2f}", f"{_size_at(lines, peer, 'as it is', ours):.2f}"]


def _print_summary(draws):
    print("\nMeans over tables; those that are right less often than 90 % apart.\n")
    print(
        "| sets | tables | draws | coverage | least | below 89 % | surely | size | one class | "
        "hard: coverage | hard: size | easy: coverage | easy: size |"
    )
    print("|---" * 13 + "|")
    for kind, method in OURS:
        found = {
            name: (
                _mean(lines, kind, method),
                _right(lines, kind),
                _count(lines, kind),
                _error(lines, kind, method),
            )
            for name, lines in draws.items()
            if _count(lines, kind)
        }
        _print_line(f"{kind}, {method}", found)
    for peer, label in PEERS:
        for way in ("with the prediction", "as it is"):
            found = {}
            for name, lines in draws.items():
                if _count(lines, peer):
                    mean = _peer_mean(lines, peer, way, LEVELS.index(NOMINAL))
                    error = _peer_error(lines, peer, way, LEVELS.index(NOMINAL))
                    found[name] = (mean, _right(lines, "tuned"), _count(lines, peer), error)
            _print_line(f"{label}, {way}", found)
    _print_equal(draws)
    _print_surely_below(draws)
    _print_cost_of_choice(draws)


def _print_surely_below(draws):
    """Name the tables whose coverage is below the least by two standard errors."""
    print(f"\nBelow {_percent(LEAST)} % by two standard errors:\n")
    for kind, method in OURS:
        for name, lines in draws.items():
            if _count(lines, kind) < 2:
                continue
            held, error = _mean(lines, kind, method)[0], _error(lines, kind, method)
            if held + 2 * error < LEAST:
                print(f"- {kind}, {method}, {name}: {_percent(held)} ({_count(lines, kind)} draws)")


def _print_cost_of_choice(draws):
    """Print what choosing kernel and scales adds to coverage, on the same draws of hard tables."""
    both = [[one for one in lines if "auto" in one] for lines in draws.values()
            if _right(lines, "tuned") < NOMINAL and _count(lines, "auto")]  # fmt: skip
    if not both:
        return
    print(f"\nCoverage of {len(both)} hard tables, where kernel and scales are chosen too:\n")
    for method in ("jackknife+", "left-out"):
        means = [np.mean([_mean(lines, kind, method)[0] for lines in both])
                 for kind in ("auto", "tuned")]  # fmt: skip
        print(f"- {method}: auto {_percent(means[0])}, tuned {_percent(means[1])} (same draws)")


def _print_line(label, found):
    if not found:
        return
    means, right, counts, errors = zip(*found.values(), strict=True)
    held, size, alone = np.array(means).T
    hard = np.array(right) < NOMINAL
    # Errors of one draw are not known: such a table is sure of nothing.
    surely = held + 2 * np.nan_to_num(errors, nan=np.inf) < LEAST
    cells = [
        label, str(len(found)), str(sum(counts)), _percent(held.mean()), _percent(held.min()),
        str(int((held < LEAST).sum())), str(int(surely.sum())),
        f"{size.mean():.3f}", _percent(alone.mean()),
    ]  # fmt: skip
    for part in (hard, ~hard):
        cells += (
            [_percent(held[part].mean()), f"{size[part].mean():.3f}"] if part.any() else ["–"] * 2
        )
    print("| " + " | ".join(cells) + " |")


def _print_equal(draws):
    """Print mean sizes where MAPIE is asked for the coverage that our sets have, table by table."""
    print("\nSizes at equal coverage: MAPIE's level is set so that it covers what ours cover.\n")
    print("| ours | MAPIE | tables | our size | its size | ours smaller | its smaller |")
    print("|---" * 7 + "|")
    for method in ("jackknife+", "left-out"):
        for peer, label in PEERS:
            for way in ("with the prediction", "as it is"):
                pairs = []
                for lines in draws.values():
                    both = [one for one in lines if peer in one]
                    if both:
                        held, size, _ = _mean(both, "tuned", method)
                        pairs.append((size, _size_at(both, peer, way, held)))
                if not pairs:
                    continue
                ours, its = np.array(pairs).T
                known = np.isfinite(its)
                cells = [
                    method, f"{label}, {way}", str(int(known.sum())), f"{ours[known].mean():.3f}",
                    f"{its[known].mean():.3f}", str(int((ours < its - 1e-9)[known].sum())),
                    str(int((its < ours - 1e-9)[known].sum())),
                ]  # fmt: skip
                print("| " + " | ".join(cells) + " |")


def _count(lines, kind):
    return sum(kind in one for one in lines)


def _right(lines, kind):
    return float(np.mean([one[kind]["accuracy"] for one in lines if kind in one]))


def _mean(lines, kind, method):
    """Coverage, size and share of sets with one class, over the draws."""
    return np.mean([one[kind][method] for one in lines if kind in one], axis=0)


def _error(lines, kind, method):
    """Standard error of the coverage; NaN of one draw."""
    held = [one[kind][method][0] for one in lines if kind in one]
    return np.std(held, ddof=1) / np.sqrt(len(held)) if len(held) > 1 else float("nan")


def _peer_error(lines, peer, way, level):
    held = [one[peer][way][level][0] for one in lines if peer in one]
    return np.std(held, ddof=1) / np.sqrt(len(held)) if len(held) > 1 else float("nan")


def _peer_mean(lines, peer, way, level):
    return np.mean([one[peer][way][level] for one in lines if peer in one], axis=0)


def _size_at(lines, peer, way, coverage):
    """The peer's mean size where its mean coverage is this, between two of its levels.

    Coverage grows with the level; below the least that it can have, its size is the least.  NaN
    above the most.
    """
    n_levels = min(len(one[peer][way]) for one in lines if peer in one)
    curve = np.array([_peer_mean(lines, peer, way, level)[:2] for level in range(n_levels)])
    held, size = np.maximum.accumulate(curve, axis=0).T
    return float(np.interp(coverage, held, size)) if coverage <= held[-1] else float("nan")


def _percent(share):
    return f"{100 * share:.1f}"
