"""
A rare class: Parzen, SVM and the Laplacian classifier
======================================================

Two overlapping Gaussians, one hundred points of the first class and five of the second.  Bayes'
rule is right to give nearly everything to the first: that makes the fewest errors.  Whoever looks
for the second class wants something else.  The Laplacian classifier finds more of it, at the price
of false alarms, without being told what the classes are worth.  Figs. 4 and 5 and Tables I to III
of Jenssen et al. (2007) show one draw; here are one draw and the averages over 300.
"""

# %%
# Means (2, 2) and (0.6, 0.6), unit variance; 100 and 5 points to learn from, 200 and 10 to test.
# All take Silverman's bandwidth h, the SVM as the width √2·h of its kernel.  The paper does not
# give the SVM's C: a very large one (a hard margin) makes as many false alarms as its table.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from mercer import LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.kernels import gamma_from_width, mercer_width
from mercer.plots import DecisionRegionDisplay

NAMES = np.array(["common", "rare"])


def draw(rng, n_common, n_rare):
    X = np.concatenate([rng.normal(2.0, 1, (n_common, 2)), rng.normal(0.6, 1, (n_rare, 2))])
    return X, np.repeat(NAMES, [n_common, n_rare])


def models(X):
    gamma = gamma_from_width(mercer_width(silverman_bandwidth(X)))
    return {
        "Parzen": ParzenClassifier(bandwidth="silverman"),
        "SVM, hard margin": SVC(C=1e6, gamma=gamma),
        "Laplacian": LaplacianClassifier(bandwidth="silverman"),
        "SVM, C = 1": SVC(C=1, gamma=gamma),
        "SVM, C = 1, balanced": SVC(C=1, gamma=gamma, class_weight="balanced"),
        "Parzen, equal priors": ParzenClassifier(bandwidth="silverman", priors="uniform"),
        "Laplacian, no weights": LaplacianClassifier(bandwidth="silverman", density=None),
    }


def count(model, X, y):
    """How many of the rare class were found, and how many of the common one taken for it."""
    rare = model.predict(X) == "rare"
    return np.sum(rare & (y == "rare")), np.sum(rare & (y == "common"))


# %%
# One draw.  Circles mark errors on the test data; lines are the boundaries.

rng = np.random.default_rng(3)
X, y = draw(rng, 100, 5)
X_new, y_new = draw(rng, 200, 10)
figure, axes = plt.subplots(1, 3, figsize=(12.5, 4), layout="constrained")
for axis, (name, model) in zip(axes, models(X).items(), strict=False):
    model.fit(X, y)
    DecisionRegionDisplay.from_estimator(model, X_new, y_new, ax=axis, legend=axis is axes[-1])
    found, alarms = count(model, X_new, y_new)
    axis.set_title(f"{name}\n{found} of 10 found, {alarms} false alarms of 200", fontsize=11)
axes[1].set_ylabel("")
axes[2].set_ylabel("")
plt.show()

# %%
# One draw with five points of a class says little.  The averages:

rng = np.random.default_rng(0)
counts: dict[str, list[tuple[int, int]]] = {}
for _ in range(300):
    X, y = draw(rng, 100, 5)
    X_new, y_new = draw(rng, 200, 10)
    for name, model in models(X).items():
        counts.setdefault(name, []).append(count(model.fit(X, y), X_new, y_new))
print(f"{'mean over 300 draws':24s}{'found of 10':>12s}{'false alarms of 200':>22s}")
for name, pairs in counts.items():
    found, alarms = np.mean(pairs, axis=0)
    print(f"{name:24s}{found:12.1f}{alarms:22.1f}")

# %%
# The paper's Tables I to III (their rows are exchanged) have 1/0 for Parzen, 3/9 for the SVM and
# 9/38 for the Laplacian classifier: for the last, a lucky draw.  The last two rows say what does
# the work.  Equal priors alone lift Parzen's rule to as many finds; so does the normalisation
# by class norms without any weights.  The weights then save false alarms at the price of
# some finds.  Where you know what each class is worth, say so with ``priors``; where you do not,
# ask for ``scoring="balanced_accuracy"``.
#
# .. rubric:: References
#
# R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft (2007). The Laplacian classifier. IEEE
# Transactions on Signal Processing 55(7), 3262-3271.
# `doi:10.1109/TSP.2007.894391 <https://doi.org/10.1109/TSP.2007.894391>`_
