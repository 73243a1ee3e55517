"""Gaussian sums of few features within a tolerance, in time that grows with the rows.

`_plan` predicts which way is quickest; `_transform` and `_grid` take non-uniform Fourier
transforms; `_near` adds up the columns that count where the sums are too small for these.
"""

from mercer.sums.fast._run import owns, refuses, run

__all__ = ["owns", "refuses", "run"]
