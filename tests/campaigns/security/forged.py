"""Model files as somebody with bad intentions would write them: every digest fits."""

import hashlib
import io
import json
import zipfile

import numpy as np


def members(path):
    with zipfile.ZipFile(path) as found:
        return {name: found.read(name) for name in found.namelist()}


def as_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def digest(content):
    return hashlib.sha256(content).hexdigest()


def signed(contents):
    """Return members with digests that fit them."""
    about = json.loads(contents["mercer.json"])
    digests = {name: digest(one) for name, one in contents.items() if name != "mercer.json"}
    card = json.dumps(about["card"], sort_keys=True, separators=(",", ":")).encode()
    about["digests"] = {**digests, "card": digest(card)}
    return {**contents, "mercer.json": json.dumps(about).encode()}


def forge(path, contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in signed(contents).items():
            out.writestr(name, content)
    return path


def with_node(contents, node):
    """Return members whose schema has one node more, in the pipeline's own attributes."""
    schema = json.loads(contents["schema.json"])
    schema["content"]["content"]["memory"] = node
    return {**contents, "schema.json": json.dumps(schema).encode()}


def changes(array):
    """Yield what an array could be replaced by: other values, sizes and types."""
    for field in array.dtype.names or ():
        if array.dtype[field].kind in "iu":
            for value in (np.iinfo(array.dtype[field]).max, np.iinfo(array.dtype[field]).min):
                other = array.copy()
                other[field] = value
                yield other
    if array.dtype.kind in "iu":
        bounds = np.iinfo(array.dtype)
        for value in (bounds.max, bounds.min, min(bounds.max, 10**6)):
            yield np.full_like(array, value)
    elif array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1.0, 1e30):
            yield np.full_like(array, value)
    if array.ndim:
        yield array[: len(array) // 2].copy()
        yield np.concatenate([array, array])
        yield array[:0].copy()
        yield array[None].copy()
    if array.ndim == 2:
        yield array[:, :1].copy()
        yield np.asfortranarray(array.T)


def altered(contents):
    """Yield what was done and members with one array, or one whole number, replaced.

    Of a forest, whose trees are alike, every few arrays are taken.
    """
    for name in _some([name for name in contents if name.endswith(".npy")]):
        array = np.load(io.BytesIO(contents[name]), allow_pickle=False)
        for number, other in enumerate(changes(array)):
            yield (
                f"{name} {array.dtype.kind}{array.shape} {number}",
                {
                    **contents,
                    name: as_bytes(other),
                },
            )
    schema = json.loads(contents["schema.json"])
    for number, node in enumerate(_some(_whole_numbers(schema))):
        before = node["content"]
        for value in ("-1", "0", "1000000000", "4611686018427387904"):
            node["content"] = value
            text = json.dumps(schema).encode()
            yield f"number {number}: {before} to {value}", {**contents, "schema.json": text}
        node["content"] = before


def _some(items, most=50):
    """Return all, or some of those that many trees have in common."""
    return items[:: -(-len(items) // most)]


def _whole_numbers(schema):
    waiting, found = [schema], []
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if one.get("__loader__") == "JsonNode" and one["content"].lstrip("-").isdigit():
                found.append(one)
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return found
