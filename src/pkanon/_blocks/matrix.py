"""Any row-stochastic matrix on one unit: the general PRAM of the paper.

Rows are stored as integers that sum to ``2^width``. A word u picks the first value whose cumulative
count exceeds u, so the sampler, AR and e^eps are all read from the same integers. Zeros are allowed
and mean what docs/why/theory.md 2 says: a value that some rows can give and others cannot makes k = 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import PlanError
from .._schema import Codes, Unit
from . import ratios
from .base import Axes, Block, Counts, Words, check_integers, check_keys, check_width, unit_at, whole_number, word_dtype

LARGEST_MATRIX = 1024
SINGULAR = 1e12
"""A condition number beyond this leaves no digit of a reconstruction that randomisation has not drowned."""


@dataclass(frozen=True)
class TransitionMatrix:
    """Transition probabilities as somebody wrote them down; a plan rounds them to integers.

    Refused: rows that do not sum to 1, and entries that are no probabilities.

    Parameters
    ----------
    rows
        ``rows[u][v]`` is the probability that value u is released as v.
    data_dependent
        Must be true if the matrix was computed from the private table; that voids every guarantee (docs/why/theory.md 6).

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    >>> plan = pk.plan(schema, records=1_000, matrices={"sex": pk.TransitionMatrix([[0.75, 0.25], [0.25, 0.75]])})
    >>> plan.k_text, plan.epsilon_text
    ('112', '1.0987')
    """

    rows: tuple[tuple[float, ...], ...]
    data_dependent: bool = False

    def __init__(self, rows: ArrayLike, *, data_dependent: bool = False) -> None:
        try:
            array = np.array(rows, float)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.ndim != 2 or array.shape[0] != array.shape[1] or not 2 <= len(array) <= LARGEST_MATRIX:
            raise PlanError(f"A transition matrix must be square with 2 to {LARGEST_MATRIX} rows of numbers.")
        if not (np.isfinite(array).all() and (array >= 0).all()):
            raise PlanError("A transition matrix must hold probabilities: no negative, infinite or missing entries.")
        off = np.abs(array.sum(axis=1) - 1)
        if off.max() > 1e-6:
            raise PlanError(
                f"Row {int(off.argmax()) + 1} of the transition matrix sums to {array.sum(axis=1)[off.argmax()]:.6g}, not 1."
            )
        object.__setattr__(self, "rows", tuple(tuple(row) for row in array.tolist()))
        object.__setattr__(self, "data_dependent", bool(data_dependent))

    @classmethod
    def invariant(cls, marginals: ArrayLike, rho: float, *, public: bool = False) -> TransitionMatrix:
        """Invariant PRAM: keep with probability ``rho``, else draw from ``marginals``.

        Released counts then have the expectation of the true ones if ``marginals`` are the table's
        own, which is why the matrix counts as data-dependent unless they are ``public`` knowledge.
        """
        weights = np.array(marginals, float)
        if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
            raise PlanError("Marginals must be a list of counts or shares: none negative, not all zero.")
        if not 0 <= rho <= 1:
            raise PlanError(f"rho = {rho} is not a probability.")
        shares = weights / weights.sum()
        return cls(rho * np.eye(len(shares)) + (1 - rho) * shares, data_dependent=not public)

    def to_block(self, unit: Unit, width: int) -> Matrix:
        """The matrix on ``unit``, rounded to integers: zeros stay zero, the rest stays positive.

        Each row sums to ``2^width``; ``width`` is the bits of a word.
        """
        if len(self.rows) != unit.size:
            raise PlanError(f"The matrix for {unit} has {len(self.rows)} rows; {unit.size} are needed.")
        rows = tuple(_round_row(row, 2**width) for row in self.rows)
        return Matrix(unit, rows, width, self.data_dependent)


def _round_row(row: Sequence[float], total: int) -> tuple[int, ...]:
    """Integers in proportion to ``row`` that sum to ``total``, by largest remainders."""
    exact = [Fraction(entry) for entry in row]
    whole = sum(exact)
    scaled = [entry * total / whole for entry in exact]
    counts = [max(1, math.floor(entry)) if entry else 0 for entry in scaled]
    short = total - sum(counts)
    if short < 0:  # lifting tiny entries to 1 went over
        counts[counts.index(max(counts))] += short
        return tuple(counts)
    positive = [i for i, entry in enumerate(exact) if entry]
    for i in sorted(positive, key=lambda i: counts[i] - scaled[i])[:short]:
        counts[i] += 1
    return tuple(counts)


@dataclass(frozen=True)
class Matrix(Block):
    """Any transition matrix on one unit, each row counted in words.

    Parameters
    ----------
    unit
        The unit that is randomised.
    rows
        ``rows[u][v]`` of the ``2^width`` equally likely words lead from value u to v.
    width
        The bits of a word: 16, 32 or 64.
    computed_from_data
        Whether the matrix was computed from the private table, which voids every guarantee.

    Examples
    --------
    >>> import pkanon as pk
    >>> block = pk.Matrix(pk.Unit(("sex",), (2,)), rows=((3 * 2**14, 2**14), (2**14, 3 * 2**14)), width=16)
    >>> block.epsilon_ratio  # e^eps, exactly
    Fraction(3, 1)
    """

    unit: Unit
    rows: tuple[tuple[int, ...], ...] = field(repr=False)
    width: int = 32
    computed_from_data: bool = False

    kind: ClassVar[str] = "matrix"

    def __post_init__(self) -> None:
        check_width(self.width)
        size = self.unit.size
        if size > LARGEST_MATRIX:
            raise PlanError(f"{self.unit} has {size:,} values; a matrix block can have {LARGEST_MATRIX}.")
        if len(self.rows) != size or any(len(row) != size for row in self.rows):
            raise PlanError(f"The matrix for {self.unit} must have {size} rows and columns.")
        check_integers(itertools.chain.from_iterable(self.rows))
        if any(min(row) < 0 or sum(row) != 2**self.width for row in self.rows):
            raise PlanError(f"Every row of the matrix for {self.unit} must sum to 2^{self.width}, without negatives.")

    @property
    def units(self) -> tuple[Unit, ...]:  # type: ignore[override]  # a frozen field elsewhere, derived here
        """The unit, as a tuple of one."""
        return (self.unit,)

    @property
    def draws(self) -> tuple[int, ...]:
        return (self.width,)

    @property
    def data_dependent(self) -> bool:
        return self.computed_from_data

    def apply(self, columns: Sequence[Codes], words: Words) -> list[Codes]:
        (codes,) = columns
        drawn = words(0)
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(self.unit.size + 1))
        result = np.empty_like(codes)
        for code, thresholds in enumerate(self._thresholds):
            rows = order[ends[code] : ends[code + 1]]
            if len(rows):
                result[rows] = np.searchsorted(thresholds, drawn[rows], side="right")
        return [result]

    @cached_property
    def _thresholds(self) -> tuple[NDArray[Any], ...]:
        """Per row the cumulative counts below 2^width: the released value is how many are <= the word."""
        word, total = word_dtype(self.width), 2**self.width
        return tuple(np.array([c for c in itertools.accumulate(row) if c < total], word) for row in self.rows)

    @cached_property
    def epsilon_ratio(self) -> Fraction | None:
        return ratios.epsilon_ratio(self._entries)

    @cached_property
    def anonymity_ratio(self) -> Fraction:
        return ratios.anonymity_ratio(self._entries)

    @property
    def _entries(self) -> NDArray[np.uint64]:
        # 2^64 does not fit; such a row is zero elsewhere, and only that decides its ratios
        return np.array([[min(entry, 2**64 - 1) for entry in row] for row in self.rows], np.uint64)

    @property
    def unchanged(self) -> tuple[Fraction, Fraction]:
        stays = [row[value] for value, row in enumerate(self.rows)]
        return Fraction(min(stays), 2**self.width), Fraction(max(stays), 2**self.width)

    def describe(self) -> str:
        together = " together" if len(self.attributes) > 1 else ""
        return f"{self._named}: randomised{together} with the published probabilities of a block of the kind '{self.kind}'."

    @property
    def has_marginals(self) -> bool:
        return len(self.attributes) == 1  # of one attribute there is nothing to leave out

    def eigenvalue(self, attributes: Collection[str]) -> None:
        return None

    def error_factor(self, attributes: Sequence[str]) -> float:
        if not attributes:
            return 1.0
        if not self._invertible:
            return math.inf
        lengths = (self._inverse_on(attributes) ** 2).sum(axis=1)  # ||B[v, :]||^2
        return float((self.as_matrix() @ lengths).max())

    def error_is_exact(self, attributes: Sequence[str]) -> bool:
        return not attributes

    @cached_property
    def _invertible(self) -> bool:
        return bool(np.linalg.cond(self.as_matrix()) < SINGULAR)

    @cached_property
    def _inverse_matrix(self) -> NDArray[np.float64]:
        if not self._invertible:
            raise PlanError(f"The matrix for {self.unit} has no inverse; no table of it can be reconstructed.")
        return np.asarray(np.linalg.inv(self.as_matrix()), np.float64)

    def forward(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        return self._along(counts, axes, lambda: self.as_matrix().T, out)

    def forward_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        return self._along(counts, axes, self.as_matrix, out)

    def inverse(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        return self._along(counts, axes, lambda: self._inverse_matrix.T, out)

    def inverse_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        return self._along(counts, axes, lambda: self._inverse_matrix, out)

    def product_inverse(self, counts: Counts, axes: Axes, *kept: Collection[str]) -> Counts:
        own, flat = self._flat(counts, axes)
        if not own:
            return counts
        union = [name for name in self.unit.attributes if any(name in names for names in kept)]
        _, first = np.unique(self._cells(union), return_index=True)
        sums = self._product(kept or [()])[:, first].T @ flat  # one row per cell of the union that can occur
        sizes = [size if name in union else 1 for name, size in zip(self.unit.attributes, self.unit.sizes)]
        spread = np.zeros((*sizes, sums.shape[1]))
        spread[self._places(first, union)] = sums
        rest = [counts.shape[axis] for axis in range(counts.ndim) if axis not in own]
        whole = np.broadcast_to(spread.reshape(*sizes, *rest), (*self.unit.sizes, *rest))
        return np.moveaxis(whole, range(len(own)), own)

    def _places(self, codes: NDArray[np.intp], names: Collection[str]) -> tuple[NDArray[Any], ...]:
        """Where values of the unit lie in an array with an axis per attribute, of length 1 for those not in ``names``."""
        columns = self.unit.split(codes.astype(np.uint32))
        return tuple(
            column if name in names else np.zeros_like(column) for name, column in zip(self.unit.attributes, columns)
        )

    def inverse_diagonal(self, attributes: Sequence[str]) -> NDArray[np.float64]:
        return self._on_cells(attributes, self._product([attributes]).diagonal())

    def own_moment(self, attributes: Sequence[str], power: int) -> NDArray[np.float64]:
        # people of one cell of a marginal differ in what they add; the largest is the safe one
        return self._on_cells(attributes, (self.as_matrix() * self._product([attributes] * power).T).sum(axis=1))

    def _product(self, kept: Sequence[Collection[str]]) -> NDArray[np.float64]:
        """The entrywise product of the inverses on marginals, each spread over all values of the unit."""
        return np.asarray(math.prod((self._inverse_on(names)[:, self._cells(names)] for names in kept), start=1.0))

    def _inverse_on(self, names: Collection[str]) -> NDArray[np.float64]:
        """Released values by cells of a marginal: the inverse, added up over the attributes left out."""
        if set(names) >= set(self.unit.attributes):
            return self._inverse_matrix
        cells = self._cells(names)
        summed = np.zeros((self.unit.size, cells.max() + 1))
        np.add.at(summed.T, cells, self._inverse_matrix.T)
        return summed

    def _cells(self, names: Collection[str]) -> NDArray[np.intp]:
        """Which cell of a marginal each value of the unit falls into; cells that occur, numbered row-major."""
        if set(names) >= set(self.unit.attributes):
            return np.arange(self.unit.size)
        columns = self.unit.split(np.arange(self.unit.size, dtype=np.uint32))
        own = [
            (column, size)
            for name, column, size in zip(self.unit.attributes, columns, self.unit.sizes)
            if name in names
        ]
        cells = np.zeros(self.unit.size, np.intp)
        for column, size in own:
            cells = cells * size + column
        return np.unique(cells, return_inverse=True)[1]

    def _on_cells(self, attributes: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest of ``values`` (one per value of the unit) on each cell of a table; 0 where none can be."""
        columns = dict(zip(self.unit.attributes, self.unit.split(np.arange(self.unit.size, dtype=np.uint32))))
        sizes = dict(zip(self.unit.attributes, self.unit.sizes))
        result = np.full([sizes[name] for name in attributes], -np.inf)
        np.maximum.at(result, tuple(columns[name] for name in attributes), values)
        return np.where(np.isfinite(result), result, 0.0)

    def _along(self, counts: Counts, axes: Axes, matrix: Any, out: Counts | None = None) -> Counts:
        own, flat = self._flat(counts, axes)
        if not own:
            result = counts
        else:
            spread = np.zeros((math.prod(self.unit.sizes), flat.shape[1]))
            spread[np.flatnonzero(self.unit.allowed) if self.unit.forbid else slice(None)] = matrix() @ flat
            rest = [counts.shape[axis] for axis in range(counts.ndim) if axis not in own]
            result = np.moveaxis(spread.reshape(*self.unit.sizes, *rest), range(len(own)), own)
        if out is not None and out is not result:
            out[...] = result
        return result if out is None else out

    def _flat(self, counts: Counts, axes: Axes) -> tuple[list[int], Counts]:
        """The block's axes, and the counts with one row per value of the unit."""
        own = [axes[name] for name in self.unit.attributes if name in axes]
        if own and len(own) < len(self.unit.attributes):
            raise PlanError(
                f"{self.unit} is randomised by one matrix; a table must have all of its attributes or none."
            )
        flat = np.moveaxis(counts, own, range(len(own))).reshape(math.prod(self.unit.sizes) if own else 1, -1)
        return own, flat[np.flatnonzero(self.unit.allowed)] if own and self.unit.forbid else flat

    def as_matrix(self) -> NDArray[np.float64]:
        return self._dense

    @cached_property
    def _dense(self) -> NDArray[np.float64]:
        return np.array([[entry / 2**self.width for entry in row] for row in self.rows])

    def to_json(self, units: Sequence[Unit]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "unit": units.index(self.unit),
            "width": self.width,
            "rows": [[str(entry) for entry in row] for row in self.rows],
            "data_dependent": self.computed_from_data,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], units: Sequence[Unit]) -> Matrix:
        check_keys(data, ("kind", "unit", "width", "rows", "data_dependent", "approx"))
        if not isinstance(data["data_dependent"], bool):
            raise PlanError("A matrix block must say whether it is data_dependent: true or false.")
        rows = tuple(tuple(whole_number(entry) for entry in row) for row in data["rows"])
        return cls(unit_at(data, units), rows, data["width"], data["data_dependent"])
