"""Backends: which one computes a problem, what they refuse, and that they agree."""

import ast
import sys
import types
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import mercer.sums
from mercer.kernels import KERNELS, Kernel, get_kernel
from mercer.samples import kind_of
from mercer.sums import (
    Removal,
    _problem,
    _reference,
    kernel_sum,
    left_out_log_sums,
    log_kernel_sum,
)
from mercer.sums._problem import Problem
from mercer.sums.cpu import _run as _cpu
from mercer.sums.torch import _run as _torch


def build(X, Y, *, order=None, weights=None, bounds=None, **options):
    """State a problem by hand."""
    defaults = {
        "kernel": get_kernel("gaussian"), "bandwidths": (1.5, 0.7), "log": False,
        "self_sum": False, "exclude_self": False, "method": "auto", "tol": None,
        "precision": "high",
    }  # fmt: skip
    bounds = (0, len(Y)) if bounds is None else bounds
    return Problem(X, Y, order, weights, bounds, **{**defaults, **options})


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 3)), RNG.normal(size=(20, 3))
X_WIDE, Y_WIDE = RNG.normal(size=(9, 12)), RNG.normal(size=(20, 12))
ORDER = RNG.permutation(20)[:17]
WEIGHTS = RNG.uniform(0.5, 1, 17)
COLUMNS = RNG.uniform(0.5, 1, (20, 4))
PROBLEMS = {
    "plain": {"X": X, "Y": Y},
    "wide": {"X": X_WIDE, "Y": Y_WIDE},
    "weights": {"X": X, "Y": Y[:17], "weights": WEIGHTS},
    "order": {"X": X, "Y": Y, "order": ORDER, "weights": WEIGHTS, "bounds": (0, 17)},
    "segments": {"X": X, "Y": Y, "order": ORDER, "bounds": (0, 5, 5, 6, 17)},
    "first segment empty": {"X": X, "Y": Y, "order": ORDER, "bounds": (0, 0, 17)},
    "last segment empty": {"X": X, "Y": Y, "order": ORDER, "bounds": (0, 17, 17)},
    "columns": {"X": X, "Y": Y, "weights": COLUMNS},
    "self": {"X": Y, "Y": Y, "self_sum": True},
    "without self": {"X": Y, "Y": Y, "self_sum": True, "exclude_self": True},
    "ordered without self": {
        "X": Y, "Y": Y, "order": ORDER, "bounds": (0, 9, 17), "self_sum": True,
        "exclude_self": True,
    },
    "columns without self": {
        "X": Y_WIDE, "Y": Y_WIDE, "weights": COLUMNS, "self_sum": True, "exclude_self": True,
    },
}  # fmt: skip


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_compiled_backend_equals_the_literal_loop(name, kernel, log):
    widths = (40.0, 40.0 / 2**0.5, 30.0) if kernel == "epanechnikov" else (4.0, 2.0, 1.9)
    options = {"kernel": get_kernel(kernel), "bandwidths": widths, "log": log}
    problem = build(**PROBLEMS[name], **options)
    assert _cpu.refuses(problem) is None
    out, expected = _cpu.run(problem), _reference.run(problem)
    assert out.shape == expected.shape
    np.testing.assert_allclose(out, expected.astype(float), rtol=1e-13, atol=1e-13)


def test_reference_is_right():
    """Held to a sum that can be done by hand."""
    problem = build(np.zeros((1, 1)), np.array([[0.0], [2.0]]), bandwidths=(1.0,))
    np.testing.assert_allclose(float(_reference.run(problem)[0, 0, 0]), 1 + np.exp(-2), rtol=1e-15)
    assert not _reference.OWNS
    assert _reference.refuses(problem) is None


@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum])
def test_fast_method_is_refused_with_a_sentence(function, torch):
    options = {"bandwidth": 1.0, "method": "fast", "tol": 1e-3}
    sentence = r"^method='fast' is not available for torch tensors; use method='direct'\.$"
    with pytest.raises(ValueError, match=sentence):
        function(torch.as_tensor(X), **options)


@pytest.mark.parametrize("method", ["auto", "direct"])
def test_exact_methods_are_the_same(method):
    out = kernel_sum(X, Y, bandwidth=1.0, method=method, tol=0.1)
    np.testing.assert_array_equal(out, kernel_sum(X, Y, bandwidth=1.0))


def test_array_that_no_backend_owns_is_refused():
    class Strange:
        pass

    with pytest.raises(ValueError, match=r"^No backend computes sums over Strange\.$"):
        _problem.compute(build(Strange(), Y))


def test_each_array_has_one_owner(torch):
    tensor = kind_of(torch.zeros(2, 2))
    assert tensor in _torch.OWNS
    assert tensor not in _cpu.OWNS
    assert kind_of(X) in _cpu.OWNS
    assert kind_of(X) not in _torch.OWNS


def test_tensors_on_a_gpu_are_told_apart_without_one(torch):
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode():
        there = kind_of(torch.empty(2, 2, device="cuda"))
    owners = [name for name in _problem._BACKENDS if there in import_module(name).OWNS]
    assert there == "cuda"
    assert owners == [
        "mercer.sums._devices",
        "mercer.sums._in_memory",
        "mercer.sums.cuda",
        "mercer.sums.torch",
    ]


