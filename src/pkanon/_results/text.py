"""Tables and numbers for people to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST_DECIMALS = 6


@dataclass(frozen=True)
class TextTable:
    """Rows of texts; ``left`` says which columns are words and stand to the left, ``hidden`` how many rows were cut off."""

    header: list[str]
    rows: list[list[str]]
    left: list[bool]
    hidden: int = 0

    def lines(self) -> list[str]:
        """The table in aligned columns."""
        return aligned(self.header, self.rows, self.left)


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Lines of aligned columns under a ruled header; ``left`` says which columns stand to the left."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return [
        "  ".join(
            cell.ljust(width) if words else cell.rjust(width) for cell, width, words in zip(row, widths, left)
        ).rstrip()
        for row in (header, ["-" * width for width in widths], *rows)
    ]


def with_error(value: float | None, error: float | None) -> str:
    """A number and its standard error: "1,234 ± 56"."""
    if value is None or math.isnan(value):
        return "-"
    if error is None or math.isnan(error):  # unknown, which is not zero
        return f"{value:,.4g} ± -"
    return f"{rounded(value, error)} ± {rounded(error, error, beside=value)}"


def interval_text(low: float | None, high: float | None, error: float | None) -> str:
    """The limits of an interval, with the digits that the standard error allows."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "-"
    return f"{rounded(low, error)} to {rounded(high, error)}"


def rounded(value: float, error: float | None, *, beside: float | None = None) -> str:
    """A number rounded to two digits of its standard error; an exact one in full, to six decimals.

    ``beside``: the number that has the error, if ``value`` is the error itself.
    """
    if error and math.isfinite(error):
        if is_tiny(value if beside is None else beside, error):
            return with_exponent(value, error)
        return f"{value:,.{min(max(1 - math.floor(math.log10(error)), 0), MOST_DECIMALS)}f}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6f}".rstrip("0").rstrip(".")


def is_tiny(value: float, error: float) -> bool:
    """Whether six decimals show nothing of an error that is more than lost digits, as of a slope per dollar."""
    return 1e-9 * abs(value) < error < 0.5 * 10**-MOST_DECIMALS and math.isfinite(value)


def with_exponent(value: float, error: float) -> str:
    """A number with an exponent, to two digits of its standard error: 6.3e-10."""
    if not value:
        return "0"
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(error)) + 1
    return f"{value:.{max(digits, 0)}e}"
