"""Results do not depend on memory, threads, processes or library, and are the same every time."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn import config_context

from mercer import _memory, sums
from mercer.sums.cpu import _threads

RNG = np.random.default_rng(0)
N = 1300  # enough for the sum that takes each pair once, and for more than one task
X, Y = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 3))
WIDE_X, WIDE_Y = RNG.normal(size=(N, 12)), RNG.normal(size=(N, 12))
WEIGHTS = RNG.uniform(0.1, 1, N)
CASES = {
    "plain": ("kernel_sum", (X, Y), {"weights": WEIGHTS}),
    "log": ("log_kernel_sum", (X, Y), {"weights": WEIGHTS}),
    "wide": ("kernel_sum", (WIDE_X, WIDE_Y), {}),
    "wide log": ("log_kernel_sum", (WIDE_X, WIDE_Y), {}),
    "groups": ("kernel_sum", (X, Y), {"weights": WEIGHTS, "groups": RNG.integers(0, 7, N)}),
    "log of groups": ("log_kernel_sum", (X, Y), {"groups": RNG.integers(0, 7, N)}),
    "many groups": ("log_kernel_sum", (X, Y), {"groups": RNG.integers(0, 150, N)}),
    "columns": ("kernel_sum", (X, Y), {"weights": RNG.normal(size=(N, 3))}),
    "log of columns": ("log_kernel_sum", (X, Y), {"weights": RNG.uniform(0.1, 1, (N, 3))}),
    "symmetric": ("kernel_sum", (X,), {"weights": WEIGHTS}),
    "log of symmetric": ("log_kernel_sum", (WIDE_X,), {}),
    "without self": ("kernel_sum", (X,), {"exclude_self": True}),
    "log without self": ("log_kernel_sum", (X,), {"exclude_self": True}),
    "ladder": ("kernel_sum", (X, Y), {"bandwidth": 2 / np.sqrt(2) ** np.arange(5)}),
    "symmetric ladder": ("kernel_sum", (X,), {"bandwidth": 2 / np.sqrt(2) ** np.arange(5)}),
    "exponential": ("kernel_sum", (X,), {"kernel": "exponential"}),
    "laplacian": ("kernel_sum", (X,), {"kernel": "laplacian"}),
    "cauchy": ("log_kernel_sum", (WIDE_X, WIDE_Y), {"kernel": "cauchy"}),
}


def compute(name, dtype=np.float64, convert=np.asarray):
    function, arrays, options = CASES[name]
    options = {"bandwidth": 1.2, **options}
    if "weights" in options:
        options["weights"] = convert(options["weights"])
    return getattr(sums, function)(*(convert(A.astype(dtype)) for A in arrays), **options)


def compute_with_torch(name, torch, dtype=np.float64):
    return compute(name, dtype, torch.as_tensor).numpy()


@pytest.fixture(params=list(CASES))
def name(request):
    return request.param


@pytest.fixture
def threads(monkeypatch):
    """Return a setter of the number of threads that the machine offers."""

    def set_number(number):
        monkeypatch.setattr(_memory, "effective_n_threads", lambda: number)
        monkeypatch.setattr(_threads, "_pool", None)

    return set_number


def assert_close(a, b, dtype=np.float64):
    rtol = 200 * np.finfo(dtype).eps
    largest = np.abs(b[np.isfinite(b)]).max()  # a group without rows has the logarithm −inf
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * largest)


@pytest.mark.parametrize("megabytes", [1, 0.05, 0.002])
def test_memory_budget_does_not_change_results(name, megabytes):
    with config_context(working_memory=1024):
        expected = compute(name)
    with config_context(working_memory=megabytes):
        assert_close(compute(name), expected)


def test_memory_budget_does_not_change_results_of_torch(name, torch):
    """Tiles of torch operations are slow when small: these are not quite as small."""
    with config_context(working_memory=1024):
        expected = compute_with_torch(name, torch)
    with config_context(working_memory=0.3):
        assert_close(compute_with_torch(name, torch), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("number", [2, 5])
def test_threads_do_not_change_a_bit(name, number, dtype, threads):
    threads(1)
    expected = compute(name, dtype=dtype)
    threads(number)
    for _ in range(2):
        np.testing.assert_array_equal(compute(name, dtype=dtype), expected)


@pytest.mark.parametrize("number", [2, 5])
def test_threads_and_a_small_budget_do_not_change_a_bit(name, number, threads):
    with config_context(working_memory=0.05):
        threads(1)
        expected = compute(name)
        threads(number)
        np.testing.assert_array_equal(compute(name), expected)


def test_repetition_does_not_change_a_bit(name, torch):
    for function in (compute, lambda name: compute_with_torch(name, torch)):
        expected = function(name)
        for _ in range(2):
            np.testing.assert_array_equal(function(name), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_libraries_agree(name, dtype, torch):
    assert_close(compute_with_torch(name, torch, dtype), compute(name, dtype=dtype), dtype)


def test_calls_from_many_python_threads_at_once(name, threads):
    threads(1)
    expected = compute(name)
    threads(2)
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: compute(name), range(16)):
            np.testing.assert_array_equal(result, expected)


def test_memory_setting_of_the_calling_thread_counts_in_worker_threads(threads):
    """scikit-learn's setting is a thread's own; ours are not the caller."""
    threads(2)
    with config_context(working_memory=0.05):
        small = compute("symmetric")
    with config_context(working_memory=1024):
        large = compute("symmetric")
    assert_close(small, large)


@pytest.mark.parametrize("backend_name", ["threading", "loky"])
def test_inside_joblib_workers(backend_name):
    """Two workers on this machine's cores: each takes its share at most."""
    cores = _memory.effective_n_threads()
    run = Parallel(n_jobs=2, backend=backend_name)
    for count in run(delayed(_memory.thread_count)() for _ in range(4)):
        assert count == 1 if backend_name == "threading" else 1 <= count <= max(1, cores // 2)
    options = {"groups": np.arange(N) % 7, "bandwidth": 1.0}
    expected = sums.log_kernel_sum(X, Y, **options)
    for out in run(delayed(sums.log_kernel_sum)(X, Y, **options) for _ in range(4)):
        np.testing.assert_array_equal(out, expected)


def test_outside_joblib_all_threads_are_used(threads):
    threads(5)
    assert _memory.thread_count() == 5


def test_one_job_of_joblib_keeps_all_threads(threads):
    threads(5)
    assert Parallel(n_jobs=1)(delayed(_memory.thread_count)() for _ in range(1)) == [5]


# Python warns that a fork of a process with threads may deadlock: that it does not is tested here.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system can not fork"
)
def test_after_a_fork(threads):
    threads(2)
    expected = compute("plain")
    assert _threads._pool is not None  # the child inherits a pool without threads
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(compute("plain")))
    child.start()
    assert receiver.poll(30), "the sum did not end in the child"
    np.testing.assert_array_equal(receiver.recv(), expected)
    child.join(10)
    assert child.exitcode == 0


def test_exception_in_a_task_reaches_the_caller_and_stops_the_others(threads):
    threads(2)
    done = []

    def task(number):
        if number == 3:
            raise KeyboardInterrupt
        done.append(number)

    with pytest.raises(KeyboardInterrupt):
        _threads.run_all(task, [(i,) for i in range(10_000)])
    assert len(done) < 10_000
    assert compute("plain").shape == (N,)  # the pool still works
