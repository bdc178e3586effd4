"""Tables counted on the cluster, reconstructed on the driver.

Executors count the released rows of their partitions, cell by cell; Spark adds the counts up; the driver gets one number for each cell
that is not empty, and corrects the tables as it does with any others. Released rows are public, so nothing here is secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ... import __version__
from ..._errors import DataError, InputError, PkanonError, did_you_mean
from ..._estimate import Channel, StoredCodes, as_names, check_size, normal_quantile, tabulate
from ..._frames import NO_ROWS, PieceEncoder, TextFormat
from ..._plan import Plan, unreadable
from ..._progress import Progress, quiet
from ..._release import PACKAGE
from ..._results import Estimate
from ..._schema import Codes
from .host import Line
from .jobs import mapped, shown
from .marks import FOREIGN, Failure, watched
from .opening import opened
from .work import Batches, Work, batch_of, frames

_COUNTED = "number int, cell long, rows long"
_FAILED = "Spark could not finish; its log says why."
Sizes = tuple[tuple[str, int], ...]


def counts(
    table: Any,
    plan: Plan,
    tables: Sequence[str | Sequence[str]],
    *,
    method: str = "inverse",
    about: str = "table",
    level: float = 0.95,
    master: str | None = None,
    progress: Progress | None = None,
) -> dict[tuple[str, ...], Estimate]:
    """Cross-tabulations of a release, counted on the cluster in one pass and corrected on the driver, with errors.

    Parameters
    ----------
    table
        The released rows as a DataFrame of PySpark; or the path of a release, or of its Parquet file, that driver and executors
        can read.
    plan
        The plan of the release.
    tables
        The attributes of each table, such as ``[("sex", "age"), "job"]``.
    method, about, level
        As in :meth:`Release.crosstab`.
    master
        For a path: where Spark runs; this machine by default. A session that is active is used.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    dict
        An estimate for each of ``tables``, by the names of its attributes. Whatever needs another table of the same rows has to
        be asked for here, too.

    Examples
    --------
    >>> import pkanon as pk
    >>> def women(spark):
    ...     tables = pk.spark.counts(spark.read.parquet("out/data.parquet"), pk.read_plan("out/plan.json"), [("sex", "age")])
    ...     return tables["sex", "age"].count(sex="F")
    """
    normal_quantile(level)
    asked = [as_names(names) for names in tables]
    if not asked:
        raise InputError("Name the attributes of at least one table.")
    sizes = [_sizes(plan, names) for names in asked]
    if isinstance(table, str | Path) and (Path(table) / PACKAGE).is_file():
        table = Path(table) / "data.parquet"
    with opened(table, master, TextFormat()) as df:
        columns = list(dict.fromkeys(name for own in sizes for name, _ in own))
        for name in columns:
            if name not in df.columns:
                raise DataError(f"The table has no column '{name}'. {did_you_mean(name, df.columns)}")
        found = _counted(df.select(*columns), plan, sizes, columns, progress or quiet)
    codes = CountedCodes(found)
    estimates = {}
    for names in asked:
        estimate = Estimate.of(plan.schema, plan.blocks, codes, names, method=method, about=about)
        estimates[names] = replace(estimate, level=level, unreadable=unreadable(plan, names, codes.rows))
    return estimates


def _sizes(plan: Plan, names: tuple[str, ...]) -> Sizes:
    channel = Channel(plan.blocks, names)
    check_size(channel.sizes)
    return tuple(channel.sizes.items())


def _counted(
    df: Any, plan: Plan, sizes: Sequence[Sizes], columns: Sequence[str], progress: Progress
) -> dict[tuple[str, ...], NDArray[np.float64]]:
    work = Work(json.dumps(plan.to_json()), __version__, Line(("", 0), b""), tuple(columns))
    cells = mapped(df, partial(_count, tuple(sizes)), work, _COUNTED).groupBy("number", "cell").sum("rows")
    with shown(df, "counting", progress):
        found = watched(_FAILED, cells.toArrow)
    number, cell, rows = (column.to_numpy() for column in found.columns)
    tables = {}
    for i, own in enumerate(sizes):
        total = np.zeros([size for _, size in own])
        mine = number == i
        total.flat[cell[mine]] = rows[mine]
        tables[tuple(name for name, _ in own)] = total
    return tables


def _count(sizes: Sequence[Sizes], work: Work, batches: Batches) -> Batches:
    """The cells of each table that are not empty in a partition."""
    encoder = PieceEncoder.of_released(work.read_plan().schema, work.columns)
    totals = [np.zeros([size for _, size in own]) for own in sizes]
    for frame in frames(batches, work.columns):
        codes = _codes(encoder, frame)
        for own, total in zip(sizes, totals):
            total += tabulate([codes[name] for name, _ in own], [size for _, size in own])
    for number, total in enumerate(totals):
        cell = np.flatnonzero(total)
        rows = total.ravel()[cell].astype(np.int64)
        yield batch_of({"number": pa.array(np.full(len(cell), number, np.int32)), "cell": cell, "rows": rows})


def _codes(encoder: PieceEncoder, frame: Any) -> Mapping[str, Codes]:
    try:
        codes = encoder.take(frame).codes
        if not encoder.complaints(exact=False):
            return codes
    except PkanonError:
        pass
    raise Failure(FOREIGN)


class CountedCodes(StoredCodes):
    """Released rows of which only some tables are known, and all smaller tables that these hold."""

    def __init__(self, tables: dict[tuple[str, ...], NDArray[np.float64]]) -> None:
        super().__init__(list(dict.fromkeys(name for names in tables for name in names)), 0)
        self.rows = int(next(iter(tables.values())).sum())
        if not self.rows:
            raise DataError(NO_ROWS)
        self.counted = _Held(tables)

    def pieces(self, names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
        raise InputError(
            f"This needs a table of {', '.join(names)} that was not counted on the cluster; name it among the tables of counts."
        )


class _Held(dict[tuple[str, ...], NDArray[np.float64]]):
    """Tables by the names of their axes; smaller ones are summed up, and none is taken out for good."""

    def __contains__(self, names: object) -> bool:
        return isinstance(names, tuple) and self._holder(names) is not None

    def pop(self, names: tuple[str, ...], *_: Any) -> NDArray[np.float64]:
        holder = self._holder(names)
        if holder is None:
            raise KeyError(names)
        rest = tuple(axis for axis, name in enumerate(holder) if name not in names)
        kept = [name for name in holder if name in names]
        return np.asarray(self[holder].sum(axis=rest)).transpose([kept.index(name) for name in names]).copy()

    def _holder(self, names: tuple[str, ...]) -> tuple[str, ...] | None:
        return next((own for own in self if set(names) <= set(own)), None)
