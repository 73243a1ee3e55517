"""Model files that were made to do harm: refused in one sentence, with nothing run."""

import gzip
import io
import json
import os
import pickle
import re
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import skops.io
from sklearn.tree import DecisionTreeClassifier

import mercer
from mercer.models import load_model, read_card
from security.forged import as_bytes, forge, members, with_node


class Canary:
    """Once unpickled, there is a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def refused(path, *words, **options):
    with pytest.raises(ValueError, match=r"^File .* (is|holds|has|unpacks|cannot)") as caught:
        load_model(path, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(path) in sentence
    assert sentence.endswith(".")
    assert len(sentence) < 400
    for word in words:
        assert word in sentence


def node(kind, name, **more):
    module, _, short = name.rpartition(".")
    return {"__class__": short, "__module__": module, "__loader__": kind, **more}


def json_node(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def pack(kind, *items):
    return node(f"{kind.capitalize()}Node", f"builtins.{kind}", content=list(items))


TOUCH = pack("tuple", json_node("touch canary"))
SYSTEM = node("FunctionNode", "os.system")
NOTHING = node("DictNode", "builtins.dict", content={}, key_types=pack("list"))
PARTIAL = node(
    "PartialNode", "functools.partial",
    content={"func": SYSTEM, "args": TOUCH, "kwds": NOTHING, "namespace": json_node(None)},
)  # fmt: skip

# name: node, a word of the sentence
HOSTILE = {
    "function": (SYSTEM, "os.system"),
    "builtin as a type": (node("TypeNode", "builtins.eval"), "builtins.eval"),
    "partial": (PARTIAL, "functools.partial"),
    "method": (
        node("MethodNode", "os.Popen", content={"func": "close", "obj": json_node(1)}), "os.Popen"
    ),
    "methodcaller": (
        node("OperatorFuncNode", "operator.methodcaller", attrs=TOUCH), "operator.methodcaller"
    ),
    "operator that calls": (
        node("OperatorFuncNode", "operator.call", attrs=pack("tuple", SYSTEM, json_node("x"))),
        "operator.call",
    ),
    "operator under another name": (
        node("OperatorFuncNode", "builtins.str", attrs=pack("tuple", SYSTEM)), "builtins.str"
    ),
    "constructor": (
        node("ConstructorFromReduceNode", "subprocess.Popen", content=TOUCH), "subprocess.Popen"
    ),
    "ufunc that skops trusts": (node("FunctionNode", "numpy.add"), "numpy.add"),
    "estimator that skops trusts": (
        node("ObjectNode", "sklearn.svm._classes.NuSVC", content=NOTHING), "NuSVC"
    ),
    "text vectoriser, which opens files": (
        node("ObjectNode", "sklearn.feature_extraction.text.CountVectorizer", content=NOTHING),
        "CountVectorizer",
    ),
    "loader that there is not": (node("EvilNode", "builtins.str"), "builtins.str"),
    "no loader": ({"__class__": "str", "__module__": "builtins"}, "builtins.str"),
    "file-like": (node("ObjectNode", "_io.FileIO", content=NOTHING), "_io.FileIO"),
    "bytes": (node("BytesNode", "builtins.bytes", file="schema.json"), "in a way that"),
    "deep inside": (pack("list", pack("tuple", pack("list", SYSTEM))), "os.system"),
    "in an array of objects": (
        node("NdArrayNode", "numpy.ndarray", type="json", shape=json_node([1]), content=[SYSTEM]),
        "os.system",
    ),
    "a member that is not there": (
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="../../etc/passwd"), "passwd"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_what_could_run_is_refused_by_name(saved, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    evil, word = HOSTILE[case]
    path = forge(tmp_path / "m.skops", with_node(members(saved("dummy")), evil))
    refused(path, word)
    try:
        assert read_card(path).untrusted != ()
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017 - one or the other
    assert os.listdir(tmp_path) == ["m.skops"]


def test_our_own_files_hold_nothing_that_is_not_named(saved):
    for name in ("dummy", "svc", "boosting"):
        assert read_card(saved(name)).untrusted == ()


def pickled(path):
    """An array of one object, whose pickle makes a file."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "|O", "fortran_order": False, "shape": (1,)}
    )
    pickle.dump([Canary(path)], stream)
    return stream.getvalue()


