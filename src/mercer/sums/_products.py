"""Sums that keep their largest term apart, so that it can be removed without lost digits."""

from dataclasses import dataclass

from array_api_compat import array_namespace, device

from mercer._arrays import Array
from mercer.samples import logsumexp


@dataclass(frozen=True)
class Products:
    """Logarithms of ⟨M_c, M_j⟩ for c ≠ j, from which one row of c can be removed without loss.

    Parameters
    ----------
    log_all : array of shape (b, C, C)
    largest : array of int of shape (b, C, C)
        The row of c that adds most.
    log_rest : array of shape (b, C, C)
        The sum without that row.
    """

    log_all: Array
    largest: Array
    log_rest: Array

    @classmethod
    def of(cls, tops: Array, largest: Array, rests: Array) -> "Products":
        """Return the products from what `split_terms` returned for each c and j."""
        return cls(array_namespace(tops).logaddexp(tops, rests), largest, rests)

    def __getitem__(self, rungs: list[int]) -> "Products":
        """Return those of some bandwidths."""
        return Products(self.log_all[rungs], self.largest[rungs], self.log_rest[rungs])


def split_terms(terms: Array, first: int) -> tuple[Array, Array, Array]:
    """Return the largest term of the last axis, its index counted from `first`, and log Σ rest."""
    xp = array_namespace(terms)
    at = xp.argmax(terms, axis=-1)
    is_top = xp.arange(terms.shape[-1], device=device(terms)) == xp.expand_dims(at, axis=-1)
    rest = logsumexp(xp.where(is_top, xp.full_like(terms, -float("inf")), terms))
    return xp.max(terms, axis=-1), at + first, rest


def merge_split(a: tuple[Array, Array, Array], b: tuple[Array, Array, Array]) -> tuple[Array, ...]:
    """Merge what `split_terms` returned of two ranges of rows, the first of them first."""
    xp = array_namespace(a[0])
    rest = xp.logaddexp(xp.logaddexp(a[2], b[2]), xp.minimum(a[0], b[0]))
    return xp.maximum(a[0], b[0]), xp.where(b[0] > a[0], b[1], a[1]), rest
