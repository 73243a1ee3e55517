"""Reasons that can be read: why a row got its answer, and which columns a model goes by.

::

    fitted pipeline or classifier ── taken apart ──▶ columns, scores, kernels      _setting
        │  explain_rows                                                            _row_reasons
        ├─▶ shares of the columns, which add up to the score                       _shares
        │     product kernels and linear scores: exact                             _shapley
        │     any other: walks in random order                                     _sampling
        └─▶ training rows that speak for and against                               _training_rows
    column_importances ──▶ what is lost when a column is shuffled                  _importances
    partial_dependence ──▶ probabilities along a column                            _dependence
    column_interaction ──▶ whether two columns act together                        _dependence
    explain_table ──▶ all of it for some rows of a table, in words                 _table_reasons

>>> from sklearn.datasets import load_iris
>>> from mercer import KernelFisherDiscriminant
>>> from mercer.explanations import explain_rows
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> model = KernelFisherDiscriminant().fit(X, y)
>>> reasons = explain_rows(model, X[:1])
>>> reasons.columns[reasons.shares[0].argmax()]
'petal length (cm)'
"""

from mercer.explanations._dependence import (
    ColumnInteraction,
    PartialDependence,
    column_interaction,
    partial_dependence,
)
from mercer.explanations._importances import ColumnImportances, column_importances
from mercer.explanations._importances import score_losses as score_losses
from mercer.explanations._row_reasons import RowReasons, explain_rows
from mercer.explanations._table_reasons import explain_table, main_reasons
from mercer.explanations._table_records import (
    ColumnPart,
    ColumnWeight,
    ExplainedRow,
    SpeakingRow,
    TableReasons,
)
from mercer.explanations._table_records import value_text as value_text
from mercer.explanations._training_rows import TrainingRows, readable_rows

__all__ = [
    "ColumnImportances",
    "ColumnInteraction",
    "ColumnPart",
    "ColumnWeight",
    "ExplainedRow",
    "PartialDependence",
    "RowReasons",
    "SpeakingRow",
    "TableReasons",
    "TrainingRows",
    "column_importances",
    "column_interaction",
    "explain_rows",
    "explain_table",
    "main_reasons",
    "partial_dependence",
    "readable_rows",
]
# Pages write values with one, `mercer compare` asks the other; both may change without notice.
_FOR_MERCER = ("score_losses", "value_text")
