"""Spark sessions whose traces can be searched, and tables that misbehave when they are read again."""

from __future__ import annotations

import base64
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LOGGING = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c: %m%n%ex
"""


def session(folder: Path, master: str = "local[2,4]", **others: str) -> Any:
    """A session that writes everything that it writes into ``folder``; a task may fail three times."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    for name in ("local", "events", "warehouse"):
        (folder / name).mkdir()
    (folder / "log4j2.properties").write_text(LOGGING.format(file=folder / "driver.log"))
    settings = {
        "spark.local.dir": str(folder / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        # plain, so that what they hold can be searched for
        "spark.eventLog.compress": "false",
        "spark.shuffle.compress": "false",
        "spark.shuffle.spill.compress": "false",
        "spark.broadcast.compress": "false",
        "spark.rdd.compress": "false",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={(folder / 'log4j2.properties').as_uri()}",
        "spark.sql.shuffle.partitions": "4",
        **others,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's own, about pandas and about files it leaves open
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(master).appName("pkanon tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def traces(secret: bytes, *folders: Path) -> list[str]:
    """The files that hold a secret, as bytes or in a usual way to write bytes."""
    forms = [secret, secret.hex().encode(), secret.hex().upper().encode(), repr(secret)[2:-1].encode()]
    # the three ways in which base64 cuts it, without the ends that depend on what stands around it
    forms += [base64.b64encode(bytes(skip) + secret)[4 * (skip > 0) : -4][2:] for skip in range(3)]
    forms.append(",".join(str(byte) for byte in secret).encode())
    forms.append(", ".join(str(byte) for byte in secret).encode())
    found = []
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and any(form in path.read_bytes() for form in forms):
                found.append(str(path.relative_to(folder)))
    return found


def failing(df: Any, fails: Callable[[int, int], bool], changes: Callable[[int, int], bool], folder: Path) -> Any:
    """The rows of ``df``; a partition (the first number) fails at its end when it is read for some time (the second, from 1).

    Where it ``changes``, its rows come in the opposite order.
    """

    from pyspark import cloudpickle

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        partition = TaskContext.get().partitionId()  # type: ignore[union-attr]  # tasks have one
        time = 1
        while True:  # the first name that is free says how often this partition was read
            try:
                os.close(os.open(folder / f"{partition}-{time}", os.O_CREAT | os.O_EXCL))
                break
            except FileExistsError:
                time += 1
        table = pa.Table.from_batches(list(batches))
        if changes(partition, time):
            table = table.take(pa.array(range(table.num_rows - 1, -1, -1)))
        yield from table.to_batches()
        if fails(partition, time):
            raise RuntimeError("injected")

    for function in (fails, changes):  # executors cannot import a module of tests
        cloudpickle.register_pickle_by_value(sys.modules[function.__module__])  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return df.mapInArrow(rows, df.schema)
