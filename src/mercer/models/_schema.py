"""The schema of a model file: what it describes, and which members it asks for.

Nothing is built here.  What is refused would be harmful in the hands of skops, or of the compiled
code to which it hands arrays.
"""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mercer._system.npy import check_array
from mercer.models._archive import CARD, SCHEMA, parse
from mercer.models._trust import is_trusted, type_name

__all__ = ["check_members", "schema_types", "unknown_types"]


def schema_types(members: Mapping[str, bytes]) -> list[str]:
    """Return the types that a schema names, in alphabetical order."""
    return sorted({type_name(node) for node in _nodes(members)})


def unknown_types(members: Mapping[str, bytes]) -> list[str]:
    """Return those that no model of Mercer has."""
    return sorted({type_name(node) for node in _nodes(members) if not is_trusted(node)})


def check_members(members: Mapping[str, bytes], max_bytes: int) -> None:
    """Refuse members that are no plain arrays, and one that is to be read many times.

    Raises
    ------
    ValueError
        Its words go into brackets.
    """
    for name, content in members.items():
        if name in (CARD, SCHEMA):
            continue
        if not name.endswith(".npy") or not name.removesuffix(".npy").isalnum():
            raise ValueError(f"its member {name!r} has a name that Mercer never gives")
        check_array(content)
    total, seen = 0, set()
    for node in _nodes(members):
        if node.get("__loader__") == "TreeNode":
            _check_tree(node, members)
        if node.get("__loader__") == "RandomGeneratorNode":
            _check_generator(node)
        if "file" not in node:
            continue
        name, key = str(node["file"]), json.dumps(node.get("__id__"))
        if name not in members or name in (CARD, SCHEMA):
            raise ValueError(f"it refers to {name!r} in a way that Mercer never does")
        if not node.get("__id__") or key not in seen:  # skops reads it, and again if no id
            total += len(members[name])
        seen.add(key)
    if total > max_bytes:
        raise ValueError("it refers to members in a way that Mercer never does")


def _check_tree(node: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Refuse a tree of another shape than one output: building it would read beyond an array."""
    try:
        _, classes, outputs = node["__reduce__"]["args"]["content"]
        counts = np.load(io.BytesIO(members[classes["file"]]), allow_pickle=False)
        is_sound = outputs["content"] == "1" and counts.shape == (1,) and 0 < counts[0] < 1 << 20
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("a tree in it is of no shape that Mercer writes") from error
    if not is_sound:
        raise ValueError("a tree in it is of no shape that Mercer writes")


def _check_generator(node: Mapping[str, Any]) -> None:
    """Refuse a random generator with another pool than NumPy's: a large one is mixed for ever."""
    try:
        pool = node["content"]["seed_seq"]["content"]["pool_size"]["content"]
    except (KeyError, TypeError) as error:
        raise ValueError("a random generator in it is of no kind that Mercer writes") from error
    if pool != "4":
        raise ValueError("a random generator in it is of no kind that Mercer writes")


def _nodes(members: Mapping[str, bytes]) -> Iterator[Mapping[str, Any]]:
    """Yield every object that the schema describes; deep ones need no deep stack."""
    waiting = [parse(members[SCHEMA])]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            if "__class__" in found and "__module__" in found:
                yield found
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
