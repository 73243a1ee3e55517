"""
Faces as directions
===================

A linear projection of images has directions that are images themselves.  Eigenfaces hold the
variance, fisherfaces and Laplacianfaces compare it with that within people or between
neighbours, and the Roweis–Saul projection, with neighbours of the same person, takes the directions
in which all images of a person are one point.
"""

# %%
# The ORL faces: 40 people, ten images of 64 × 64 each, four of them for training.  That is 160 rows
# of 4096 columns; the work is done among the rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from mercer.datasets import load_dataset
from mercer.plots import BasisImageDisplay
from mercer.projections import eigenfaces, fisherfaces, laplacianfaces, roweis_saul_classifier

faces = load_dataset("orl")
X, y = faces.X.astype(np.float64), faces.y
train, test = next(StratifiedShuffleSplit(1, train_size=160, random_state=0).split(X, y))

models = {
    "Eigenfaces": eigenfaces(n_components=39),
    "Laplacianfaces": laplacianfaces(neighborhood="class"),
    "Fisherfaces": fisherfaces(),
    "Roweis–Saul": roweis_saul_classifier(),
}

# %%
# Eight directions of each, in their order, and the rate of the nearest neighbour on the
# other 240 images with all 39 of them.

figure, axes = plt.subplots(4, 8, figsize=(10, 6), layout="constrained")
for line, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X[train], y[train])
    directions = model["projection"].components_[:8]
    if name == "Fisherfaces":  # these are directions among principal components
        directions = directions @ model["pca"].pca_.components_
    BasisImageDisplay(components=directions, image_shape=faces.image_shape).plot(axes=line)
    rate = model.score(X[test], y[test])
    line[0].set_ylabel(f"{name}\n{100 * rate:.1f} % right")

# %%
# Eigenfaces begin with light and shade, which differ between images of the same person.  The others
# keep little that is smooth: edges of eyes, glasses and hairlines are what differs between people
# and not within them.

plt.show()
