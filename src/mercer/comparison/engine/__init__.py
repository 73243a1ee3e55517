"""The machine behind :func:`~mercer.comparison.compare` and ``compare_in_rounds``.

Splits that all estimators share (``_splits``), the fit of one clone on one of them (``_fit``), the
scores of a split (``_metrics``), and the plan that says which fits come next while there is time
(``_plan``).  A fixed list of splits is the plan without a clock.
"""
