"""How a comparison was measured, in words, and on what."""

from mercer._system.words import confidence, duration, is_known, listed
from mercer.comparison import ComparisonRecord, SplitsRecord
from mercer.report._document import page_count


def measured_sentences(record: ComparisonRecord) -> list[tuple[str, str]]:
    """Return what the page says of splits, preparation, metric, intervals and tests."""
    level = confidence(record.confidence_level)
    said = {
        "Splits": _about_splits(record.splits, record.rounds),
        "Preparation": _PREPARATION,
        "Metric": record.metric_reason or f"Scored by {record.metric}.",
        "Intervals": f"{level} {_INTERVALS}",
        "Tests": _about_tests(record),
        "Time and size": _COSTS,
    }
    return [(name, text) for name, text in said.items() if text]


_PREPARATION = (
    "Filling gaps, scaling and encoding are learnt from the training rows of a split alone, and "
    "so is every choice of a model's settings."
)
_INTERVALS = (
    "intervals of the mean score, by Student's t over rounds, widened as Nadeau and Bengio "
    "propose because rounds share training rows; none where a score never varies, or where the "
    "interval would leave nothing out."
)
_COSTS = (
    "Medians over rounds, each fit on one thread; size is that of the model of the first split, "
    "pickled."
)


def _about_splits(splits: SplitsRecord, rounds: int) -> str:
    each = "The round" if rounds == 1 else f"Each of the {rounds} rounds"
    return (
        f"Repeated stratified folds, {splits.folds} at a time. {each} trains on about "
        f"{page_count(splits.train_rows)} rows and tests on about "
        f"{page_count(splits.test_rows)} others; every model gets the same splits."
    )


def _about_tests(record: ComparisonRecord) -> str:
    """Say how pairs were tested: those of models, and those with the floor, each apart."""
    floors = sorted(one.name for one in record.models if one.kind == "floor")
    n_floor = sum(pair.a in floors or pair.b in floors for pair in record.pairs)
    n_pairs = len(record.pairs) - n_floor
    families = [f"{n_pairs} of models"] if n_pairs else []
    families += [f"{n_floor} with {listed(floors)}"] if n_floor else []
    if not families:
        return ""
    over = " and ".join(families) + (", each family apart" if len(families) > 1 else "")
    return (
        "The corrected resampled t-test on the differences of each pair, with Holm's correction "
        f"over the pairs ({over}). A difference that is the same on every split has no spread: "
        "there McNemar's exact test of the test rows, or the sign test of the splits, takes its "
        "place. “Not told apart” means that the difference from the best could be chance; it does "
        "not mean that the two are equal."
    )


def machine_facts(record: ComparisonRecord) -> list[tuple[str, str]]:
    """Return what the foot of the page says of the run."""
    machine = record.machine
    facts = [
        ("Seed", str(record.seed)),
        ("Rounds", str(record.rounds)),
        ("Budget", _time(record.budget_seconds)),
        ("Time of the rounds", _time(record.seconds)),
        ("System", str(machine.get("system", ""))),
        ("Processor", str(machine.get("processor", ""))),
        ("Cores", str(machine.get("cores", "") or "")),
    ]
    return [(name, text) for name, text in facts if text]


def _time(value: float | None) -> str:
    return duration(value) if is_known(value) else ""
