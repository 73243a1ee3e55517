"""What runs in other processes: they import this by its name."""

import pickle


def answer(content, methods, rows):
    """Return what a pickled model says of some rows."""
    model = pickle.loads(content)  # noqa: S301 - our own bytes
    return {method: getattr(model, method)(rows) for method in methods}
