"""Results folders from others: shown, or refused in one sentence; nothing outside is read."""

import json

import numpy as np
import pytest

from mercer.report import write_comparison_report, write_markdown, write_report
from mercer.studies._store import read_outcome
from report.comparisons import make_content, write_folder
from report.conftest import _panels, _studies
from report.conftest import write_folder as write_study


def refused(write, *arguments):
    with pytest.raises(ValueError, match=r"\w") as caught:
        write(*arguments)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 500
    return sentence


BROKEN = {
    "not JSON": b"{",
    "not UTF-8": b'{"kind": "\xff"}',
    "deep": b"[" * 200_000,
    "another kind": b"[]",
    "number of a million digits": b"[" + b"9" * 10_000 + b"]",
    "nothing": b"",
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_json(tmp_path, case):
    folder = write_folder(tmp_path / "c")
    (folder / "comparison.json").write_bytes(BROKEN[case])
    assert "comparison.json" in refused(write_comparison_report, folder)
    folder = tmp_path / "s"
    folder.mkdir()
    write_study(folder)
    for name in ("studies.json", "figures/laplacian-1.json"):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(BROKEN[case] if case != "another kind" else b"1")
        assert name in refused(write_report, folder)
        (folder / name).write_bytes(kept)


@pytest.mark.parametrize("name", ["../secret.json", "/etc/passwd", "figures/../../secret.json"])
def test_figures_outside_of_the_folder_are_not_read(tmp_path, name):
    """Any file that this user may read was opened."""
    (tmp_path / "secret.json").write_text('{"panels": []}')
    folder = tmp_path / "s"
    folder.mkdir()
    studies = _studies()
    write_study(folder, studies=studies)
    studies[0]["figures"][0]["file"] = name
    (folder / "studies.json").write_text(json.dumps(studies))
    for write in (write_report, lambda one: write_markdown(one, tmp_path / "page.md")):
        assert "is not inside it" in refused(write, folder)
    link = folder / "figures" / "link.json"
    link.symlink_to(tmp_path / "secret.json")
    studies[0]["figures"][0]["file"] = "figures/link.json"
    (folder / "studies.json").write_text(json.dumps(studies))
    assert "is not inside it" in refused(write_report, folder)


ODD = ["text", None, -1, 0, 1e308, float("nan"), float("inf"), [], {}, True, 10**400]


def _places(found, path=()):
    """Yield the way to every value of a JSON document."""
    items = found.items() if isinstance(found, dict) else enumerate(found)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*path, key))


def _replaced(found, path, value):
    copy = json.loads(json.dumps(found))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


def test_any_value_may_be_another(tmp_path, long):
    """Every value of comparison.json by every odd one: shown, or refused in one sentence."""
    content = make_content()
    folder = write_folder(tmp_path / "c")
    cases = [(path, odd) for path in _places(content) for odd in ODD]
    rng = np.random.default_rng(0)
    chosen = range(len(cases)) if long else rng.choice(len(cases), 8, replace=False)
    shown = 0
    for number in chosen:
        path, odd = cases[number]
        text = json.dumps(_replaced(content, path, odd))
        (folder / "comparison.json").write_text(text, encoding="utf-8")
        try:
            page = write_comparison_report(folder).read_text(encoding="utf-8")
        except ValueError as error:
            sentence = str(error)
            page = ""
        else:
            sentence = str(folder)
        shown += bool(page)
        assert page.count("<script") == bool(page)
        assert str(folder) in sentence
        assert "\n" not in sentence
    print(f"\nresults folders: {len(chosen)} tried, {shown} shown, {len(chosen) - shown} refused")
    assert shown


@pytest.mark.parametrize(
    "values",
    [[1e308, -1e308], [1e-320, 2e-320], [1e300, 1e300], [float("inf"), 1.0], [None, None], []],
    ids=str,
)
def test_numbers_at_the_end_of_the_scale(tmp_path, values):
    panels = _panels()
    for panel in panels:
        for layer in panel["layers"]:
            for axis in ("x", "y"):
                if layer.get(axis):
                    layer[axis] = (values * len(layer[axis]))[: len(layer[axis])] or [0.0]
                    layer[axis] *= 1 if values else len(layer[axis])
    folder = tmp_path / "s"
    folder.mkdir()
    write_study(folder, panels=panels)
    try:
        assert write_report(folder).stat().st_size < 5e6
    except ValueError as error:
        assert str(folder) in str(error)  # noqa: PT017 - shown or refused


@pytest.mark.parametrize(
    "note", [b"[]", b"{}", b"1", b"[" * 100_000, b"\xff", b'{"seconds": 1, "columns": ["a"]}']
)
def test_outcomes_that_were_changed_are_computed_again(tmp_path, note):
    """Some of them ended a run with a traceback."""
    path = tmp_path / "job.npz"
    np.savez(path, note=np.frombuffer(note, dtype=np.uint8))
    assert read_outcome(path) is None
    np.savez(path, note=np.array([{}], dtype=object))
    assert read_outcome(path) is None
