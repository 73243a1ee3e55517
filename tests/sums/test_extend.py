"""The backend of docs/extend.md, in the list as it stands on the page."""

import sys
import types

import numpy as np
import pytest

from mercer.sums import _problem, kernel_sum, left_out_log_sums, log_kernel_sum
from oracles import sums as oracle
from pages.reading import PAGES, blocks

NAME = "mercer.sums._exactly"


@pytest.fixture
def added(monkeypatch):
    """Put the page's backend before the others in memory; return the problems that it computed."""
    page = next(path for path in PAGES if path.name == "extend.md")
    (block,) = (block for block in blocks(page) if "OWNS = " in block.text)
    module, problems = types.ModuleType(NAME), []
    exec(block.text, vars(module))  # noqa: S102
    run = module.run
    module.run = lambda problem: problems.append(problem) or run(problem)
    monkeypatch.setitem(sys.modules, NAME, module)
    place = _problem._BACKENDS.index("mercer.sums._in_memory") + 1
    names = (*_problem._BACKENDS[:place], NAME, *_problem._BACKENDS[place:])
    monkeypatch.setattr(_problem, "_BACKENDS", names)
    return problems


def test_the_backend_of_the_page_computes_what_it_does_not_refuse(added):
    rng = np.random.default_rng(0)
    X, Y, groups = rng.normal(size=(20, 3)), rng.normal(size=(30, 3)), np.arange(30) % 4
    weights = rng.uniform(size=30)
    sums = kernel_sum(X, Y, weights=weights, groups=groups, bandwidth=[2.0, 1.0])
    assert sums.shape == (2, 20, 4)
    assert len(added) == 1
    for rung, bandwidth in enumerate((2.0, 1.0)):
        options = {"weights": weights, "groups": groups, "bandwidth": bandwidth}
        literal = oracle.kernel_sum(X, Y, **options).astype(float)
        np.testing.assert_allclose(sums[rung], literal, rtol=1e-14)
    log_kernel_sum(X, Y, bandwidth=1.0)
    kernel_sum(np.zeros((200, 1)), bandwidth=1.0)
    left_out_log_sums(Y, groups, bandwidths=(1.0,), weights=weights[None, :])
    assert len(added) == 1
