"""Numbers as people write them, read exactly."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational

from .._errors import TargetError

Number = int | float | str | Decimal | Fraction


def exact(value: object, name: str, *, up: bool) -> Fraction:
    """The number as a fraction. A float can mean its digits or its bits: the stricter reading is taken."""
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, Rational):  # integers and fractions, numpy's too
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, float):
            plain = float(value)  # numpy's float64 is a float with another repr
            readings = (Fraction(plain), Fraction(repr(plain)))
            return max(readings) if up else min(readings)
        if isinstance(value, (str, Decimal)):
            number = Decimal(value)
            if number and not -1000 <= number.adjusted() <= 1000:  # as a fraction it would have that many digits
                raise ValueError
            return Fraction(number)
    except (ValueError, TypeError, OverflowError, InvalidOperation):
        pass
    raise TargetError(f"{name} = {value} is not a number that can be used; write it like 2, 0.5 or 1e-6.")
