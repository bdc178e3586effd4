"""A schema file with a person's confirmation written into it; everything else in it stays as it is.

Comments and layout are kept: lines are taken out and put in, and the result is read again. If it does not say exactly what it
should (a file can be laid out in ways that a line at a time cannot follow), the file is written anew instead, without comments.
The comment that a draft begins with goes in any case, and so does the one in a schema made from a draft: they are no longer true.
"""

from __future__ import annotations

import copy
import datetime as dt
import itertools
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._errors import InputError, SchemaError
from .._files import write_over
from .declaring import ONE_AT_RANDOM
from .findings import PERHAPS_SEVERAL_ROWS, RARE_VALUES, SEVERAL_ROWS, findings_in, header
from .schema import Schema
from .toml import as_date, schema_of

DRAFT_COMMENT = "# DRAFT"
"""How the comment at the top of a draft begins."""
UNCONFIRMED_COMMENT = "# What is marked drafted"
"""How the comment begins by which a schema made from a draft says that nobody has confirmed it."""
_OLD = ("domains", "confirmed_by", "row_is")
"""What older files have at their top."""


@dataclass(frozen=True)
class SchemaFile:
    """A schema file that is to be confirmed.

    ``schema`` is the schema as it stands, without a confirmation that it may carry.
    """

    path: Path
    content: bytes = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)
    schema: Schema
    rows_are: str | None

    @classmethod
    def read(cls, path: str | Path) -> SchemaFile:
        """The file at ``path``."""
        try:
            content = Path(path).read_bytes()
            data = tomllib.loads(content.decode("utf-8-sig").replace("\r\n", "\n"))
        except OSError as error:
            raise InputError(f"Cannot read the schema {path}: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise SchemaError(f"The schema {path} is not UTF-8 text.") from None
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"{path} is not valid TOML: {error}.") from None
        said = data.get("confirmed", {})
        rows_are = said.get("rows_are") if isinstance(said, Mapping) else None
        bare = {key: value for key, value in data.items() if key not in ("confirmed", "confirmed_by", "row_is")}
        schema = schema_of(bare, str(path), Path(path).parent)
        return cls(Path(path), content, data, schema, rows_are or data.get("row_is"))

    def confirmed(
        self, by: str, rows_are: str, on: dt.date | str, roles: Mapping[str, str], drawn: str | None = None
    ) -> Confirmed:
        """The file with a confirmation; ``roles`` for columns that get another one, ``drawn`` is an id that repeats."""
        data = copy.deepcopy(dict(self.data))
        for key in ("confirmed", *_OLD):
            data.pop(key, None)
        said = {"by": by, "on": as_date(on) if isinstance(on, str) else on, "rows_are": rows_are}
        tables = {name: _decided(table, roles.get(name), name == drawn) for name, table in data["attributes"].items()}
        data = {"confirmed": said} | data | {"attributes": tables}
        schema = schema_of(data, str(self.path), self.path.parent)
        schema.refuse_undecided()
        anew = {name: table for name, table in tables.items() if name in roles or name == drawn}
        freed = [name for name in anew if roles.get(name) == "randomise"]
        edits = Edits({name: table for name, table in anew.items() if name not in freed}, freed)
        text = "\n".join(_edited(self._lines(), said, edits)) + "\n"
        kept = _says(text, data)
        if not kept:
            import tomli_w

            text = tomli_w.dumps(data)
        return Confirmed(self, schema, text, kept)

    @property
    def findings(self) -> list[tuple[str | None, str]]:
        """What a draft says in comments: the column that a comment stands above, None for the whole file, and its sentences."""
        return findings_in(self._lines())

    def forgotten(self, ids: Collection[str]) -> list[str]:
        """What a draft says about persons with several rows, as far as ``ids``, the columns that identify persons, leave it open."""
        return [
            sentence
            for of, sentence in self.findings
            if (SEVERAL_ROWS in sentence and (not ids if of is None else of not in ids))
            or (PERHAPS_SEVERAL_ROWS in sentence and not ids)
        ]

    @property
    def rare_values(self) -> list[str]:
        """The columns of which a draft says that it lists values of a few rows."""
        rare = {of for of, sentence in self.findings if RARE_VALUES in sentence}
        return [a.name for a in self.schema.attributes if a.name in rare and a.role == "randomise" and a.drafted]

    def _lines(self) -> list[str]:
        return self.content.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\n").split("\n")


