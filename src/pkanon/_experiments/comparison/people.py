"""The table that is compared: every randomised attribute of a schema, as codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

from ..._demo import demo_schema, demo_table
from ..._errors import DataError, InputError, did_you_mean
from ..._frames import TextFormat, encode
from ..._schema import Codes, Schema, read_schema
from ..census import EMBEDDED
from ..paper import ROWS_PER_K

MOST_CELLS = 10**7
"""Cells of the largest table that a query can ask for."""
MOST_ATTRIBUTES = 12
"""With more there are hundreds of tables of three attributes, and combinations that 64 bits cannot number."""
EMBEDDED_TARGET = "income"


@dataclass(frozen=True, eq=False)
class People:
    """Codes, one column per attribute, in the order of ``schema``, in which every attribute is by itself."""

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
        if not isinstance(schema, (Schema, str, Path)):
            raise InputError(
                f"A schema, or the path of a file, is needed, not an object of type {type(schema).__name__}."
            )
        fitting = schema if isinstance(schema, Schema) else read_schema(schema)
        name = Path(table).name if isinstance(table, (str, Path)) else "a table given in Python"
    single = Schema(list(fitting.randomised))
    names = [attribute.name for attribute in single.randomised]
    _check_sizes({attribute.name: attribute.size for attribute in single.randomised})
    chosen = target if target is not None else EMBEDDED_TARGET if table is None else names[-1]
    if chosen not in names:
        raise InputError(f"The target '{chosen}' is not a randomised attribute. {did_you_mean(str(chosen), names)}")
    codes = encode(demo_table() if table is None else table, fitting, text=text or TextFormat()).codes
    return People(name, single, [codes[name] for name in names], names.index(chosen), synthetic=table is None)


def read_ks(ks: Any) -> list[int]:
    """The k to compare, in rising order."""
    asked = list(ks) if isinstance(ks, Iterable) else [ks]
    if not asked or any(isinstance(k, bool) or not isinstance(k, Integral) or int(k) < 2 for k in asked):
        raise InputError("Each k to compare is a whole number of 2 or more.")
    return sorted({int(k) for k in asked})


def usable(ks: Sequence[int], rows: int) -> tuple[list[int], list[int]]:
    """The k that a table of ``rows`` rows can serve, and the others, both in rising order."""
    served = [k for k in ks if k * ROWS_PER_K <= rows]
    if not served and rows < 2 * ROWS_PER_K:
        raise DataError(f"The table has {rows:,} rows; a comparison needs at least {2 * ROWS_PER_K}.")
    if not served:
        raise DataError(
            f"The table has {rows:,} rows and serves k up to a fifth of them, {rows // ROWS_PER_K:,}; ask for a smaller k."
        )
    return served, list(ks[len(served) :])


def _check_sizes(sizes: dict[str, int]) -> None:
    if len(sizes) < 2:
        raise InputError("A comparison needs at least two randomised attributes.")
    if len(sizes) > MOST_ATTRIBUTES:
        raise InputError(
            f"There are {len(sizes)} randomised attributes; up to {MOST_ATTRIBUTES} can be compared. Drop some from the schema."
        )
    if math.prod(sizes.values()) >= 2**63:
        raise InputError(
            "The attributes have 2^63 or more combinations; drop some from the schema, or give them fewer values."
        )
    largest = sorted(sizes, key=lambda name: -sizes[name])[:4]
    if math.prod(sizes[name] for name in largest) > MOST_CELLS:
        raise InputError(
            f"The table of {', '.join(largest)} would have more than {MOST_CELLS:,} cells; give the widest of them fewer values or bins."
        )
