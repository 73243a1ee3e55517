"""The papers' experiments as data, and the runner that repeats them.

A study is one file of :mod:`mercer.studies.papers`: tables, rows, methods, protocols and the
published numbers, with the few functions that fill the cells.  The runner knows nothing of any
paper::

    Study ──► plan_jobs ──► jobs ──► one file per outcome ──► cells, scores, figures
    tables,   seeds and     in       written whole, under     published beside measured
    methods   digests       workers  the digest of its job    mercer.report draws the page

Stopped runs go on where they were, and neither the order of jobs nor the number of workers
changes a digit.

>>> from mercer.studies import list_studies, load_study
>>> for name in list_studies():
...     print(name, [table.key for table in load_study(name).tables][:4])
equivalences ['Figs 3–4']
fisher ['1', '2', '2 (nodes)']
laplacian ['I–III', 'IV–V', 'VI', 'VII']
lsva ['I', 'II', 'III', 'IV']
roweis-saul ['1', '2', '3', '4']
"""

from mercer.studies._audit import audit_roweis_saul
from mercer.studies._catalogue import list_studies, load_study
from mercer.studies._collect import Results
from mercer.studies._jobs import Job, Plan, plan_jobs
from mercer.studies._model import (
    Claim,
    Figure,
    Method,
    Outcome,
    Published,
    Row,
    Study,
    Table,
    read_published,
)
from mercer.studies._panels import Bars, Line, Panel, Points, Raster
from mercer.studies._runner import Progress, run_studies
from mercer.studies._task import Task

__all__ = [
    "Bars",
    "Claim",
    "Figure",
    "Job",
    "Line",
    "Method",
    "Outcome",
    "Panel",
    "Plan",
    "Points",
    "Progress",
    "Published",
    "Raster",
    "Results",
    "Row",
    "Study",
    "Table",
    "Task",
    "audit_roweis_saul",
    "list_studies",
    "load_study",
    "plan_jobs",
    "read_published",
    "run_studies",
]
