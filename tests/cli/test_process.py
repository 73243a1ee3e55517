"""The command as a process of its own: how it is called, and what it loads."""

import os
import subprocess
import sys

import pandas as pd
import pytest

from mercer.models import ModelCard, make_model, save_model
from mercer.tables import split_target


def test_python_m_mercer_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "mercer", "--version"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout.split()[0]) == (0, "mercer")


def test_a_shell_can_complete_commands():
    asked = {"_MERCER_COMPLETE": "complete_bash", "COMP_WORDS": "mercer meas", "COMP_CWORD": "1"}
    run = subprocess.run(
        [sys.executable, "-m", "mercer"],
        capture_output=True,
        text=True,
        env={**os.environ, **asked},
    )
    assert run.stdout.split() == ["measure"]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "fruit.skops"
    sizes = [1.5, 1.7, 1.6, 4.2, 4.4, 4.3]
    data = split_target(pd.DataFrame({"size": sizes, "fruit": ["fig"] * 3 + ["kiwi"] * 3}), "fruit")
    model = make_model("logistic", data).fit(data.X, data.y)
    save_model(path, model, ModelCard.describe("logistic", data))
    return path


LOADED = """
import sys
from mercer.cli import main
code = main({arguments!r})
print([name for name in {names!r} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


def loaded_by(arguments, names):
    code = LOADED.format(arguments=arguments, names=names)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stderr.splitlines()[-1]


def test_info_loads_no_scikit_learn(model_file):
    assert loaded_by(["info", str(model_file)], ["sklearn", "skops", "numba", "torch"]) == "[]"


def test_predict_loads_the_model_and_little_else(model_file, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("size\n1.55\n")
    names = ["torch", "dask", "numba", "matplotlib"]
    assert loaded_by(["predict", str(model_file), str(new)], names) == "[]"
