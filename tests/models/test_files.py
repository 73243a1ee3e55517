"""Model files: what is saved comes back the same, and what was tampered with does not load."""

import argparse
import io
import json
import os
import pickle
import warnings
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import mercer
from mercer.models import (
    CappedClassifier,
    ModelCard,
    TrainingSample,
    list_models,
    load_model,
    load_model_parts,
    make_model,
    read_card,
    save_model,
)
from mercer.models.files import _archive as archive
from mercer.tables import CategoryDummies, make_preprocessor


@pytest.fixture(scope="module")
def saved(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "logistic.skops"
    model = make_model("logistic", data).fit(data.X, data.y)
    save_model(path, model, ModelCard.describe("logistic", data))
    return path


def members(path):
    with zipfile.ZipFile(path) as found:
        return {name: found.read(name) for name in found.namelist()}


def rewrite(path, contents, *, digests=True):
    """Write members as somebody with bad intentions would, with digests that fit."""
    if digests:
        about = json.loads(contents["mercer.json"])
        about["digests"] = {
            name: archive.digest(content)
            for name, content in contents.items()
            if name != "mercer.json"
        }
        card = json.dumps(about["card"], sort_keys=True, separators=(",", ":")).encode()
        about["digests"]["card"] = archive.digest(card)
        contents = {**contents, "mercer.json": json.dumps(about).encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in contents.items():
            out.writestr(name, content)
    return path


def refused(path, match):
    """Both ways to open a file refuse it, in one sentence that names it."""
    with pytest.raises(ValueError, match=match) as caught:
        load_model(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(path) in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize("name", list_models())
def test_round_trip_is_exact(data, tmp_path, name):
    path = tmp_path / "model.skops"
    model = make_model(name, data).fit(data.X, data.y)
    card = ModelCard.describe(name, data, scores={"accuracy": 0.5})
    save_model(path, model, card)
    loaded, read = load_model(path)
    assert read == card
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))
    np.testing.assert_array_equal(loaded.predict_proba(data.X), model.predict_proba(data.X))
    assert os.listdir(tmp_path) == ["model.skops"]


@pytest.mark.parametrize(
    "estimator",
    [
        mercer.SparseKernelFisherDiscriminant(random_state=0, max_nodes=20),
        mercer.LaplacianClassifier(n_nodes=20, random_state=0),
        mercer.ISEClassifier(weighting="margin"),
        mercer.NearestAngleClassifier(),
        mercer.LaplacianSVC(),
        CappedClassifier(mercer.ParzenClassifier(), max_rows=60, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_round_trip_of_other_estimators(data, tmp_path, estimator):
    path = tmp_path / "model.skops"
    y = np.where(data.y == "plain", "plain", "other")
    model = Pipeline([("table", make_preprocessor(data.columns)), ("model", estimator)])
    model.fit(data.X, y)
    card = ModelCard.describe("mine", data)
    card = ModelCard.from_dict({**card.to_dict(), "classes": ["other", "plain"]})
    save_model(path, model, card)
    loaded, _ = load_model(path)
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))


def test_card_survives_json_and_rejects_nonsense(data):
    card = ModelCard.describe("fisher", data, balanced=True, scores={"accuracy": 0.9})
    again = ModelCard.from_dict(json.loads(json.dumps(card.to_dict())))
    assert again == card
    assert again.columns[2].categories == ("blue", "green", "red")
    for wrong in ({"n_rows": "many"}, {"classes": [1, 2]}, {"target": None}, {"more": 1}):
        with pytest.raises(ValueError, match="card"):
            ModelCard.from_dict({**card.to_dict(), **wrong})


def test_read_card_lists_types_and_builds_nothing(saved, monkeypatch):
    monkeypatch.setattr(skops.io, "loads", None)
    found = read_card(saved)
    assert found.card.model == "logistic"
    assert "sklearn.linear_model._logistic.LogisticRegression" in found.types
    assert f"{CategoryDummies.__module__}.CategoryDummies" in found.types
    assert found.untrusted == ()
    assert found.n_bytes == sum(map(len, members(saved).values()))


def test_flipped_bytes_are_noticed(saved, tmp_path):
    content = bytearray(saved.read_bytes())
    path = tmp_path / "flipped.skops"
    rng = np.random.default_rng(0)
    model, _ = load_model(saved)
    sentences = []
    for place in rng.choice(len(content), 60, replace=False):
        changed = content.copy()
        changed[place] ^= 0x40
        path.write_bytes(changed)
        try:
            loaded, _ = load_model(path)
        except ValueError as error:
            sentences.append(str(error))
        else:  # a byte of the archive's own that has no meaning, such as a date
            np.testing.assert_array_equal(loaded[-1].coef_, model[-1].coef_)
    assert len(sentences) > 40
    assert all("\n" not in one and str(path) in one for one in sentences)


def test_replaced_member_is_refused(saved, tmp_path):
    found = members(saved)
    name = next(name for name in found if name.endswith(".npy"))
    found[name] = found[name][:-1] + b"\x00"
    refused(rewrite(tmp_path / "m.skops", found, digests=False), "was changed after it was written")


def test_changed_card_is_refused(saved, tmp_path):
    found = members(saved)
    found["mercer.json"] = found["mercer.json"].replace(b'"plain"', b'"PLAIN"')
    refused(rewrite(tmp_path / "m.skops", found, digests=False), "was changed .*'card'")
    refused(rewrite(tmp_path / "n.skops", found), "classes of the model and of its card differ")


def test_added_member_is_refused(saved, tmp_path):
    found = {**members(saved), "more.npy": b"x"}
    refused(rewrite(tmp_path / "m.skops", found, digests=False), "was changed .*'more.npy'")


def test_untrusted_type_is_refused_by_name_and_not_built(saved, tmp_path, capsys):
    found = members(saved)
    evil = skops.io.dumps({"a": print, "b": argparse.Namespace(c=1)})
    with zipfile.ZipFile(io.BytesIO(evil)) as inner:
        found = {
            "mercer.json": found["mercer.json"],
            **{n: inner.read(n) for n in inner.namelist()},
        }
    path = rewrite(tmp_path / "m.skops", found)
    refused(path, r"holds argparse\.Namespace, which no model of Mercer has")
    assert read_card(path).untrusted == ("argparse.Namespace", "builtins.print")
    assert capsys.readouterr().out == ""


def test_trusted_object_that_is_no_pipeline_is_refused(saved, tmp_path):
    content = skops.io.dumps(LogisticRegression())
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        parts = {name: inner.read(name) for name in inner.namelist()}
    found = {"mercer.json": members(saved)["mercer.json"], **parts}
    refused(rewrite(tmp_path / "m.skops", found), "a model is a Pipeline, not a LogisticRegression")


def test_file_of_skops_alone_is_refused(tmp_path):
    path = tmp_path / "m.skops"
    skops.io.dump(LogisticRegression(), path)
    refused(path, "was saved by skops, but not by Mercer")


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickle_with_another_name_is_refused(tmp_path, protocol):
    path = tmp_path / "m.skops"
    path.write_bytes(pickle.dumps(LogisticRegression(), protocol=protocol))
    refused(path, "is a pickle, which could run anything")


def test_bombs_are_refused_without_unpacking(saved, tmp_path):
    path = tmp_path / "m.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for i in range(3):
            out.writestr(f"{i}.npy", bytes(1 << 20))
    with pytest.raises(ValueError, match="unpacks to more than 2 MiB") as caught:
        load_model(path, max_bytes=1 << 21)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", [lambda i: i + 1, lambda i: None, lambda i: 0])
def test_one_member_read_many_times_is_refused(saved, tmp_path, key):
    found = members(saved)
    schema = json.loads(found["schema.json"])
    name = next(name for name in found if name.endswith(".npy"))
    stream = io.BytesIO()
    np.save(stream, np.zeros(1 << 17))
    found[name] = stream.getvalue()
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
            "type": "numpy", "file": name}  # fmt: skip
    schema["more"] = [{**node, "__id__": key(i)} for i in range(10)]
    found["schema.json"] = json.dumps(schema).encode()
    path = rewrite(tmp_path / "m.skops", found)
    with pytest.raises(ValueError, match="in a way that Mercer never does"):
        load_model(path, max_bytes=5 << 20)


def test_archive_inside_the_archive_is_refused(saved, tmp_path):
    found = members(saved)
    name = next(name for name in found if name.endswith(".npy"))
    found["schema.json"] = found["schema.json"].replace(name.encode(), b"inner.npz")
    found["inner.npz"] = found.pop(name)
    refused(rewrite(tmp_path / "m.skops", found), "a name that Mercer never gives")


def test_deep_json_is_refused(saved, tmp_path):
    found = members(saved)
    found["schema.json"] = b"[" * 100_000 + b"]" * 100_000
    refused(rewrite(tmp_path / "m.skops", found), "nested too deeply")


def test_other_format_version_is_refused(saved, tmp_path):
    found = members(saved)
    about = json.loads(found["mercer.json"])
    other = about["format"] + 1
    found["mercer.json"] = json.dumps({**about, "format": other}).encode()
    refused(rewrite(tmp_path / "m.skops", found), f"has version {other} of the format")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"age,job\n31,baker\n", "is not a model file"),
        (b"PK\x03\x04 and then nothing", "is damaged"),
    ],
)
def test_other_files_are_refused(tmp_path, content, match):
    path = tmp_path / "m.skops"
    path.write_bytes(content)
    refused(path, match)


