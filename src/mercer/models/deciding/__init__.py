"""From probabilities to decisions: what mistakes cost, or a class that must not be missed.

Pure functions from probabilities of left-out rows to a rule (``_rules``), the classifier that
carries a rule through a pipeline and a model file (``_classifier``), and what a rule comes to on
rows whose class is known (``_figures``).
"""
