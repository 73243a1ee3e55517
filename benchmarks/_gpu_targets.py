"""What is aimed at on a GPU, and what a run measured of it.  For bench_gpu.py."""

from _gpu_frame import head, row

SHARE, TIMES_EAGER, GROUPS_COST, ERROR = 65, 25, 1.1, 3e-6  # %, ×, ×, relative or of a log
FIT_SECONDS = {"LaplacianClassifier": 5, "SparseKernelFisherDiscriminant": 3}


def print_targets(records, n_fit):
    """Print each target's bound, the worst that was measured, and whether it is met."""
    head("target", "bound", "measured", "")
    for what, sign, bound, values, unit in _targets(records, n_fit):
        if not values:
            row(what, f"{sign} {bound:g}{unit}", "–", "not measured")
            continue
        worst = min(values) if sign == "≥" else max(values)
        if any(value != value for value in values):
            worst = float("nan")  # a wrong result: no bound is met
        met = worst >= bound if sign == "≥" else worst <= bound
        row(what, f"{sign} {bound:g}{unit}", f"{worst:.3g}{unit}", "met" if met else "missed")


def _targets(records, n_fit):
    """Yield what, sign, bound, measured values, unit."""
    high = [r for r in records if r["section"] == "sums" and r["precision"] == "high"]
    one = [r for r in high if r["groups"] == 1 and r["sum"] == "plain"]
    for is_small, limit in ((True, "exponential ceiling"), (False, "limit")):
        of = [r for r in one if (r["d"] <= 16) == is_small]
        for n in sorted({r["n"] for r in of}) or [0]:
            found = _known({r["d"]: 100 * r["share"] for r in of if r["n"] == n})
            what = f"share of the {limit} at d = {_list(found)}, n = {n:,}, least"
            yield what, "≥", SHARE, list(found.values()), " %"
    at_16 = _known({r["n"]: r["eager"] for r in one if r["d"] == 16})
    for n in sorted(at_16) or [0]:
        ratios = [at_16[n]] if n else []
        yield f"times torch eager at d = 16, n = {n:,}", "≥", TIMES_EAGER, ratios, "×"
    growth = [r for r in records if r["section"] == "growth"]
    for way in ("10 groups", "10 groups, log"):
        for n in sorted({r["n"] for r in growth}) or [0]:
            found = _known({r["d"]: r["ratios"][way] for r in growth if r["n"] == n})
            what = f"{way}: time of one at d = {_list(found)}, n = {n:,}, most"
            yield what, "≤", GROUPS_COST, list(found.values()), "×"
    for name, bound in FIT_SECONDS.items():
        fits = [r for r in records if r["section"] == "estimators" and r["name"] == name]
        seconds = [r["fit"] for r in fits if r["n"] == n_fit]
        yield f"{name} on {n_fit:,} rows", "≤", bound, seconds, " s"
    for kind in ("plain", "log"):
        errors = [r["error"] for r in high if r["sum"] == kind]
        yield f"error of {len(errors)} {kind} sums, most", "≤", ERROR, errors, ""


def _known(ratios):
    """Leave out ratios to what could not be measured."""
    return {key: ratio for key, ratio in ratios.items() if ratio == ratio}


def _list(found):
    return ", ".join(map(str, sorted(found))) or "–"
