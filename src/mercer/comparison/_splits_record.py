"""What is kept of how rows were split, and the sentences that say which tests hold for it."""

from dataclasses import dataclass

from mercer._system.words import count_of, grouped, quoted

_OVERLAP = (
    "by Student's t over rounds, widened as Nadeau and Bengio propose because rounds share "
    "training rows; none where a score never varies, or where the interval would leave nothing out."
)
_CORRECTED = (
    "The corrected resampled t-test on the differences of each pair. A difference that is the same "
    "on every split has no spread: there "
)


@dataclass(frozen=True, kw_only=True)
class SplitsRecord:
    """How rows were split; the sizes are means over the rounds.

    ``kind`` is "repeated stratified folds", "stratified folds of whole groups", "later rows by
    earlier ones" or "a test file", and ``source`` the column of groups or times, or the file.  Of
    scores from elsewhere it is a sentence, and nothing else is known.
    """

    kind: str = "repeated stratified folds"
    source: str = ""
    folds: int | None = None
    train_rows: float | None = None
    test_rows: float | None = None

    @property
    def sentence(self) -> str:
        """How rows were split, in a sentence."""
        if self.kind == "stratified folds of whole groups":
            return (
                f"Whole groups of {quoted(self.source)} are tested, by stratified folds, "
                f"{self.folds} at a time: no group is on both sides."
            )
        if self.kind == "later rows by earlier ones":
            return (
                f"The later half by {quoted(self.source)} is tested, in "
                f"{count_of(self.folds or 0, 'block')}: each is told by all rows that are earlier."
            )
        if self.kind == "a test file":
            return (
                f"Models are fitted once, on {grouped(self.train_rows)} rows of the table, and "
                f"tested on {grouped(self.test_rows)} rows of {self.source}."
            )
        return f"Repeated stratified folds, {self.folds} at a time."

    @property
    def intervals(self) -> str:
        """How intervals come about, after the words "95 % intervals of the mean score,"."""
        if self.kind == "a test file":
            return (
                "by Student's t over 40 random parts of the test rows (the jackknife); they are of "
                "these fitted models, and of other rows such as these. None where a score never "
                "varies."
            )
        return _OVERLAP

    @property
    def tests(self) -> str:
        """Which test every pair has, in sentences."""
        if self.kind == "a test file":
            return (
                "Accuracy by McNemar's test of the test rows, any other score by a paired t-test "
                "of 40 random parts of them. They are of these fitted models: with other training "
                "rows the order may be another."
            )
        signs = "the sign test of the splits"
        if self.kind != "repeated stratified folds":  # Here rows are not independent.
            return f"{_CORRECTED}{signs} takes its place."
        return (
            "Accuracy by the corrected test of rows: the differences of each row, averaged over "
            "the rounds that tested it, with the correction of Nadeau and Bengio for shared "
            f"training rows. Any other score so: {_CORRECTED[:1].lower()}{_CORRECTED[1:]}McNemar's "
            f"exact test of the test rows, or {signs}, takes its place."
        )
