"""Which engine makes a release: the one in memory, or the streaming one for a table that is larger than its budget.

A data frame is in memory already, and so is its release, unless a budget is named. A file or a database goes the streaming
way if the rows that it seems to have would take more than a quarter of what is free.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from .._errors import EnvironmentFailure, InputError
from .._estimate import StoredCodes
from .._frames import TableFile, TextFormat, likely_rows
from .._plan import Central, Plan
from .._progress import Progress, quiet
from .._release import (
    Release,
    StoredRelease,
    certified,
    refuse_central,
    refuse_plan,
    refuse_rows,
    shares_of_others,
    shown,
    warn_of_unreadable,
)
from .._release import check as check_in_memory
from .._release import release as release_in_memory
from .._sample import Keystream, Randomness, System, is_private, keep_freed_memory
from .._schema import Codes, code_dtype
from .streaming import Sizes, Streamed, budget_of, check_through, sizes_for, stream

PER_ROW = 40
"""Bytes that the engine in memory takes for a row beside its codes, which it has three times."""


def release(
    table: object,
    plan: Plan,
    *,
    randomness: Randomness | None = None,
    allow_fewer: bool = False,
    allow_pass: bool = False,
    drafted_not_protected: bool = False,
    data_dependent: bool = False,
    exact_counts: bool = False,
    text: TextFormat | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    spool: str | Path | None = None,
    progress: Progress | None = None,
) -> Release:
    """Randomise and shuffle a table according to a plan.

    Refused: whatever does not fit the schema, a table of one row, and what only the switches below accept. Where most
    tables that the plan serves cannot be read, it warns (:class:`ReadabilityWarning`).

    Parameters
    ----------
    table
        A polars, pandas or pyarrow table, a duckdb relation, the path of a file, a folder or a pattern of several files, or a
        :class:`TableFile`.
    plan
        What to do, from :func:`plan` or :func:`read_plan`.
    randomness
        Where the key comes from: the operating system by default. ``Seeded(7)``, or any object that is not exactly
        ``System()``, makes a release that claims nothing, for tests and teaching.
    allow_fewer
        Accept fewer rows than planned; k is then lower.
    allow_pass
        Accept columns that are released as they are; they void the guarantee.
    drafted_not_protected
        Accept a schema that was drafted from data and that nobody has confirmed; it voids the guarantee.
    data_dependent
        Accept matrices that were computed from the table; they void the guarantee.
    exact_counts
        Say in errors how many rows are at fault, not only that some are; refused for a hidden record count. Such a number is
        a fact about the private table: keep it as confidential as the table.
    text
        Delimiter and encoding, if the table is a text file.
    threads
        How many threads to use; chosen by the number of rows if not set. The result does not depend on it.
    memory
        What the rows may take of the memory while they are on their way, such as ``"2GB"`` or a number of bytes; the rest is on
        the disk, randomised. By default tables in files that would take more than a quarter of the free memory are released
        in this way. The result does not depend on it.
    spool
        The folder for the temporary files of a table larger than memory; the system's folder for such files by default. They
        hold randomised rows only, enciphered, have no names, and are gone with the process.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    Release
        Rows, plan and certificate; its ``table`` is of the kind that came in, polars for a path.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500})
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> pk.release(people, plan)
    <Release of 1,000 rows of 1 attribute: k = 20, epsilon = 1.9812>
    """
    refuse_plan(
        plan,
        allow_pass=allow_pass,
        drafted_not_protected=drafted_not_protected,
        data_dependent=data_dependent,
        exact_counts=exact_counts,
    )
    sizes = _sizes(table, plan, text, memory)
    if sizes is None:
        made = release_in_memory(
            table,
            plan,
            randomness=randomness,
            allow_fewer=allow_fewer,
            allow_pass=allow_pass,
            drafted_not_protected=drafted_not_protected,
            data_dependent=data_dependent,
            exact_counts=exact_counts,
            text=text,
            threads=threads,
            progress=progress,
        )
    else:
        chosen = randomness or System()
        made = _streamed(table, plan, chosen, sizes, _folder(spool), allow_fewer, exact_counts, text, progress)
    if is_private(randomness or System()):  # others are for tests and teaching
        warn_of_unreadable(plan, made.rows)
    return made


def _streamed(
    table: object,
    plan: Plan,
    chosen: Randomness,
    sizes: Sizes,
    folder: Path,
    allow_fewer: bool,
    exact_counts: bool,
    text: TextFormat | None,
    progress: Progress | None,
) -> Release:
    tell = shown(plan, progress or quiet)
    keep_freed_memory()
    central: Central | str | None = None

    def refuse(rows: int) -> None:
        nonlocal central
        refuse_rows(plan, rows, allow_fewer=allow_fewer)
        central = refuse_central(plan, rows, allow_fewer=allow_fewer)

    with suppress(MemoryError):
        found = stream(
            table,
            plan,
            Keystream(chosen.key()),
            folder=folder,
            sizes=sizes,
            text=text or TextFormat(),
            exact_counts=exact_counts,
            refuse=refuse,
            progress=tell,
        )
        made = certified(
            plan,
            found.codes,
            None,
            found.rows,
            central,
            chosen=chosen,
            kind=found.encoded.kind,
            dropped=found.encoded.dropped,
            progress=tell,
        )
        return StoredRelease.of(plan, made.certificate, _Spooled(found), found.encoded.kind, found.encoded.dropped)
    raise EnvironmentFailure("There is not enough memory for this table; name a smaller budget with memory (--memory).")


@dataclass(frozen=True)
class _Spooled:
    """Released rows in temporary files."""

    found: Streamed

    @property
    def codes(self) -> StoredCodes:
        return self.found.codes

    def passed(self) -> pl.DataFrame | None:
        return None if self.found.passed is None else self.found.passed.whole()

    def pieces(self) -> Iterator[tuple[Mapping[str, Codes], pl.DataFrame | None]]:
        names, passed = list(self.found.codes), self.found.passed
        if passed is None:
            for columns in self.found.codes.pieces(names):
                yield dict(zip(names, columns)), None
            return
        for start, stop in passed.starts:
            yield dict(zip(names, self.found.codes.slice(names, start, stop))), passed.piece(start)


def _sizes(table: object, plan: Plan, text: TextFormat | None, memory: str | int | None) -> Sizes | None:
    """How many rows are handled together; None: all of them, in memory."""
    if memory is None and not isinstance(table, (str, os.PathLike, TableFile)):
        return None
    budget = budget_of(memory)
    width = sum(np.dtype(code_dtype(unit.size)).itemsize for unit in plan.units)
    if not isinstance(table, (str, os.PathLike, TableFile)):
        return sizes_for(budget, width, None)
    rows = likely_rows(table, text=text or TextFormat())
    if memory is None and (plan.schema.repeating is not None or (rows or 0) * (PER_ROW + 3 * width) <= budget):
        return None
    return sizes_for(budget, width, rows)


def _folder(spool: str | Path | None) -> Path:
    folder = Path(spool or tempfile.gettempdir())
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; temporary files of a table larger than memory need one.")
    return folder


def check(
    table: object,
    plan: Plan,
    *,
    allow_fewer: bool = False,
    allow_pass: bool = False,
    drafted_not_protected: bool = False,
    data_dependent: bool = False,
    exact_counts: bool = False,
    text: TextFormat | None = None,
    memory: str | int | None = None,
    spool: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Raise what :func:`release` would raise with the same arguments; release nothing.

    Parameters
    ----------
    table
        A polars, pandas or pyarrow table, a duckdb relation, the path of a file, or a :class:`TableFile`.
    plan
        The plan it is to be released with.
    allow_fewer, allow_pass, drafted_not_protected, data_dependent
        What to accept, as in :func:`release`.
    exact_counts
        Say in errors how many rows are at fault, as in :func:`release`.
    text
        Delimiter and encoding, if the table is a text file.
    memory, spool
        What a table larger than memory may take of it, and where temporary files go, as in :func:`release`.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    dict
        About which share of the rows would be taken as ``other``, per attribute, in whole percents rounded up; nothing
        if the plan hides the record count.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> schema = pk.Schema([pk.Attribute("job", ["farmer", "nurse"], other="other")])
    >>> plan = pk.plan(schema, records=4, k=2)
    >>> pk.check(pl.DataFrame({"job": ["nurse", "farmer", "pilot", "nurse"]}), plan)
    {'job': 0.25}
    """
    accepted = {
        "allow_pass": allow_pass,
        "drafted_not_protected": drafted_not_protected,
        "data_dependent": data_dependent,
        "exact_counts": exact_counts,
    }
    refuse_plan(plan, **accepted)
    sizes = _sizes(table, plan, text, memory)
    if sizes is None:
        return check_in_memory(table, plan, allow_fewer=allow_fewer, text=text, progress=progress, **accepted)

    def refuse(rows: int) -> None:
        refuse_rows(plan, rows, allow_fewer=allow_fewer)
        refuse_central(plan, rows, allow_fewer=allow_fewer)

    encoded = check_through(
        table,
        plan,
        folder=_folder(spool),
        sizes=sizes,
        text=text or TextFormat(),
        exact_counts=exact_counts,
        refuse=refuse,
        progress=shown(plan, progress or quiet),
    )
    return shares_of_others(plan, encoded)
