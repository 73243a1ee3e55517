"""The hypothesis tests, one file for each kind of evidence.

Predictions of one test set (``_mcnemar``), scores on splits of one data set (``_on_splits``) and
scores on many data sets (``_signed_rank``, ``_ranks``).  What these tests share is in ``_pairs``:
their checks, which the engine uses too, the result of a test of two estimators, the signs of
differences that never vary, all pairs of several, and Holm's correction.
"""