@pytest.mark.parametrize(
    ("place", "value"), [(8, 1), (8, 32), (8, 64), (6, 109), (10, 12), (10, 14), (10, 99)]
)
def test_a_directory_that_lies_is_damage(saved, tmp_path, place, value):
    """Encrypted, patched, of a later version, compressed otherwise: says one changed byte."""
    content = bytearray(saved.read_bytes())
    content[content.index(b"PK\x01\x02") + place] = value
    path = tmp_path / "m.skops"
    path.write_bytes(content)
    refused(path, "is damaged")


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^There is no file .*none\.skops"):
        load_model(tmp_path / "none.skops")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_trees_that_point_outside_are_refused(data, tmp_path, name):
    """scikit-learn would follow such an index, out of its own memory."""
    path = tmp_path / "model.skops"
    few_trees = {"model__n_estimators": 5} if name == "forest" else {"model__max_iter": 5}
    model = make_model(name, data).set_params(**few_trees).fit(data.X, data.y)
    save_model(path, model, ModelCard.describe(name, data))
    found = members(path)
    fields = ("left_child", "feature") if name == "forest" else ("left", "feature_idx")
    for field in fields:
        for value in (10**6, 0 if field.startswith("left") else 200):
            changed = dict(found)
            for member, content in found.items():
                if member.endswith(".npy"):
                    array = np.load(io.BytesIO(content), allow_pickle=False)
                    if array.dtype.names and field in array.dtype.names and len(array) > 1:
                        array[field][0] = value
                        stream = io.BytesIO()
                        np.save(stream, array)
                        changed[member] = stream.getvalue()
                        break
            refused(rewrite(tmp_path / "m.skops", changed), "points to nodes that do not exist")


