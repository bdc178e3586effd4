"""Classical k-anonymity: how many rows share the rarest combination of quasi-identifiers.

For a deterministic recoding this is the same number as its Pk-anonymity (docs/theory.md 2), which
is what makes the two comparable.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._errors import InputError
from .._frames import TextFormat, smallest_group


def anonymity(table: object, columns: Sequence[str], *, text: TextFormat | None = None) -> int:
    """k of a table as classical k-anonymity counts it: the size of the smallest group of equal rows."""
    if isinstance(columns, str) or len(columns) == 0:
        raise InputError("Name the columns as a list with at least one of them.")
    return smallest_group(table, list(columns), text or TextFormat())
