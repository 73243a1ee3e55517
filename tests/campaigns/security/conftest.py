"""A table, and small models of it, for all tests of this folder."""

import socket

import numpy as np
import pandas as pd
import pytest

from mercer.models import ModelCard, make_model, save_model
from mercer.tables import split_target


def small_frame(n=48):
    rng = np.random.default_rng(0)
    kinds = np.arange(n) % 2
    return pd.DataFrame(
        {
            "size": rng.normal(size=n) + 2 * kinds,
            "colour": rng.choice(["red", "blue"], n),
            "kind": np.array(["a", "b"])[kinds],
        }
    )


# Trees of one model are alike: ten show what a hundred do, and are read in a tenth of the time.
FEWER = {"forest": {"model__n_estimators": 10}, "boosting": {"model__max_iter": 10}}


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Return a function that gives the file of a model by name; each is fitted once."""
    data = split_target(small_frame(), "kind")
    folder = tmp_path_factory.mktemp("saved")

    def save(name):
        path = folder / f"{name}.skops"
        if not path.exists():
            model = make_model(name, data).set_params(**FEWER.get(name, {})).fit(data.X, data.y)
            save_model(path, model, ModelCard.describe(name, data))
        return path

    return save


@pytest.fixture
def asked(monkeypatch):
    """Every address that is looked up or connected to; all of them are refused."""
    found = []

    def refuse(*address, **options):
        found.append(address)
        raise OSError("there is no network here")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "gethostbyname", refuse)

    class Deaf(socket.socket):
        def connect(self, address):
            if self.family != getattr(socket, "AF_UNIX", None):
                refuse(address)
            return super().connect(address)

        connect_ex = connect

    monkeypatch.setattr(socket, "socket", Deaf)
    return found
