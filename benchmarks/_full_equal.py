"""The iterative solution against the exact one, on arrays of every kind.  For bench_full.py."""

from functools import partial

import numpy as np
import sklearn
from _full_data import mixture
from _full_frame import attempt, attribute, fit_and_predict, head, row, seconds, to_numpy
from threadpoolctl import threadpool_limits

from mercer.discriminants import KernelFisherDiscriminant


def equal(options) -> None:
    """Print how far iterative solutions are from the exact one in float64."""
    n_rows = 400 if options.quick else options.rows
    table = mixture(n_rows, n_test=2 * n_rows)
    X, X_test, y = table.X.astype(float), table.X_test.astype(float), table.y
    exact = KernelFisherDiscriminant(solver="exact", kernel=options.kernel, random_state=0)
    exact.fit(X, y)
    given = {
        "kernel": exact.kernel_, "gamma": exact.gamma_, "alpha": exact.alpha_,
        "column_scales": exact.column_scales_,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    print(
        f"{n_rows:,} rows, {len(X_test):,} test rows. The exact solution chose {exact.kernel_}, "
        f"gamma {attribute(exact, 'gamma_')}, ridge {attribute(exact, 'alpha_')}; the others are "
        "given that, but for the last one, which chooses by itself. The spread is the standard "
        "deviation of the scores.\n"
    )
    scores, found = exact.decision_function(X_test), exact.predict(X_test)
    head("arrays", "difference of scores / spread", "other predictions, %", "iterations", "fit, s")
    for name, (change, context) in _settings(options).items():
        chosen = {"kernel": options.kernel} if name == "chosen by itself" else given
        work = partial(_scores, X, y, X_test, chosen, change, context)
        done = attempt(name, options.cap, work)
        if done is not None:
            others, of_fit = done
            differences = np.abs(others - scores).max() / scores.std()
            changed = 100 * np.mean(of_fit.found != found)
            spent = seconds(of_fit.fit_seconds)
            row(name, f"{differences:.1e}", f"{changed:.3f}", of_fit.iterations, spent)


def _settings(options):
    """Return for each row of the table what is done to arrays, and the context of the fit."""

    def as_tensor(dtype, device, X):
        import torch

        return torch.as_tensor(X.astype(dtype), device=device)

    def in_blocks(X):
        import dask.array

        return dask.array.from_array(X, chunks=(len(X) // 4, X.shape[1]))

    def as_it_is(X):
        return X

    def memory(mebibytes):
        return partial(sklearn.config_context, working_memory=mebibytes)

    no_context = sklearn.config_context
    found = {
        "NumPy, 1 thread": (as_it_is, partial(threadpool_limits, 1)),
        "NumPy, 2 threads": (as_it_is, partial(threadpool_limits, 2)),
        "NumPy, working_memory=64": (as_it_is, memory(64)),
        "NumPy, working_memory=8": (as_it_is, memory(8)),
        "Dask": (in_blocks, no_context),
        "torch, CPU": (partial(as_tensor, float, "cpu"), no_context),
        "NumPy, float32": (lambda X: X.astype(np.float32), no_context),
        "torch, CPU, float32": (partial(as_tensor, np.float32, "cpu"), no_context),
    }
    if options.device == "cuda":
        found["torch, CUDA"] = (partial(as_tensor, float, "cuda"), no_context)
        found["torch, CUDA, working_memory=64"] = (partial(as_tensor, float, "cuda"), memory(64))
        found["torch, CUDA, float32"] = (partial(as_tensor, np.float32, "cuda"), no_context)
    found["chosen by itself"] = (as_it_is, no_context)
    return found


def _scores(X, y, X_test, chosen, change, context):
    """Return the scores of the iterative solution and its timed fit."""
    X, X_test = change(X), change(X_test)
    model = KernelFisherDiscriminant(solver="iterative", random_state=0, **chosen)
    device = "cuda" if getattr(X, "is_cuda", False) else "cpu"
    y = _labels_like(X, y)
    with context():
        done = fit_and_predict(model.fit, X, y, X_test, device)
        with sklearn.config_context(array_api_dispatch=hasattr(X, "cpu")):
            scores = to_numpy(model.decision_function(X_test))
    return scores, done


def _labels_like(X, y):
    """Return labels in blocks for rows in blocks, and NumPy's for others."""
    if not hasattr(X, "chunks"):
        return y
    import dask.array

    return dask.array.from_array(y, chunks=X.chunks[0])
