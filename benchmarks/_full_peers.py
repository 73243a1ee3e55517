"""Peers for many rows, which must be installed.  For bench_full.py.

A peer is a function of (X, y, device, cap) that chooses what it has to choose on training rows and
returns an object with `predict`.  X are NumPy's rows in float32, y are codes 0, 1, …, and `cap` is
the seconds after which the caller interrupts it.
"""

import contextlib
import io
import os
import time

import numpy as np
from sklearn.model_selection import train_test_split

TUNING_ROWS = 10_000  # of peers that do not choose their own kernel; a fifth of them judge it
WIDTHS = (0.25, 0.5, 1.0, 2.0)  # times the median distance of two rows


class Predictor:
    """Something with `predict`, made of a function from rows to scores of the classes."""

    def __init__(self, scores, batch=2000):
        self.scores = scores
        self.batch = batch

    def predict(self, X):
        starts = range(0, len(X), self.batch)
        return np.concatenate([self._classes(X[s : s + self.batch]) for s in starts])

    def _classes(self, X):
        scores = self.scores(X)
        scores = scores.cpu().numpy() if hasattr(scores, "cpu") else np.asarray(scores)
        return scores.argmax(1)


def lightgbm(X, y, device, cap):
    """Up to 2 000 trees; a tenth of the rows says when to stop, or the clock."""
    from lightgbm import LGBMClassifier, early_stopping
    from lightgbm.callback import EarlyStopException

    deadline = time.monotonic() + 0.7 * (cap or np.inf)

    def stop_in_time(state):
        if time.monotonic() > deadline:
            raise EarlyStopException(state.iteration, state.evaluation_result_list)

    X, X_held, y, y_held = _held_out(X, y, 0.1)
    model = LGBMClassifier(
        n_estimators=2000, n_jobs=os.cpu_count(), verbosity=-1, random_state=0
    )  # fmt: skip
    callbacks = [early_stopping(20, verbose=False), stop_in_time]
    return model.fit(X, y, eval_set=[(X_held, y_held)], callbacks=callbacks)


def xrfm(X, y, device, cap):
    """Recursive feature machines with their defaults; a fifth of the rows tunes them."""
    import torch
    from xrfm import xRFM

    X, X_held, y, y_held = _held_out(X, y, 0.2)
    model = xRFM(
        device=torch.device(device), time_limit_s=cap and 0.7 * cap, random_state=0, verbose=False
    )
    model.fit(X, y, X_held, y_held)
    return Predictor(model.predict_proba, batch=20_000)


def eigenpro(X, y, device, cap):
    """EigenPro 2, whose centres are all rows; kernel, width and epochs by a sample."""
    import torch

    kernel, n_epochs = _eigenpro_choice(X, y, device)
    model, _ = _eigenpro_fit(kernel, X, y, device, n_epochs)
    return Predictor(lambda X: model.forward(torch.as_tensor(X, device=device)))


