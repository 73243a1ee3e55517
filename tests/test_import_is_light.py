"""`import mercer` and its packages load no heavy library that a sum may never need."""

import subprocess
import sys

import pytest

from test_public_api import PACKAGES

HEAVY = ["torch", "dask", "numba", "matplotlib", "plotly"]


@pytest.mark.parametrize("name", PACKAGES)
def test_import_loads_nothing_heavy(name):
    code = f"import sys, {name}; print(*(m for m in {HEAVY} if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
