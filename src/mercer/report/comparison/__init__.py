"""The page of a comparison: the results folder of ``mercer compare`` becomes ``report.html``.

`_page` asks each part for its texts and charts: what was asked (`_question`), who is ahead and by
how much (`_ranking`), what a rule comes to (`_decision`), which classes are taken for each other
(`_confusion`), what probabilities are worth (`_curves`). The parts return texts and drawings; the
template ``comparison.html`` puts them in their places, and says how all this was measured.
"""
