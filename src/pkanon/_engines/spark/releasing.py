"""A Spark frame and a plan in, the folder of a release out.

    survey -> numbers of records -> scatter -> shuffle by order words -> arrange -> parts on the driver -> folder

Rows are numbered partition by partition, in the order in which ``df.collect()`` would give them, so the same plan and seed give
the same rows in the same order as every other engine. The first pass counts the rows and checks them; nothing is randomised
before all of them fit. The second pass must meet the rows of the first (steps.py). Keys and digests are asked for on a private line
(host.py) and are in no closure. At the end the driver compares the order words of all rows with those that the key gives: not
one row is lost or there twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ..._errors import DataError, EnvironmentFailure, InputError, PlanError
from ..._files import check_free, write_folder
from ..._frames import PieceEncoder, TextFormat, check_names, repeated_ids
from ..._plan import Plan
from ..._progress import Progress, quiet
from ..._release import (
    FORMATS,
    Certificate,
    central_of,
    data_digest,
    fill_folder,
    read_private_key,
    refuse_central,
    refuse_plan,
    refuse_rows,
    warn_of_unreadable,
)
from ..._sample import Keystream, Randomness, System, is_private, order_words
from ..._schema import Attribute
from .host import Expected, Host, part_file
from .jobs import mapped, same_partitions, shown
from .marks import Tied, watched
from .opening import opened
from .parts import Part, Parts
from .steps import ARRANGED, BUCKET, LIKENED, ORDER, PACK, PASSED, SURVEY, arrange, liken, packed, scatter, survey
from .work import Work

LARGEST_PART = 2**21
"""Rows that one task sorts in memory, about."""
_WORDS = 2**20
_INTEGERS = {1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"}
_PASSED_TYPES = {"integer": "bigint", "number": "double", "boolean": "boolean", "date": "date"}
_FAILED = "Spark could not finish; its log says why, and may quote values of the table."


def release(
    table: Any,
    plan: Plan,
    path: str | Path,
    *,
    randomness: Randomness | None = None,
    allow_fewer: bool = False,
    allow_pass: bool = False,
    drafted_not_protected: bool = False,
    data_dependent: bool = False,
    exact_counts: bool = False,
    format: str = "parquet",
    sign: str | Path | None = None,
    password: bytes | None = None,
    key_port: int = 0,
    master: str | None = None,
    text: TextFormat | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Randomise and shuffle a Spark DataFrame on its cluster and write the folder of the release on the driver.

    The rows and their order are those of :func:`release` with the same key. The rows of ``table`` must be the same, in the
    same order, each time Spark reads them: a frame that was read from files is. Another one is refused; write it to files first.

    Refused beside what :func:`release` refuses: plans that hide the record count, because Spark counts rows in its logs,
    and schemas that draw one row of each person.

    Parameters
    ----------
    table
        A DataFrame of PySpark 4.1 or newer (not one of Spark Connect); or the path of a Parquet or text file, or of a folder
        of them, that driver and executors can read.
    plan
        What to do.
    path
        The folder to write, which must not exist yet.
    randomness, allow_fewer, allow_pass, drafted_not_protected, data_dependent, exact_counts
        As in :func:`release`.
    format, sign, password
        As in :meth:`Release.save`.
    key_port
        The port of the driver where executors ask for the key; any free one by default.
    master
        For a path: where Spark runs, such as "spark://host:7077"; this machine by default. A session that is active is used.
    text
        Delimiter and encoding, if the table is a text file.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    Certificate
        What the release may claim. Open the folder with :func:`open_release`, or count it with :func:`spark.counts`.

    Examples
    --------
    >>> import pkanon as pk
    >>> def release_people(spark):
    ...     people = spark.read.parquet("people.parquet")
    ...     return pk.spark.release(people, pk.read_plan("plan.json"), "out")
    """
    progress = progress or quiet
    chosen = randomness or System()
    refuse_plan(
        plan,
        allow_pass=allow_pass,
        drafted_not_protected=drafted_not_protected,
        data_dependent=data_dependent,
        exact_counts=exact_counts,
    )
    _refuse_engine(plan)
    if format not in FORMATS:
        raise InputError(f"The format '{format}' is unknown. Available: {', '.join(FORMATS)}.")
    signing = None if sign is None else read_private_key(sign, password)
    check_free(path)
    with opened(table, master, text or TextFormat()) as df:
        made = _released(
            df, plan, Path(path), chosen, FORMATS[format], signing, key_port,
            allow_fewer=allow_fewer, exact_counts=exact_counts, progress=progress,
        )  # fmt: skip
    if is_private(chosen):
        warn_of_unreadable(plan, made.rows)
    return made


