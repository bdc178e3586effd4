"""Distinct released rows of some attributes: unbiased tables of them, and sums of functions over them.

A function of people on the attributes M is carried through the inverse on M: each released row then adds a number whose
expectation is the value of the person behind it. A sum of functions on different sets of attributes (``Parts``) is such a
function too. Where every block has marginals, a larger set would give the same numbers, so the smallest is taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Block, Counts
from ..._progress import Progress, quiet
from ..._schema import Codes
from ..channel import Channel
from ..stored import number_of_rows, pieces_of
from ..tabulate import check_size, tabulate

Names: TypeAlias = tuple[str, ...]
Parts: TypeAlias = dict[Names, Counts]
"""Some functions of people, as a sum over sets of attributes: each with shape (functions, *table)."""
PIECE = 2**11
"""Rows at a time: their numbers stay in the cache."""
JOINED = 2**14
"""Cells of a table that takes the place of several smaller ones."""
_WIDEST = 2**62
_POWERS = (0, 1, 2, 4)


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows: their ``codes`` by attribute, and the sums of their survey weights to the powers 0, 1, 2 and 4."""

    blocks: tuple[Block, ...]
    names: Names
    codes: Mapping[str, NDArray[np.intp]]
    weights: Mapping[int, Counts]
    _channels: dict[Names, Channel] = field(default_factory=dict, repr=False)
    _tables: dict[tuple[Names, int], Counts] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        blocks: Sequence[Block],
        codes: Mapping[str, Codes],
        names: Sequence[str],
        weights: NDArray[np.float64] | None = None,
    ) -> Rows:
        """The rows of the attributes ``names``; ``weights`` has a survey weight per row."""
        sizes = Channel(blocks, names).sizes if names else {}
        if not sizes:
            one = np.ones(number_of_rows(codes)) if weights is None else weights
            return cls(tuple(blocks), tuple(names), {}, {power: np.array([(one**power).sum()]) for power in _POWERS})
        found: list[NDArray[np.int64]] = []
        sums: list[list[Counts]] = []
        start = 0
        for columns in pieces_of(codes, list(sizes)):
            stop = start + len(columns[0])
            own = np.ones(stop - start) if weights is None else weights[start:stop]
            distinct, places = _distinct(dict(zip(sizes, columns)), sizes)
            found.append(distinct)
            sums.append([_summed(places, own**power) for power in _POWERS])
            start = stop
        if len(found) == 1:
            distinct, totals = found[0], sums[0]
        else:
            together = np.concatenate(found, axis=1)
            distinct, places = _distinct(dict(zip(sizes, together)), sizes)
            totals = [_summed(places, np.concatenate(parts)) for parts in zip(*sums)]
        return cls(
            tuple(blocks),
            tuple(names),
            {name: column.astype(np.intp) for name, column in zip(sizes, distinct)},
            dict(zip(_POWERS, totals)),
        )

    @property
    def number(self) -> float:
        """How many rows were released."""
        return float(self.weights[0].sum())

    def ordered(self, names: AbstractSet[str]) -> Names:
        """A set of attributes in the order of the rows' own."""
        return tuple(name for name in self.names if name in names)

    def channel(self, names: Names) -> Channel:
        """How the table of ``names`` was randomised; refused if it is too large or cannot be inverted."""
        if names not in self._channels:
            channel = Channel(self.blocks, names)
            check_size(channel.sizes)
            channel.check_invertible()
            self._channels[names] = channel
        return self._channels[names]

    def sizes(self, names: Names) -> tuple[int, ...]:
        """How many values each attribute has; nothing is checked."""
        return Channel(self.blocks, names).shape if names else ()

    def shape(self, names: Names) -> tuple[int, ...]:
        """The shape of the table of ``names``; without attributes there is one number."""
        return self.channel(names).shape if names else ()

    def people(self, names: Names, power: int = 1) -> Counts:
        """The unbiased table of ``names``, every person counted by the weight to this ``power``."""
        key = names, power
        if key not in self._tables:
            if not names:
                return np.asarray(self.weights[power].sum())
            channel = self.channel(names)
            columns = [self.codes[name].astype(np.uint32) for name in channel.sizes]
            released = tabulate(columns, list(channel.sizes.values()), weights=self.weights[power])
            self._tables[key] = channel.inverse(released)
        return self._tables[key]

    def total(self, parts: Parts, power: int = 1) -> Counts:
        """The sum over people of each function."""
        functions = len(next(iter(parts.values())))
        total = np.zeros(functions)
        for names, weights in parts.items():
            total += (weights * self.people(names, power)).reshape(functions, -1).sum(1)
        return total

    def products(self, parts: Parts, power: int = 2, progress: Progress = quiet) -> Counts:
        """``sum_i w_i^power h_i h_i^T``: h_i is what released row i adds to the sums of all functions."""
        functions = len(next(iter(parts.values())))
        constant = np.zeros(functions)
        tables: list[tuple[Counts, NDArray[np.intp]]] = []
        for names, weights in self._joined(parts).items():
            if not names:
                constant = constant + weights
                continue
            channel = self.channel(names)
            carried = channel.inverse_transpose(weights).reshape(functions, -1)
            cells = np.ravel_multi_index([self.codes[name] for name in channel.sizes], tuple(channel.sizes.values()))
            tables.append((np.ascontiguousarray(carried.T), cells))
        rows = len(self.weights[power])
        result = np.zeros((functions, functions))
        for start in range(0, rows, PIECE):
            piece = slice(start, min(start + PIECE, rows))
            h = np.tile(constant, (piece.stop - piece.start, 1))
            for carried, cells in tables:
                h += carried[cells[piece]]
            result += (h * self.weights[power][piece, None]).T @ h
            progress("errors", piece.stop / rows)
        return result

    def _joined(self, parts: Parts) -> Parts:
        """The same functions on fewer, larger sets of attributes: rows are looked up once per set."""
        most = min(JOINED, len(self.weights[0]))
        cells = {names: math.prod(self.sizes(names)) for names in parts}
        joined: Parts = {}
        for names in sorted(parts, key=lambda names: -cells[names]):
            unions = {other: self.ordered({*other, *names}) for other in joined}
            sizes = {other: math.prod(self.sizes(union)) for other, union in unions.items()}
            nearest = min(sizes, key=lambda other: sizes[other] / math.prod(self.sizes(other)), default=None)
            if nearest is None or (unions[nearest] != nearest and sizes[nearest] > most):
                joined[names] = parts[names]
                continue
            union = unions[nearest]
            shape = (len(parts[names]), *self.shape(union))
            both = _along(joined.pop(nearest), nearest, union) + _along(parts[names], names, union)
            add(joined, union, np.broadcast_to(both, shape))
        return joined

    def fixed(self, parts: Parts, progress: Progress = quiet) -> tuple[Counts, Parts]:
        """``sum_u x_u f_u f_u^T``, x the unbiased table of squared weights; and the functions ``f^2``."""
        functions = len(next(iter(parts.values())))
        total = np.zeros((functions, functions))
        squares: Parts = {}
        pairs = list(itertools.combinations_with_replacement(parts.items(), 2))
        for done, ((first, left), (second, right)) in enumerate(pairs):
            names = self.ordered({*first, *second})
            people = self.people(names, 2)
            shape = (functions, *people.shape)
            a, b = (np.broadcast_to(_along(*part, names), shape) for part in ((left, first), (right, second)))
            times = 1 if first == second else 2  # and the same pair the other way round
            total += times * (a * people).reshape(functions, -1) @ b.reshape(functions, -1).T
            add(squares, names, times * a * b)
            progress("what the table fixes", (done + 1) / len(pairs))
        return (total + total.T) / 2, squares


def _summed(places: NDArray[np.intp], numbers: Counts) -> Counts:
    return np.bincount(places, numbers).astype(float)


def _distinct(
    columns: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct rows, a column for each attribute, in order; and which of them each row is."""
    places = np.zeros(len(next(iter(columns.values()))), np.int64)
    distinct = 1
    for name, size in sizes.items():
        if distinct * size > _WIDEST:  # number the rows anew, by those that occur
            found, places = np.unique(places, return_inverse=True)
            distinct = len(found)
        places = places * size + columns[name]
        distinct *= size
    _, first, places = np.unique(places, return_index=True, return_inverse=True)
    return np.array([columns[name][first] for name in sizes], np.int64), places


def _along(weights: Counts, own: Names, names: Names) -> Counts:
    """Functions on the attributes ``own``, with axes of length 1 for the others of ``names``; both in the same order."""
    sizes = dict(zip(own, weights.shape[1:]))
    return weights.reshape(len(weights), *(sizes.get(name, 1) for name in names))


def add(parts: Parts, names: Names, weights: Counts) -> None:
    """Add functions on one set of attributes."""
    parts[names] = parts[names] + weights if names in parts else weights
