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
