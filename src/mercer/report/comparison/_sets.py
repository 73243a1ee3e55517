"""How many rows are decided, and how many are too close to call, in a sentence or two."""

from mercer._system.words import confidence, percent
from mercer.comparison import SetsRecord
from mercer.report._document import page_count


def sets_sentence(found: SetsRecord | None) -> str:
    """Say how many of the tested rows a model decides alone; nothing where no model has sets."""
    if found is None or not found.rows:
        return ""
    level, rows = confidence(found.coverage), page_count(found.rows)
    held = percent(found.held / found.rows)
    if found.alone == found.rows:
        return (
            f"Asked for sets of classes that hold the true one in {level} of rows, {found.model} "
            f"answers all {rows} tested rows with one class: that alone is right in {held}."
        )
    return (
        f"Asked for sets of classes that hold the true one in {level} of rows, {found.model} "
        f"decides {percent(found.alone / found.rows)} of the {rows} tested rows alone, and "
        f"{percent(1 - found.alone / found.rows)} are too close to call. The sets hold the true "
        f"class in {held} of rows; one class alone is right in "
        f"{percent(found.right / found.alone if found.alone else None)}."
    )
