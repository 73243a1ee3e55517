"""`import mercer` and its packages load no heavy library that a sum may never need."""

import subprocess
import sys

from test_public_api import PACKAGES

HEAVY = ["torch", "dask", "numba", "matplotlib", "plotly"]


def test_import_loads_nothing_heavy():
    """All in one process: what they load together is all that any of them loads by itself."""
    code = f"""
import sys
from importlib import import_module
for name in {PACKAGES}:
    import_module(name)
    for heavy in {HEAVY}:
        if heavy in sys.modules:
            print(f"{{name}} loads {{heavy}}")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == []
