"""The gallery's example runs, and its projection finds what Fisher's discriminant can not."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_learn_projection.py"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="examples are not installed")
def test_learn_projection(torch, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda: None)
    axes = runpy.run_path(str(EXAMPLE))["axes"].ravel()
    right = [int(re.search(r"(\d+)%", axis.get_title()).group(1)) for axis in axes]
    assert min(right[:3]) > 90  # wine: each of the three projections serves
    assert max(right[3:5]) < 50 < 90 < right[5]  # rings: only the learned one does
    pyplot.close("all")