def _released(
    df: Any,
    plan: Plan,
    path: Path,
    chosen: Randomness,
    names: Sequence[str],
    signing: Any,
    key_port: int,
    *,
    allow_fewer: bool,
    exact_counts: bool,
    progress: Progress,
) -> Certificate:
    check_names(df.columns, plan.schema)
    columns = PieceEncoder(plan.schema).names
    df = df.select(*[_quoted(name) for name in columns])
    key = chosen.key()
    made: list[Certificate] = []

    def fill(folder: Path) -> None:
        with same_partitions(df), _host(df, key, key_port) as host:
            work = Work(json.dumps(plan.to_json()), __version__, host.line, tuple(columns))
            partitions = _surveyed(df, plan, work, exact_counts, progress)
            rows = sum(expected.rows for expected in partitions.values())
            refuse_rows(plan, rows, allow_fewer=allow_fewer)
            central = refuse_central(plan, rows, allow_fewer=allow_fewer)
            _refuse_repeated(df, plan, work, exact_counts)
            host.expect(partitions)
            inbox = folder / "parts"
            inbox.mkdir()
            host.take_parts(inbox)
            try:
                parts = _arranged(df, plan, work, rows, inbox, Keystream(key), progress)
            except EnvironmentFailure:
                if host.trouble is None:
                    raise
                raise host.trouble from None  # executors only saw that the driver did not answer
        if is_private(chosen) and not plan.void_reasons and central is None:
            progress("certifying", 0.0)
            central = central_of(plan, rows)
            progress("certifying", 1.0)
        certificate = Certificate.of(plan, rows, data_digest(plan, parts), central, private=is_private(chosen))
        fill_folder(folder, plan, certificate, parts.frames(), names, signing, progress, leave=inbox)
        made.append(certificate)

    write_folder(path, fill)
    return made[0]


