"""Classical k-anonymity: how many rows share the rarest combination of quasi-identifiers.

For a deterministic recoding this is the same number as its Pk-anonymity (docs/why/theory.md 2), so the two
can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._errors import InputError
from .._frames import TextFormat, group_sizes


@dataclass(frozen=True)
class Groups:
    """Groups of equal rows: the smallest has ``k`` rows, and ``rare`` of all ``rows`` are in groups of that size."""

    k: int
    rare: int
    rows: int


def groups(table: object, columns: Sequence[str], *, text: TextFormat | None = None) -> Groups:
    """The size of the smallest group of rows that agree on ``columns``, and how many rows are in such groups."""
    if isinstance(columns, str) or len(columns) == 0:
        raise InputError("Name the columns as a list with at least one of them.")
    sizes = group_sizes(table, columns, text or TextFormat())
    smallest = int(sizes.min())
    return Groups(k=smallest, rare=smallest * int((sizes == smallest).sum()), rows=int(sizes.sum()))


def anonymity(table: object, columns: Sequence[str], *, text: TextFormat | None = None) -> int:
    """k of a table as classical k-anonymity counts it: the size of the smallest group of equal rows.

    Parameters
    ----------
    table
        A data frame, or the path of a CSV or Parquet file.
    columns
        The names of the columns that an outsider may know.
    text
        Delimiter and encoding, if the table is a text file.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> pk.anonymity(pl.DataFrame({"sex": ["F", "F", "M"], "age": [30, 30, 31]}), ["sex", "age"])
    1
    """
    return groups(table, columns, text=text).k
