"""What a check found: a code, a sentence with the evidence and what to do, and where to read on."""

from dataclasses import dataclass

# By code, in the order in which findings are shown: the question that the check asks.
CODES = {
    "leak": "Does a column alone give the answer?",
    "id": "Does an identifier tell the class?",
    "time": "Does a column hold times?",
    "groups": "Do rows come in groups?",
    "row-order": "Are neighbouring rows alike?",
    "copied-rows": "Do rows stand in the table again?",
    "copied-columns": "Do two columns say the same?",
    "few-rows": "Are there rows enough to tell?",
    "drift": "Are the test rows such as the table?",
}


@dataclass(frozen=True)
class Finding:
    """What a check noticed in a table.

    Parameters
    ----------
    code : str
        Short name of the check, which docs/checks.md has a section for.
    text : str
        One sentence with the evidence and what to do.
    columns : tuple of str
        The columns that it is about, if any.
    """

    code: str
    text: str
    columns: tuple[str, ...] = ()

    @property
    def link(self) -> str:
        """The section of the documentation."""
        return f"docs/checks.md#{self.code}"

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"
