"""Sorted parts on the driver's disk, to the folder of a release.

A part is a file of randomised codes, one column after the other in the order of the schema, then each passed column as a stream
of Arrow with its length before it. Parts follow each other in the released order. They are read by memory map, one at a time:
the driver never holds the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from ..._estimate import StoredCodes
from ..._frames import Frames, decode
from ..._plan import Plan
from ..._schema import Codes, code_dtype


@dataclass(frozen=True)
class Part:
    """A file with its number of rows."""

    path: Path
    rows: int


class Parts(StoredCodes):
    """The codes of all parts that have rows, in the released order."""

    def __init__(self, plan: Plan, parts: Sequence[Part]) -> None:
        super().__init__([attribute.name for attribute in plan.schema.randomised], sum(part.rows for part in parts))
        self.plan, self.parts = plan, tuple(parts)

    def pieces(self, names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
        for part in self.parts:
            codes = self._codes(part)
            yield tuple(codes[name] for name in names)

    def frames(self) -> Frames:
        """The released table, a part at a time, whole numbers in the smallest type that holds them."""
        return Frames(self._frame(self.parts[0])[:1], self.rows, lambda: map(self._frame, self.parts))

    def _frame(self, part: Part) -> pl.DataFrame:
        return decode(self.plan.schema, self._codes(part), self._passed(part), narrow=True)

    def _codes(self, part: Part) -> dict[str, Codes]:
        whole, start, codes = _mapped(part), 0, {}
        for attribute in self.plan.schema.randomised:
            dtype = np.dtype(code_dtype(attribute.size))
            stop = start + part.rows * dtype.itemsize
            codes[attribute.name] = np.asarray(whole[start:stop]).view(dtype)
            start = stop
        return codes

    def _passed(self, part: Part) -> pl.DataFrame | None:
        if not self.plan.schema.passed:
            return None
        whole = _mapped(part)
        start = sum(part.rows * np.dtype(code_dtype(a.size)).itemsize for a in self.plan.schema.randomised)
        columns: list[Any] = []
        for attribute in self.plan.schema.passed:
            stop = start + 8 + int(np.asarray(whole[start : start + 8]).view("<u8")[0])
            with pa.ipc.open_stream(pa.py_buffer(np.asarray(whole[start + 8 : stop]))) as stream:
                columns.append(pl.Series(attribute.name, stream.read_all()["passed"]))
            start = stop
        return pl.DataFrame(columns)


def _mapped(part: Part) -> NDArray[np.uint8]:
    return np.memmap(part.path, np.uint8, "r")
