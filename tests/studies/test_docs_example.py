"""The study that docs/reproduce.md adds runs as it stands there."""

import re
from pathlib import Path

from mercer.studies import run_studies

DOCS = Path(__file__).parents[2] / "docs" / "reproduce.md"


def test_the_example_is_one_file_that_runs(tmp_path):
    text = DOCS.read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- example: neighbours.py -->\n```python\n(.*?)```", text, re.S)
    path = tmp_path / "neighbours.py"
    path.write_text(code, encoding="utf-8")
    results = run_studies([str(path)], tmp_path / "results", n_jobs=1)
    assert list(results.cells["mark"]) == ["reached", "reached"]
    assert list(results.cells["n"]) == [100, 100]
