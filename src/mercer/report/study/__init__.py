"""The page and the Markdown of a study: published numbers beside measured ones.

`_results` reads the results folder of ``mercer reproduce``; `_report` writes its page and
`_markdown` its summary for the documentation. Both ask the same parts: how many numbers were
reached and why others were not (`_summary`), the tables as the paper prints them (`_paper_tables`),
tests of what was measured (`_verdicts`), and how the run was made (`_about`).
"""
