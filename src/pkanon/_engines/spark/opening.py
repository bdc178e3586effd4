"""A table in files that Spark reads, and the session that reads it.

Parquet files are read with their types. Text files are read as texts and strictly: a line with too few or too many fields, and a
quote out of its place, stop the reading. Every conversion is pkanon's own, on the executors.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..._errors import InputError
from ..._frames import TextFormat
from .marks import classic, watched

_PARQUET, _TEXTS = (".parquet", ".pq"), (".csv", ".tsv", ".txt")
_NO_SESSION = (
    "Spark cannot be started; it needs Java 17 or newer, and a master that can be reached (master=, --master)."
)
_SETTINGS = {
    # logs quote values where an expression or a line fails
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",
    # shuffle files hold rows before they are shuffled
    "spark.io.encryption.enabled": "true",
    # bars of Spark's own would run into ours
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
}
"""Of a session that is begun here."""


@contextmanager
def opened(table: Any, master: str | None, text: TextFormat) -> Iterator[Any]:
    """The table as a frame. A session that is begun for it ends with it."""
    if not isinstance(table, str | os.PathLike):
        yield classic(table)
        return
    path = os.fspath(table)
    suffix = _suffix(path)
    began, session = watched(_NO_SESSION, _session, master)
    try:
        yield watched(f"Spark cannot read {path}.", _read, session, path, suffix, text)
    finally:
        if began:
            session.stop()


def _suffix(path: str) -> str:
    name = path.rstrip("/").lower().removesuffix(".gz")
    folder = Path(path)
    if folder.is_dir():  # of files of one kind, perhaps in folders by value
        name = next((str(file).lower() for file in sorted(folder.rglob("*")) if not file.name.startswith(("_", "."))
                     and file.is_file()), name)  # fmt: skip
    suffix = os.path.splitext(name)[1]
    if suffix not in (*_PARQUET, *_TEXTS):
        raise InputError(f"Spark reads {', '.join((*_PARQUET, *_TEXTS))} here; {path} is none of these.")
    return suffix


def _session(master: str | None) -> tuple[bool, Any]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is not None:
            return False, active
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.appName("pkanon").master(master or "local[*]")
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        with _silent_start():
            return True, builder.getOrCreate()


@contextmanager
def _silent_start() -> Iterator[None]:
    """Java that is started here writes its errors to nowhere, from its first line on."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _read(session: Any, path: str, suffix: str, text: TextFormat) -> Any:
    if suffix in _PARQUET:
        return session.read.parquet(path)
    return session.read.csv(
        path,
        header=True,
        sep=text.delimiter or ("\t" if suffix == ".tsv" else ","),
        encoding=text.encoding or "UTF-8",
        escape='"',
        mode="FAILFAST",
        enforceSchema=False,
        unescapedQuoteHandling="RAISE_ERROR",
    )
