"""The machine behind :func:`~mercer.comparison.compare` and ``compare_in_rounds``.

The fit of one clone on one split (``_fit``), the scores of a split (``_metrics``), the splits that
all estimators share, and the plan that says which fits come next while there is time (``_plan``).
A fixed list of splits is the plan without a clock.
"""
