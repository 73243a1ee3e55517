"""The hypothesis tests, one file for each kind of evidence.

Predictions of one test set (``_mcnemar``), scores on splits of one data set (``_paired_t``,
``_five_by_two``, and ``_sign`` where differences never vary) and scores on many data sets
(``_signed_rank``, ``_ranks``).  What a test of two estimators found, all pairs of several, and
Holm's correction are in ``_pairs``.
"""
