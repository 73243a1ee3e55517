"""Several readings of a column from one job, and choices that wait until all jobs are there."""

from textwrap import dedent

import numpy as np
import pytest

from mercer.studies import run_studies

# Errors (choices × dimensions) of two jobs.  The best choice of each differs from the best of both.
FIRST, SECOND = [[9.0, 1.0], [4.0, 5.0], [8.0, 8.0]], [[9.0, 9.0], [4.0, 3.0], [1.0, 8.0]]

SOURCE = f"""
import numpy as np
from mercer.studies import Method, Outcome, Published, Row, Study, Table

ERRORS = {[FIRST, SECOND]}


def surface(task):
    errors = np.array(ERRORS[task.replication])
    if task.protocol == "honest":
        return Outcome(values=errors[0, 0], details={{"dimension": 1}})
    return Outcome(values={{"each": errors.min(axis=0)[np.newaxis], "one": errors[np.newaxis]}})


def forgetful(task):
    return Outcome(values={{"each": [[1.0]]}})


STUDY = Study(
    name="variants", title="T", reference="R",
    tables=(
        Table(
            key="1", title="t", unit="% error", better="lower",
            rows=(Row(label="a", dataset="iris", replications=2),),
            methods=(
                Method(
                    columns=("m",), run=surface, reading="x", variants=("each", "one"),
                    protocols=("paper", "honest"),
                ),
            ),
            published={{("a", "m"): Published(3.6)}},
        ),
    ),
)
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "variants.py"
    path.write_text(dedent(SOURCE), encoding="utf-8")
    return path


def test_one_job_fills_every_variant_and_the_choice_waits_for_all_jobs(source, tmp_path):
    cells = run_studies([str(source)], tmp_path / "out", n_jobs=1).cells
    assert cells["reading"].tolist() == ["x, each", "x, one", "x, each"]
    assert cells["protocol"].tolist() == ["paper", "paper", "honest"]
    each = np.mean([np.min(FIRST, axis=0), np.min(SECOND, axis=0)], axis=0)
    one = np.mean([FIRST, SECOND], axis=0)
    best = np.unravel_index(one.argmin(), one.shape)
    assert (each.tolist(), one.min(), best) == ([2.5, 2.0], 4.0, (1, 0))
    assert cells["measured"].tolist() == [each.min(), one.min(), 9.0]
    assert cells["dimension"].tolist() == [2, 1, 1]
    assert cells["counts"].tolist() == [False, True, False]  # 4.0 is nearer to 3.6 than 2.0 is


def test_the_choice_has_one_replicate_of_each_job(source, tmp_path):
    scores = run_studies([str(source)], tmp_path / "out", n_jobs=1).scores
    found = scores[scores["reading"] == "x, one"]["value"].tolist()
    assert found == [FIRST[1][0], SECOND[1][0]]


def test_a_job_that_forgets_a_variant_is_told_so(source, tmp_path):
    source.write_text(source.read_text().replace("run=surface", "run=forgetful"), encoding="utf-8")
    failures = run_studies([str(source)], tmp_path / "out", n_jobs=1).failures
    assert failures["error"].str.contains("'one'").any()