@dataclass(frozen=True)
class Confirmed:
    """A schema file as it will be: its schema, its text, and whether comments and layout are those of before."""

    file: SchemaFile
    schema: Schema
    text: str
    kept: bool

    def write(self) -> None:
        """Put the text in the place of the file; refused if that has changed meanwhile."""
        text = self.text.replace("\n", "\r\n") if b"\r\n" in self.file.content else self.text
        write_over(self.file.path, text.encode(), instead_of=self.file.content)


def _decided(table: Mapping[str, Any], role: str | None, drawn: bool) -> dict[str, Any]:
    """The table of an attribute that somebody has confirmed, with the role that it was given."""
    if role == "randomise":
        table = {key: value for key, value in table.items() if key != "role"}
    elif role is not None and role != table.get("role"):
        kept = ("type", "missing_values", "date_format", "decimal", "thousands") if role in ("id", "pass") else ()
        table = {key: table[key] for key in kept if key in table} | {"role": role}
    decided = {key: value for key, value in table.items() if key != "drafted"}
    return decided | ({"repeats": ONE_AT_RANDOM} if drawn else {})


def _edited(lines: list[str], said: Mapping[str, Any], edits: Edits) -> Iterator[str]:
    """The lines of the confirmed file."""
    import tomli_w

    if was_draft := lines[0].startswith(DRAFT_COMMENT):
        below = itertools.dropwhile(lambda line: line.startswith("#"), lines)
        lines = list(itertools.dropwhile(lambda line: not line.strip(), below))
    lines = [line for line in lines if not line.startswith(UNCONFIRMED_COMMENT)]
    first = next((number for number, line in enumerate(lines) if header(line) is not None), len(lines))
    above = first
    while above and lines[above - 1].lstrip().startswith("#"):  # a comment on the first table stays with it
        above -= 1
    if above or was_draft:  # else the comment is on the file
        first = above
    yield from _kept(lines[:first], edits)
    yield from ["[confirmed]", *tomli_w.dumps(said).rstrip("\n").split("\n"), ""]
    yield from _kept(lines[first:], edits)


def _kept(lines: list[str], edits: Edits) -> Iterator[str]:
    """Lines without those that the confirmation replaces, and with the new tables of attributes."""
    import tomli_w

    table: tuple[str, ...] = ()
    for line in lines:
        if (opened := header(line)) is not None:
            table = opened
            if table != ("confirmed",) and not (len(table) > 2 and edits.anew(table)):
                yield line
            if len(table) == 2 and edits.anew(table):
                yield from tomli_w.dumps(edits.tables[table[1]]).rstrip("\n").split("\n")
        elif line.lstrip().startswith("#") or not edits.replace(line, table):
            yield line


@dataclass(frozen=True)
class Edits:
    """Attributes whose tables are written anew, and attributes that lose the line with their role."""

    tables: Mapping[str, Mapping[str, Any]]
    freed: Collection[str]

    def anew(self, table: tuple[str, ...]) -> bool:
        """Whether ``table`` is that of an attribute that is written anew, or inside it."""
        return len(table) > 1 and table[0] == "attributes" and table[1] in self.tables

    def replace(self, line: str, table: tuple[str, ...]) -> bool:
        """Whether a line of ``table``, no comment and no header, is left out of the confirmed file."""
        key = line.split("=")[0].strip()
        if not table:
            return key in _OLD
        if table[0] == "confirmed":
            return True
        if self.anew(table):
            return bool(key)
        if table[0] != "attributes" or len(table) != 2:
            return False
        return key == "drafted" or (key == "role" and table[1] in self.freed)


def _says(text: str, data: Mapping[str, Any]) -> bool:
    """Whether a text says what the tables say, in the same order of attributes."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return found == data and list(found["attributes"]) == list(data["attributes"])
