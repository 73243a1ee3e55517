"""One file for each paper: its tables, methods, protocols and published numbers as data.

A file here is a study as soon as it ends in ``STUDY = Study(…)``; nothing else names it.
"""
