"""Data sets by name: what they are, where they are, and proof that they are the same.

A registry (``registry.toml``) says of every data set its shape, classes, licence, source
and checksums.  :func:`load_dataset` takes it from the first place that has it::

    scikit-learn            iris, wine, wdbc, digits8x8: always there
    a folder                name.npz in folder= or in $MERCER_DATA
    an installed package    text files inside it, read without importing it
    OpenML                  only if allowed, then kept in scikit-learn's data folder

All four hand over arrays that are compared with one checksum of the contents, so a
result does not depend on the place; other values, labels or row orders are refused.
Nothing is ever unpickled.  :func:`list_datasets` shows the registry as a table.

>>> from mercer.datasets import load_dataset
>>> digits = load_dataset("digits8x8")
>>> digits.X.reshape(-1, *digits.image_shape).shape
(1797, 8, 8)
>>> digits.info.licence
'CC BY 4.0 (UCI)'
"""

from mercer.datasets._dataset import Dataset
from mercer.datasets._load import list_datasets, load_dataset
from mercer.datasets._registry import DatasetInfo, DatasetNotFoundError

__all__ = [
    "Dataset",
    "DatasetInfo",
    "DatasetNotFoundError",
    "list_datasets",
    "load_dataset",
]
