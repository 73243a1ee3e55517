"""How wide a window should be.

A Parzen estimate depends on the width of its windows far more than on their form.  Four ways
to one number, the bandwidth h (the standard deviation of a Gaussian window):

- rules of thumb from spread and number of rows: :func:`silverman_bandwidth`,
  :func:`silverman_amise_bandwidth`, :func:`scott_bandwidth`;
- a plug-in rule for one column, :func:`improved_sheather_jones_bandwidth`;
- cross-validation of the density over a ladder of bandwidths, in one pass over all pairs:
  :func:`likelihood_cross_validation`, :func:`least_squares_cross_validation`;
- :func:`resolve_bandwidth`, which takes what users write: a number or one of these by name.

Everything follows the scale of the data, and a weight of 2 is the same as a row twice.

>>> import numpy as np
>>> from mercer.bandwidth import resolve_bandwidth
>>> X = np.random.default_rng(0).normal(size=(200, 2))
>>> [round(resolve_bandwidth(name, X), 3) for name in ("silverman", "scott", "likelihood-cv")]
[0.397, 0.412, 0.561]
"""

from mercer.bandwidth._cross_validation import (
    least_squares_cross_validation,
    likelihood_cross_validation,
)
from mercer.bandwidth._rules import RULES as RULES
from mercer.bandwidth._rules import (
    bandwidth_ladder,
    resolve_bandwidth,
    scott_bandwidth,
    silverman_amise_bandwidth,
    silverman_bandwidth,
)
from mercer.bandwidth._search import BandwidthSearch
from mercer.bandwidth._sheather_jones import improved_sheather_jones_bandwidth

__all__ = [
    "BandwidthSearch",
    "bandwidth_ladder",
    "improved_sheather_jones_bandwidth",
    "least_squares_cross_validation",
    "likelihood_cross_validation",
    "resolve_bandwidth",
    "scott_bandwidth",
    "silverman_amise_bandwidth",
    "silverman_bandwidth",
]
# Other packages of Mercer import these names as well; they are private and change without notice.
_FOR_MERCER = ("RULES",)
