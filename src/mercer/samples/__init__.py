"""Rows, weights and classes as users pass them.  Only this package and the sums know Dask.

Input is checked (`_checks`, `_weights`), and stays where it is: NumPy arrays and torch tensors in
memory, Dask arrays in blocks (`_dask_arrays`, `_blocks`).  Both answer the same questions
(`_homes`), and make samples (`_training`, `_sample`) from which rows are drawn (`_draws`).
New rows are answered in `_answers`, by sets of classes in `_sets`, and `_temperature` says how sure
an answer may be.
"""

from mercer.samples._answers import (
    ProbabilityClassifier,
    ScoreClassifier,
    answer_rows,
    check_new_rows,
    on_dask,
    refuses_dask,
)
from mercer.samples._blocks import Blocks, compute, merge_pairs
from mercer.samples._checks import (
    LARGEST,
    as_array,
    as_float,
    check_coordinates,
    check_finite,
    check_rows,
    check_same_home,
    check_same_library,
    check_size,
    check_span,
    check_width_span,
    dense_rows,
    describe_index,
    first_true,
    match_rows,
    power_of_two,
)
from mercer.samples._dask_arrays import (
    as_blocks,
    check_dask_rows,
    check_dask_vector,
    from_memory,
    in_memory,
    refuse_dask,
    rows_in_blocks,
)
from mercer.samples._draws import draw_rows, heaviest_rows, random_rows, stratified_rows
from mercer.samples._homes import count_rows, home_of, is_in_blocks, kind_of, total_weight
from mercer.samples._in_blocks import compute_arrays, row_numbers
from mercer.samples._in_memory import log_normalise, log_sum_of_others, logsumexp, safe_log
from mercer.samples._sample import BlockSample, Rows, Sample, SortedSample
from mercer.samples._sets import LeftOutScores, SetClassifier, check_coverage, log_odds_against
from mercer.samples._temperature import fit_biases, fit_temperature
from mercer.samples._training import (
    check_labelled,
    check_pair,
    check_sample,
    check_sides,
    check_training,
    check_two_classes,
    check_unlabelled,
    sample_of,
    validate_training,
    warn_of_scales,
)
from mercer.samples._weights import (
    Merged,
    check_class_weight,
    check_given_weights,
    check_priors,
    check_row_weights,
    check_some_weight,
    log_priors,
    merge_copies,
    row_keys,
)

__all__ = [
    "LARGEST",
    "BlockSample",
    "Blocks",
    "LeftOutScores",
    "Merged",
    "ProbabilityClassifier",
    "Rows",
    "Sample",
    "ScoreClassifier",
    "SetClassifier",
    "SortedSample",
    "answer_rows",
    "as_array",
    "as_blocks",
    "as_float",
    "check_class_weight",
    "check_coordinates",
    "check_coverage",
    "check_dask_rows",
    "check_dask_vector",
    "check_finite",
    "check_given_weights",
    "check_labelled",
    "check_new_rows",
    "check_pair",
    "check_priors",
    "check_row_weights",
    "check_rows",
    "check_same_home",
    "check_same_library",
    "check_sample",
    "check_sides",
    "check_size",
    "check_some_weight",
    "check_span",
    "check_training",
    "check_two_classes",
    "check_unlabelled",
    "check_width_span",
    "compute",
    "compute_arrays",
    "count_rows",
    "dense_rows",
    "describe_index",
    "draw_rows",
    "first_true",
    "fit_biases",
    "fit_temperature",
    "from_memory",
    "heaviest_rows",
    "home_of",
    "in_memory",
    "is_in_blocks",
    "kind_of",
    "log_normalise",
    "log_odds_against",
    "log_priors",
    "log_sum_of_others",
    "logsumexp",
    "match_rows",
    "merge_copies",
    "merge_pairs",
    "on_dask",
    "power_of_two",
    "random_rows",
    "refuse_dask",
    "refuses_dask",
    "row_keys",
    "row_numbers",
    "rows_in_blocks",
    "safe_log",
    "sample_of",
    "stratified_rows",
    "total_weight",
    "validate_training",
    "warn_of_scales",
]
