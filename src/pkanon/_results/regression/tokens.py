"""A formula as a list of tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..._errors import InputError

_PATTERN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?)
      | (?P<name>[^\W\d][\w.]*)
      | (?P<quoted>`[^`]+`)
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<sign>==|!=|<=|>=|\*\*|[-+*/:~()\[\],=<>^])""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of a formula: its ``kind``, what it says, and where it starts and ends."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(formula: str) -> list[Token]:
    """All tokens, then one of kind ``end``. A label in brackets, as in income[>50K], is one token up to the bracket."""
    found: list[Token] = []
    place = 0
    while place < len(formula):
        match = _PATTERN.match(formula, place)
        if match is None or match.lastgroup is None:
            raise InputError(
                f"The formula cannot be read at '{formula[place : place + 10]}'. Write names with other characters than "
                "letters, digits, _ and . in backquotes, and labels in quotes."
            )
        kind, text = match.lastgroup, match.group()
        if kind == "quoted":
            found.append(Token("name", text[1:-1], place, match.end()))
        elif kind == "text":
            found.append(Token("text", re.sub(r"\\(.)", r"\1", text[1:-1]), place, match.end()))
        elif kind != "space":
            found.append(Token(kind, text, place, match.end()))
        place = match.end()
        if kind == "sign" and text == "[" and len(found) > 1 and found[-2].kind == "name" and found[-2].text != "in":
            place = _label(formula, place, found)
    found.append(Token("end", "", place, place))
    return found


def _label(formula: str, place: int, found: list[Token]) -> int:
    """Read a label in brackets that is not quoted; where to go on."""
    rest = formula[place:]
    if rest.lstrip()[:1] in ("'", '"'):
        return place
    end = rest.find("]")
    if end < 0:
        raise InputError("The formula has a [ without its ].")
    found.append(Token("text", rest[:end].strip(), place, place + end))
    return place + end
