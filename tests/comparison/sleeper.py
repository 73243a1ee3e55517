"""Classifiers for tests of time: importable, because fits run in other processes."""

import os
import time

from sklearn.naive_bayes import GaussianNB


class Sleeper(GaussianNB):
    """Sleeps while it fits, or takes its process down with it."""

    def __init__(self, seconds=0.0, dies=False):
        super().__init__()
        self.seconds = seconds
        self.dies = dies

    def fit(self, X, y):
        if self.dies:
            os._exit(1)
        time.sleep(self.seconds)
        return super().fit(X, y)


class OddError(Exception):
    """Cannot be made again from its arguments, as those of some libraries cannot."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


class Unreadable:
    """Can be sent, and not be made again where it arrives."""

    def __reduce__(self):
        return OddError, ("salt",)


def answer(task):
    """Do what a task says, well or badly."""
    if task == "raise":
        raise FileNotFoundError(2, "No such file", "data.npz")
    if task == "odd":
        raise OddError("salt", "pepper")
    if task == "lambda":
        return lambda: None
    if task == "unreadable":
        return Unreadable()
    if task == "die":
        os._exit(1)
    if isinstance(task, float):
        time.sleep(task)
    return task