def _refuse_engine(plan: Plan) -> None:
    """What Spark is not used for."""
    if plan.count_noise is not None:
        raise PlanError(
            "The plan hides the record count, and Spark counts rows in its logs; release with another engine, "
            "or plan without hide_count (--hide-count)."
        )
    if plan.schema.repeating is not None:
        raise PlanError(
            f"The schema draws one row of each person by '{plan.schema.repeating.name}', which the Spark engine does not; keep one "
            "row per person in Spark, or release with another engine."
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _host(df: Any, key: bytes, port: int) -> Host:
    context = df.sparkSession.sparkContext
    if str(context.master).startswith("local"):
        host = bind = "127.0.0.1"
    else:
        host = str(context.getConf().get("spark.driver.host", "127.0.0.1"))
        bind = str(context.getConf().get("spark.driver.bindAddress", host))
    reason = ""
    try:
        return Host(host, bind, port, key)
    except OSError as error:
        reason = error.strerror or "it is taken"
    raise EnvironmentFailure(f"Executors cannot ask for the key at {host}, port {port or 'any'}: {reason}.")


def _surveyed(df: Any, plan: Plan, work: Work, exact: bool, progress: Progress) -> dict[int, Expected]:
    """The first pass: every partition with the number of its first record; refuses what does not fit the schema."""
    with shown(df, "reading", progress):
        found = watched(_FAILED, mapped(df, survey, work, SURVEY).collect)
    encoder = PieceEncoder(plan.schema)
    forbidden = np.zeros(len(plan.units), np.int64)
    for row in found:
        what = json.loads(row.found)
        if what["refused"] is not None:
            raise DataError(what["refused"])
        encoder.add(what["tally"])
        forbidden += what["forbidden"]
    complaints = encoder.complaints(exact=exact) or [
        unit.complaint(int(bad), exact_counts=exact) for unit, bad in zip(plan.units, forbidden) if bad
    ]
    if complaints:
        raise DataError("\n".join(complaints))
    partitions, first = {}, 0
    for row in sorted(found, key=lambda row: int(row.partition)):
        partitions[int(row.partition)] = Expected(first, int(row.rows), str(row.digest))
        first += int(row.rows)
    return partitions


def _refuse_repeated(df: Any, plan: Plan, work: Work, exact: bool) -> None:
    """One row per person: counted on the cluster, by pseudonyms."""
    ids = [attribute.name for attribute in plan.schema.attributes if attribute.role == "id"]
    if not ids:
        return
    alike = mapped(df, liken, work, LIKENED).groupBy("id", "a", "b").count().where("count > 1")
    repeated = watched(_FAILED, alike.groupBy("id").sum("count").collect)
    if repeated:
        again = {int(row[0]): int(row[1]) for row in repeated}
        raise DataError("\n".join(repeated_ids(ids[i], count, exact=exact) for i, count in sorted(again.items())))


def _arranged(df: Any, plan: Plan, work: Work, rows: int, inbox: Path, source: Keystream, progress: Progress) -> Parts:
    """The second pass, and the parts in their order."""
    parallel = int(df.sparkSession.sparkContext.defaultParallelism)
    buckets = max(parallel, -(-rows // LARGEST_PART))
    for rounds in range(1, 9):  # more words for tied rows: a second is needed once in 2^65 / rows^2 releases
        orders = Work(work.plan, work.version, work.line, work.columns, rounds, buckets)
        scattered = mapped(df, scatter, orders, _scattered(df, plan, rounds))
        ranges = scattered.repartitionById(buckets, BUCKET).drop(BUCKET)
        with shown(df, "randomising", progress):
            try:
                found = watched(_FAILED, mapped(ranges, arrange, orders, ARRANGED).collect)
            except Tied:
                continue
        return _checked(plan, found, rows, inbox, source)
    raise EnvironmentFailure("Rows have equal order words eight times over; the key is not random.")


def _scattered(df: Any, plan: Plan, rounds: int) -> str:
    """The columns between the passes."""
    fields = [f"{BUCKET} int"]
    fields += [f"{ORDER.format(i)} bigint" for i in range(rounds)]
    fields += [f"{PACK.format(i)} {_INTEGERS[size]}" for i, size in enumerate(packed(plan))]
    fields += [f"{PASSED.format(i)} {_passed_type(df, a)}" for i, a in enumerate(plan.schema.passed)]
    return ", ".join(fields)


def _passed_type(df: Any, attribute: Attribute) -> str:
    own = str(df.schema[attribute.name].dataType.simpleString())
    return _PASSED_TYPES.get(attribute.type, own)


def _checked(plan: Plan, found: Sequence[Any], rows: int, inbox: Path, source: Keystream) -> Parts:
    """The parts, if they hold every record once: the sum and the parity of all order words are those of the key."""
    mine = [row for row in found if row.rows]
    total = sum(int(row.total) for row in mine) % 2**64
    parity = 0
    for row in mine:
        parity ^= int(row.parity)
    expected_total = expected_parity = 0
    for start in range(0, rows, _WORDS):
        words = order_words(start, min(_WORDS, rows - start), source)
        expected_total += int(words.sum(dtype=np.uint64))
        expected_parity ^= int(np.bitwise_xor.reduce(words))
    counted = sum(int(row.rows) for row in mine)
    if (counted, total, parity) != (rows, expected_total % 2**64, expected_parity):
        raise EnvironmentFailure("Spark lost rows or gave some twice; nothing was released. Run it again.")
    ordered = sorted(mine, key=lambda row: int(row.part))
    return Parts(plan, [Part(part_file(inbox, int(row.part), int(row.attempt)), int(row.rows)) for row in ordered])
