"""What the registry says of a data set: frozen descriptions, no data."""

from dataclasses import dataclass

__all__ = ["DatasetInfo", "OpenMLTable", "PackageFiles"]


@dataclass(frozen=True, kw_only=True)
class PackageFiles:
    """Text files inside an installed package: rows of numbers that end in a class label.

    Parameters
    ----------
    distribution, version : str
        The package as pip names it, and the version whose files were compared.
    files : tuple of str
        Paths inside the installation, read one after the other.
    skip : int
        How many leading columns are no features (row names, speakers).
    labels : tuple of str
        The labels in the files, in the order of the classes.
    """

    distribution: str
    version: str
    files: tuple[str, ...]
    skip: int
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class OpenMLTable:
    """A table on OpenML; rows with missing values are dropped.

    Parameters
    ----------
    data_id : int
        OpenML's number for the table.
    labels : tuple of str
        The labels in the table, in the order of the classes.
    """

    data_id: int
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """What is registered of one data set.

    Parameters
    ----------
    name, description : str
        The name that :func:`load_dataset` takes, and one line on what the rows are.
    rows, columns : int
        The shape of ``X``; the pixels of an image count as columns.
    target_names : tuple of str
        The names of the classes 0, 1, ….
    licence, source : str
        The terms under which the data may be used, and where this copy comes from.
    sha256 : str
        Checksum of the file ``name.npz``.
    content_sha256 : str
        Checksum of ``X`` and ``y`` themselves, which every way of loading must meet.
    aliases : tuple of str
        Other names for the same data.
    feature_names : tuple of str or None
        The names of the columns, where they are known.
    image_shape : tuple of int or None
        ``X.reshape(-1, *image_shape)`` gives the images back.
    n_train : int or None
        The data come with one split, and its training part is the first ``n_train`` rows.
    bundled : str or None
        The function of :mod:`sklearn.datasets` that returns the data.
    package : PackageFiles or None
        Where an installable package holds the data.
    openml : OpenMLTable or None
        Where OpenML holds the data.
    """

    name: str
    description: str
    rows: int
    columns: int
    target_names: tuple[str, ...]
    licence: str
    source: str
    sha256: str
    content_sha256: str
    aliases: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None
    n_train: int | None = None
    bundled: str | None = None
    package: PackageFiles | None = None
    openml: OpenMLTable | None = None

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.target_names)
