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
from mercer.comparison._elsewhere import ScoresComparison, compare_scores
from mercer.comparison._elsewhere_predictions import compare_predictions
from mercer.comparison._elsewhere_predictions import truth_column as truth_column
from mercer.comparison._elsewhere_record import record_scores as record_scores
from mercer.comparison._elsewhere_record import score_lines as score_lines
from mercer.comparison._folder import ComparisonFolder, read_comparison
from mercer.comparison._folder import add_last_parts as add_last_parts
from mercer.comparison._folder import hard_rows_with_contents as hard_rows_with_contents
from mercer.comparison._folder import record_comparison as record_comparison
from mercer.comparison._folder import write_comparison as write_comparison
from mercer.comparison._folder import write_scores as write_scores
from mercer.comparison._record import CheckRecord as CheckRecord
from mercer.comparison._record import ClassRecord as ClassRecord
from mercer.comparison._record import ColumnImportanceRecord as ColumnImportanceRecord
from mercer.comparison._record import ColumnRecord as ColumnRecord
from mercer.comparison._record import ColumnShareRecord as ColumnShareRecord
from mercer.comparison._record import ComparisonRecord
from mercer.comparison._record import DatasetRecord as DatasetRecord
from mercer.comparison._record import DecisionLineRecord as DecisionLineRecord
from mercer.comparison._record import DecisionRecord as DecisionRecord
from mercer.comparison._record import ElsewhereRecord as ElsewhereRecord
from mercer.comparison._record import FarRowsRecord as FarRowsRecord
from mercer.comparison._record import HindsightRecord as HindsightRecord
from mercer.comparison._record import ImportancesRecord as ImportancesRecord
from mercer.comparison._record import MapRecord as MapRecord
from mercer.comparison._record import MetricScoreRecord as MetricScoreRecord
from mercer.comparison._record import ModelImportancesRecord as ModelImportancesRecord
from mercer.comparison._record import ModelRecord as ModelRecord
from mercer.comparison._record import ModelThresholdsRecord as ModelThresholdsRecord
from mercer.comparison._record import OtherMetricRecord as OtherMetricRecord
from mercer.comparison._record import PairRecord as PairRecord
from mercer.comparison._record import QuestionRecord as QuestionRecord
from mercer.comparison._record import RareClassRecord as RareClassRecord
from mercer.comparison._record import SetsRecord as SetsRecord
from mercer.comparison._record import StandInsRecord as StandInsRecord
from mercer.comparison._record import StepRecord as StepRecord
from mercer.comparison._record import ThresholdRecord as ThresholdRecord
from mercer.comparison._result import RoundsComparison
from mercer.comparison._result import mean_interval as mean_interval
from mercer.comparison._rounds import compare_in_rounds
from mercer.comparison._score_table import ScoreTable, score_table
from mercer.comparison._splits_record import SplitsRecord as SplitsRecord
from mercer.comparison._thresholds import threshold_table
from mercer.comparison.engine._metrics import choose_metric
from mercer.comparison.engine._metrics import metric_scorer as metric_scorer
from mercer.comparison.engine._plan import RoundsProgress
from mercer.comparison.engine._sample import draw_rows as draw_rows
from mercer.comparison.tests._bayesian import bayesian_correlated_t_test
from mercer.comparison.tests._cochran import CochranResult, cochran_q_test
from mercer.comparison.tests._mcnemar import mcnemar_test
from mercer.comparison.tests._on_rows import corrected_rows_test
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
    "CochranResult",
    "Comparison",
    "ComparisonFolder",
    "ComparisonRecord",
    "DatasetComparison",
    "FriedmanResult",
    "PairedTestResult",
    "RoundsComparison",
    "RoundsProgress",
    "ScoreTable",
    "ScoresComparison",
    "average_ranks",
    "bayesian_correlated_t_test",
    "bayesian_signed_rank_test",
    "choose_metric",
    "cochran_q_test",
    "compare",
    "compare_in_rounds",
    "compare_over_datasets",
    "compare_predictions",
    "compare_scores",
    "confusion_counts",
    "corrected_rows_test",
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
    "score_table",
    "threshold_table",
    "wilcoxon_test",
]

# What `mercer compare` makes its results folder with, and the page takes from it.
_FOR_MERCER = (
    "CheckRecord",
    "ClassRecord",
    "ColumnImportanceRecord",
    "ColumnRecord",
    "ColumnShareRecord",
    "DatasetRecord",
    "DecisionLineRecord",
    "DecisionRecord",
    "ElsewhereRecord",
    "HindsightRecord",
    "FarRowsRecord",
    "ImportancesRecord",
    "MapRecord",
    "MetricScoreRecord",
    "ModelImportancesRecord",
    "ModelRecord",
    "ModelThresholdsRecord",
    "OtherMetricRecord",
    "PairRecord",
    "QuestionRecord",
    "RareClassRecord",
    "SetsRecord",
    "SplitsRecord",
    "StepRecord",
    "StandInsRecord",
    "ThresholdRecord",
    "add_last_parts",
    "draw_rows",
    "hard_rows_with_contents",
    "mean_interval",
    "metric_scorer",
    "record_comparison",
    "record_scores",
    "score_lines",
    "truth_column",
    "write_comparison",
    "write_scores",
)
