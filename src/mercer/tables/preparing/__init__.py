"""Typed columns → the numbers that a classifier sees, by transformers of scikit-learn's kind.

``make_preprocessor`` puts them together for the columns of a table.  What they learn (medians,
scales, categories), they learn in ``fit``, and so from the training rows of each fold alone.
"""
