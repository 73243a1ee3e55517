"""No name makes a terminal do anything: it is shown, without what the terminal would obey."""

import io
import json
import sys

import pandas as pd
import pytest

import mercer.comparison
from mercer.cli import main
from mercer.cli._output import one_line, visible
from mercer.comparison import compare_in_rounds
from mercer.tables import read_table
from security.hostile import TERMINAL

OBEYED = "\x1b\x07\x08\x9b\r\u202e\u2028"


class Screen(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table whose names, classes and cells are all odd."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    n = 36
    frame = pd.DataFrame({TERMINAL[k]: [i % (3 + k) for i in range(n)] for k in range(4)})
    frame["id"] = [f"{TERMINAL[i % 6]}{i}" for i in range(n)]
    frame[TERMINAL[5]] = [TERMINAL[i % 2] + TERMINAL[2 + i % 2] for i in range(n)]
    frame.to_csv("t.csv", index=False)
    return frame, TERMINAL[5]


def shown(*arguments, monkeypatch, capsys, screen=True):
    if screen:
        stream = Screen()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            code = main(list(arguments))
        out = stream.getvalue()
    else:
        code = main(list(arguments))
        out = ""
    captured = capsys.readouterr()
    assert code == 0, captured.err
    for text in (out, captured.err):
        plain = text.replace("\x1b[1m", "").replace("\x1b[0m", "")  # our own bold
        assert not any(sign in plain for sign in OBEYED), repr(plain)
        assert "💀" not in text
    return out or captured.out


def test_commands_print_names_harmlessly_and_ask_nobody(table, asked, monkeypatch, capsys):
    """Column and class names went to the terminal as they were, and :skull: as a picture."""
    _, target = table

    def two_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 1})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", two_rounds)
    where = {"monkeypatch": monkeypatch, "capsys": capsys}
    out = shown("fit", "t.csv", "-t", target, "-m", "dummy", "-o", "m.skops", **where)
    assert "[bold red]x[/] [link=http://x.invalid]y[/link] [/]" in out
    assert ":skull: \\" in out
    assert "[bold red]x[/]" in shown("info", "m.skops", **where)
    shown("info", "m.skops", "--json", **where)
    answers = shown("predict", "m.skops", "t.csv", "--keep", "id", **where)
    assert r"\x1b[31mred" in answers
    shown("predict", "m.skops", "t.csv", "-o", "p.csv", **where)
    shown("project", "t.csv", "-t", target, "--method", "pca", "-o", "e.csv", **where)
    shown("measure", "t.csv", "t.csv", **where)
    models = ["--models", "dummy,logistic", "--budget", "10m"]
    shown("compare", "t.csv", "-t", target, *models, "-o", "results", **where)
    assert asked == []


def test_a_pipe_gets_every_character(table, monkeypatch, capsys):
    _, target = table
    assert main(["fit", "t.csv", "-t", target, "-m", "dummy", "-o", "m.skops"]) == 0
    capsys.readouterr()
    assert main(["predict", "m.skops", "t.csv", "--keep", "id"]) == 0
    with open("p.csv", "w", encoding="utf-8", newline="") as stream:
        stream.write(capsys.readouterr().out)
    assert read_table("p.csv").frame["id"].tolist() == read_table("t.csv").frame["id"].tolist()


def test_json_is_the_same_with_control_characters_spelled_out(capsys):
    from mercer.cli._output import print_json

    print_json(list(TERMINAL))
    text = capsys.readouterr().out
    assert not any(sign in text for sign in OBEYED)
    assert json.loads(text) == list(TERMINAL)


def test_our_own_faults_are_shown_without_control_characters(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mercer.tables, "read_table", lambda path: {}["\x1b[2J"])
    assert main(["fit", "t.csv", "-t", "x"]) == 1
    assert "\x1b" not in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["fit", str(tmp_path / "\x1b[2J.csv"), "-t", "x"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_the_two_ways_to_show_a_text():
    assert one_line("a\nb\x1b[1mc\u202ed") == "a b [1mc d"
    assert visible("a\n\tb\x1b[1m\u202ed\x9b") == "a\n\tb\\x1b[1m\\u202ed\\x9b"
