"""What a draft found about columns, as comments in a schema file: written above the column that they are about, and read back.

A finding is a sentence for whoever confirms the file. It stays with its column until then, also in a schema that is made from
the file.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any

SEVERAL_ROWS = "rows may not be persons"
"""Words of a finding on a column that shows persons with several rows, as far as a draft can tell."""
PERHAPS_SEVERAL_ROWS = "a person may have several rows"
"""Words of a finding on a column that may show them; an id that is checked answers it."""
RARE_VALUES = "rows hold"
"""Words of a finding on a column that has values of a few rows."""
_FINDING = "# ! "
_WIDTH = 116
_HEADER = re.compile(
    r"""\s*\[{1,2}(?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'[^']*')+\]{1,2}\s*(?:#.*)?"""
)  # names in quotes may have brackets

Findings = Sequence[tuple[str | None, str]]
"""Sentences, each with the column that it is about; None for the whole file."""


def as_comment(text: str) -> str:
    """A text as lines of a comment."""
    lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"# {lines[0]}", *(f"#   {line}" for line in lines[1:])])


def as_finding(sentence: str) -> str:
    """A sentence as the comment that :func:`findings_in` reads."""
    return as_comment(f"! {sentence}")


def findings_in(lines: Iterable[str]) -> list[tuple[str | None, str]]:
    """The findings in the lines of a schema file."""
    found: list[tuple[str | None, str]] = []
    above: list[str] = []
    for line in [*lines, ""]:
        if line.startswith(_FINDING):
            above.append(line.removeprefix(_FINDING))
        elif above and line.startswith("#   "):
            above[-1] += line.removeprefix("#  ")
        elif not line.startswith("#"):
            of = _attribute(line)
            found += [(of, sentence) for sentence in above]
            above = []
    return found


def with_findings(text: str, findings: Findings) -> str:
    """A schema file with findings above its columns; those on no column of it come below the comment that it begins with."""
    lines = text.split("\n")
    present = {_attribute(line) for line in lines} - {None}
    top = [as_finding(sentence) for of, sentence in findings if of not in present]
    first = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    below = [
        part
        for line in lines[first:]
        for part in (*(as_finding(said) for of, said in findings if of is not None and of == _attribute(line)), line)
    ]
    return "\n".join([*lines[:first], *top, *([""] if top and first == 0 else []), *below])


def header(line: str) -> tuple[str, ...] | None:
    """The path of the table that a line opens; None if it opens none."""
    if not _HEADER.fullmatch(line):
        return None
    try:
        data: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    path = []
    while data:
        ((key, inside),) = data.items()
        path.append(key)
        data = inside[0] if isinstance(inside, list) else inside
    return tuple(path)


def _attribute(line: str) -> str | None:
    """The attribute whose table a line opens."""
    opened = header(line)
    return opened[1] if opened is not None and len(opened) == 2 and opened[0] == "attributes" else None
