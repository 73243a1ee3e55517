"""Which classifier is better? Tests, intervals and verdicts.

Three questions, three kinds of answer:

- *Two sets of predictions of one test set*: :func:`mcnemar_test`.
- *Scores of two learning methods on the same splits of one data set*: :func:`corrected_t_test`
  (prefer it), :func:`five_by_two_f_test`, :func:`five_by_two_t_test` and, because papers use it,
  the optimistic :func:`kfold_paired_t_test`.
- *Scores over many data sets*, one per estimator and data set: :func:`average_ranks`,
  :func:`friedman_test`, :func:`wilcoxon_test`, :func:`bayesian_signed_rank_test` and
  :func:`plot_critical_difference`.

Three functions ask everything at once: :func:`compare` cross-validates any scikit-learn classifiers
on one data set and tests every pair, :func:`compare_in_rounds` does so until a time budget is used,
:func:`compare_over_datasets` asks a table of scores. Many pairs need :func:`holm_correction`, which
they apply. :func:`read_comparison` reads what ``mercer compare`` found.

Results are frozen, A minus B is positive where A is better, and ``str(result)`` is a sentence::

    predictions ──► mcnemar_test ───────────────┐
    scores on splits ──► corrected_t_test, … ───┼──► PairedTestResult ──► Holm ──► verdict
    scores on data sets ──► wilcoxon_test ──────┘

This package takes predictions, scores or estimators, and imports no other part of Mercer.
"""

from mercer.comparison._compare import Comparison, compare
from mercer.comparison._datasets import (
    DatasetComparison,
    compare_over_datasets,
    plot_critical_difference,
)
from mercer.comparison._details import confusion_counts, curves_of, hard_rows
from mercer.comparison._folder import ComparisonFolder, read_comparison
from mercer.comparison._folder import add_map as add_map
from mercer.comparison._folder import record_comparison as record_comparison
from mercer.comparison._folder import write_comparison as write_comparison
from mercer.comparison._record import CheckRecord as CheckRecord
from mercer.comparison._record import ClassRecord as ClassRecord
from mercer.comparison._record import ColumnRecord as ColumnRecord
from mercer.comparison._record import ColumnShareRecord as ColumnShareRecord
from mercer.comparison._record import ComparisonRecord
from mercer.comparison._record import DecisionLineRecord as DecisionLineRecord
from mercer.comparison._record import DecisionRecord as DecisionRecord
from mercer.comparison._record import FarRowsRecord as FarRowsRecord
from mercer.comparison._record import HindsightRecord as HindsightRecord
from mercer.comparison._record import MapRecord as MapRecord
from mercer.comparison._record import ModelRecord as ModelRecord
from mercer.comparison._record import PairRecord as PairRecord
from mercer.comparison._record import QuestionRecord as QuestionRecord
from mercer.comparison._record import SetsRecord as SetsRecord
from mercer.comparison._result import RoundsComparison
from mercer.comparison._rounds import compare_in_rounds
from mercer.comparison._splits_record import SplitsRecord as SplitsRecord
from mercer.comparison.engine._metrics import choose_metric
from mercer.comparison.engine._plan import RoundsProgress
from mercer.comparison.tests._mcnemar import mcnemar_test
from mercer.comparison.tests._on_splits import (
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    kfold_paired_t_test,
)
from mercer.comparison.tests._pairs import PairedTestResult, holm_correction
from mercer.comparison.tests._ranks import FriedmanResult, average_ranks, friedman_test
from mercer.comparison.tests._signed_rank import (
    BayesianResult,
    bayesian_signed_rank_test,
    wilcoxon_test,
)

__all__ = [
    "BayesianResult",
    "Comparison",
    "ComparisonFolder",
    "ComparisonRecord",
    "DatasetComparison",
    "FriedmanResult",
    "PairedTestResult",
    "RoundsComparison",
    "RoundsProgress",
    "average_ranks",
    "bayesian_signed_rank_test",
    "choose_metric",
    "compare",
    "compare_in_rounds",
    "compare_over_datasets",
    "confusion_counts",
    "corrected_t_test",
    "curves_of",
    "five_by_two_f_test",
    "five_by_two_t_test",
    "friedman_test",
    "hard_rows",
    "holm_correction",
    "kfold_paired_t_test",
    "mcnemar_test",
    "plot_critical_difference",
    "read_comparison",
    "wilcoxon_test",
]

# What `mercer compare` makes its results folder with, and the page takes from it.
_FOR_MERCER = (
    "CheckRecord",
    "ClassRecord",
    "ColumnRecord",
    "ColumnShareRecord",
    "DecisionLineRecord",
    "DecisionRecord",
    "HindsightRecord",
    "FarRowsRecord",
    "MapRecord",
    "ModelRecord",
    "PairRecord",
    "QuestionRecord",
    "SetsRecord",
    "SplitsRecord",
    "add_map",
    "record_comparison",
    "write_comparison",
)