def eigenpro_centres(X, y, device, cap):
    """EigenPro 4 on 20 000 random centres, or half of the rows, with the kernel of EigenPro 2."""
    import torch
    from eigenpro import solver
    from eigenpro.models.sharded_kernel_machine import create_sharded_kernel_machine
    from eigenpro.preconditioner import Preconditioner
    from eigenpro.utils.device import Device

    kernel, n_epochs = _eigenpro_choice(X, y, device)
    held, y_held = torch.as_tensor(X[:1000]), _one_hot(y)[:1000]  # for what it prints
    rows, targets = torch.as_tensor(X), _one_hot(y)
    n_centres = min(20_000, len(X) // 2)
    n_nystrom = min(3000, n_centres)
    chosen = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))[:n_centres]
    with _quiet():
        place = Device([torch.device(device)])
        # Its own interval of projections is 0 where a batch is larger than the centres are many.
        few = rows[:n_nystrom].to(device)
        batch = min(10_000, Preconditioner(kernel, few, 150).critical_batch_size)
        model = create_sharded_kernel_machine(
            rows[chosen], targets.shape[1], kernel, place, dtype=torch.float32, tmp_centers_coeff=2
        )
        model = solver.fit(
            model, rows, targets, held, y_held, place, kernel=kernel, epochs=n_epochs,
            n_data_pcd_nyst_samples=n_nystrom, n_model_pcd_nyst_samples=n_nystrom,
            T=max(1, int(n_centres // batch)),
        )  # fmt: skip
    return Predictor(lambda X: model.forward(torch.as_tensor(X, device=device), train=False))


def falkon(X, y, device, cap):
    """Falkon on 10 000 random centres, or a tenth of the rows; width and ridge by a sample."""
    import torch
    from falkon import Falkon, FalkonOptions
    from falkon.kernels import GaussianKernel

    def fit(X, y, sigma, penalty, n_centres):
        options = FalkonOptions(use_cpu=device == "cpu", keops_active="no")
        model = Falkon(
            kernel=GaussianKernel(sigma=sigma), penalty=penalty, M=n_centres, seed=0,
            options=options,
        )  # fmt: skip
        model.fit(torch.as_tensor(X), _one_hot(y))
        return Predictor(lambda X: model.predict(torch.as_tensor(X)))

    few, held, y_few, y_held = _held_out(*_sample(X, y), 0.2)
    median, best = _median_distance(few), (-1.0,)
    for width in WIDTHS:
        for ridge in (1e-3, 1e-2, 1e-1, 1.0):
            model = fit(few, y_few, width * median, ridge / len(few), min(1000, len(few) // 2))
            accuracy = np.mean(model.predict(held) == y_held)
            best = max(best, (accuracy, width, ridge))
    _, width, ridge = best
    n_centres = min(10_000, len(X) // 10)
    return fit(X, y, width * median, ridge / len(X), n_centres)


def torchkm(X, y, device, cap):
    """A machine of TorchKM for each class against the rest, on 2 000 landmarks."""
    from torchkm.estimators import TorchKMSVC

    machines = []
    n_landmarks = min(2000, len(X) // 4)
    for code in range(int(y.max()) + 1):
        machine = TorchKMSVC(
            device=device, random_state=0, low_rank=True, num_landmarks=n_landmarks,
            nys_k=min(1000, n_landmarks),
        )  # fmt: skip
        machines.append(machine.fit(X, np.where(y == code, 1, -1)))
    return Predictor(lambda X: np.column_stack([each.decision_function(X) for each in machines]))


def torchkm_paper(X, y, device, cap):
    """TorchKM's kernel machine of two classes on all rows, with the grid of its paper."""
    from torchkm.estimators import TorchKMSVC

    model = TorchKMSVC(
        Cs=1 / (2 * len(X) * np.logspace(3, -3, 50)), nC=50, cv=10, max_iter=100_000,
        device=device, random_state=0,
    )  # fmt: skip
    return model.fit(X, y)


def _eigenpro_choice(X, y, device):
    """Return kernel and epochs that do best on held-out rows of a sample."""
    import torch
    from eigenpro2 import kernels

    few, held, y_few, y_held = _held_out(*_sample(X, y), 0.2)
    held = (torch.as_tensor(held, device=device), _one_hot(y_held, int(y.max()) + 1).to(device))
    median, best = _median_distance(few), (-1.0, None, 1)
    for of_distance in (kernels.gaussian, kernels.laplacian):
        for width in WIDTHS:

            def kernel(x, z, of_distance=of_distance, bandwidth=width * median):
                return of_distance(x, z, bandwidth=bandwidth)

            _, results = _eigenpro_fit(kernel, few, y_few, device, 5, held, int(y.max()) + 1)
            for epoch, (_, scores, _) in results.items():
                accuracy = float(scores["multiclass-acc"])
                if accuracy > best[0]:
                    best = (accuracy, kernel, epoch + 1)
    return best[1:]


def _eigenpro_fit(kernel, X, y, device, n_epochs, held=(None, None), n_classes=None):
    """Return the model and, with held-out rows, its scores after each epoch."""
    import torch
    from eigenpro2.models import KernelModel

    rows = torch.as_tensor(X, device=device)
    targets = _one_hot(y, n_classes).to(device)
    gigabytes = 4
    if device == "cuda":
        gigabytes = int(0.5 * torch.cuda.get_device_properties(0).total_memory / 2**30)
    is_sample = held[0] is not None
    # Its own number of eigenvectors, 1 000, takes longer to find than the fit.
    options = {"n_subsamples": min(500, len(X)), "top_q": 40} if is_sample else {"top_q": 160}
    with _quiet(), torch.no_grad():
        model = KernelModel(kernel, rows, targets.shape[1], device=device)
        results = model.fit(
            rows, targets, *held, epochs=n_epochs, mem_gb=gigabytes, run_epoch_eval=is_sample,
            **options,
        )  # fmt: skip
    return model, results


def _held_out(X, y, share):
    return train_test_split(X, y, test_size=share, stratify=y, random_state=0)


def _sample(X, y):
    """Return rows for tuning, the first ones: generated rows are in random order."""
    return X[:TUNING_ROWS], y[:TUNING_ROWS]


def _median_distance(X):
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, len(X), (2, 2000))
    return float(np.median(np.linalg.norm(X[one] - X[other], axis=1)))


def _one_hot(y, n_classes=None):
    import torch

    codes = torch.as_tensor(np.asarray(y, dtype=np.int64))
    return torch.nn.functional.one_hot(codes, n_classes or int(codes.max()) + 1).float()


@contextlib.contextmanager
def _quiet():
    nothing = io.StringIO()
    with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        yield


PEERS = {
    "LightGBM": lightgbm,
    "xRFM": xrfm,
    "EigenPro 2": eigenpro,
    "EigenPro 4": eigenpro_centres,
    "Falkon": falkon,
    "TorchKM": torchkm,
}
