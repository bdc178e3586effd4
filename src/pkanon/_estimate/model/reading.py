"""Released rows, read a piece at a time: no column need fit into memory, and a byte is kept for each row.

Tables of all pairs, rows kept apart and rows drawn again are the same whatever the pieces are. For that, survey weights are rounded
to 2^-24 of the largest power of 2 among them: their sums are exact then, in whichever order they are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._schema import Codes
from ..stored import number_of_rows, pieces_of
from ..tabulate import tabulate
from .components import Weights, count_pairs
from .variables import Variable

PIECE = 2**20
"""Rows that are looked at together."""
BITS = 24
Numbers = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Reader:
    """The rows of a release: ``codes`` by attribute, in memory or on a disk, and a survey weight per row or None."""

    codes: Mapping[str, Codes]
    weights: Weights | None

    @property
    def rows(self) -> int:
        """How many there are."""
        return number_of_rows(self.codes)

    def kept_apart(self, folds: int, seed: int) -> Numbers:
        """The part of each row: as many rows in each, by chance."""
        parts = np.resize(np.arange(folds, dtype=np.uint8), self.rows)
        np.random.default_rng(seed).shuffle(parts)
        return parts

    def drawn_again(self, rng: np.random.Generator) -> Numbers:
        """How often each row is drawn, if as many are drawn with replacement."""
        often = np.zeros(self.rows, np.uint8)
        for start in range(0, self.rows, PIECE):
            np.add.at(often, rng.integers(self.rows, size=min(PIECE, self.rows - start)), np.uint8(1))
        return often

    def squares(self, often: Numbers | None = None) -> float | None:
        """The sum of squared weights; None if rows have none."""
        if self.weights is None:
            return None
        return float((self.weights**2).sum() if often is None else (often * self.weights**2).sum())

    def pairs(
        self, variables: Sequence[Variable], *, often: Numbers | None = None, parts: Numbers | None = None
    ) -> Counts:
        """``count_pairs`` of all rows, each as ``often`` as given; with ``parts`` one for each part."""
        return self.counts(variables, [], often=often, parts=parts)[0]

    def counts(
        self,
        variables: Sequence[Variable],
        tables: Sequence[Mapping[str, int]],
        *,
        often: Numbers | None = None,
        parts: Numbers | None = None,
    ) -> tuple[Counts, list[Counts]]:
        """The same, and the ``tables`` that are given by the sizes of their attributes, all in one pass."""
        sizes = [variable.size for variable in variables]
        number = () if parts is None else (int(parts.max()) + 1,)
        pairs = np.zeros((*number, sum(sizes), sum(sizes)))
        totals = [np.zeros(tuple(table.values())) for table in tables]
        for place, codes in self._pieces():
            weights = self._weights(place, often)
            columns = [variable.column(codes) for variable in variables]
            if parts is None:
                pairs += count_pairs(columns, sizes, weights)
            else:
                own = count_pairs(columns, sizes, weights, parts[place].astype(np.intp))
                pairs[: len(own)] += own
            for table, total in zip(tables, totals):
                total += tabulate([codes[name] for name in table], list(table.values()), weights=weights)
        return pairs, totals

    def _weights(self, place: slice, often: Numbers | None) -> Weights | None:
        if often is None:
            return None if self._rounded is None else self._rounded[place]
        return often[place].astype(float) if self._rounded is None else often[place] * self._rounded[place]

    @cached_property
    def _rounded(self) -> Weights | None:
        if self.weights is None:
            return None
        step = np.ldexp(1.0, int(np.frexp(self.weights.max(initial=0.0))[1]) - BITS)
        return np.asarray(np.round(self.weights / step) * step)

    def _pieces(self) -> Iterator[tuple[slice, dict[str, Codes]]]:
        names, done = tuple(self.codes), 0
        for columns in pieces_of(self.codes, names):
            for start in range(0, len(columns[0]), PIECE):
                piece = {name: column[start : start + PIECE] for name, column in zip(names, columns)}
                stop = done + len(piece[names[0]])
                yield slice(done, stop), piece
                done = stop
