"""What a command says on the way where standard error is not a terminal."""

import re

import pytest

from mercer.cli import _output, main


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{i % 7},{'yes' if i % 2 else 'no'}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["size,y", *lines]), encoding="utf-8")


def test_a_quick_command_says_nothing(table, capsys):
    assert main(["fit", "t.csv", "-t", "y", "-m", "logistic"]) == 0
    assert capsys.readouterr().err == ""


def test_a_long_command_says_what_it_does_and_when(table, capsys, monkeypatch):
    monkeypatch.setattr(_output, "_SECONDS_BETWEEN_LINES", 0.0)  # As if each step took ten.
    assert main(["fit", "t.csv", "-t", "y", "-m", "logistic"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d fitting logistic on all rows …", lines[-1])


def test_lines_keep_their_distance(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr(_output.time, "monotonic", lambda: now)
    show = _output.log_lines()
    for now in range(1, 36):
        show(f"step {now}\nof many")
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 1)[1] for line in said] == [f"step {n} of many" for n in (10, 20, 30)]
