import pytest

from mercer.models import make_model
from mercer.tables import split_target
from mixed import mixed_frame


@pytest.fixture(scope="session")
def data():
    return split_target(mixed_frame(), "target")


@pytest.fixture(scope="session")
def fitted(data):
    """Return a function from a model's name to its fitted pipeline."""
    kept = {}

    def fit(name):
        if name not in kept:
            kept[name] = make_model(name, data).fit(data.X, data.y)
        return kept[name]

    return fit
