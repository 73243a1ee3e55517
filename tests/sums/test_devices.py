"""Several devices share a sum: a device that is named more than once stands for several."""

import numpy as np
import pytest
from sklearn import config_context

from mercer import LaplacianClassifier
from mercer.sums import (
    Removal,
    _devices,
    _problem,
    explain_kernel_sum,
    kernel_sum,
    left_out_log_sums,
    log_kernel_sum,
    use_devices,
)
from oracles import sums as oracle

PLACES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture
def parts(monkeypatch):
    """The problems that devices were given."""
    seen = []

    def compute(problem):
        seen.append(problem)
        return _problem.compute(problem)

    monkeypatch.setattr(_devices, "compute", compute)
    return seen


def rows(torch, place="cpu", n=2000, d=5, dtype="float64"):
    A = np.random.default_rng(d).normal(size=(n, d)).astype(dtype)
    return A, torch.as_tensor(A, device=place)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum])
@pytest.mark.parametrize("of", ["plain", "weights", "columns", "groups"])
@pytest.mark.parametrize("how", ["two arrays", "one array", "without self"])
def test_shared_sums_are_those_of_one_device(torch, parts, place, function, of, how):
    dtype = "float64" if place == "cpu" else "float32"
    n = 60 if place == "cpu" else 2000
    A, X = rows(torch, place, n=n, dtype=dtype)
    B, Y = rows(torch, place, n=n + 7, dtype=dtype)
    if how != "two arrays":
        B, Y = None, None
    m = len(A if B is None else B)
    rng = np.random.default_rng(0)
    options = {
        "plain": {},
        "weights": {"weights": rng.random(m).astype(dtype)},
        "columns": {"weights": rng.random((m, 3)).astype(dtype)},
        "groups": {"groups": np.r_[np.arange(m - 1) % 2, 2]},  # the last has one row
    }[of]
    options |= {"bandwidth": 1.7, "exclude_self": how == "without self"}
    given = dict(options)
    if "weights" in options:
        given["weights"] = torch.as_tensor(options["weights"], device=place)
    with use_devices(place, place, place):
        out = function(X, Y, **given)
    assert len(parts) == (3 if B is not None else 6)
    assert out.device == X.device
    assert out.dtype == X.dtype
    expected = getattr(oracle, function.__name__)(A, B, **options).astype(float)
    within = 1e-12 if place == "cpu" else 1e-5
    np.testing.assert_allclose(out.cpu(), expected, rtol=within, atol=within)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("wanted", [None, slice(3, 40), np.array([9, 2, 55, 30, 31])])
def test_shared_left_out_sums(torch, place, wanted):
    _, X = rows(torch, place, n=60)
    rng = np.random.default_rng(0)
    groups, widths = np.arange(60) % 3, (2.0, 2.0**0.5)
    on_device = {"device": place, "dtype": torch.float64}
    weights, q = (torch.as_tensor(rng.uniform(1, 2, (2, 60)), **on_device) for _ in range(2))
    amount, least = (torch.as_tensor(rng.uniform(0.1, 0.2, 60), **on_device) for _ in range(2))
    removal = Removal(amount, 10 * weights, least, True, q)
    for leaving in (None, removal):
        options = {"bandwidths": widths, "weights": weights, "removal": leaving, "rows": wanted}
        expected = left_out_log_sums(X, groups, **options)
        with use_devices(place, place):
            found = left_out_log_sums(X, groups, **options)
        torch.testing.assert_close(found[0], expected[0])
        assert (found[1] is None) == (leaving is None)
        if leaving is not None:
            torch.testing.assert_close(found[1], expected[1])


def test_own_terms_are_exact(torch):
    """At so narrow a window a row sees itself alone."""
    _, X = rows(torch, n=9, d=3)
    with use_devices("cpu", "cpu"):
        assert (kernel_sum(X, bandwidth=1e-3) == 1).all()
        assert (kernel_sum(X, bandwidth=1e-3, exclude_self=True) == 0).all()
        assert (log_kernel_sum(X, bandwidth=1e-3) == 0).all()
        assert torch.isneginf(log_kernel_sum(X, bandwidth=1e-3, groups=np.arange(9))).sum() == 0


def test_devices_may_outnumber_the_rows(torch, parts):
    _, X = rows(torch, n=2)
    with use_devices("cpu", "cpu", "cpu"):
        shared = kernel_sum(X, bandwidth=1.0)
        assert kernel_sum(X[:0], X, bandwidth=1.0).shape == (0,)
        assert (kernel_sum(X, X[:0], bandwidth=1.0) == 0).all()
        assert kernel_sum(X[:1], bandwidth=1.0).tolist() == [1.0]
    torch.testing.assert_close(shared, kernel_sum(X, bandwidth=1.0))
    assert len(parts) == 6


def test_nothing_is_shared_outside(torch, parts):
    _, X = rows(torch, n=30)
    kernel_sum(X, bandwidth=1.0)
    assert not parts
    with use_devices("cpu"), pytest.raises(KeyError), use_devices("cpu", "cpu"):
        raise KeyError
    assert _devices.devices_in_use() == ()


