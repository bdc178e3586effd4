"""The table that is compared: every randomised attribute of a schema, as codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..._demo import demo_schema, demo_table
from ..._errors import DataError, InputError, did_you_mean
from ..._frames import TextFormat, encode
from ..._schema import Codes, Schema, read_schema
from ..census import EMBEDDED

MOST_CELLS = 10**7
"""Of the largest table that a query can ask for."""
ROWS_PER_K = 5
"""k goes up to a fifth of the rows: beyond, neither way leaves anything to compare."""
EMBEDDED_TARGET = "income"


@dataclass(frozen=True, eq=False)
class People:
    """Codes, one column per attribute, in the order of ``schema``, which has no bundles."""

    name: str
    schema: Schema
    columns: list[Codes] = field(repr=False)
    target: int
    synthetic: bool

    @property
    def rows(self) -> int:
        """How many people there are."""
        return len(self.columns[0])

    @property
    def source(self) -> str:
        """The name with the number of rows."""
        return f"{self.name}, {self.rows:,} rows"

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(attribute.size for attribute in self.schema.randomised)

    @property
    def names(self) -> list[str]:
        """The attributes."""
        return [attribute.name for attribute in self.schema.randomised]


def read_people(
    table: object | None, schema: object | None, target: str | None, text: TextFormat | None = None
) -> People:
    """The embedded table (None), or a table with its schema (a Schema, or the path of a file)."""
    if (table is None) != (schema is None):
        raise InputError("A table is compared with its schema: give both, or neither for the embedded table.")
    if table is None:
        fitting, name = demo_schema(), EMBEDDED
    else:
        fitting = schema if isinstance(schema, Schema) else read_schema(str(schema))
        name = Path(table).name if isinstance(table, (str, Path)) else "a table given in Python"
    single = Schema(list(fitting.randomised))
    names = [attribute.name for attribute in single.randomised]
    chosen = target or (EMBEDDED_TARGET if table is None else names[-1])
    if chosen not in names:
        raise InputError(f"The target '{chosen}' is no randomised attribute. {did_you_mean(chosen, names)}")
    _check_sizes({attribute.name: attribute.size for attribute in single.randomised})
    codes = encode(demo_table() if table is None else table, fitting, text=text or TextFormat()).codes
    return People(name, single, [codes[name] for name in names], names.index(chosen), synthetic=table is None)


def usable(ks: Sequence[int], rows: int) -> tuple[list[int], list[int]]:
    """The k that a table of so many rows can serve, and the others."""
    if not ks or any(isinstance(k, bool) or not isinstance(k, int) or k < 2 for k in ks):
        raise InputError("Each k to compare is a whole number of 2 or more.")
    wanted = sorted(set(ks))
    served = [k for k in wanted if k * ROWS_PER_K <= rows]
    if not served:
        raise DataError(
            f"The table has {rows:,} rows and serves k up to a fifth of them, {rows // ROWS_PER_K:,}; ask for a smaller k."
        )
    return served, wanted[len(served) :]


def _check_sizes(sizes: dict[str, int]) -> None:
    if len(sizes) < 2:
        raise InputError("A comparison needs at least two randomised attributes.")
    largest = sorted(sizes, key=lambda name: -sizes[name])[:4]
    if math.prod(sizes[name] for name in largest) > MOST_CELLS:
        raise InputError(
            f"The table of {', '.join(largest)} would have more than {MOST_CELLS:,} cells; give the widest of them fewer values or bins."
        )
