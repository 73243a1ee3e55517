"""What a sum that may be approximated decided to do."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SumPlan:
    """How a kernel sum would be computed, and why.

    Attributes
    ----------
    method : {"direct", "fast"}
        What would be done.
    seconds : float
        Predicted time of that, on the threads at hand.
    direct_seconds : float
        Predicted time of adding up every term.
    n_modes : int
        Frequencies of the largest grid; 0 where there is no transform.
    redone : float
        Share of the sums that would be too small for the transform, and added up directly.
    reason : str
        Why, in a few words.
    """

    method: str
    seconds: float
    direct_seconds: float
    n_modes: int
    redone: float
    reason: str

    def __str__(self) -> str:
        how = f"{self.method}, about {self.seconds:.2g} s: {self.reason}"
        if self.method == "fast":
            how += f" (direct: about {self.direct_seconds:.2g} s"
            how += f"; {self.n_modes:,} modes, {self.redone:.1%} of the sums added up directly)"
        return how
