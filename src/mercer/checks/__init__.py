"""What to ask about a table before any model is fitted: what makes scores too good to be true.

A column that alone gives the answer, rows that stand in the table twice, groups and an order in
time that random folds do not see: none is an error, and each has a code, a sentence with the
evidence and what to do, and a section in the documentation.  Nothing is changed, and nothing is
printed.

>>> import pandas as pd
>>> from mercer.checks import check_table
>>> people = pd.DataFrame({"age": [20, 30, 60, 70] * 5, "retired": list("nnyy") * 5})
>>> [finding.code for finding in check_table(people, "retired")]
['few-rows']
"""

from mercer.checks._check import check_rows as check_rows
from mercer.checks._check import check_table
from mercer.checks._finding import CODES, Finding

__all__ = ["CODES", "Finding", "check_table"]

# What `mercer compare` asks of rows that it has read and labelled.
_FOR_MERCER = ("check_rows",)
