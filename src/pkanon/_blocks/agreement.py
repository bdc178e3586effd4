"""Several units that survive together or not: the value-symmetric mechanism of docs/why/theory.md 8.

``sets[mask]`` of the ``2^width`` words keep exactly the units whose bit is set in the mask (bit i: unit
i); every other unit takes a uniform *different* value. So ``A[u, v] = f(S)`` depends only on the set S
of units on which u and v agree, ``f(S) = sets[S] / (2^width cnt_S)``, cnt_S the product of V - 1 over the
units not in S.

A different value comes from a word of ``min(width, 32)`` bits: ``digit = word // (2^bits // (V - 1))``; a
digit of V - 1 or more asks for the same position in the next round, so digits are exactly uniform; from
the old code on they count one more. Two values need no word.

How such a block acts on a table is in ``symmetric.py``.
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
from numpy.typing import NDArray

from .._errors import PlanError
from .._schema import Codes, Unit
from .base import Axes, Block, Counts, Words, check_integers, check_keys, check_width, whole_number, word_dtype
from .symmetric import Part

LARGEST_AGREEMENT = 12
"""Units; a plan lists a number for each of their 2^12 subsets."""
_LOOKUP_BITS = 14


def agreeing_cells(units: Sequence[Unit]) -> tuple[int, ...]:
    """cnt_S: how many values agree with a given one on exactly the units of each mask."""
    cells: tuple[int, ...] = (1,)
    for unit in units:
        cells = (*(count * (unit.size - 1) for count in cells), *cells)
    return cells


@dataclass(frozen=True)
class Agreement(Block):
    """Several units of which a random set keeps its values; each of the others gets a different value.

    Parameters
    ----------
    units
        The units that are randomised together, 12 at most.
    sets
        ``sets[mask]`` of the ``2^width`` equally likely words keep exactly the units in the mask; bit i is unit i.
    width
        The bits of a word: 16, 32 or 64.

    Examples
    --------
    >>> import pkanon as pk
    >>> units = pk.Unit(("sex",), (2,)), pk.Unit(("job",), (3,))
    >>> block = pk.Agreement(units, sets=(2**13, 2**13, 2**13, 5 * 2**13), width=16)  # both survive in 5 of 8 rows
    >>> block.rho("sex")  # 3/4 of the rows keep it, 1/4 do not
    0.5
    """

    units: tuple[Unit, ...]
    sets: tuple[int, ...] = field(repr=False)
    width: int = 64

    kind: ClassVar[str] = "agreement"

    def __post_init__(self) -> None:
        check_width(self.width)
        if not 1 <= len(self.units) <= LARGEST_AGREEMENT:
            raise PlanError(f"An agreement block has 1 to {LARGEST_AGREEMENT} units, not {len(self.units)}.")
        if len(self.sets) != 2 ** len(self.units):
            raise PlanError(f"An agreement block of {len(self.units)} units needs {2 ** len(self.units)} numbers.")
        check_integers(self.sets)
        if min(self.sets) < 0 or sum(self.sets) != 2**self.width:
            raise PlanError(f"The numbers of an agreement block must sum to 2^{self.width}, without negatives.")
        if any(unit.size > 2**self.digit_width for unit in self.units):  # V - 1 is itself a word
            raise PlanError("A unit of an agreement block has more values than its words can tell apart.")

    @property
    def digit_width(self) -> int:
        """The bits of a word that picks a different value."""
        return min(self.width, 32)

    @cached_property
    def draws(self) -> tuple[int, ...]:
        """One word for the surviving set, then one for each unit of more than two values."""
        return (self.width,) + (self.digit_width,) * sum(unit.size > 2 for unit in self.units)

    def apply(self, columns: Sequence[Codes], words: Words) -> list[Codes]:
        survivors = self._survivors(words(0))
        stay = survivors >> np.arange(len(self.units), dtype=survivors.dtype)[:, None]
        stay &= 1
        results, draw = [], 0
        for codes, unit, kept in zip(columns, self.units, stay):
            draw += unit.size > 2
            gone = kept.astype(codes.dtype, copy=False)
            gone -= 1  # all ones where the value goes, zero where it stays
            if unit.size == 2:
                results.append(codes ^ (gone & 1))
                continue
            other = self._different(codes, unit, gone, draw, words)
            other ^= codes
            other &= gone
            other ^= codes
            results.append(other)
        return results

    def _survivors(self, drawn: NDArray[Any]) -> NDArray[Any]:
        """The surviving set of each row: the first whose cumulative count exceeds its word.

        The leading bits of a word decide almost always; only where they do not is it searched for.
        """
        leading = (drawn >> (self.width - _LOOKUP_BITS)).view(f"i{drawn.itemsize}")  # numpy looks up by signed numbers
        found: NDArray[Any] = self._lookup[leading]
        unclear = np.flatnonzero(found == len(self.sets))
        if len(unclear):
            found[unclear] = self._searched(drawn[unclear])
        return found

    def _searched(self, drawn: NDArray[Any]) -> NDArray[Any]:
        places, thresholds = self._thresholds
        return np.asarray(places[np.searchsorted(thresholds, drawn, side="right")])

    @cached_property
    def _thresholds(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The sets that occur, and the cumulative counts at which the next one begins."""
        occurring = [mask for mask, count in enumerate(self.sets) if count]
        ends = list(itertools.accumulate(self.sets[mask] for mask in occurring))[:-1]
        dtype = np.uint8 if len(self.sets) < 2**8 else np.uint16
        return np.array(occurring, dtype), np.array(ends, word_dtype(self.width))

    @cached_property
    def _lookup(self) -> NDArray[Any]:
        """For each value of the leading bits the surviving set, or the number of sets if they do not decide."""
        shift = self.width - _LOOKUP_BITS
        starts = np.arange(2**_LOOKUP_BITS, dtype=word_dtype(self.width)) << shift
        first, last = self._searched(starts), self._searched(starts + (2**shift - 1))
        return np.where(first == last, first, np.uint16(len(self.sets))).astype(np.min_scalar_type(len(self.sets)))

    def _different(self, codes: Codes, unit: Unit, gone: Codes, draw: int, words: Words) -> Codes:
        """A uniform value other than the code, for the rows that are gone; anything for the others."""
        word = word_dtype(self.digit_width)
        wide = word(2**self.digit_width // (unit.size - 1))
        digits = words(draw)
        np.floor_divide(digits, wide, out=digits)
        if digits.max(initial=0) >= unit.size - 1:  # seldom: there are fewer such words than values
            beyond = np.flatnonzero((digits >= word(unit.size - 1)) & (gone != 0))
            for round in itertools.count(1):
                if not len(beyond):
                    break
                digits[beyond] = words(draw, round)[beyond] // wide
                beyond = beyond[digits[beyond] >= unit.size - 1]
        values = digits.astype(codes.dtype)
        values += (values >= codes).view(np.uint8).astype(codes.dtype, copy=False)
        return values

    # what the integers say

    @cached_property
    def _cells(self) -> tuple[int, ...]:
        return agreeing_cells(self.units)

    @cached_property
    def epsilon_ratio(self) -> Fraction | None:
        if not all(self.sets):
            return None
        # largest over smallest f, in whole numbers: the cells of the empty set are a multiple of those of every other
        f = [count * (self._cells[0] // cells) for count, cells in zip(self.sets, self._cells)]
        return Fraction(max(f), min(f))

    @property
    def anonymity_ratio(self) -> Fraction:
        ratio = self.epsilon_ratio
        return 1 / ratio**2 if ratio else Fraction(0)

    @cached_property
    def _ratios(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Numerators and denominators of all lam_T, not reduced."""
        values, wholes = list(self.sets), [2**self.width]
        for unit in self.units:
            others = unit.size - 1
            gone, kept = values[::2], values[1::2]
            # the lowest bit becomes the highest one: after all of them they are in their order again
            values = [g + k for g, k in zip(gone, kept)] + [others * k - g for g, k in zip(gone, kept)]
            wholes += [whole * others for whole in wholes]
        return tuple(values), tuple(wholes)

    @cached_property
    def eigenvalues(self) -> tuple[Fraction, ...]:
        """lam_T exactly, one for each mask T of units."""
        return tuple(map(Fraction, *self._ratios))

    @cached_property
    def spectrum(self) -> NDArray[np.float64]:
        """lam_T as the nearest floats."""
        return np.array([value / whole for value, whole in zip(*self._ratios)])

    @property
    def unchanged(self) -> tuple[Fraction, Fraction]:
        share = Fraction(self.sets[-1], 2**self.width)  # every other value is a different one
        return share, share

    def describe(self) -> str:
        shares = [
            100 * sum(self.sets[m] for m in range(len(self.sets)) if m >> bit & 1) / 2**self.width
            for bit in range(len(self.units))
        ]
        each = ", ".join(f"{' and '.join(unit.attributes)} {share:.3g}%" for unit, share in zip(self.units, shares))
        return (
            f"{self._named}: a set of them is drawn for every row and keeps its values; each of the others gets a uniform draw "
            f"from its other values. Kept in this share of the rows: {each}."
        )

    def eigenvalue(self, attributes: Collection[str]) -> float:
        touched = sum(
            1 << bit for bit, unit in enumerate(self.units) if not set(attributes).isdisjoint(unit.attributes)
        )
        return float(self.spectrum[touched])

    # on tables

    def error_factor(self, attributes: Sequence[str]) -> float:
        if not attributes:
            return 1.0
        part = self._part({name: axis for axis, name in enumerate(attributes)}, len(attributes))
        if not all(self._ratios[0][mask] for mask in part.masks):
            return math.inf
        lengths = part.squared_lengths(self._inverted(part))
        if self.error_is_exact(attributes):
            return float(lengths.flat[0])
        axes = {name: axis for axis, name in enumerate(attributes)}
        whole = np.broadcast_to(lengths, part.shape).copy()
        return float(self.forward_transpose(whole, axes)[part.possible].max())

    def error_is_exact(self, attributes: Sequence[str]) -> bool:
        return all(
            not unit.forbid or set(unit.attributes) <= set(attributes) or not set(unit.attributes) & set(attributes)
            for unit in self.units
        )

    def forward(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        return self._part(axes, counts.ndim).apply(counts, self.spectrum, out)

    def forward_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        return self._part(axes, counts.ndim).apply_transpose(counts, self.spectrum, out)

    def inverse(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        part = self._part(axes, counts.ndim)
        return part.apply(counts, self._inverted(part), out)

    def inverse_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        part = self._part(axes, counts.ndim)
        return part.apply_transpose(counts, self._inverted(part), out)

    def product_inverse(self, counts: Counts, axes: Axes, *kept: Collection[str]) -> Counts:
        part = self._part(axes, counts.ndim)
        return part.products(counts, self._inverted(part), kept)

    def inverse_diagonal(self, attributes: Sequence[str]) -> NDArray[np.float64]:
        part = self._part({name: axis for axis, name in enumerate(attributes)}, len(attributes))
        return np.asarray(np.broadcast_to(part.entries(self._inverted(part))[-1], part.shape))

    def own_moment(self, attributes: Sequence[str], power: int) -> NDArray[np.float64]:
        part = self._part({name: axis for axis, name in enumerate(attributes)}, len(attributes))
        chances, entries = part.chances(self.spectrum), part.entries(self._inverted(part))
        total = sum(chance * entry**power for chance, entry in zip(chances, entries))
        return np.asarray(np.broadcast_to(total, part.shape))

    def _part(self, axes: Axes, dimensions: int) -> Part:
        return Part.of(self.units, axes, dimensions)

    def _inverted(self, part: Part) -> NDArray[np.float64]:
        if not all(self._ratios[0][mask] for mask in part.masks):
            raise PlanError(
                f"Nothing is left of {' x '.join(part.names)} in the released rows; no table of it can be reconstructed."
            )
        with np.errstate(divide="ignore"):
            return np.asarray(1 / self.spectrum)

    def as_matrix(self) -> NDArray[np.float64]:
        cells = np.indices([unit.size for unit in self.units]).reshape(len(self.units), -1)
        agree = (cells[:, :, None] == cells[:, None, :]).astype(np.intp)
        masks = np.tensordot(1 << np.arange(len(self.units)), agree, 1)
        f = np.array([count / n / 2**self.width for count, n in zip(self.sets, self._cells)])
        return np.asarray(f[masks])

    def to_json(self, units: Sequence[Unit]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "units": [units.index(unit) for unit in self.units],
            "width": self.width,
            "sets": [str(count) for count in self.sets],
            "approx": {"rho": [f"{self.spectrum[1 << bit]:.12g}" for bit in range(len(self.units))]},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], units: Sequence[Unit]) -> Agreement:
        check_keys(data, ("kind", "units", "width", "sets", "approx"))
        places = data["units"]
        if not all(type(place) is int and 0 <= place < len(units) for place in places):
            raise PlanError("An agreement block names a unit that the plan does not have.")
        return cls(tuple(units[i] for i in places), tuple(whole_number(count) for count in data["sets"]), data["width"])
