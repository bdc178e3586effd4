"""Texts to codes: exact comparison, many at once.

Up to 256 texts are found by a perfect hash: polars hashes the column, a multiplier chosen once for the
declared texts spreads their hashes over a small table, and the text found there is compared with the
text in the column. The comparison decides; the hash only says where to look. It takes half the time
of a cast to ``pl.Enum``, which does the same for more texts. A column that is a ``pl.Enum`` already
needs no look at its texts: its categories lead to codes by table, whoever numbered them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
        self._texts = pl.Series(list(codes), dtype=pl.String)
        self._enum = pl.Enum(self._texts)
        self._table = compact(np.array([*codes.values(), UNLISTED], np.int32))
        self._hash = _PerfectHash.of(self._texts) if len(codes) <= _MOST_HASHED else None

    def marked(self, values: pl.Series) -> Marked:
        """Codes and marks of a column of texts or categories."""
        if isinstance(values.dtype, pl.Enum):
            codes = self._of_categories(values, values.dtype)
        elif self._hash is None:
            codes = self._of_categories(values.cast(self._enum, strict=False), self._enum)
        else:
            codes = self._of_hashes(values, self._hash)
        if values.null_count():
            codes[values.is_null().to_numpy()] = EMPTY
        return codes

    def _of_hashes(self, values: pl.Series, by_hash: _PerfectHash) -> Marked:
        slots = by_hash.slots(values)
        codes = self._table.take(by_hash.places).take(slots)
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


@dataclass(frozen=True)
class _PerfectHash:
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
