"""The command line as a person meets it: what is printed, and the exit code."""

import pytest

from mercer import __version__
from mercer.cli import main


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mercer {__version__}\n"


def test_datasets_lists_what_comes_with_scikit_learn(capsys, monkeypatch):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    assert main(["datasets"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if " digits8x8 " in line)
    assert line.split()[1:5] == ["1797", "64", "10", "scikit-learn"]


def test_wrong_input_is_one_sentence_and_exit_code_2(capsys, tmp_path):
    assert main(["datasets", "--folder", str(tmp_path / "nowhere")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mercer: ")
    assert captured.err.count("\n") == 1
    assert "nowhere" in captured.err


def test_unknown_command_is_exit_code_2(capsys):
    assert main(["nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["demo", "datasets"])
def test_help_shows_an_example(capsys, command):
    assert main([command, "--help"]) == 0
    assert f"Example: mercer {command}" in " ".join(capsys.readouterr().out.split())


def test_demo_runs(capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    chosen = [line for line in printed.splitlines() if "chosen" in line]
    assert len(chosen) == 1
    assert "98.9%" in chosen[0]  # leave-one-out accuracy on every other digit
    assert "never existed" in printed
    assert max(map(len, printed.splitlines())) <= 80
