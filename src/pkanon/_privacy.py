"""Composes what blocks say of themselves into k and eps, exactly, and rounds to the safe side.

Blocks use disjoint random bits, so e^eps and AR multiply over them (docs/theory.md 2, 3 and 5). All
arithmetic is on exact fractions. A number leaves this module rounded so that it never claims more
than is true: k downwards, eps upwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_UP, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._blocks import Block, TransitionMatrix
from ._blocks.ratios import anonymity_ratio, epsilon_ratio
from ._errors import TargetError

_PRECISE = Context(prec=60)
_MARGIN = Decimal(1).scaleb(-50)
"""Decimal's ln and exp are correctly rounded at 60 digits; this bound on their error is generous."""


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
    """k = 1 + (n - 1) AR (docs/theory.md 2); 1 for an empty table or a single record."""
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
    above = _PRECISE.ln(quotient) + _MARGIN
    near = float(above)
    return near if Decimal(near) >= above else math.nextafter(near, math.inf)


def exp_below(exponent: Fraction) -> Fraction:
    """A fraction not above e^exponent, to 50 digits."""
    value = _PRECISE.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    # the division may have rounded up by one part in 10^59; the margin covers it for exponents below 10^8
    return Fraction(_PRECISE.multiply(_PRECISE.exp(value), 1 - _MARGIN))


def round_down(value: Fraction, digits: int = 4) -> str:
    """``value`` as a decimal text, rounded towards minus infinity: for k."""
    return _decimal(value, digits, ROUND_FLOOR)


def round_up(value: float, digits: int = 4) -> str:
    """``value`` as a decimal text, rounded towards infinity: for eps. An infinite one says "unbounded"."""
    return "unbounded" if math.isinf(value) else _decimal(Fraction(value), digits, ROUND_CEILING)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    scaled = value * 10**digits
    whole = math.floor(scaled) if rounding == ROUND_FLOOR else math.ceil(scaled)
    text = f"{Decimal(whole).scaleb(-digits):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def hidden_count_ratio(p: Fraction, at_least: int) -> Fraction:
    """What hiding the record count adds to e^eps (docs/theory.md 10), never below the true factor.

    ``(1 + p - p^(n+1)) / (1 + p - p^n) / p`` with n = ``at_least``.
    """
    base = Context(prec=60, rounding=ROUND_UP).divide(Decimal(p.numerator), Decimal(p.denominator))
    power = Context(prec=60, rounding=ROUND_UP, Emin=-(10**15)).power(base, at_least)
    # the factor grows with p^n, so an upper bound on p^n gives an upper bound on the factor
    above = min(Fraction(power) * (1 + Fraction(_MARGIN)), p) if at_least else Fraction(1)
    if above < Fraction(1, 10**60):
        above = Fraction(1, 10**60)
    return (1 + above * (1 - p) / (1 + p - above)) / p


def k_of(matrices: Sequence[ArrayLike], records: int) -> float:
    """k of PRAM with these transition matrices, one per attribute, on ``records`` rows (Theorem 2)."""
    if records < 1:
        raise TargetError(f"records = {records}: a table has at least one record.")
    ratio = math.prod((anonymity_ratio(entries) for entries in _entries(matrices)), start=Fraction(1))
    return float_below(exact_k(ratio, records))


def epsilon_of(matrices: Sequence[ArrayLike]) -> float:
    """eps of PRAM with these transition matrices, one per attribute (docs/theory.md 3)."""
    total = Fraction(1)
    for entries in _entries(matrices):
        ratio = epsilon_ratio(entries)
        if ratio is None:
            return math.inf
        total *= ratio
    return log_above(total)


def _entries(matrices: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    if len(matrices) == 0:
        raise TargetError("Give at least one matrix: a list with one matrix per attribute.")
    return [np.array(TransitionMatrix(matrix).rows) for matrix in matrices]
