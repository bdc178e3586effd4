"""A schema proposed from a table, for somebody to confirm.

What is proposed was read off the data, so the schema is drafted, and no release made with it may
claim a guarantee until a person has confirmed that its domains are public knowledge. Notes and warnings
say what was done and what only a person can decide; they name columns, and never contain a value.

Few different values are listed, many numbers or dates get round bins. A column that looks as if it said
something about single people, or numbered them, is ``undecided``: its values go nowhere, and no plan can be
made before a person gives it a role. A draft never makes a column the id: that it holds no value twice
does not make it the number of a person. What is left without a proposal (one value, texts with many) has no
entry and is dropped. A table fits its own draft.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..._errors import DataError, InputError
from ..._files import write_new
from ..._progress import Progress, quiet
from ..._schema import Bins, Schema, as_comment, as_finding, with_findings
from ..border import guarded
from ..read import PLAIN, Source, TableFile, TextFormat, absent_columns, check_header, is_text_file, open_source
from .finding import quoted
from .header import UNSURE_HEADER, refuse_repeated_names, refuse_values_as_names
from .identity import COME_AGAIN, MAY_REPEAT, REPEATS
from .infer import habits, seen
from .proposal import DraftedColumn, proposal
from .sniffing import described

HEADER = """\
# DRAFT: the values below were read off the data. This file protects nobody yet; do not publish it. See that the values
# are public knowledge and complete: add what could occur, merge or remove what is rare. Give every column a role:
#   randomise (default) | drop | id (identifies the person) | pass (released as it is, NOT protected)
# and confirm the file: pkanon confirm FILE
"""

BELOW_ZERO = (
    'Bins are drafted open at both ends. Where nothing can be below 0, as with ages and costs, write open = "high": an open '
    "lowest bin counts as negative in means."
)


@dataclass(frozen=True)
class Draft:
    """A proposed schema, and what was done to each column.

    Attributes
    ----------
    schema
        The schema, marked as drafted: its values were read off the data.
    rows
        How many rows the table has.
    columns
        What was done to each column.
    warnings
        What somebody must look into before the schema is confirmed, a sentence each; they contain no values.
    text
        Delimiter and encoding with which a text file was read; what was not given was guessed.
    comments
        The warnings about one column, each with its name.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> draft = pk.draft_schema(pl.DataFrame({"sex": ["F", "M", "M"] * 10}))
    >>> draft.schema.drafted, draft.rows, draft.notes
    (True, 30, ('sex: 2 different texts: listed',))
    """

    schema: Schema
    rows: int
    columns: tuple[DraftedColumn, ...]
    warnings: tuple[str, ...] = ()
    text: TextFormat = PLAIN
    comments: tuple[tuple[str, str], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence about each column; they contain no values."""
        return tuple(f"{column.name}: {column.note}" for column in self.columns)

    def to_toml(self) -> str:
        """The text of a ``schema.toml`` that says that it is a draft, and at each column what to look into."""
        about = tuple(sentence for _, sentence in self.comments)
        top = [as_finding(line) for line in self.warnings if not line.startswith(about)]
        if dropped := [quoted(column.name) for column in self.columns if column.name not in self.schema.names]:
            top.append(as_comment(f"Without an entry, so dropped: {', '.join(dropped)}"))
        binned = [each.domain for each in self.schema.attributes if isinstance(each.domain, Bins)]
        if any(domain.opens_low and domain.edges[0] == 0 for domain in binned):
            top.append(as_comment(BELOW_ZERO))
        # after an empty line: what is above it goes when the file is confirmed
        return HEADER + "\n".join([*top, "", with_findings(self.schema.to_toml(), self.comments)])

    def save(self, path: str | Path) -> None:
        """Write the draft to the file ``path``, which must not exist yet."""
        write_new(path, self.to_toml())


def draft_schema(
    table: object,
    *,
    columns: Sequence[str] | None = None,
    text: TextFormat = PLAIN,
    progress: Progress | None = None,
) -> Draft:
    """A schema that fits the table, marked as drafted, and what was done to each column.

    Its values were read off the data: a release made with it claims nothing until somebody has confirmed that they are
    public knowledge. A column that may say something about single people is ``undecided``, and none of its values is drafted.

    Parameters
    ----------
    table
        A data frame, the path of a file, or a :class:`TableFile`.
    columns
        The columns to draft, in the order of the release; all others are dropped. One that looks like the number of a
        person by its name and repeats stays undecided even so: rows may not be persons.
    text
        Delimiter and encoding, if the table is a text file; what is not given is guessed, and said.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M", "M"] * 10, "rooms": [1, 2, 2] * 10, "town": ["Ulm"] * 30})
    >>> draft = pk.draft_schema(people)
    >>> draft.notes[0], draft.notes[1]
    ('sex: 2 different texts: listed', 'rooms: 2 different whole numbers: a range')
    >>> draft.schema.others
    'drop'
    """
    if isinstance(table, TableFile):
        text = TextFormat(table.delimiter or text.delimiter, table.encoding or text.encoding)
    place = table.place if isinstance(table, TableFile) else table
    if isinstance(place, (str, os.PathLike)) and is_text_file(Path(place)):
        text = described(Path(place), text)
    source = open_source(table, text)
    check_header(source, columns or ())
    refuse_values_as_names(source)
    _check_wanted(source, columns)
    found = seen(source, progress or quiet)
    warnings = refuse_repeated_names(source, found)
    file = habits(found, commas=source.text is None or source.text.separator == ",")
    proposals = {
        column.name: guarded(f"Column '{column.name}' cannot be drafted.", proposal, source, column, file)
        for column in found
    }
    if source.headed is not None and all(p.type in ("text", None) for p in proposals.values()):
        warnings.insert(0, UNSURE_HEADER)
    wanted = [proposals[name] for name in (source.names if columns is None else columns)]
    if columns is not None:
        others = [p for p in proposals.values() if p.drafted.name not in columns]
        wanted += [p for p in others if any(finding.short == REPEATS for finding in p.findings)]
        warnings += [
            finding.about(p.drafted.name)
            for p in others
            for finding in p.findings
            if p not in wanted and finding.short in (MAY_REPEAT, COME_AGAIN)
        ]
    attributes = [p.attribute for p in wanted if p.attribute is not None]
    if not attributes:
        raise DataError(
            "No column of the table can be proposed for randomising:\n"
            + "\n".join(f"{p.drafted.name}: {p.drafted.note}" for p in wanted)
        )
    comments = tuple((p.drafted.name, finding.about(p.drafted.name)) for p in wanted for finding in p.findings)
    return Draft(
        Schema(attributes, drafted=True, others="refuse" if len(attributes) == len(source.names) else "drop"),
        found[0].rows,
        tuple(p.drafted for p in wanted),
        (*warnings, *(finding.said(p.drafted.name) for p in wanted for finding in p.findings)),
        text,
        comments,
    )


def _check_wanted(source: Source, columns: Sequence[str] | None) -> None:
    if columns is None:
        return
    if isinstance(columns, str) or not columns or len(set(columns)) != len(columns):
        raise InputError("columns must be a list of different names of columns.")
    if problems := absent_columns(source, columns):
        raise DataError("\n".join(problems))
