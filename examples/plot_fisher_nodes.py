"""
Significant nodes of a kernel Fisher discriminant
=================================================

A kernel Fisher discriminant is a sum of kernels around all training rows.  Xu, Yang and Yang (2004)
keep a few of them, the significant nodes: each is the row that raises Fisher's criterion most,
given those before it.  Here are the nodes of two interleaved half-moons, what the
classifier makes of them, and how the criterion and the error answer to their number.
"""

# %%
# Sixty nodes out of a thousand rows.  The path to them contains the fit on the first one, two, …
# nodes: ``staged_predict`` yields their predictions at no extra cost.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.plots import DecisionRegionDisplay, LeaveOneOutSurfaceDisplay

X, y = make_moons(2000, noise=0.25, random_state=0)
X, y, X_new, y_new = X[:1000], y[:1000], X[1000:], y[1000:]
model = SparseKernelFisherDiscriminant(max_nodes=60, random_state=0).fit(X, y)

# %%
# The first nodes lie where the classes are, not at the border between them.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for axis, n_nodes in zip(axes, (5, 15, 60), strict=True):
    few = SparseKernelFisherDiscriminant(
        kernel=model.kernel_, gamma=model.gamma_, max_nodes=n_nodes, random_state=0
    )
    few.fit(X, y)
    DecisionRegionDisplay.from_estimator(few, X_new[:300], y_new[:300], ax=axis, legend=False)
    axis.plot(*few.X_fit_.T, linestyle="none", marker="x", color="black", markersize=7)
    axis.set_title(f"{n_nodes} nodes: {100 * few.score(X_new, y_new):.1f} % right")

# %%
# The criterion rises quickly and then hardly at all; the error settles long before.

exact = KernelFisherDiscriminant().fit(X, y)
counts = np.arange(1, model.n_nodes_ + 1)
errors = [100 * np.mean(stage != y_new) for stage in model.staged_predict(X_new)]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(counts, model.criterion_path_)
left.set(xlabel="nodes", ylabel="criterion J")
right.plot(counts, errors, label="first nodes")
right.axhline(100 * (1 - exact.score(X_new, y_new)), color="black", linestyle=":", label="all rows")
right.set(xlabel="nodes", ylabel="error on new rows (%)")
right.legend()

# %%
# The discriminant on all rows chose its width and ridge by leave-one-out.  The plateau of good
# choices is broad.

LeaveOneOutSurfaceDisplay.from_estimator(exact)
plt.show()
