"""Round bins: edges a person would choose, so that they say little about the data they were drafted from.

Widths are 1, 2 or 5 times a power of ten, for dates whole months or years; edges are multiples of
the width. Both ends are meant to be open: the extremes of the data do not show.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

MOST_BINS = 20
MOST_DATE_BINS = 36
"""Two or three years by month, a generation by year."""

_MONTHS = (1, 12, 60, 120, 600, 1200)


def round_bins(low: float, high: float, *, whole: bool) -> tuple[Decimal, Decimal, Decimal]:
    """Start, stop and width of 8 to 20 round bins that span ``low`` to ``high``; ``whole``: of integers."""
    first, last = Decimal(repr(low)), Decimal(repr(high))
    exponent = math.floor(math.log10((last - first) / MOST_BINS))
    while True:
        for digit in (1, 2, 5):
            width = digit * Decimal(10) ** exponent
            if whole and width < 1:
                continue
            start, stop = (first // width) * width, (last // width + 1) * width
            if start > first:  # Decimal division rounds towards zero
                start -= width
            if (stop - start) / width <= MOST_BINS:
                return start, stop, width
        exponent += 1


def round_dates(low: dt.date, high: dt.date) -> list[dt.date]:
    """Edges at the first of a month, or of a year, that span ``low`` to ``high``."""
    first, last = 12 * low.year + low.month - 1, 12 * high.year + high.month - 1
    step = next((m for m in _MONTHS if last // m - first // m < MOST_DATE_BINS), _MONTHS[-1])
    months = range(max(first // step * step, 12), (last // step + 1) * step + 1, step)
    return [dt.date(month // 12, month % 12 + 1, 1) for month in months]
