import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays

from mercer.datasets._dataset import _BLOCK, content_sha256, encode_labels

ROWS = numpy_arrays(np.uint8, st.tuples(st.integers(2, 9), st.just(6)))


@given(ROWS)
def test_checksum_ignores_how_values_are_stored(X: np.ndarray) -> None:
    y = np.arange(len(X), dtype=np.int16)
    expected = content_sha256(X, y)
    assert content_sha256(X.astype(np.float32), y) == expected
    assert content_sha256(np.asfortranarray(X.astype(np.float64)), y) == expected
    assert content_sha256(X.reshape(-1, 2, 3), y) == expected
    assert content_sha256(X.astype(">f8"), y.astype(">i4")) == expected
    assert content_sha256(np.where(X == 0, -0.0, X), y) == expected


@given(ROWS, st.data())
def test_checksum_sees_a_value_a_label_and_the_order(X: np.ndarray, data: st.DataObject) -> None:
    y = np.arange(len(X))
    expected = content_sha256(X, y)
    row = data.draw(st.integers(0, len(X) - 1))
    other = X.astype(np.float64)
    other[row, 3] = np.nextafter(other[row, 3], np.inf)
    assert content_sha256(other, y) != expected
    assert content_sha256(X, np.where(y == row, y + 1, y)) != expected
    assert content_sha256(X[::-1], y[::-1]) != expected


def test_checksum_sees_the_shape() -> None:
    X = np.zeros((4, 3))
    assert content_sha256(X, np.zeros(4)) != content_sha256(X.reshape(3, 4), np.zeros(4))


def test_checksum_sees_beyond_the_first_block() -> None:
    X, y = np.zeros((_BLOCK + 1, 1)), np.zeros(_BLOCK + 1)
    changed = X.copy()
    changed[-1] = 1
    assert content_sha256(X, y) != content_sha256(changed, y)


def test_labels_become_their_positions() -> None:
    assert encode_labels(["b", "a", "b"], ("a", "b"), "Here").tolist() == [1, 0, 1]


def test_unregistered_label_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"^Here has a class 'z', where 'a', 'b' are registered\.$"
    ):
        encode_labels(["a", "z"], ("a", "b"), "Here")
