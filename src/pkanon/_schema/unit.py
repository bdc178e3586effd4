"""A unit: what is randomised as one thing.

One attribute, or several whose allowed combinations are numbered row-major, forbidden ones left
out (docs/why/theory.md 6). A unit turns the codes of its attributes into one code and back, and knows
which share of its allowed combinations falls on each value of a marginal (docs/why/theory.md 7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, SchemaError

Codes: TypeAlias = NDArray[Any]
"""Codes of one attribute or unit: an array of the smallest unsigned type that holds them."""

LARGEST_UNIT = 2**31
LARGEST_FORBIDDING = 2**24
"""Combinations of a unit with forbidden ones; their numbering is a table in memory."""


def code_dtype(size: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds the codes 0 .. size - 1."""
    return np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32


@dataclass(frozen=True)
class Unit:
    """What is randomised as one thing: an attribute, or several whose allowed combinations are numbered.

    Parameters
    ----------
    attributes
        Their names.
    sizes
        How many values each of them has.
    forbid
        Rules: each holds one tuple of codes per attribute; an empty tuple means "any".

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.Unit(("age", "degree"), (2, 2), forbid=(((0,), (1,)),)).size
    3
    """

    attributes: tuple[str, ...]
    sizes: tuple[int, ...]
    forbid: tuple[tuple[tuple[int, ...], ...], ...] = ()

    def __post_init__(self) -> None:
        for rule in self.forbid:
            if len(rule) != len(self.sizes) or any(
                type(code) is not int or not 0 <= code < size for codes, size in zip(rule, self.sizes) for code in codes
            ):
                raise SchemaError(f"A rule that forbids combinations of {self} does not fit its attributes.")
        if math.prod(self.sizes) > (LARGEST_FORBIDDING if self.forbid else LARGEST_UNIT):
            limit = "2^24 with forbidden ones" if self.forbid else "2^31"
            raise SchemaError(
                f"{self} has {math.prod(self.sizes):,} combinations; the limit is {limit}. "
                "Leave attributes out of it or merge values."
            )
        if self.forbid:
            for axis, name in enumerate(self.attributes):
                others = tuple(i for i in range(len(self.sizes)) if i != axis)
                if not self.allowed.any(axis=others).all():
                    raise SchemaError(f"{self} forbids a value of '{name}' in every combination; remove that value.")
        if self.size < 2:
            raise SchemaError(f"{self} has one value only; there is nothing to randomise.")

    def __str__(self) -> str:
        if len(self.attributes) == 1:
            return f"the attribute '{self.attributes[0]}'"
        return "the bundle of " + ", ".join(f"'{name}'" for name in self.attributes)

    @cached_property
    def size(self) -> int:
        """How many combinations are allowed."""
        return int(np.count_nonzero(self.allowed)) if self.forbid else math.prod(self.sizes)

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Which combinations are allowed, one axis per attribute. Only for units with ``forbid``."""
        allowed = np.ones(self.sizes, bool)
        for rule in self.forbid:
            chosen = [list(codes) if codes else list(range(size)) for codes, size in zip(rule, self.sizes)]
            allowed[np.ix_(*chosen)] = False
        return allowed

    @cached_property
    def _allowed_cells(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.allowed)

    @cached_property
    def _codes_of_cells(self) -> NDArray[np.int32]:
        codes = np.full(self.allowed.size, -1, np.int32)
        codes[self._allowed_cells] = np.arange(self.size, dtype=np.int32)
        return codes

    def join(self, columns: Sequence[Codes], *, exact_counts: bool = False) -> Codes:
        """The unit's codes, from ``columns``: one column of codes per attribute.

        Forbidden combinations are refused: some rows hold one, with ``exact_counts`` how many do.
        """
        if len(columns) == 1 and not self.forbid:
            return columns[0].astype(code_dtype(self.size), copy=False)
        cells = self._cells(columns)
        if not self.forbid:
            return cells
        codes = self._codes_of_cells[cells]
        if bad := int(np.count_nonzero(codes < 0)):
            raise DataError(self.complaint(bad, exact_counts=exact_counts))
        return codes.astype(code_dtype(self.size))

    def count_forbidden(self, columns: Sequence[Codes]) -> int:
        """How many rows of ``columns`` hold a forbidden combination."""
        return int(np.count_nonzero(self._codes_of_cells[self._cells(columns)] < 0)) if self.forbid else 0

    def complaint(self, rows: int, *, exact_counts: bool) -> str:
        """That ``rows`` rows hold a forbidden combination; the number is told with ``exact_counts`` only."""
        which = "Some rows hold" if not exact_counts else "1 row holds" if rows == 1 else f"{rows:,} rows hold"
        return (
            f"{which} a combination of "
            f"{', '.join(self.attributes)} that the schema forbids; correct them or change 'forbid'."
        )

    def _cells(self, columns: Sequence[Codes]) -> Codes:
        """The number of each row's combination, forbidden ones counted too."""
        wide = code_dtype(math.prod(self.sizes))
        cells = columns[0].astype(wide)
        for column, size in zip(columns[1:], self.sizes[1:]):
            cells *= wide(size)
            cells += column.astype(wide, copy=False)
        return cells

    def split(self, codes: Codes) -> list[Codes]:
        """One column of codes per attribute, from the unit's ``codes``."""
        if len(self.sizes) == 1 and not self.forbid:
            return [codes]
        cells = self._allowed_cells[codes] if self.forbid else codes
        columns: list[Codes] = []
        for size in reversed(self.sizes[1:]):
            cells, column = np.divmod(cells, cells.dtype.type(size))
            columns.append(column.astype(code_dtype(size)))
        columns.append(cells.astype(code_dtype(self.sizes[0])))
        return columns[::-1]

    def shares(self, attributes: Sequence[str]) -> NDArray[np.float64]:
        """The share of the allowed combinations on each cell of the marginal of ``attributes``, one axis each."""
        kept = [self.attributes.index(name) for name in attributes]
        if not self.forbid:
            shape = tuple(self.sizes[i] for i in kept)
            return np.full(shape, 1 / math.prod(shape))
        dropped = tuple(i for i in range(len(self.sizes)) if i not in kept)
        counts = self.allowed.sum(axis=dropped)
        order = np.argsort(np.argsort(kept))
        return np.asarray(np.transpose(counts, order) / self.size)

    def to_json(self) -> dict[str, Any]:
        """The unit as a plan file holds it."""
        data: dict[str, Any] = {"attributes": list(self.attributes), "size": self.size}
        if self.forbid:
            data["forbid"] = [[list(codes) for codes in rule] for rule in self.forbid]
        return data
