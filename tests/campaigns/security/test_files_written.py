"""Files that Mercer writes: no link is followed, no name foreseen, nobody's rights widened."""

import os
import stat

import pandas as pd
import pytest

import mercer._system.files as files
from mercer.datasets._places import read_npz
from mercer.models import load_model, save_model
from mercer.report import write_scatter_page
from mercer.studies._store import write_atomically
from mercer.tables import write_table
from report.comparisons import make_points

posix = pytest.mark.skipif(os.name != "posix", reason="links and rights are those of POSIX")


@posix
def test_a_link_under_a_name_that_could_be_known_is_not_followed(tmp_path, monkeypatch, saved):
    """A model, a page or a result was written through a link that somebody else had put there."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "known")
    out = tmp_path / "out"
    out.mkdir()
    pipeline, card = load_model(saved("dummy"))
    writers = {
        "m.skops": lambda path: save_model(path, pipeline, card),
        "t.csv": lambda path: write_table(pd.DataFrame({"a": [1]}), path),
        "p.html": lambda path: write_scatter_page(make_points(["a"]), path, title="t"),
        "r.json": lambda path: write_atomically(path, "{}"),
    }
    for name, write in writers.items():
        link = out / f".{name}.known.partial"
        link.symlink_to(victim)
        with pytest.raises(OSError, match="exists"):
            write(out / name)
        assert victim.read_text() == "mine"
        link.unlink(missing_ok=True)
        write(out / name)
        assert sorted(os.listdir(out)) == [name]
        (out / name).unlink()


def test_names_of_unfinished_files_differ(tmp_path):
    names = set()
    for _ in range(3):
        with files.written_whole(tmp_path / "a.txt") as beside:
            names.add(beside.name)
            beside.write_text("x")
    assert len(names) == 3


@posix
def test_rights_are_those_that_the_user_set(tmp_path):
    before = os.umask(0o077)
    try:
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "t.csv")
        write_scatter_page(make_points(["a"]), tmp_path / "p.html", title="t")
    finally:
        os.umask(before)
    for name in ("t.csv", "p.html"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_kept_data_set_that_promises_too_much_is_refused(tmp_path):
    import io
    import zipfile

    import numpy as np

    header = io.BytesIO()
    promise = {"descr": "<f8", "fortran_order": False, "shape": (1 << 47,)}
    np.lib.format.write_array_header_1_0(header, promise)
    path = tmp_path / "vowel.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("X.npy", "y.npy"):
            archive.writestr(name, header.getvalue() + bytes(64))
    with pytest.raises(ValueError, match="promises more") as caught:
        read_npz(path, sha256=None)
    assert str(path) in str(caught.value)
