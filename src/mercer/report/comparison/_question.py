"""What was asked, in words: the rows, the columns that are used and those that are not, classes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mercer._system.words import listed, percent
from mercer.comparison import ColumnRecord, QuestionRecord
from mercer.report._document import page_count
from mercer.report.charts._figures import draw_panel
from mercer.report.charts._glyphs import COLOURS

_KINDS = {"number": "numbers", "category": "categories", "date": "dates"}
_MOST_NAMED = 4  # columns or classes named in a sentence
_MOST_NAMED_BARS = 30


@dataclass(frozen=True)
class ClassShare:
    """A class, how many rows are of it, and its colour on the page."""

    name: str
    rows: str
    share: str
    weight: int
    colour: int


def class_shares(question: QuestionRecord) -> list[ClassShare]:
    """Return the classes in their own order, which gives them their colours."""
    total = sum(one.rows for one in question.classes)
    return [
        ClassShare(
            name=one.name,
            rows=page_count(one.rows),
            share=percent(one.rows / total),
            weight=one.rows,
            colour=k % COLOURS,
        )
        for k, one in enumerate(question.classes)
    ]


def class_bars(classes: Sequence[ClassShare]) -> Markup:
    """Draw the sizes of many classes, the largest first."""
    ordered = sorted(classes, key=lambda one: -one.weight)
    names = [one.name for one in ordered]
    layer = {"kind": "bars", "y": [one.weight for one in ordered]}
    if len(ordered) <= _MOST_NAMED_BARS:
        layer["names"] = names
    label = "" if len(ordered) <= _MOST_NAMED_BARS else "classes, the largest first"
    return draw_panel({"title": "", "x_label": label, "y_label": "rows", "layers": [layer]})


def sentences(question: QuestionRecord) -> list[str]:
    """Tell rows, columns and classes, a sentence each."""
    rows = f"{page_count(question.rows)} rows whose {question.target} is known"
    return [
        f"{question.table} has {rows}.",
        *_about_columns(question.columns),
        _about_gaps(question),
        _about_classes(question),
    ]


def _about_columns(columns: Sequence[ColumnRecord]) -> list[str]:
    used = [one for one in columns if one.used]
    dropped = [one for one in columns if not one.used]
    kinds = Counter(one.kind for one in used)
    of = [f"{n} of {_KINDS.get(kind, kind)}" for kind, n in kinds.most_common()]
    if len(of) == 1:
        of = [f"all of {_KINDS.get(used[0].kind, used[0].kind)}"]
    said = [f"Models see {_columns(len(used))}: {listed(of)}." if used else "Models see no column."]
    if dropped:
        reasons = [f"{_quoted(c.name)} ({c.reason.rstrip('.') or c.kind})" for c in dropped]
        are = "are" if len(dropped) > 1 else "is"
        which = listed(reasons, most=_MOST_NAMED)
        said.append(f"{_columns(len(dropped)).capitalize()} {are} not used: {which}.")
    return said


def _about_gaps(question: QuestionRecord) -> str:
    gaps = [one for one in question.columns if one.used and one.n_missing]
    if not gaps:
        return "No value that is used is missing."
    worst = max(gaps, key=lambda one: one.n_missing)
    most = f"{_quoted(worst.name)} ({percent(worst.n_missing / max(1, question.rows))})"
    if len(gaps) == 1:
        return f"Values are missing in one column that is used, {most}."
    return f"Values are missing in {len(gaps)} columns that are used, most in {most}."


def _about_classes(question: QuestionRecord) -> str:
    classes = sorted(class_shares(question), key=lambda one: -one.weight)
    target = _quoted(question.target)
    if len(classes) <= _MOST_NAMED:
        named = [f"{_quoted(one.name)} ({one.rows} rows, {one.share})" for one in classes]
        return f"{target} has {len(classes)} classes: {listed(named)}."
    first, last = classes[0], classes[-1]
    return (
        f"{target} has {len(classes)} classes, of {last.rows} rows ({_quoted(last.name)}) to "
        f"{first.rows} ({_quoted(first.name)}, {first.share})."
    )


def _columns(n: int) -> str:
    return "one column" if n == 1 else f"{page_count(n)} columns"


def _quoted(name: str) -> str:
    return f"“{name}”"
