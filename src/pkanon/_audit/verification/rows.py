"""The released rows: as many as certified, in the declared columns, types and values, in no suspicious order, and
such as the plan can produce."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import DataError
from ..._estimate import StoredCodes, pieces_of
from ..._frames import Encoded, decode
from ..._plan import Plan
from ..._progress import Progress
from ..._schema import Codes, Unit
from .case import Case
from .order import order_evidence
from .pieces import Beside, even_pieces
from .possible import table_evidence
from .verdicts import Check, judged, unchecked, weighed

UNREADABLE = "The rows cannot be read as rows of this plan."
COMPARING = "comparing"
"""The name of this step in progress reports."""


def values(case: Case) -> Check:
    """Columns, types and values are those that the plan declares."""
    if case.plan is None:
        return unchecked("values", "The plan cannot be read, and the declared values are in it.")
    if not case.tables:
        return unchecked("values", "No file holds the rows.")
    faults = []
    for name, table in case.tables.items():
        if isinstance(table, str):
            faults.append(f"{name}: {table}")
    for file in case.data_files:
        table = case.tables[file.name]
        if isinstance(table, Encoded):
            faults += _form(file, case.plan, table, case.progress)
    return judged("values", faults, "Every value is one of its column's declared values.")


def _form(file: Path, plan: Plan, table: Encoded, progress: Progress) -> list[str]:
    """What is wrong with the order and the types of the columns."""
    one = dict(zip(table.codes, next(pieces_of(table.codes, list(table.codes)))))
    one = {name: codes[:1] for name, codes in one.items()}
    right = decode(plan.schema, one, None if table.passed is None else table.passed[:1]).schema
    parquet = file.suffix == ".parquet"
    types = pl.read_parquet_schema(file) if parquet else {}
    if (list(types) if parquet else _header(file)) != list(right):
        return [f"{file.name}: the columns are not in the order of the plan."]
    if not parquet:
        return _spelling(file, plan, table, progress)
    randomised = {attribute.name for attribute in plan.schema.randomised}
    wrong = [name for name in right if name in randomised and types[name] != right[name]]
    return [f"{file.name}: column '{name}' is not of the type that is released." for name in wrong]


def _spelling(file: Path, plan: Plan, table: Encoded, progress: Progress) -> list[str]:
    """A text file must be what its rows give, byte for byte: a quote or a zero that is not needed could mark a row.

    Not where columns are passed: their spelling is whoever wrote them's, and such a release claims nothing.
    """
    if plan.schema.passed:
        return []
    names, done = list(table.codes), 0
    with open(file, "rb") as found:
        for piece in even_pieces(table.codes, names) if table.rows else pieces_of(table.codes, names):
            right = decode(plan.schema, dict(zip(names, piece)), None).write_csv(include_header=not done).encode()
            if found.read(len(right)) != right:
                break
            done += len(piece[0])
            progress(COMPARING, done / max(table.rows, 1))
        else:
            if not found.read(1):
                return []
    return [f"{file.name}: values are spelled or quoted otherwise than pkanon writes them, which could mark rows."]


def _header(file: Path) -> list[str]:
    with open(file, encoding="utf-8-sig", newline="") as lines:
        return next(csv.reader(lines), [])


def rows(case: Case) -> Check:
    """There are as many rows as the certificate says."""
    stated = case.rows
    if stated is None:
        return unchecked("rows", "The certificate does not say how many there are.")
    read = {name: table.rows for name, table in case.tables.items() if isinstance(table, Encoded)}
    if not read:
        return unchecked("rows", UNREADABLE)
    faults = [f"{name}: {n:,} rows, but the certificate is for {stated:,}." for name, n in read.items() if n != stated]
    if stated < 2 and (case.plan is None or case.plan.count_noise is None):
        faults.append("A single person cannot be hidden, and such a release is never made.")
    return judged("rows", faults, f"There are {stated:,} rows, as the certificate says.")


def combinations(case: Case) -> Check:
    """No row has a combination of values that the plan forbids."""
    name = "combinations"
    if case.plan is None or case.table is None:
        return unchecked(name, UNREADABLE)
    ruled = [unit for unit in case.plan.units if unit.forbid]
    faults = []
    for unit in ruled:
        if not all(_allowed(unit, piece) for piece in pieces_of(case.table.codes, unit.attributes)):
            faults.append(f"Rows hold combinations of {', '.join(unit.attributes)} that the plan forbids.")
    return judged(name, faults, "No row has a forbidden combination." if ruled else "The plan forbids none.")


def _allowed(unit: Unit, piece: Sequence[Codes]) -> bool:
    try:
        unit.join(list(piece))
    except DataError:
        return False
    return True


def order(case: Case, progress: Progress) -> Check:
    """Nothing in the order of the rows speaks against a shuffle."""
    if case.plan is None or case.table is None:
        return unchecked("order", UNREADABLE)
    columns = case.table.codes
    if case.table.passed is not None:
        passed = {column.name: _ranks(column) for column in case.table.passed}
        columns = Beside(columns, passed) if isinstance(columns, StoredCodes) else {**columns, **passed}
    return weighed(
        "order",
        order_evidence(columns, progress),
        "The order of the rows looks as after a shuffle.",
        "The rows are not in random order",
    )


def _ranks(column: pl.Series) -> NDArray[Any]:
    """Whole numbers in the order of the values; missing ones come first."""
    if column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype in (pl.String, pl.Boolean):
        values = column
    else:  # lists, bytes and other things that have no order of their own
        values = pl.Series([None if value is None else repr(value) for value in column], dtype=pl.String)
    return np.asarray(values.rank("dense").fill_null(0).to_numpy(), np.int64)


def tables(case: Case, progress: Progress, *, sound: bool) -> Check:
    """The released tables are such as the plan can produce; ``sound`` says that every row is one of its rows."""
    if case.plan is None or case.table is None or not sound:
        return unchecked("tables", UNREADABLE)
    found = table_evidence(case.plan.blocks, case.table.codes, progress)
    return weighed(
        "tables",
        found,
        f"{len(found.tests):,} tables are such as the plan can produce.",
        "Tables are such as the plan cannot produce",
    )