def test_threads_have_the_settings_of_the_call(torch, monkeypatch):
    seen = []
    part = _devices._part_of_sums

    def look(*given):
        from mercer._memory import working_memory

        seen.append((working_memory(), _devices.devices_in_use()))
        return part(*given)

    monkeypatch.setattr(_devices, "_part_of_sums", look)
    with config_context(working_memory=3), use_devices("cpu", "cpu"):
        kernel_sum(rows(torch, n=30)[1], bandwidth=1.0)
    assert seen == [(3 * 2**20, ())] * 2


def test_gradients_are_refused(torch):
    _, X = rows(torch, n=30)
    X.requires_grad_()
    with use_devices("cpu", "cpu"):
        with pytest.raises(ValueError, match="have no gradients: leave the context"):
            kernel_sum(X, bandwidth=1.0)
        with torch.no_grad():
            sums = kernel_sum(X, bandwidth=1.0)
    assert not sums.requires_grad
    assert kernel_sum(X, bandwidth=1.0).requires_grad


def test_an_error_of_a_part_is_raised(torch):
    with use_devices("cpu", "cpu"), pytest.raises(ValueError, match="method='fast' is not"):
        kernel_sum(rows(torch, n=30)[1], bandwidth=1.0, method="fast", tol=1e-3)


def test_the_plan_names_the_devices(torch):
    A, X = rows(torch, n=30)
    with use_devices("cpu", torch.device("cpu")):
        plan = explain_kernel_sum(X, bandwidth=1.0)
        assert plan.reason.endswith("; 2 devices share the rows: cpu, cpu")
        assert explain_kernel_sum(A, bandwidth=1.0).reason.endswith("cpu, cpu")
        assert "devices" not in explain_kernel_sum(A, bandwidth=1.0, tol=1e-3).reason
    assert "devices" not in explain_kernel_sum(X, bandwidth=1.0).reason


@pytest.mark.parametrize(
    ("devices", "sentence"),
    [
        ((), "use_devices needs at least one device"),
        (("gpu one",), "A device is cpu, cuda or cuda:1, not 'gpu one'"),
        (("cpu", 1.5), "A device is cpu, cuda or cuda:1, not 1.5"),
        (("meta",), "A device is cpu, cuda or cuda:1, not 'meta'"),
    ],
)
def test_wrong_devices(devices, sentence):
    with pytest.raises(ValueError, match=sentence), use_devices(*devices):
        pass


def test_a_device_that_is_not_there_is_asked_for_by_a_sum(torch):
    """A client of a cluster need not have the devices of its workers."""
    with (
        use_devices("cpu", "cuda:99"),
        pytest.raises(ValueError, match="Device 'cuda:99' is not there: torch finds"),
    ):
        kernel_sum(rows(torch, n=30)[1], bandwidth=1.0)


@pytest.mark.usefixtures("dispatch")
def test_classifiers_share_their_sums(torch, parts):
    A, X = rows(torch, n=90)
    y = torch.as_tensor((A[:, 0] > 0).astype(int))
    alone = LaplacianClassifier().fit(X, y)
    assert not parts
    with use_devices("cpu", "cpu"):
        shared = LaplacianClassifier().fit(X, y)
        assert parts
        labels = shared.predict(X)
    assert shared.bandwidth_ == alone.bandwidth_
    assert torch.equal(labels, alone.predict(X))


@pytest.mark.parametrize("of", ["plain", "weights", "columns", "groups"])
@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum])
@pytest.mark.usefixtures("torch")
def test_arrays_go_to_the_devices_and_come_back(parts, function, of):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))[::-1]  # reversed, and below read-only: torch takes neither
    X.flags.writeable = False
    options = {
        "plain": {},
        "weights": {"weights": rng.random(40)},
        "columns": {"weights": rng.random((40, 2))},
        "groups": {"groups": np.arange(40) % 3, "exclude_self": True},
    }[of]
    expected = function(X, bandwidth=0.7, **options)
    with use_devices("cpu", "cpu"):
        out = function(X, bandwidth=0.7, **options)
        n_parts = len(parts)
        function(X, bandwidth=0.7, tol=1e-3, **options)
    assert isinstance(out, np.ndarray)
    assert n_parts == 4
    assert len(parts) == 4  # An approximation is not shared.
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.usefixtures("torch")
def test_workers_use_their_devices(parts):
    """Lazy sums take the devices along that were in use when they were asked for."""
    da = pytest.importorskip("dask.array")
    A = np.random.default_rng(0).normal(size=(60, 3))
    y = (A[:, 0] + A[:, 1] > 0).astype(int)
    X = da.from_array(A, chunks=(20, 3))
    with use_devices("cpu", "cpu"):
        lazy = kernel_sum(X, groups=y, bandwidth=1.0)
        model = LaplacianClassifier().fit(X, da.from_array(y, chunks=20))
        n_of_fit = len(parts)
    assert n_of_fit
    np.testing.assert_allclose(
        lazy.compute(scheduler="threads"), kernel_sum(A, groups=y, bandwidth=1.0), rtol=1e-12
    )
    assert len(parts) > n_of_fit
    alone = LaplacianClassifier().fit(A, y)
    assert model.bandwidth_ == alone.bandwidth_
    np.testing.assert_allclose(model.decision_function(A), alone.decision_function(A), rtol=1e-9)
