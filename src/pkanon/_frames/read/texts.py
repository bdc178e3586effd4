"""Texts to codes: exact comparison, many at once.

Polars hashes the column, the hash says where among the declared texts to look, and the text found there is compared with
the text in the column. The comparison decides. Up to 256 texts are found by a perfect hash: a multiplier chosen once for
them spreads their hashes over a small table. More are sorted by their hashes. Both take a fraction of the time
of a cast to ``pl.Enum``, which looks at all declared texts anew for every batch. A column that is a ``pl.Enum`` already
needs no look at its texts: its categories lead to codes by table, whoever numbered them. Where each category has the
number of its code, the numbers are the codes and nothing is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .numbering import EMPTY, UNLISTED, Marked, compact

_MOST_HASHED = 256
_LARGEST_TABLE_BITS = 20
_TRIES = 50
_SPREADING = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio, odd


class TextCodes:
    """The code, or the mark, of every text with a meaning; null is missing, any other text unlisted."""

    def __init__(self, codes: Mapping[str, int]) -> None:
        self._codes = codes

    @cached_property
    def _texts(self) -> pl.Series:
        return pl.Series(list(self._codes), dtype=pl.String)

    @cached_property
    def _enum(self) -> pl.Enum:
        return pl.Enum(self._texts)

    @cached_property
    def _table(self) -> Marked:
        return compact(np.array([*self._codes.values(), UNLISTED], np.int32))

    @cached_property
    def _hash(self) -> _PerfectHash | _SortedHash | None:
        small = len(self._codes) <= _MOST_HASHED
        return _PerfectHash.of(self._texts) if small else _SortedHash.of(self._texts)

    @cached_property
    def _found(self) -> Marked:
        """The code of the text that each slot of the hash leads to."""
        assert self._hash is not None
        return self._table.take(self._hash.places)

    @cached_property
    def _in_order(self) -> list[str]:
        """The texts, as long as each has the number of its place."""
        places = enumerate(self._codes.items())
        return [text for _, (text, _) in takewhile(lambda each: each[0] == each[1][1], places)]

    def are_numbered(self, dtype: pl.Enum) -> bool:
        """Whether each category of a column has the number of its code."""
        categories = dtype.categories.to_list()
        return categories == self._in_order[: len(categories)]

    def marked(self, values: pl.Series) -> Marked:
        """Codes and marks of a column of texts or categories, or of the numbers of categories that :meth:`are_numbered`."""
        if values.dtype.is_integer():
            if not values.null_count():
                return values.to_numpy()
            codes: Marked = values.fill_null(0).to_numpy().astype(np.int32)  # with room for marks
        elif isinstance(values.dtype, pl.Enum):
            codes = self._of_categories(values, values.dtype)
        elif self._hash is None:
            codes = self._of_categories(values.cast(self._enum, strict=False), self._enum)
        else:
            codes = self._of_hashes(values, self._hash)
        if values.null_count():
            codes[values.is_null().to_numpy()] = EMPTY
        return codes

    def _of_hashes(self, values: pl.Series, by_hash: _PerfectHash | _SortedHash) -> Marked:
        slots = by_hash.slots(values)
        codes = self._found.take(slots)
        likely = self._texts[pl.Series(by_hash.places.take(slots))]
        listed = likely == values  # null where the value is null
        if not listed.all(ignore_nulls=True):
            codes[~listed.fill_null(True).to_numpy()] = UNLISTED
        return codes

    def _of_categories(self, values: pl.Series, dtype: pl.Enum) -> Marked:
        table = self._table
        if dtype != self._enum:
            marks = [self._codes.get(text, UNLISTED) for text in dtype.categories]
            table = compact(np.array([*marks, UNLISTED], np.int32))
        # What is null, missing or outside the categories, takes the last place of the table.
        return table.take(values.to_physical().cast(pl.UInt32).fill_null(len(table) - 1).to_numpy())


class _PerfectHash(NamedTuple):
    """A table without collisions: ``places`` tells for each slot which of a few texts alone can be there."""

    multiplier: np.uint64
    shift: np.uint64
    places: NDArray[np.uint32]

    @classmethod
    def of(cls, texts: pl.Series) -> _PerfectHash | None:
        """A multiplier that keeps the texts apart; None in the practically impossible case that there is none."""
        hashes = texts.hash().to_numpy()
        # Odd multiples of a number that spreads well; which ones are tried does not matter for the codes.
        tried = np.array([_SPREADING * (2 * i + 1) % 2**64 for i in range(_TRIES)], np.uint64)
        # About n^2 / 2 slots for n texts: one multiplier in three keeps them apart.
        for bits in range(max(2 * (len(hashes) - 1).bit_length() - 1, 1), _LARGEST_TABLE_BITS + 1):
            shift = np.uint64(64 - bits)
            for multiplier in tried:
                slots = (hashes * multiplier) >> shift
                if len(np.unique(slots)) == len(slots):
                    places = np.zeros(1 << bits, np.uint32)
                    places[slots] = np.arange(len(slots))
                    return cls(multiplier, shift, places)
        return None

    def slots(self, values: pl.Series) -> NDArray[np.int64]:
        """The slot of each value, in the type with which numpy indexes fastest."""
        slots = values.hash().to_numpy() * self.multiplier
        slots >>= self.shift
        return slots.view(np.int64)


class _SortedHash(NamedTuple):
    """Many texts, sorted by their hashes: ``places`` tells for each slot which text has that hash."""

    hashes: NDArray[np.uint64]
    places: NDArray[np.uint32]

    @classmethod
    def of(cls, texts: pl.Series) -> _SortedHash | None:
        """The texts by their hashes; None in the practically impossible case that two share one of 64 bits."""
        hashes = texts.hash().to_numpy()
        places = np.argsort(hashes).astype(np.uint32)
        ascending = hashes[places]
        return None if (ascending[1:] == ascending[:-1]).any() else cls(ascending, places)

    def slots(self, values: pl.Series) -> NDArray[np.int64]:
        """The slot of the first text whose hash is not below that of each value."""
        slots = np.searchsorted(self.hashes, values.hash().to_numpy())
        return np.minimum(slots, len(self.hashes) - 1, out=slots)
