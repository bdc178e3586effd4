"""What executors do to rows on their way to a release.

    survey     counts the rows of a partition, describes them by a keyed digest, counts what is wrong with them
    liken      ids to pseudonyms: ids.py
    scatter    raw rows in; randomised codes and order words out. Raw values and their codes go no further
    arrange    a range of order words in; sorted, and sent to the driver: host.py

``scatter`` is a pure function of the key, the record numbers and the codes: a task that runs again draws the same words. It
must meet the same rows again, or words would serve two records. So it ends with the digest of the first pass, or fails, and
Spark throws away what a failed task wrote.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from ..._errors import PkanonError
from ..._frames import Piece, PieceEncoder
from ..._plan import Plan
from ..._release import attribute_columns, round_points, unit_columns
from ..._sample import Keystream, Records, order_words, randomise
from ..._schema import Codes, Points, code_dtype
from .ids import pseudonyms
from .marks import CHANGED, FORBIDDEN, TIED, Failure
from .work import Batches, Work, attempt, batch_of, frames, partition

BUCKET, ORDER, PACK, PASSED = "bucket", "order_{}", "pack_{}", "passed_{}"
SURVEY = "partition int, rows long, digest string, found string"
LIKENED = "id int, a long, b long"
ARRANGED = "part int, attempt long, rows long, total string, parity string"


def survey(work: Work, batches: Batches) -> Batches:
    """One row: the partition, its rows, their digest, what is wrong with them."""
    plan = work.read_plan()
    digest = _Digest(bytes.fromhex(work.ask(ask="digest")["key"]))
    encoder = PieceEncoder(plan.schema)
    forbidden = [0] * len(plan.units)
    refused = None
    rows = 0
    try:
        for frame in frames(batches, work.columns):
            piece = encoder.take(frame)
            rows += piece.rows
            digest.update(piece)
            for number, unit in enumerate(plan.units):
                if unit.forbid and not _has_points(plan, unit.attributes):  # points are rounded first
                    forbidden[number] += unit.count_forbidden([piece.codes[name] for name in unit.attributes])
    except PkanonError as error:
        refused = str(error)
    found = {"tally": encoder.tally(), "forbidden": forbidden, "refused": refused}
    yield batch_of(
        {
            "partition": pa.array([partition()], pa.int32()),
            "rows": pa.array([rows], pa.int64()),
            "digest": pa.array([digest.hexdigest()]),
            "found": pa.array([json.dumps(found)]),
        }
    )


def liken(work: Work, batches: Batches) -> Batches:
    """The ids of a partition as pseudonyms."""
    encoder = PieceEncoder(work.read_plan().schema)
    key = bytes.fromhex(work.ask(ask="ids")["key"])
    for frame in frames(batches, work.columns):
        for number, ids in enumerate(encoder.take(frame).ids):
            alike = pseudonyms(ids, key)
            yield batch_of({"id": np.full(len(alike), number, np.int32), "a": alike[:, 0], "b": alike[:, 1]})


def scatter(work: Work, batches: Batches) -> Batches:
    """The rows of a partition: where they belong, their order words, their randomised codes, their passed columns."""
    plan = work.read_plan()
    told = work.ask(ask="words", partition=partition())
    source = Keystream(bytes.fromhex(told["key"]))
    digest = _Digest(bytes.fromhex(told["digest_key"]))
    encoder = PieceEncoder(plan.schema)
    number, stop = told["first"], told["first"] + told["rows"]
    for frame in frames(batches, work.columns):
        piece = encoder.take(frame)
        digest.update(piece)
        if number + piece.rows > stop:
            raise Failure(CHANGED)
        codes = dict(piece.codes)
        round_points(plan, codes, source, first_record=number)
        columns = _joined(plan, codes)
        records = Records(unit_dtypes(plan), piece.rows)
        randomise(plan.blocks, columns, source, out=records.columns, first_record=number, threads=1)
        words = [order_words(number, piece.rows, source, round) for round in range(work.rounds)]
        yield batch_of(
            {BUCKET: _buckets(words[0], work.buckets)}
            | {ORDER.format(round): own.view(np.int64) for round, own in enumerate(words)}
            | {PACK.format(i): pack.view(f"i{pack.itemsize}") for i, pack in enumerate(records.packed)}
            | {PASSED.format(i): _arrow(column) for i, column in enumerate(piece.passed)}
        )
        number += piece.rows
    if number != stop or digest.hexdigest() != told["digest"]:
        raise Failure(CHANGED)


def arrange(work: Work, batches: Batches) -> Batches:
    """One row: the part, the attempt that sent it, its rows, and the sum and the parity of their order words."""
    plan = work.read_plan()
    part, own = partition(), attempt()
    held = list(batches)
    rows = sum(batch.num_rows for batch in held)
    total = parity = 0
    columns: list[NDArray[Any]] = []
    if rows:
        table = pa.Table.from_batches(held)
        del held
        words = [_numbers(table, ORDER.format(round)).view(np.uint64) for round in range(work.rounds)]
        if (_buckets(words[0], work.buckets) != part).any():
            raise Failure(CHANGED)
        total, parity = int(words[0].sum(dtype=np.uint64)), int(np.bitwise_xor.reduce(words[0]))
        order = _order(words)
        packs = [_numbers(table, PACK.format(i)) for i in range(len(packed(plan)))]
        records = Records.of_packed(unit_dtypes(plan), [pack.view(f"u{pack.itemsize}") for pack in packs])
        codes = attribute_columns(plan, records.permuted(order, threads=1))
        columns = [codes[attribute.name] for attribute in plan.schema.randomised]
        columns += [_ipc(table[PASSED.format(i)].take(pa.array(order))) for i in range(len(plan.schema.passed))]
    work.send(columns, ask="part", part=part, attempt=own)
    yield batch_of(
        {
            "part": pa.array([part], pa.int32()),
            "attempt": pa.array([own], pa.int64()),
            "rows": pa.array([rows], pa.int64()),
            "total": pa.array([str(total)]),
            "parity": pa.array([str(parity)]),
        }
    )


def packed(plan: Plan) -> list[int]:
    """The bytes of each pack that a row has."""
    return [dtype.itemsize for dtype in Records(unit_dtypes(plan), 0).dtypes]


def unit_dtypes(plan: Plan) -> list[np.dtype[Any]]:
    """The types of the columns of codes, one per unit."""
    return [np.dtype(code_dtype(unit.size)) for unit in plan.units]


def _has_points(plan: Plan, names: Sequence[str]) -> bool:
    return any(isinstance(plan.schema.attribute(name).domain, Points) for name in names)


def _joined(plan: Plan, codes: dict[str, Codes]) -> list[Codes]:
    try:
        return unit_columns(plan, codes, exact_counts=False)
    except PkanonError:
        pass
    raise Failure(FORBIDDEN)


def _buckets(words: NDArray[np.uint64], buckets: int) -> NDArray[np.int32]:
    """Which of ``buckets`` ranges of equal width each word is in: the leading bits decide, so ranges follow each other."""
    high = words >> np.uint64(32)
    high *= np.uint64(buckets)
    high >>= np.uint64(32)
    return high.astype(np.int32)


def _order(words: Sequence[NDArray[np.uint64]]) -> NDArray[np.int64]:
    """The places of rows sorted by their words, tied ones by those of the next round."""
    order = np.argsort(words[0]) if len(words) == 1 else np.lexsort(words[::-1])
    tied = np.ones(max(len(order) - 1, 0), bool)
    for own in words:
        arranged = own[order]
        tied &= arranged[1:] == arranged[:-1]
    if tied.any():
        raise Failure(TIED)
    return order


class _Digest:
    """A keyed digest of rows in their order; it does not depend on how they are cut into pieces."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._columns: list[Any] = []

    def update(self, piece: Piece) -> None:
        columns = [*piece.codes.values(), *(column.hash().to_numpy() for column in piece.passed)]
        self._columns = self._columns or [hashlib.blake2b(key=self._key) for _ in columns]
        for digest, column in zip(self._columns, columns):
            digest.update(np.ascontiguousarray(column).data)

    def hexdigest(self) -> str:
        whole = hashlib.blake2b(key=self._key, digest_size=32)
        for digest in self._columns:
            whole.update(digest.digest())
        return whole.hexdigest()


def _numbers(table: pa.Table, name: str) -> NDArray[Any]:
    numbers: NDArray[Any] = table[name].to_numpy()
    return numbers


def _arrow(column: pl.Series) -> pa.Array:
    array = column.to_arrow(compat_level=pl.CompatLevel.oldest())
    return array.cast(pa.string()) if pa.types.is_large_string(array.type) else array


def _ipc(column: pa.ChunkedArray) -> NDArray[np.uint8]:
    """A column as a stream of Arrow, with its length before it."""
    sink = pa.BufferOutputStream()
    table = pa.table({"passed": column})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data = np.frombuffer(sink.getvalue(), np.uint8)
    return np.concatenate([np.array([len(data)], "<u8").view(np.uint8), data])
