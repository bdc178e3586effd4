"""How a text file writes dates and numbers: which ways of writing fit every value of a column.

A way fits if every text can be read so: 31/12/2024 is a date with the day first, 05/04/2024 may be one
with the day or with the month first. Where several ways fit, other columns of the same file may decide;
if they do not, nobody but a person can, and the column stays undecided. 20241231 is read as a date only
where every one of several values is a day of the calendar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

_FEWEST_DAYS = 3
"""So many different whole numbers that are all days of the calendar are hardly anything but dates."""
_GLANCE = 100
_YEARS = (1850, 2150)
_GAPS = (" ", "'", "’", "\u00a0", "\u202f")
"""What stands between thousands besides points and commas."""
_SHORT_YEAR = r"^[0-9]{1,2}([/.-])[0-9]{1,2}([/.-])[0-9]{2}$"
_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_UNITS = r"(?:[€$£¥%]|EUR|USD|GBP|CHF|km|cm|mm|m|kg|mg|g|ml|l|h|min|s)"
_WITH_UNIT = rf"^(?:{_UNITS} ?-?[0-9][0-9.,' ]*|-?[0-9][0-9.,' ]*{_UNITS})$"
TIMES = "dates with a time of day"
_TIME = r"^[0-9]{1,4}[/.-][0-9]{1,2}[/.-][0-9]{1,4}[ T][0-9]{1,2}:[0-9]{2}"


@dataclass(frozen=True)
class Writing:
    """One way to write a type in a text file; None where it is written as everywhere: 2024-12-31, 1234.5."""

    type: str
    date_format: str | None = None
    decimal: str | None = None
    thousands: str | None = None

    @property
    def first(self) -> Literal["day", "month"] | None:
        """What stands first in a date that starts with its day or month, both in digits."""
        starts: dict[str, Literal["day", "month"]] = {"%d": "day", "%m": "month"}
        written = self.date_format or ""
        return None if "%b" in written else starts.get(written[:2])

    @property
    def point(self) -> str | None:
        """The decimal mark that this way shows; between thousands a point shows a decimal comma, and the other way round."""
        if self.decimal is not None:
            return self.decimal
        return {",": ".", ".": ","}.get(self.thousands or "")

    def plain(self, column: pl.Expr) -> pl.Expr:
        """The texts as they are written everywhere; one that is not written in this way becomes null or stays as it is."""
        if self.date_format is not None:
            return column.str.to_date(self.date_format, strict=False).dt.strftime("%Y-%m-%d")
        if self.thousands is not None:
            column = column.str.replace_all(self.thousands, "", literal=True)
        if self.decimal not in (None, "."):
            column = column.str.replace_all(str(self.decimal), ".", literal=True)
        return column

    def words(self) -> str:
        """This way in words; empty for the one that is used everywhere."""
        if self.date_format is not None:
            return f"dates as {self.date_format}"
        parts = []
        if self.decimal == ",":
            parts.append("decimal commas")
        if self.thousands is not None:
            parts.append("points between thousands" if self.thousands == "." else "marks between thousands")
        return " and ".join(parts)


_DAYS: tuple[tuple[str, str], ...] = (
    ("%d/%m/%Y", r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$"),
    ("%m/%d/%Y", r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$"),
    ("%d-%m-%Y", r"^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$"),
    ("%m-%d-%Y", r"^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$"),
    ("%d.%m.%Y", r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$"),  # nobody writes the month first and then points
    ("%Y/%m/%d", r"^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$"),
    ("%Y.%m.%d", r"^[0-9]{4}\.[0-9]{1,2}\.[0-9]{1,2}$"),
    ("%d-%b-%Y", r"^[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}$"),
    ("%d %b %Y", r"^[0-9]{1,2} [A-Za-z]{3} [0-9]{4}$"),
    ("%d%b%Y", r"^[0-9]{2}[A-Za-z]{3}[0-9]{4}$"),  # as SAS writes them
)


def all_match(texts: pl.Series, pattern: str) -> bool:
    """Whether every text matches; a few of them tell it for most columns."""
    return all(bool(part.str.contains(pattern).all()) for part in (texts.head(_GLANCE), texts))


def dates(texts: pl.Series) -> list[Writing]:
    """The ways to read every text as a date with its parts apart."""
    return [
        Writing("date", date_format=form) for form, shape in _DAYS if all_match(texts, shape) and _are_days(texts, form)
    ]


def compact_dates(texts: pl.Series) -> list[Writing]:
    """20241231, if every text is such a day and there are several."""
    fits = len(texts) >= _FEWEST_DAYS and all_match(texts, r"^[0-9]{8}$") and _are_days(texts, "%Y%m%d")
    return [Writing("date", date_format="%Y%m%d")] if fits else []


def _are_days(texts: pl.Series, form: str) -> bool:
    years = texts.str.to_date(form, strict=False).dt.year()
    return not years.null_count() and bool(years.is_between(*_YEARS).all())


def numbers(texts: pl.Series) -> list[Writing]:
    """The ways to read every text as a number with marks in it, whole or not; each of its marks occurs somewhere."""
    found = []
    for between in ("", ",", ".", *_GAPS):
        for point in ("", ",", "."):
            if point != between and (between or point) and _fits(texts, between, point):
                found.append(
                    Writing("number" if point else "integer", decimal=point or None, thousands=between or None)
                )
    return found


def _fits(texts: pl.Series, between: str, point: str) -> bool:
    whole = f"[1-9][0-9]{{0,2}}(?:{re.escape(between)}[0-9]{{3}})*" if between else "[1-9][0-9]*"
    part = f"(?:{re.escape(point)}[0-9]+)?" if point else ""
    if not all_match(texts, f"^-?(?:0|{whole}){part}$"):
        return False
    return all(bool(texts.str.contains(mark, literal=True).any()) for mark in (between, point) if mark)


@dataclass(frozen=True)
class Habits:
    """What the clear columns of a file show about the others: the decimal mark, and what stands first in a date."""

    point: str | None = None
    first: str | None = None
    commas: bool = True
    """Whether the fields of the file are separated by commas, so that a bare comma is never a decimal mark."""

    @classmethod
    def of(cls, clear: Sequence[Writing], *, commas: bool) -> Habits:
        """The habits that all the ``clear`` ways share."""
        points = {way.point for way in clear} - {None}
        firsts = {way.first for way in clear} - {None}
        return cls(points.pop() if len(points) == 1 else None, firsts.pop() if len(firsts) == 1 else None, commas)

    def choice(self, ways: Sequence[Writing]) -> Writing | None:
        """The one of several ways that fits these habits; None: only a person can tell."""
        fitting = [
            way
            for way in ways
            if (self.point is None or way.point in (self.point, None))
            and (self.first is None or way.first in (self.first, None))
        ]
        if len(fitting) == 1:
            return fitting[0]
        plain = [way for way in fitting if way == Writing("number", decimal=".")]
        return plain[0] if plain and self.commas else None


def unclear(ways: Sequence[Writing]) -> str:
    """What is not clear where several ways fit."""
    if ways[0].type == "date":
        return "dates, with the day or the month first"
    return "numbers, with a mark for decimals or for thousands"


def hint(texts: pl.Series) -> str | None:
    """What texts that fit no type seem to be, where a person could mend it."""
    if not len(texts):
        return None
    if all_match(texts, _ISO) or dates(texts):
        return "dates as texts"
    if all_match(texts, _SHORT_YEAR):
        return "dates with years of two digits"
    if all_match(texts, _TIME):
        return TIMES
    if all_match(texts, _WITH_UNIT):
        return "numbers with a unit"
    shaped = texts.str.contains(r"^-?[0-9][0-9.,' ]*$").mean()
    return "numbers, but not all of them" if shaped is not None and 0.9 <= float(str(shaped)) < 1 else None
