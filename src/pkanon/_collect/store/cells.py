"""Cells: what is stored of one answer, in a fixed number of bytes.

    submission key, 16 bytes | batch, 1 byte | one code per attribute, 1, 2 or 4 bytes each, little-endian

The batch is 0 until the answer is released in a batch. A slot of zeros is free; a key of zeros is refused, so that
no answer looks like a free slot. There is no time, no number and no address in a cell.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._plan import Plan
from ..._schema import code_dtype

KEY_BYTES = 16
HEAD_BYTES = KEY_BYTES + 1
NO_KEY = bytes(KEY_BYTES)
MOST_BATCHES = 255
LARGEST_RECORD = 2_000
"""Bytes; a cell must fit into one page of the database together with another one."""

_LETTERS = {1: "B", 2: "H", 4: "I"}


def next_batch(batches: int) -> int:
    """The number of the batch after these; refused if there is none."""
    if batches >= MOST_BATCHES:
        raise InputError(f"A survey can be released in {MOST_BATCHES} batches; close it and release the rest.")
    return batches + 1


@dataclass(frozen=True)
class Layout:
    """How records of a survey are written: one code per attribute, in schema order; ``sizes`` are the values of each."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.record_bytes > LARGEST_RECORD:
            raise InputError(
                f"A record of this survey takes {self.record_bytes:,} bytes; the limit is {LARGEST_RECORD:,}."
            )

    @classmethod
    def of(cls, plan: Plan) -> Layout:
        """The layout of the randomised attributes of a plan."""
        return cls(tuple(attribute.size for attribute in plan.schema.randomised))

    @cached_property
    def _struct(self) -> struct.Struct:
        return struct.Struct("<" + "".join(_LETTERS[np.dtype(code_dtype(size)).itemsize] for size in self.sizes))

    @property
    def record_bytes(self) -> int:
        """Bytes of a record."""
        return self._struct.size

    @property
    def cell_bytes(self) -> int:
        """Bytes of a cell."""
        return HEAD_BYTES + self.record_bytes

    @cached_property
    def snapshot_bytes(self) -> int:
        """Bytes of a snapshot: a count of answers, and one of every value of every attribute."""
        return 8 * (1 + sum(self.sizes))

    def pack(self, codes: Sequence[int]) -> bytes:
        """The record of these codes."""
        return self._struct.pack(*codes)

    def cell(self, key: bytes, record: bytes, batch: int = 0) -> bytes:
        """The cell of a key and a record."""
        return key + bytes([batch]) + record

    def columns(self, records: Iterable[bytes]) -> list[NDArray[Any]]:
        """One column of codes per attribute."""
        fields = [(f"c{i}", np.dtype(code_dtype(size)).newbyteorder("<")) for i, size in enumerate(self.sizes)]
        packed = np.frombuffer(b"".join(records), dtype=np.dtype(fields))
        return [packed[name].astype(code_dtype(size)) for (name, _), size in zip(fields, self.sizes)]
