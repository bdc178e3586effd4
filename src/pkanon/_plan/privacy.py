"""Composes what blocks say of themselves into k and eps, exactly, and rounds to the safe side.

Blocks use disjoint random bits, so e^eps and AR multiply over them (docs/why/theory.md 2, 3 and 5). All
arithmetic is on exact fractions. A number leaves this module rounded so that it never claims more
than is true: k downwards, eps upwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _blocks
from .._blocks import Block
from .._errors import TargetError

_PRECISE = Context(prec=60)
_MARGIN = Decimal("1e-50")
"""Decimal's ln and exp are correctly rounded at 60 digits; this bound on their error is generous."""
_LARGEST_EXPONENT = 10**5
"""A budget beyond e^100000 is more than any plan can spend, and its digits are not worth computing."""

# Every operation names its context: operators would round with whatever context the caller has set.


def total_anonymity_ratio(blocks: Iterable[Block]) -> Fraction:
    """AR of independent blocks: the product."""
    return math.prod((block.anonymity_ratio for block in blocks), start=Fraction(1))


def total_epsilon_ratio(blocks: Iterable[Block]) -> Fraction | None:
    """e^eps of independent blocks: the product; None when one of them is unbounded."""
    total = Fraction(1)
    for block in blocks:
        ratio = block.epsilon_ratio
        if ratio is None:
            return None
        total *= ratio
    return total


def exact_k(ratio: Fraction, records: int) -> Fraction:
    """k = 1 + (n - 1) AR (docs/why/theory.md 2); 1 for an empty table or a single record."""
    return 1 + max(records - 1, 0) * ratio


def float_below(value: Fraction) -> float:
    """The largest float that is not above ``value``."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def log_above(ratio: Fraction | None) -> float:
    """A float that is not below log(ratio), and at most two steps above; infinite for None."""
    if ratio is None:
        return math.inf
    if ratio == 1:
        return 0.0
    quotient = _PRECISE.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    above = _PRECISE.add(_PRECISE.ln(quotient), _MARGIN)
    near = float(above)
    return near if Decimal(near) >= above else math.nextafter(near, math.inf)


def exp_below(exponent: Fraction) -> Fraction:
    """A fraction not above e^exponent, to 50 digits."""
    capped = min(exponent, Fraction(_LARGEST_EXPONENT))
    # The quotient may be off by one part in 10^59, which moves e^capped by at most one part in 10^54.
    quotient = _PRECISE.divide(Decimal(capped.numerator), Decimal(capped.denominator))
    return Fraction(_PRECISE.multiply(_PRECISE.exp(quotient), _PRECISE.subtract(Decimal(1), _MARGIN)))


def round_down(value: Fraction, digits: int = 4) -> str:
    """A number >= 0 as a decimal text, rounded down: for k."""
    return _decimal(math.floor(value * 10**digits), digits)


def round_up(value: float | Fraction, digits: int = 4) -> str:
    """A number >= 0 as a decimal text, rounded up: for eps. An infinite one says "unbounded"."""
    if isinstance(value, float) and math.isinf(value):
        return "unbounded"
    return _decimal(math.ceil(Fraction(value) * 10**digits), digits)


def _decimal(scaled: int, digits: int) -> str:
    whole, rest = divmod(scaled, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".") if digits else str(whole)


def hidden_count_ratio(p: Fraction, at_least: int) -> Fraction:
    """What hiding the record count adds to e^eps (docs/why/theory.md 10), never below the true factor.

    ``(1 + p - p^(n+1)) / (1 + p - p^n) / p`` with n = ``at_least``.
    """
    # The factor grows with p^n, so an upper bound on p^n gives an upper bound on the factor. p^n is not
    # computed below 10^-60: the exact power would need n digits and change nothing.
    base = Context(prec=60, rounding=ROUND_UP).divide(Decimal(p.numerator), Decimal(p.denominator))
    power = Context(prec=60, rounding=ROUND_UP, Emin=-(10**17)).power(base, at_least)
    above = Fraction(max(power, Decimal("1e-60"))) * (1 + Fraction(_MARGIN))
    above = min(above, p) if at_least else Fraction(1)
    return (1 + above * (1 - p) / (1 + p - above)) / p


def k_of(matrices: Sequence[ArrayLike], records: int) -> float:
    """k of PRAM with these transition matrices, one per attribute (Theorem 2).

    Parameters
    ----------
    matrices
        Square matrices: ``matrix[u][v]`` is the probability that value u is released as v.
    records
        The number of rows.

    Returns
    -------
    float
        k, rounded down.

    Examples
    --------
    >>> import pkanon as pk
    >>> matrix = [[0.75, 0.25], [0.25, 0.75]]
    >>> pk.k_of([matrix], 1_000)  # 1 + 999 (0.25 / 0.75)^2
    112.0
    """
    if records < 1:
        raise TargetError(f"records = {records}: a table has at least one record.")
    ratio = math.prod((_blocks.anonymity_ratio(entries) for entries in _entries(matrices)), start=Fraction(1))
    return float_below(exact_k(ratio, records))


def epsilon_of(matrices: Sequence[ArrayLike]) -> float:
    """eps of PRAM with these transition matrices, one per attribute (docs/why/theory.md 3).

    Parameters
    ----------
    matrices
        Square matrices: ``matrix[u][v]`` is the probability that value u is released as v.

    Returns
    -------
    float
        eps, rounded up; infinite if a released value rules out some true values.

    Examples
    --------
    >>> import pkanon as pk
    >>> round(pk.epsilon_of([[[0.75, 0.25], [0.25, 0.75]]]), 4)  # log(0.75 / 0.25)
    1.0986
    """
    total = Fraction(1)
    for entries in _entries(matrices):
        sums = [sum(map(Fraction, row), start=Fraction(0)) for row in entries.tolist()]  # 1, but for the last bits
        ratio = _blocks.epsilon_ratio(entries, sums)
        if ratio is None:
            return math.inf
        total *= ratio
    return log_above(total)


def _entries(matrices: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    if len(matrices) == 0:
        raise TargetError("Give at least one matrix: a list with one matrix per attribute.")
    return [np.array(_blocks.TransitionMatrix(matrix).rows) for matrix in matrices]
