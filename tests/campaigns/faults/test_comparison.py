"""Fits that never end or end their process, and scripts that cannot start another."""

import subprocess
import sys

from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from comparison.sleeper import Sleeper
from mercer.comparison import compare_in_rounds


def test_a_fit_that_takes_more_than_its_share_is_stopped_and_a_dead_process_is_an_error():
    X, y = load_iris(return_X_y=True)
    models = {"quick": GaussianNB(), "dies": Sleeper(dies=True), "slow": Sleeper(300.0)}
    found = compare_in_rounds(models, X, y, budget=30.0, max_rounds=2, n_jobs=1, random_state=0)
    assert list(found.scores) == ["quick"]
    assert "its share of the budget" in found.notes["slow"]
    assert "ended from outside" in found.errors["dies"]


def test_a_script_without_a_protected_entry_is_told(tmp_path):
    """With more rows than a pipe holds: the parent once waited for ever for the first to read."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from sklearn.dummy import DummyClassifier\n"
        "from mercer.comparison import compare_in_rounds\n"
        "X = np.zeros((20_000, 10))\n"
        "models = {'a': DummyClassifier(), 'b': DummyClassifier()}\n"
        "compare_in_rounds(models, X, X[:, 0] + np.arange(20_000) % 2, budget=20, n_jobs=2)\n",
        encoding="utf-8",
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1
    assert "must protect its entry by if __name__ == '__main__':" in ran.stderr
