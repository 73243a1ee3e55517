import pytest

from mercer.tables import split_target
from mixed import mixed_frame


@pytest.fixture(scope="session")
def data():
    return split_target(mixed_frame(), "target")
