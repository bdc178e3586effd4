"""Numbers as a paper has them: rounded to two digits of the standard error, "606,400 ± 900"."""

from __future__ import annotations

import math

from ..text import MOST_DECIMALS, is_tiny, with_exponent

NONE = "n/a"
"""A number that does not exist, such as the share of a group without people."""


def rounded_number(value: float | None, error: float | None) -> str:
    """A number and its standard error, both rounded to two digits of the error; an exact number in full and alone."""
    if value is None or math.isnan(value):
        return NONE
    if error == 0:
        return to_digits_of(0.0, value)
    if error is None or not math.isfinite(error):  # unknown, which is not zero
        return f"{_plain(f'{value:,.4g}')} ± ?"
    return f"{to_digits_of(error, value)} ± {to_digits_of(error, error, beside=value)}"


def rounded_interval(low: float | None, high: float | None, error: float | None) -> str:
    """The limits of an interval, rounded to two digits of the standard error; wider intervals without one to three digits."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return NONE
    if error is None or not math.isfinite(error):
        error = abs(high - low) / 10
    return f"{to_digits_of(error, low)} to {to_digits_of(error, high)}"


def to_digits_of(error: float, value: float, *, beside: float | None = None) -> str:
    """A number rounded to two digits of its standard error; in full, to six decimals, if that is zero.

    ``beside``: the number that has the error, if ``value`` is the error itself.
    """
    if not error > 0:
        text = f"{value:,.{MOST_DECIMALS}f}"
        return _plain(text.rstrip("0").rstrip("."))
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if is_tiny(value if beside is None else beside, error):
        return with_exponent(value, error)
    place = math.floor(math.log10(error)) - 1  # of the last digit
    if place >= 0:
        return _plain(f"{round(value / 10**place) * 10**place:,.0f}")
    return _plain(f"{value:,.{min(-place, MOST_DECIMALS)}f}")


def _plain(text: str) -> str:
    """Without the sign of a zero."""
    return text.removeprefix("-") if not any(digit in text for digit in "123456789") else text
