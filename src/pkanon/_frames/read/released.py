"""A file of released rows, some columns of it at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..._errors import DataError
from ..._schema import Schema
from .check import check_columns
from .columns import released_columns_of
from .opening import open_source
from .taking import Batch, batch_of, taken
from .textformat import PLAIN


class ReleasedFile:
    """A file of released rows, opened: nothing is read but its header."""

    def __init__(self, file: Path, schema: Schema) -> None:
        self._file, self._schema = file, schema
        self._source = open_source(file, PLAIN)
        declared = [attribute.name for attribute in schema.attributes if attribute.role in ("randomise", "pass")]
        check_columns(self._source, declared)
        self.rows = None if self._source.text is not None else int(self._source.likely_rows() or 0)
        """How many rows it has; None if only reading them would tell."""

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Some columns, some rows at a time; refuses values that the schema does not have, at the end."""
        columns = [column for column in released_columns_of(self._schema) if column.attribute.name in names]
        for rows, _ in taken(self._source, columns, None):
            yield batch_of(columns, rows)
        if complaints := [sentence for column in columns for sentence in column.complaints(exact=False)]:
            raise DataError("\n".join(complaints))
