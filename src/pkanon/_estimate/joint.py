"""Numbers from several tables, so that they can be calculated with together.

Numbers from two tables of one release are carried to a table that holds both: the larger one, if it has all attributes of
the other, or else the joint table of the released rows. Attributes along which a number does not vary are left out first.
So the covariance of linear functions on tables M1 and M2 is that of two functions on the table of M1 and M2 together,

    sum over released rows of b_1 b_2  -  the estimate of sum_u x_u w_1(u) w_2(u).

Where that table is too large, and for numbers of several releases, the tables stay apart as the parts of a ``Joint``;
variance.py has the covariance between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._blocks import Counts
from .._errors import InputError
from .delta import Derived
from .uncertainty import Joint, Single
from .variance import LARGEST_JOINT, People

if TYPE_CHECKING:
    from .reconstruction import Reconstruction

Carry: TypeAlias = Callable[[Counts], Counts]


AnyBasis: TypeAlias = Single | Joint


def common(first: AnyBasis, one: Derived, second: AnyBasis, two: Derived) -> tuple[AnyBasis, Derived, Derived]:
    """Two numbers as numbers of one basis."""
    if first is second:
        return first, one, two
    if isinstance(first, Single) and isinstance(second, Single) and not first.table.same_release(second.table):
        raise InputError(
            "These numbers are from different releases. Say whether their people are other people or the same: "
            'pk.together(first, second, people="disjoint") or people="same".'
        )
    people = _relation(first, second)
    basis, (carried_one, carried_two) = gathered([(first, one), (second, two)], people)
    return basis, carried_one, carried_two


def gathered(
    numbers: Sequence[tuple[AnyBasis, Derived]], people: People | None
) -> tuple[AnyBasis, tuple[Derived, ...]]:
    """Numbers of any bases as numbers of one."""
    gathering = _Gathering(people)
    carries = [gathering.add(basis, number) for basis, number in numbers]
    return gathering.basis, tuple(
        number.carried(gathering.carry(basis, carry)) for (basis, number), carry in zip(numbers, carries)
    )


def _relation(first: AnyBasis, second: AnyBasis) -> People | None:
    """How the people of all releases behind two numbers are related, as was said of one of the two."""
    bases = [basis for basis in (first, second) if isinstance(basis, Joint) and basis.people is not None]
    if not bases:
        return None
    said = {basis.people for basis in bases}
    largest = max(bases, key=lambda basis: len(basis.parts))
    known = all(
        any(part.table.same_release(other.table) for other in largest.parts)
        for basis in (first, second)
        for part in parts_of(basis)
    )
    if len(said) > 1 or not known:
        raise InputError(
            "Nothing was said about how the people of all these releases are related; give all numbers to one call of "
            "pk.together."
        )
    return largest.people


def parts_of(basis: AnyBasis) -> tuple[Single, ...]:
    """The tables behind a number."""
    return basis.parts if isinstance(basis, Joint) else (basis,)


class _Gathering:
    """The tables that hold some numbers; a part may be replaced by a larger one while numbers are added."""

    def __init__(self, people: People | None) -> None:
        self.people = people
        self.tables: list[_Part] = []

    def add(self, basis: AnyBasis, number: Derived) -> list[tuple[_Part, _Piece]]:
        """Make room for a number; returns which of its pieces goes where."""
        places = basis.places if isinstance(basis, Joint) else [slice(None)]
        found = []
        for single, place in zip(parts_of(basis), places):
            piece = _Piece.of(single, [slopes[:, place] for slopes in number.all_slopes()])
            found.append((self._home(piece), piece))
        return found

    def _home(self, piece: _Piece) -> _Part:
        for home in self.tables:
            if home.takes(piece):
                return home
        if self.tables:
            _check_alike(self.tables[0].whole, piece.table)
        home = _Part(piece)
        self.tables.append(home)
        return home

    @cached_property
    def basis(self) -> AnyBasis:
        """The basis of all numbers, once all are added."""
        singles = tuple(home.single for home in self.tables)
        return singles[0] if len(singles) == 1 else Joint(singles, self.people)

    def carry(self, basis: AnyBasis, pieces: Sequence[tuple[_Part, _Piece]]) -> Carry:
        """How slopes of a number become slopes of the common basis."""
        places = basis.places if isinstance(basis, Joint) else [slice(None)]

        def carry(slopes: Counts) -> Counts:
            sums = {home: np.zeros((1, home.single.table.counts.size)) for home in self.tables}
            for (home, piece), place in zip(pieces, places):
                sums[home] += piece.written(slopes[:, place], home.single.table).reshape(1, -1)
            return np.concatenate(list(sums.values()), axis=1)

        return carry


@dataclass(frozen=True, eq=False)
class _Piece:
    """The slopes of a number in one table, and the attributes along which they vary."""

    single: Single
    table: Reconstruction
    varying: tuple[str, ...]

    @classmethod
    def of(cls, single: Single, slopes: Sequence[Counts]) -> _Piece:
        table = single.table if single.table.weighing is None else single.table.weighing.table
        arrays = [on_counted(single.table, each) for each in slopes]
        kept = [
            name
            for axis, name in enumerate(table.names)
            if any((np.take(array, [0], axis) != array).any() for array in arrays)
        ]
        return cls(single, table, tuple(kept) or table.names[:1])

    def written(self, slopes: Counts, table: Reconstruction) -> Counts:
        """The slopes as those of another table that has all attributes along which they vary."""
        array = on_counted(self.single.table, slopes)
        for axis, name in enumerate(self.table.names):
            if name not in table.names:
                array = np.take(array, [0], axis)
        own = [name for name in self.table.names if name in table.names]
        array = array.reshape([self.table.counts.shape[self.table.names.index(name)] for name in own])
        array = np.transpose(array, [own.index(name) for name in table.names if name in own])
        shape = [size if name in own else 1 for name, size in zip(table.names, table.counts.shape)]
        return np.broadcast_to(array.reshape(shape), table.counts.shape)


def on_counted(table: Reconstruction, slopes: Counts) -> Counts:
    """Slopes in the shape of the table that was counted: it has the weight as an axis, if a randomised attribute is one."""
    array = np.asarray(slopes).reshape(table.counts.shape)
    return array if table.weighing is None else table.weighing.weights(array)


class _Part:
    """One table that pieces are carried to."""

    def __init__(self, piece: _Piece) -> None:
        self.whole = piece.table
        self.own = piece.single if piece.single.table is piece.table else None
        self.needed = set(piece.varying)

    def takes(self, piece: _Piece) -> bool:
        """Whether the piece can be carried to this table, or to one of both that is not too large."""
        if not self.whole.same_release(piece.table):
            return False
        _check_alike(self.whole, piece.table)
        if not self.whole.same_weights(piece.table):
            raise InputError(
                "Numbers with survey weights and numbers without them, or with others, cannot be combined."
            )
        needed = self.needed | set(piece.varying)
        if needed <= set(self.whole.names):
            self.needed = needed
            return True
        if needed <= set(piece.table.names):
            self.whole, self.own = piece.table, piece.single if piece.single.table is piece.table else None
            self.needed = needed
            return True
        names = [name for name in self.whole.source.codes if name in needed]
        if math.prod(self.whole.joint_sizes(names)) > LARGEST_JOINT:
            return False
        self.whole, self.own, self.needed = self.whole.with_names(names), None, needed
        return True

    @cached_property
    def single(self) -> Single:
        """The basis of the table, once all pieces are here."""
        return self.own or Single.of(self.whole)


def _check_alike(first: Reconstruction, second: Reconstruction) -> None:
    if first.about != second.about:
        raise InputError(
            "One number is about the people in the table, the other about the population; ask for both with the same about=."
        )