def test_first_backend_that_does_not_refuse_computes(monkeypatch):
    calls = []

    def backend(name, reason):
        module = types.ModuleType(name)
        module.OWNS = ("numpy",)
        module.refuses = lambda problem: reason
        module.run = lambda problem: calls.append(name)
        monkeypatch.setitem(sys.modules, name, module)
        return name

    busy, lazy, ready = (
        backend("_busy", "busy now"),
        backend("_lazy", "no"),
        backend("_ready", None),
    )
    monkeypatch.setattr(_problem, "_BACKENDS", (busy, ready, lazy))
    _problem.compute(build(X, Y))
    assert calls == ["_ready"]
    monkeypatch.setattr(_problem, "_BACKENDS", (busy, lazy))
    with pytest.raises(ValueError, match=r"^busy now; no\.$"):
        _problem.compute(build(X, Y))


def test_fast_precision_stays_near(backend):
    """Products even where they cancel: a few digits less, not a different answer."""
    exact = backend.kernel_sum(X_WIDE, Y_WIDE, bandwidth=3.0)
    fast = backend.kernel_sum(X_WIDE, Y_WIDE, bandwidth=3.0, precision="fast")
    np.testing.assert_allclose(fast, exact, rtol=1e-3)


class Box(Kernel):
    """A kernel that a user brings along: 1 within the bandwidth, 0 beyond."""

    def _profile(self, d2, xp, bandwidth):
        return xp.where(d2 < bandwidth**2, xp.ones_like(d2), xp.zeros_like(d2))

    def _log_profile(self, d2, xp, bandwidth):
        return xp.log(self._profile(d2, xp, bandwidth))

    def log_normaliser(self, bandwidth, n_features):
        raise ValueError("not needed here")

    log_self_overlap = log_normaliser


@pytest.mark.parametrize("name", ["box", "gaussian"])
def test_a_kernel_of_ones_own_is_refused_where_it_is_not_compiled(torch, name):
    box = Box(name, False, 2, False, True)
    X = np.array([[0.0], [0.5], [3.0]])
    with pytest.raises(ValueError, match=f"kernel '{name}' is not compiled for NumPy arrays"):
        kernel_sum(X, kernel=box, bandwidth=1.0)
    out = kernel_sum(torch.as_tensor(X), kernel=box, bandwidth=1.0)
    np.testing.assert_array_equal(out, [2, 2, 1])


# ------------------------------------------------------------------------------------ one list


@pytest.mark.parametrize("name", [*_problem._BACKENDS, "mercer.sums._reference"])
def test_every_backend_answers_the_three_questions(name):
    backend = import_module(name)
    assert set(backend.OWNS) <= {"blocks", "numpy", "torch", "cuda"}
    for question in ("refuses", "run"):
        assert callable(getattr(backend, question))
    assert kind_of(object()) not in backend.OWNS


def test_rows_in_blocks_have_one_owner():
    da = pytest.importorskip("dask.array")
    lazy = da.zeros((4, 2), chunks=2)
    first, *others = (import_module(name) for name in _problem._BACKENDS)
    assert (kind_of(lazy),) == first.OWNS
    assert not any(kind_of(lazy) in backend.OWNS for backend in others)


def test_left_out_sums_are_a_problem_as_all_others(monkeypatch):
    seen = []
    module = types.ModuleType("_seen")
    module.OWNS, module.refuses = ("numpy",), (lambda problem: None)
    module.run = lambda problem: seen.append(problem) or (np.zeros((1, 2, 1)), None)
    monkeypatch.setitem(sys.modules, "_seen", module)
    monkeypatch.setattr(_problem, "_BACKENDS", ("mercer.sums._in_memory", "_seen"))
    rows, weights = np.array([4, 1]), np.ones((1, 20))
    removal = Removal(np.ones(20), weights, np.ones(20), True, weights)
    logs, drifts = left_out_log_sums(
        Y, np.zeros(20, int), bandwidths=(1.0,), weights=weights, removal=removal, rows=rows,
        n_groups=3,
    )  # fmt: skip
    (problem,) = seen
    assert problem.is_left_out
    assert problem.removal is removal
    assert problem.n_rows == 2
    assert problem.bounds == (0, 20)
    np.testing.assert_array_equal(logs, [[[0, -np.inf, -np.inf]] * 2])  # groups without a row
    assert drifts is None
    assert "tests/sums" in _reference.refuses(problem)
    monkeypatch.setattr(_problem, "_BACKENDS", ("mercer.sums.fast", "mercer.sums.cpu"))
    logs, drifts = _problem.compute(problem)
    assert logs.shape == drifts.shape == (1, 2, 1)


def test_no_name_stands_for_two_things_in_the_package():
    """But for the questions that all backends answer."""
    places = {}
    for path in Path(mercer.sums.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                places.setdefault(node.name, []).append(path.name)
    twice = {name for name, files in places.items() if len(files) > 1}
    assert twice == {"refuses", "run"}


def test_an_exponential_of_ones_own_is_compiled(torch):
    """It is told by its coefficient and its power, whoever wrote it."""

    class Heat(Box):
        def _profile(self, d2, xp, bandwidth):
            return xp.exp(self._log_profile(d2, xp, bandwidth))

        def _log_profile(self, d2, xp, bandwidth):
            return -d2 / bandwidth**2

    heat = Heat("heat", True, 2, True, True)
    for function in (kernel_sum, log_kernel_sum):
        expected = function(X, Y, bandwidth=np.sqrt(0.5) * np.array([3.0, 2.0]))
        found = function(X, Y, kernel=heat, bandwidth=[3.0, 2.0])
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        tensors = torch.as_tensor(X), torch.as_tensor(Y)
        found = function(*tensors, kernel=heat, bandwidth=[3.0, 2.0])
        np.testing.assert_allclose(found, expected, rtol=1e-13)
