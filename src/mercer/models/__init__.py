"""Models by name for a user's table, and files of fitted models that are safe to open.

::

    LabelledTable ── make_model(name) ──▶ Pipeline [table, model]       _make_model
        │                                   ├─ tuned by folds           _tuned
        │                                   ├─ on a sample of the rows  _wrappers
        │                                   └─ on a GPU                 _device
        │  which, and how well out of fold?  score_model, choose_model  _scoring
        │  which classes may be right?  predict_set                     _sets
        ▼
    fitted pipeline + ModelCard ── save_model ──▶ model.skops           files/
                                ◀── load_model ──

A model file is a zip archive that skops writes, with the card and the digests of all other
members as one JSON member.  Nothing is unpickled: a file loads only if each type in it is known,
each digest fits and the trees point to nodes that exist.

>>> import pathlib, tempfile
>>> import pandas as pd
>>> from mercer.models import ModelCard, load_model, make_model, save_model
>>> from mercer.tables import split_target
>>> fruit = ["fig"] * 3 + ["kiwi"] * 3
>>> frame = pd.DataFrame({"size": [1.0, 1.1, 1.2, 4.0, 4.1, 4.2], "fruit": fruit})
>>> data = split_target(frame, "fruit")
>>> model = make_model("fisher", data).fit(data.X, data.y)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "fruit.skops")
...     save_model(path, model, ModelCard.describe("fisher", data))
...     loaded, card = load_model(path)
>>> loaded.predict(data.X[:1]).tolist(), card.target
(['fig'], 'fruit')
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from mercer._system.lazy import names_when_asked as _names_when_asked

if _TYPE_CHECKING:
    from mercer.models._catalogue import ModelInfo, describe_model, list_models
    from mercer.models._device import OnDevice, check_device, on_device
    from mercer.models._device import within as within
    from mercer.models._familiarity import Familiarity
    from mercer.models._familiarity import familiarity_of_rows as familiarity_of_rows
    from mercer.models._familiarity_notes import FamiliarityNotes as FamiliarityNotes
    from mercer.models._make_model import check_model as check_model
    from mercer.models._make_model import compile_models as compile_models
    from mercer.models._make_model import exact_rows_within as exact_rows_within
    from mercer.models._make_model import make_model
    from mercer.models._make_model import make_models as make_models
    from mercer.models._make_model import max_rows_within as max_rows_within
    from mercer.models._scoring import ModelScore, choose_model, score_model
    from mercer.models._sets import find_sets as find_sets
    from mercer.models._sets import has_sets, predict_set
    from mercer.models._training_sample import TrainingSample
    from mercer.models._tuned import TunedClassifier
    from mercer.models._wrappers import CappedClassifier
    from mercer.models.deciding._classifier import DecidingClassifier, TooFewRowsWarning
    from mercer.models.deciding._classifier import decider_of as decider_of
    from mercer.models.deciding._figures import alarms_in_hindsight as alarms_in_hindsight
    from mercer.models.deciding._figures import decision_figures as decision_figures
    from mercer.models.deciding._sentences import TOO_FEW_ROWS as TOO_FEW_ROWS
    from mercer.models.deciding._sentences import check_costs as check_costs
    from mercer.models.deciding._sentences import check_recall as check_recall
    from mercer.models.files._model_card import ModelCard
    from mercer.models.files._model_file import (
        ModelContents,
        ModelParts,
        load_model,
        load_model_parts,
        read_card,
        save_model,
    )
    from mercer.models.files._model_file import import_skops_quickly as import_skops_quickly

__all__ = [
    "CappedClassifier",
    "DecidingClassifier",
    "Familiarity",
    "ModelCard",
    "ModelContents",
    "ModelInfo",
    "ModelParts",
    "ModelScore",
    "OnDevice",
    "TooFewRowsWarning",
    "TrainingSample",
    "TunedClassifier",
    "check_device",
    "choose_model",
    "describe_model",
    "has_sets",
    "list_models",
    "load_model",
    "load_model_parts",
    "make_model",
    "on_device",
    "predict_set",
    "read_card",
    "save_model",
    "score_model",
]

# What `mercer compare` makes its models with, and what other commands ask.
_MAKING = (
    "check_model", "compile_models", "exact_rows_within", "make_models", "max_rows_within",
)  # fmt: skip
_DECIDING = (
    "TOO_FEW_ROWS",
    "alarms_in_hindsight",
    "check_costs",
    "check_recall",
    "decider_of",
    "decision_figures",
)
_FOR_MERCER = (
    *_MAKING, *_DECIDING, "FamiliarityNotes", "familiarity_of_rows", "find_sets",
    "import_skops_quickly", "within",
)  # fmt: skip

# The card of a file can be read without any model.
__getattr__, __dir__ = _names_when_asked(
    __name__,
    {
        "_catalogue": ("ModelInfo", "describe_model", "list_models"),
        "_device": ("OnDevice", "check_device", "on_device", "within"),
        "_make_model": ("make_model", *_MAKING),
        "_scoring": ("ModelScore", "choose_model", "score_model"),
        "_sets": ("find_sets", "has_sets", "predict_set"),
        "_familiarity": ("Familiarity", "familiarity_of_rows"),
        "_familiarity_notes": ("FamiliarityNotes",),
        "_training_sample": ("TrainingSample",),
        "_tuned": ("TunedClassifier",),
        "_wrappers": ("CappedClassifier",),
        "deciding._classifier": (
            "DecidingClassifier",
            "TooFewRowsWarning",
            "decider_of",
        ),
        "deciding._figures": ("alarms_in_hindsight", "decision_figures"),
        "deciding._sentences": ("TOO_FEW_ROWS", "check_costs", "check_recall"),
        "files._model_card": ("ModelCard",),
        "files._model_file": (
            "ModelContents",
            "ModelParts",
            "import_skops_quickly",
            "load_model",
            "load_model_parts",
            "read_card",
            "save_model",
        ),
    },
)
