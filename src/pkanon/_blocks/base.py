"""What a block is: one mechanism on one or several units.

A block describes itself exactly (integers out of ``2^width`` equally likely words) and everything
else is written once for all blocks: ``_plan`` multiplies ratios and predicts errors, ``_sample`` feeds words,
``_estimate`` works through the passes below.

The passes act on an array of counts with one axis per attribute of a table. ``axes`` maps the
attributes of the table to their axes; a block looks up its own and leaves the others alone. With
``A[u, v]`` the probability that u is released as v, and ``B`` its inverse (docs/why/theory.md 7):

    forward            x -> A^T x     what is expected to be released
    forward_transpose  t -> A t
    inverse            y -> B^T y     the unbiased reconstruction
    inverse_transpose  t -> B t       weights of a linear function, carried to released rows
    product_inverse    entrywise products of inverses on marginals: variances, covariances and third moments

``out`` is where to put the result, as in numpy; it may be ``counts`` itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._errors import PlanError
from .._schema import Codes, Unit

Counts: TypeAlias = NDArray[np.float64]
Axes: TypeAlias = Mapping[str, int]

WIDTHS = (16, 32, 64)
"""Word widths a block can use: 32 and 64 in plans, 16 so that tests can try every word."""


class Words(Protocol):
    """Where a block gets the random words of the rows it works on."""

    def __call__(self, draw: int, round: int = 0) -> NDArray[Any]:
        """One word per row for this draw, in an array the block may overwrite.

        A later round serves rows that rejected their word.
        """


class Block(ABC):
    """One mechanism on one or several units; a frozen value."""

    kind: ClassVar[str]

    units: tuple[Unit, ...]
    width: int

    @property
    @abstractmethod
    def draws(self) -> tuple[int, ...]:
        """The word width of each draw a record needs."""

    @abstractmethod
    def apply(self, columns: Sequence[Codes], words: Words) -> list[Codes]:
        """Randomised codes, one column per unit, from ``columns``. Pure: all randomness comes from ``words``."""

    @property
    @abstractmethod
    def epsilon_ratio(self) -> Fraction | None:
        """e^eps exactly (docs/why/theory.md 3); None when nothing bounds it."""

    @property
    @abstractmethod
    def anonymity_ratio(self) -> Fraction:
        """AR exactly (docs/why/theory.md 2)."""

    @property
    @abstractmethod
    def unchanged(self) -> tuple[Fraction, Fraction]:
        """The probability that all values of a row stay as they were: the lowest and the highest over all rows."""

    @property
    def data_dependent(self) -> bool:
        """Whether the mechanism was computed from the private table, which voids every guarantee."""
        return False

    @abstractmethod
    def describe(self) -> str:
        """What the block does to its attributes, as a sentence for the person who has to sign the plan."""

    @property
    def has_marginals(self) -> bool:
        """Whether the passes work on some of the block's attributes alone; if not, a table has all of them or none."""
        return True

    def mixture(self, attributes: Sequence[str]) -> tuple[float, NDArray[np.float64]] | None:
        """(rho, w) if a cell of ``attributes`` is kept with probability rho and else drawn from w, whatever it was.

        One axis of w per attribute. None if the block is no such mixture, or is not known to be one.
        """
        return None

    @abstractmethod
    def eigenvalue(self, attributes: Collection[str]) -> float | None:
        """The eigenvalue on functions that vary along all of ``attributes``, the block's own; None if not value-symmetric."""

    def rho(self, attribute: str) -> float | None:
        """The eigenvalue on functions of ``attribute`` alone; None if the block is not value-symmetric."""
        return self.eigenvalue((attribute,))

    @abstractmethod
    def error_factor(self, attributes: Sequence[str]) -> float:
        """c_M of docs/why/theory.md 7 for a table of ``attributes``, which must be the block's own.

        Exact for every data set if :meth:`error_is_exact`, else the largest over all data sets.
        Infinite when the table cannot be reconstructed.
        """

    @abstractmethod
    def error_is_exact(self, attributes: Sequence[str]) -> bool:
        """Whether :meth:`error_factor` of ``attributes`` holds for every data set, or is an upper bound."""

    @abstractmethod
    def forward(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        """A^T ``counts`` along the block's ``axes``, written to ``out`` if there is one."""

    @abstractmethod
    def forward_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        """A ``counts`` along the block's ``axes``, written to ``out`` if there is one."""

    @abstractmethod
    def inverse(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        """B^T ``counts`` along the block's ``axes``, written to ``out`` if there is one."""

    @abstractmethod
    def inverse_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        """B ``counts`` along the block's ``axes``, written to ``out`` if there is one."""

    @abstractmethod
    def product_inverse(self, counts: Counts, axes: Axes, *kept: Collection[str]) -> Counts:
        """``sum_v counts_v prod_i B_i[v, j]``, B_i the inverse on the marginal of the attributes ``kept[i]``.

        ``counts`` has its attributes at ``axes``. Where the attributes of no factor in ``kept`` include an axis, the
        result is the same all along it.
        """

    def inverse_diagonal(self, attributes: Sequence[str]) -> NDArray[np.float64]:
        """B[j, j] of each cell of a table of ``attributes``, one axis each.

        This and :meth:`own_moment` are right for blocks that treat all values alike.
        """
        first, axes = self._first_cell(attributes)
        return np.full(first.shape, self.inverse(first, axes).flat[0])

    def own_moment(self, attributes: Sequence[str], power: int) -> NDArray[np.float64]:
        """``sum_v A[j, v] B[v, j]^power``: what a person in cell j adds to a moment of the estimate of j.

        One axis per attribute of ``attributes``; ``power`` is the order of the moment.
        """
        first, axes = self._first_cell(attributes)
        moved = self.product_inverse(self.forward(first, axes), axes, *[attributes] * power)
        return np.full(first.shape, moved.flat[0])

    def _first_cell(self, attributes: Sequence[str]) -> tuple[Counts, Axes]:
        sizes = {name: size for unit in self.units for name, size in zip(unit.attributes, unit.sizes)}
        first = np.zeros([sizes[name] for name in attributes])
        first.flat[0] = 1.0
        return first, {name: axis for axis, name in enumerate(attributes)}

    @abstractmethod
    def as_matrix(self) -> NDArray[np.float64]:
        """The dense transition matrix; for tests and small examples."""

    @abstractmethod
    def to_json(self, units: Sequence[Unit]) -> dict[str, Any]:
        """The block as a plan file holds it; units are written as positions in ``units``."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any], units: Sequence[Unit]) -> Block:
        """The block in ``data``, the inverse of :meth:`to_json` with the same ``units``; unknown keys are refused."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of all its units."""
        return tuple(name for unit in self.units for name in unit.attributes)

    @property
    def _named(self) -> str:
        """The attributes in a sentence: 'a', 'b' and 'c'."""
        quoted = [f"'{name}'" for name in self.attributes]
        return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def check_width(width: int) -> None:
    """Refuse word widths that no sampler has."""
    if type(width) is not int or width not in WIDTHS:
        raise PlanError(f"A block has words of {width} bits; {', '.join(map(str, WIDTHS))} are known.")


def check_integers(numbers: Iterable[Any]) -> None:
    """Refuse what is no integer of Python: others are rounded or overflow, and the claim is about what is stored."""
    if not all(type(number) is int for number in numbers):
        raise PlanError("A block counts words; every number in it must be an integer (int).")


def check_keys(data: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse keys that this version does not understand: they might change what a plan means."""
    for key in data:
        if key not in known:
            raise PlanError(f"A block of kind '{data.get('kind')}' has the unknown key '{key}'.")


def unit_at(data: Mapping[str, Any], units: Sequence[Unit]) -> Unit:
    """The unit that a block of a plan file names by its position."""
    position = data["unit"]
    if type(position) is not int or not 0 <= position < len(units):
        raise PlanError(f"A block of kind '{data.get('kind')}' names a unit that the plan does not have.")
    return units[position]


def whole_number(text: Any) -> int:
    """The integer in a text of a plan file: digits and nothing else."""
    if not (isinstance(text, str) and text.isascii() and text.isdigit()):
        raise PlanError("A block of the plan holds something else where a text of digits must be.")
    return int(text)


def word_dtype(width: int) -> type[np.unsignedinteger[Any]]:
    """The numpy type of a word."""
    types: dict[int, type[np.unsignedinteger[Any]]] = {16: np.uint16, 32: np.uint32, 64: np.uint64}
    return types[width]
