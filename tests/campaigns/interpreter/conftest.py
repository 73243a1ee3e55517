"""The fixtures of Triton's interpreter, which the suite's handful of these tests uses too."""

from sums.interpreted import fused, interpreter  # noqa: F401
