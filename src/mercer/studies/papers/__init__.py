"""One file for each paper: its tables, methods, protocols and published numbers as data.

A file here is a study as soon as it ends in ``STUDY = Study(…)`` and bears the study's name:
``_roweis_saul.py`` holds the study "roweis-saul".  Nothing else lists it.
"""
