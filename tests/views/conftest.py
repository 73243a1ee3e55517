import pytest

from mercer.tables import split_target
from mixed import mixed_frame


@pytest.fixture(scope="session")
def data():
    return split_target(mixed_frame(), "target")


@pytest.fixture(scope="session")
def halves():
    """Return a function that deals rows of one distribution to two frames."""

    def deal(n=200, seed=0):
        frame = mixed_frame(n, seed).sample(frac=1, random_state=seed, ignore_index=True)
        return frame[: n // 2].reset_index(drop=True), frame[n // 2 :].reset_index(drop=True)

    return deal
