"""How a text file writes dates and numbers, where that is not 2024-02-29 and 1234.5.

A notation is strict: a text is read in one way or not at all. Years have four digits, groups of thousands three. A day, a month
or an hour may have one digit where something other than a number stands on both sides. A time of day is read only where the
format has one, and then left out. Month names are English.

A notation says nothing about columns that hold dates or numbers already.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal, NamedTuple

from .._errors import SchemaError
from .domain import Value, value_to_text

DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", "’", " ", "\u00a0", "\u202f", "_")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_YEAR = "000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}"  # there is no year 0
_TWO_DIGITS = {
    "d": "0[1-9]|[12][0-9]|3[01]",
    "m": "0[1-9]|1[0-2]",
    "H": "[01][0-9]|2[0-3]",
    "I": "0[1-9]|1[0-2]",
    "M": "[0-5][0-9]",
    "S": "[0-5][0-9]",
}
_ONE_DIGIT = {"d": "[1-9]", "m": "[1-9]", "H": "[0-9]", "I": "[1-9]", "M": "", "S": ""}
_WORDS = {
    "b": "(?i:" + "|".join(month[:3] for month in _MONTHS) + ")",
    "B": "(?i:" + "|".join(_MONTHS) + ")",
    "p": "(?i:am|pm)",
}
_PART = r"(?s)%(.?)|([^%]+)"


class Notation(NamedTuple):
    """How texts stand for dates and numbers; None means as everywhere: 2024-02-29, 1234.5."""

    date_format: str | None = None
    decimal: str | None = None
    thousands: str | None = None

    def written(self, value: Value) -> str:
        """A value in this notation, without groups of thousands and at midnight."""
        if isinstance(value, dt.date) and self.date_format is not None:
            month = _MONTHS[value.month - 1]
            texts = {
                "Y": f"{value.year:04}",
                "m": f"{value.month:02}",
                "d": f"{value.day:02}",
                "b": month[:3],
                "B": month,
            }
            texts |= {"H": "00", "I": "12", "M": "00", "S": "00", "p": "AM"}
            return "".join(literal or texts[directive] for directive, literal in _parts(self.date_format))
        text = value_to_text(value)
        return text.replace(".", self.decimal) if isinstance(value, float) and self.decimal is not None else text

    @property
    def date_pattern(self) -> str:
        """A regular expression for the dates; its groups Y, m and d are what counts."""
        parts = _parts(self.date_format or "")
        pattern = ""
        for place, (directive, literal) in enumerate(parts):
            if literal:
                pattern += re.escape(literal)
            elif directive == "Y":
                pattern += f"(?P<Y>{_YEAR})"
            elif directive in _WORDS:
                pattern += f"(?P<m>{_WORDS[directive]})" if directive in "bB" else _WORDS[directive]
            else:
                alone = all(part[1] for part in (*parts[max(place - 1, 0) : place], *parts[place + 1 : place + 2]))
                choice = _TWO_DIGITS[directive]
                if alone and _ONE_DIGIT[directive]:
                    choice += f"|{_ONE_DIGIT[directive]}"
                pattern += f"(?P<{directive}>{choice})" if directive in "dm" else f"(?:{choice})"
        return f"^{pattern}$"

    @property
    def month_directive(self) -> str:
        """How the month is written."""
        return next(directive for directive, _ in _parts(self.date_format or "") if directive in ("m", "b", "B"))

    @property
    def time(self) -> Literal["none", "complete", "part"]:
        """Whether dates have a time of day, and whether it says at least the hour and the minute."""
        found = {directive for directive, literal in _parts(self.date_format or "") if not literal} & set("HIMSp")
        if not found:
            return "none"
        return "complete" if found in ({"H", "M"}, {"H", "M", "S"}, {"I", "M", "p"}, {"I", "M", "S", "p"}) else "part"

    @property
    def number_pattern(self) -> str:
        """A regular expression for numbers that may have decimals."""
        point = re.escape(self.decimal or ".")
        return rf"^[+-]?(?:{self._whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?$"

    @property
    def integer_pattern(self) -> str:
        """A regular expression for whole numbers."""
        return rf"^[+-]?{self._whole}$"

    @property
    def _whole(self) -> str:
        if self.thousands is None:
            return "[0-9]+"
        return rf"(?:[0-9]+|[0-9]{{1,3}}(?:{re.escape(self.thousands)}[0-9]{{3}})+)"

    @property
    def number_example(self) -> str:
        """A number in this notation."""
        return f"1{self.thousands or ''}234{self.decimal or '.'}5"

    @property
    def integer_example(self) -> str:
        """A whole number in this notation."""
        return f"1{self.thousands or ''}234"


PLAIN_NOTATION = Notation()


def checked_notation(
    date_format: str | None, decimal: str | None, thousands: str | None, kind: str, where: str
) -> Notation:
    """The notation for values of the type ``kind``; refuses what does not fit it or can be read in two ways."""
    if date_format is not None:
        _check_date_format(date_format, kind, where)
    if decimal is not None:
        if kind != "number":
            raise SchemaError(f"{where}: decimal belongs to the type number; type is '{kind}'.")
        if decimal not in DECIMALS:
            raise SchemaError(f'{where}: decimal is "." or ",".')
    if thousands is not None:
        if kind not in ("integer", "number"):
            raise SchemaError(f"{where}: thousands belongs to the types integer and number; type is '{kind}'.")
        if thousands not in THOUSANDS:
            raise SchemaError(f"{where}: thousands is one of these characters: . , ' ’ _ or a blank.")
        if kind == "number" and thousands == (decimal or "."):
            raise SchemaError(f"{where}: thousands and decimal are the same character; set decimal to the other one.")
    plain = decimal == "."
    return Notation(date_format, None if plain else decimal, thousands)


def _check_date_format(text: str, kind: str, where: str) -> None:
    if kind != "date":
        raise SchemaError(f"{where}: date_format belongs to the type date; type is '{kind}'.")
    if not isinstance(text, str):
        raise SchemaError(f'{where}: date_format is a text such as "%d/%m/%Y".')
    parts = _parts(text)
    directives = [directive for directive, literal in parts if not literal]
    if "y" in directives:
        raise SchemaError(
            f"{where}: date_format has %y; years of two digits can be read in two ways, write four and %Y."
        )
    known = ("Y", *_TWO_DIGITS, *_WORDS)
    if unknown := [directive for directive in directives if directive not in known]:
        raise SchemaError(f"{where}: date_format has %{unknown[0]}; it can hold %d %m %b %B %Y and %H %I %M %S %p.")
    months = sum(directive in ("m", "b", "B") for directive in directives)
    if (
        months != 1
        or directives.count("d") != 1
        or directives.count("Y") != 1
        or len(set(directives)) != len(directives)
    ):
        raise SchemaError(f'{where}: date_format needs a day, a month and a year, each once, such as "%d/%m/%Y".')
    if any(character.isdigit() for _, literal in parts for character in literal):
        raise SchemaError(f"{where}: date_format has a digit; write the parts of the date as %d, %m and %Y.")


def _parts(text: str) -> list[tuple[str, str]]:
    """The directives and the texts between them, in order: one of each pair is empty, but for a lone %."""
    found = []
    for match in re.finditer(_PART, text):
        directive, literal = match.group(1), match.group(2)
        found.append(("", "%") if directive == "%" else (directive or "", literal or ""))
    return found
