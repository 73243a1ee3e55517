"""What each column holds, and its values as floats, dates or categories.

``_cells``, ``_numbers`` and ``_dates`` know single cells: signs for a missing value, and the ways
in which numbers and dates are written.  ``_kinds`` describes a whole column by its cells.
``_match`` reads a table, the same or a new one, as was described.
"""