def test_saving_refuses_what_would_not_load(data, tmp_path):
    class Mine(LogisticRegression):
        pass

    model = Pipeline([("table", make_preprocessor(data.columns)), ("model", Mine())])
    model.fit(data.X, data.y)
    card = ModelCard.describe("mine", data)
    with pytest.raises(ValueError, match=r"Mine cannot be saved"):
        save_model(tmp_path / "m.skops", model, card)
    with pytest.raises(ValueError, match=r"must end with \.skops"):
        save_model(tmp_path / "m.pkl", make_model("dummy", data).fit(data.X, data.y), card)
    with pytest.raises(ValueError, match="begin with 'table'"):
        save_model(tmp_path / "m.skops", Pipeline([("model", LogisticRegression())]), card)
    assert os.listdir(tmp_path) == []


def test_a_failed_save_leaves_the_old_file(data, saved, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    path.write_bytes(saved.read_bytes())

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive.os, "fsync", full)
    model, card = load_model(saved)
    with pytest.raises(OSError, match=r"^File .*m\.skops cannot be written \(No space left"):
        save_model(path, model, card)
    assert os.listdir(tmp_path) == ["m.skops"]
    assert path.read_bytes() == saved.read_bytes()


def test_other_version_of_scikit_learn_is_said_once(saved, tmp_path):
    found = members(saved)
    about = json.loads(found["mercer.json"])
    about["card"]["sklearn"] = "1.5.0"
    found["mercer.json"] = json.dumps(about).encode()
    found["schema.json"] = found["schema.json"].replace(b'\\"1.9', b'\\"1.5')
    path = rewrite(tmp_path / "m.skops", found)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_model(path)
    assert len(caught) == 1
    assert "trained with scikit-learn 1.5.0" in str(caught[0].message)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trainingcategories", lambda a: a + 5),
        ("trainingclasses", lambda a: a - 3),
        ("trainingclasses", lambda a: a[:-1]),
        ("trainingnumbers", lambda a: a[:, :-1]),
        ("trainingnumbers", lambda a: a.astype(np.float32)),
        ("trainingnumbers", lambda a: np.full_like(a, np.inf)),
        ("trainingdates", lambda a: a.ravel()),
        ("trainingplaces", lambda a: -a - 1),
        ("trainingnumbers", None),
    ],
)
def test_forged_rows_are_refused(data, tmp_path, name, change):
    model = make_model("dummy", data).fit(data.X, data.y)
    path = tmp_path / "m.skops"
    save_model(path, model, ModelCard.describe("dummy", data), rows=TrainingSample.draw(data))
    contents = members(path)
    if change is None:
        del contents[f"{name}.npy"]
    else:
        stream = io.BytesIO()
        np.save(stream, change(np.load(io.BytesIO(contents[f"{name}.npy"]))))
        contents[f"{name}.npy"] = stream.getvalue()
    rewrite(path, contents)
    with pytest.raises(ValueError, match="the training rows in it do not fit its card"):
        load_model_parts(path)
    with pytest.raises(ValueError, match="do not fit its card"):
        load_model(path)
