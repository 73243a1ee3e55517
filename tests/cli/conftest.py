"""What tests of several commands share."""

import pytest

from mercer.views import without_last_parts


@pytest.fixture
def no_last_parts(monkeypatch):
    """`mercer compare` makes neither map nor importances: of large tables they take longest."""
    monkeypatch.setattr(
        "mercer.views.last_parts_within", lambda *given: without_last_parts("nobody asks for them")
    )