def promising(shape, kind="<f8"):
    stream = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + bytes(64)


def sparse_bomb():
    """An archive in the archive, which scipy would unpack."""
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, scipy.sparse.coo_array(np.ones((1, 1 << 15))))
    return stream.getvalue()


ARRAYS = {
    "objects, as a pickle": (lambda path: pickled(path), "holds objects"),
    "a petabyte promised": (lambda _: promising((1 << 47,)), "promises more"),
    "elements of no size": (lambda _: promising((1 << 60,), "|V0"), "promises more"),
    "negative length": (lambda _: promising((-5,)), "array"),
    "code in the header": (
        lambda _: b"\x93NUMPY\x01\x00\x36\x00{'descr': __import__('os').system('touch canary')}   ",
        "header of an array cannot be read",
    ),
    "an archive": (lambda _: sparse_bomb(), "header of an array cannot be read"),
    "compressed": (lambda _: gzip.compress(as_bytes(np.ones(3))), "cannot be read"),
    "nothing": (lambda _: b"", "cannot be read"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays_that_are_none(saved, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    make, word = ARRAYS[case]
    found = members(saved("dummy"))
    name = next(name for name in found if name.endswith(".npy"))
    found[name] = make(str(tmp_path / "canary"))
    refused(forge(tmp_path / "m.skops", found), word)
    assert os.listdir(tmp_path) == ["m.skops"]


@pytest.mark.parametrize(
    "name", ["/etc/cron.d/x.npy", "../x.npy", "a/../../x.npy", "..\\x.npy", "C:x.npy", "x\x1b.npy"]
)
def test_names_that_lead_elsewhere(saved, tmp_path, name):
    path = forge(tmp_path / "m.skops", {**members(saved("dummy")), name: as_bytes(np.ones(1))})
    refused(path, "a name that Mercer never gives")
    assert os.listdir(tmp_path) == ["m.skops"]


def test_a_link_in_the_archive_is_no_way_out(saved, tmp_path):
    found = members(saved("dummy"))
    name = next(name for name in found if name.endswith(".npy"))
    forge(tmp_path / "whole.skops", {**found, name: b"/etc/passwd"})
    place = tmp_path / "m.skops"
    with zipfile.ZipFile(tmp_path / "whole.skops") as whole, zipfile.ZipFile(place, "w") as out:
        for info in whole.infolist():
            content = whole.read(info)
            if info.filename == name:
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            out.writestr(info, content)
    refused(place, "header of an array")


@pytest.mark.parametrize("protocol", [-1, 99, "x", None, [], 1e308])
def test_schemas_of_other_versions(saved, tmp_path, protocol):
    found = members(saved("dummy"))
    schema = {**json.loads(found["schema.json"]), "protocol": protocol}
    path = forge(tmp_path / "m.skops", {**found, "schema.json": json.dumps(schema).encode()})
    refused(path, "cannot be put together")


@pytest.mark.parametrize(
    "schema", [b"", b"[]", b"null", b"1e999", b"{", b'{"content": NaN}', b"\xff\xfe", b"[" * 9999]
)
def test_schemas_that_are_none(saved, tmp_path, schema):
    refused(forge(tmp_path / "m.skops", {**members(saved("dummy")), "schema.json": schema}))


@pytest.mark.parametrize(
    "card", [b"", b"[]", b"null", b"{", b'{"format": 1}', b'{"format": 1, "card": 1, "digests": 1}']
)
def test_cards_that_are_none(saved, tmp_path, card):
    with zipfile.ZipFile(tmp_path / "m.skops", "w") as out:
        for name, content in {**members(saved("dummy")), "mercer.json": card}.items():
            out.writestr(name, content)
    refused(tmp_path / "m.skops")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_part_of_a_file(saved, tmp_path, share):
    whole = saved("dummy").read_bytes()
    (tmp_path / "m.skops").write_bytes(whole[: int(share * len(whole))])
    refused(tmp_path / "m.skops")


def test_a_bomb_costs_no_memory(saved, tmp_path):
    """Eighty megabytes of zeros in less than one."""
    path = tmp_path / "m.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        out.writestr("1.npy", bytes(80 << 20))
    tracemalloc.start()
    try:
        refused(path, "unpacks to more than 64 MiB", max_bytes=1 << 26)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


# Arrays that compiled code would follow beyond their end.


def altered_arrays(path, find, change):
    found = members(path)
    count = 0
    for name, content in list(found.items()):
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(content), allow_pickle=False)
            if find(array):
                found[name], count = as_bytes(change(array)), count + 1
    assert count
    return found


SUPPORT = {
    "twice the indices": (
        lambda a: a.dtype == np.int32 and a.ndim == 1 and len(a) > 2,
        lambda a: np.concatenate([a, a]),
    ),
    "no vectors": (lambda a: a.dtype.kind == "f" and a.ndim == 2 and len(a) > 2, lambda a: a[:0]),
    "vectors of one class": (
        lambda a: a.dtype == np.int32 and a.shape == (2,),
        lambda a: a * 1000,
    ),
    "negative counts": (lambda a: a.dtype == np.int32 and a.shape == (2,), lambda a: -a),
}


@pytest.mark.parametrize("case", SUPPORT)
def test_support_vectors_that_do_not_fit_are_refused(saved, tmp_path, case):
    """libsvm crashed the process."""
    find, change = SUPPORT[case]
    found = altered_arrays(saved("svc"), find, change)
    refused(forge(tmp_path / "m.skops", found), "support vectors in it do not fit")


def test_neighbours_that_are_none_are_refused(saved, tmp_path):
    """scikit-learn divided by zero, and the process was gone."""
    found = altered_arrays(saved("knn"), lambda a: a.dtype.kind == "f" and a.ndim == 2, lambda a: a[:0])  # fmt: skip  # noqa: E501
    refused(forge(tmp_path / "m.skops", found), "neighbours in it do not fit")


def test_a_tree_of_many_outputs_is_refused_before_it_is_built(saved, tmp_path):
    """Building it read as many numbers as the file said, from an array of one."""
    found = members(saved("forest"))
    schema = json.loads(found["schema.json"])
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if one.get("__loader__") == "TreeNode":
                one["__reduce__"]["args"]["content"][2]["content"] = "1000000000"
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    found["schema.json"] = json.dumps(schema).encode()
    refused(forge(tmp_path / "m.skops", found), "a tree in it has a shape")


def test_a_tree_is_checked_wherever_it_is(saved, tmp_path):
    """Found first in an estimator of many features, it passed for one of few too."""
    pipeline, _ = load_model(saved("forest"))
    X = np.random.default_rng(0).normal(size=(60, 500))
    wide = DecisionTreeClassifier(max_depth=1).fit(X, (X[:, -1] > 0).astype(float))
    pipeline[-1].estimators_[0].tree_ = wide.tree_
    steps = {"steps": pipeline.steps}
    for attributes in ({"memory": wide, **steps}, {**steps, "memory": wide}):
        pipeline.__dict__ = {**attributes, "verbose": False, "transform_input": None}
        with zipfile.ZipFile(io.BytesIO(skops.io.dumps(pipeline))) as archive:
            found = {one: archive.read(one) for one in archive.namelist()}
        found["mercer.json"] = members(saved("forest"))["mercer.json"]
        refused(forge(tmp_path / "m.skops", found), "a tree in it points to nodes")


def test_altered_models_never_crash_the_process(saved, tmp_path, long, capsys):
    """Every array and number in a file, replaced: refused, an error, or some answer."""
    if not long:
        pytest.skip("minutes: with --long")
    names = ["svc", "knn", "forest", "boosting", "parzen", "laplacian", "ise", "fisher", "logistic"]
    script = Path(__file__).with_name("alter.py")
    paths = [str(saved(name)) for name in names]
    source = str(Path(mercer.__file__).parents[1])
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([source, str(script.parents[1])]),
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    command = [sys.executable, script, "1", str(tmp_path), *paths]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    with capsys.disabled():
        print(f"\n{done.stdout}")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("size", ["5", "1000000000", "-1"])
def test_a_generator_that_would_be_mixed_for_ever_is_refused(saved, tmp_path, size):
    found = members(saved("boosting"))
    text = found["schema.json"].decode()
    (before,) = set(re.findall(r'"pool_size": \{[^{}]*?"content": "4"', text))
    found["schema.json"] = text.replace(before, before.replace('"4"', f'"{size}"')).encode()
    with pytest.raises(ValueError, match="random generator in it is of a kind"):
        load_model(forge(tmp_path / "m.skops", found))
