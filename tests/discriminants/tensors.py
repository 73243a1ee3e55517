"""Models that must answer on tensors as on NumPy arrays, and how that is compared."""

import numpy as np
from sklearn.base import clone

from mercer import KernelFisherDiscriminant as Exact
from mercer import SparseKernelFisherDiscriminant as Sparse


def product_kernel(X, Y):
    """A kernel of the user's own, for arrays of any library."""
    return X.double() @ Y.T if hasattr(X, "double") else X @ Y.T


def written(model):
    """Return the model as text, the same in every process."""
    return str(model).partition(" at 0x")[0]


MODELS = [
    Exact(),
    Exact(penalty="coef", scatter="sum", alpha=0.1, scoring="balanced_accuracy"),
    Exact(kernel="laplacian", class_weight="balanced"),
    Exact(kernel="poly", gamma="scale", degree=2, scatter="total"),
    Exact(kernel="linear", n_components=1),
    Exact(kernel=product_kernel),
    Exact(gamma=0.05, priors=[0.0, 0.5, 0.5]),
    Exact(n_landmarks=40, random_state=0),
    Exact(n_landmarks=40, random_state=0, penalty="coef", gamma=0.05),
    Sparse(max_nodes=30, random_state=0),
    Sparse(max_nodes=30, random_state=0, alpha="gcv", penalty="coef"),
    Sparse(max_nodes=30, random_state=0, alpha="loo", node_choice="loo", scatter="class"),
    Sparse(max_nodes=30, random_state=0, node_choice="validation", criterion="within"),
    Sparse(max_nodes=20, random_state=0, alpha=1e-3, n_candidates=60, class_weight="balanced"),
    Sparse(max_nodes=20, random_state=0, kernel="laplacian", scoring="balanced_accuracy"),
    Sparse(max_nodes=20, random_state=0, kernel="poly", gamma="scale"),
]
METHODS = ["decision_function", "predict_log_proba", "predict_proba", "transform"]
FITTED = ["X_fit_", "classes_", "dual_coef_", "eigenvalues_", "priors_", "support_"]


def assert_same(model, X, y, weights, torch, device, rtol):
    """Fit on arrays and on tensors; answers agree, and those of tensors are on the device."""
    here = clone(model).fit(X, y, sample_weight=weights)
    x, t, w = (torch.as_tensor(A, device=device) for A in (X, y, weights))
    there = clone(model).fit(x, t, sample_weight=w)
    names = [*FITTED, *(["criterion_path_"] if isinstance(model, Sparse) else [])]
    for name in names:
        assert getattr(there, name).device == x.device, name
        assert str(getattr(there, name).dtype) == f"torch.{getattr(here, name).dtype}", name
    np.testing.assert_array_equal(there.support_.cpu().numpy(), here.support_)
    np.testing.assert_allclose(there.alpha_, here.alpha_, rtol=1e-6)
    if here.gamma_ is not None:
        np.testing.assert_allclose(there.gamma_, here.gamma_, rtol=1e-9)
    for method in METHODS:
        expected, found = getattr(here, method)(X), getattr(there, method)(x)
        assert found.device == x.device
        assert found.dtype == torch.float64
        finite = np.isfinite(expected)
        assert (finite == torch.isfinite(found).cpu().numpy()).all(), method
        scale = np.abs(expected[finite]).max()
        np.testing.assert_allclose(
            found.cpu().numpy()[finite], expected[finite], rtol=rtol, atol=rtol * scale,
            err_msg=method,
        )  # fmt: skip
    labels = there.predict(x)
    assert labels.device == x.device
    np.testing.assert_array_equal(labels.cpu().numpy(), here.predict(X))
    return here, there
