"""The Spark engine beside Spark's own SQL, and on a cluster that loses an executor.

    python benchmarks/spark.py speed --rows 5000000           local[2]: rand() and ORDER BY rand() in SQL, then pkanon; ratios
    python benchmarks/spark.py cluster --rows 5000000         two workers; an executor is killed while rows are randomised
    ... --write                                               also put it into docs/results/benchmarks.md

Both read the same Parquet file, resampled from the embedded table, and both write Parquet files. SQL writes as many files as it has
tasks, pkanon one; SQL's generator is not a cryptographic one, and nothing is checked. Medians of rounds that take turns.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pkanon as pk
from report import put

warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "cluster"])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pkanon-spark-"))
    try:
        people = folder / "people.parquet"
        table = pk.demo_table()
        picked = np.random.default_rng(1).integers(0, table.height, chosen.rows)
        table[picked].write_parquet(people, row_group_size=2**18)
        plan = pk.plan(pk.demo_schema(), records=chosen.rows, k=20)
        report = speed(folder, people, plan, chosen.rounds) if chosen.what == "speed" else cluster(folder, people, plan)
        print(report)
        if chosen.write:
            put(f"spark-{chosen.what}", report)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def session(master: str, folder: Path, **settings: str) -> Any:
    """A quiet session."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("pkanon benchmark")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    for name, value in {**quiet, "spark.local.dir": str(folder / "local"), **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def in_sql(spark: Any, people: Path, plan: pk.Plan, out: Path) -> None:
    """The same retention and a random order, in Spark's own words."""
    columns = []
    for attribute in plan.schema.randomised:
        rho = plan.rho[attribute.name]
        values = ", ".join(repr(str(label)) for label in attribute.labels())
        drawn = f"element_at(array({values}), 1 + cast(floor(rand() * {attribute.size}) as int))"
        columns.append(
            f"case when rand() < {rho} then cast(`{attribute.name}` as string) else {drawn} end `{attribute.name}`"
        )
    frame = spark.read.parquet(str(people)).selectExpr(*columns)
    frame.orderBy(spark_rand()).write.parquet(str(out))


def spark_rand() -> Any:
    """The column rand()."""
    from pyspark.sql import functions

    return functions.rand()


def speed(folder: Path, people: Path, plan: pk.Plan, rounds: int) -> str:
    """Seconds of both, and their ratio."""
    spark = session("local[2]", folder)
    frame = spark.read.parquet(str(people))
    spark.conf.set("spark.sql.files.maxPartitionBytes", max(2**20, people.stat().st_size // 4))
    times: dict[str, list[float]] = {"sql": [], "pkanon": []}
    steps: list[tuple[str, float, float]] = []
    for turn in range(rounds + 1):  # the first warms both up
        for name in times:
            out = folder / f"{name}-{turn}"
            start = time.perf_counter()
            if name == "sql":
                in_sql(spark, people, plan, out)
            else:
                steps.clear()
                pk.spark.release(
                    frame, plan, out, progress=lambda step, done: steps.append((step, done, time.perf_counter()))
                )
            if turn:
                times[name].append(time.perf_counter() - start)
    version = spark.version
    spark.stop()
    medians = {name: statistics.median(own) for name, own in times.items()}
    begun = {step: at for step, done, at in steps if done == 0}
    ended = {step: at for step, done, at in steps if done == 1}
    print("last round:", ", ".join(f"{step} {ended[step] - begun[step]:.2f} s" for step in begun), file=sys.stderr)
    lines = [
        f"{plan.records:,} rows x {len(plan.schema.randomised)} attributes, PySpark {version}, `local[2]` on {os.cpu_count()} cores; "
        f"medians of {rounds} rounds.",
        "",
        "| | seconds | ratio |",
        "| --- | ---: | ---: |",
    ]
    for name, what in (("sql", "Spark SQL, `rand()` and `ORDER BY rand()`"), ("pkanon", "`pk.spark.release`")):
        lines.append(f"| {what} | {medians[name]:.1f} | {medians[name] / medians['sql']:.2f} |")
    return "\n".join(lines)


def cluster(folder: Path, people: Path, plan: pk.Plan) -> str:
    """Two workers; an executor is killed in the middle; every row is there once, as in memory."""
    port = free_port()
    home = Path(__import__("pyspark").__file__).parent
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
    }
    ui = ["--webui-port", "0"]
    master = f"spark://127.0.0.1:{port}"
    (folder / "logs").mkdir()
    deploy, commands = "org.apache.spark.deploy", []
    commands.append(["master.Master", "--host", "127.0.0.1", "--port", str(port), *ui])
    commands += [
        ["worker.Worker", "--cores", "1", "--memory", "2g", "--work-dir", str(folder / f"work-{i}"), *ui, master]
        for i in (1, 2)
    ]
    started = []
    try:
        for number, (what, *options) in enumerate(commands):
            with open(folder / "logs" / f"{number}", "w") as log:
                command = [str(home / "bin" / "spark-class"), f"{deploy}.{what}", *options]
                started.append(
                    subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
                )
            time.sleep(3)
        spark = session(master, folder, **{"spark.driver.host": "127.0.0.1", "spark.executor.memory": "1g"})
        frame = spark.read.parquet(str(people))
        spark.conf.set("spark.sql.files.maxPartitionBytes", max(2**20, people.stat().st_size // 8))
        killed: list[int] = []

        def kill(step: str, done: float) -> None:
            if step == "randomising" and 0.2 < done < 1 and not killed:
                killed.append(executors(started[1].pid)[0])
                os.kill(killed[0], signal.SIGKILL)

        start = time.perf_counter()
        pk.spark.release(frame, plan, folder / "out", randomness=pk.Seeded(7), progress=kill)
        seconds = time.perf_counter() - start
        spark.stop()
        broken = [check.name for check in pk.verify(folder / "out").checks if check.verdict == "broken"]
        direct = pk.release(pl.read_parquet(people), plan, randomness=pk.Seeded(7))
        opened = pk.open_release(folder / "out")
        same = opened.certificate.digests == direct.certificate.digests
        if not killed or broken or not same:
            raise SystemExit(f"killed: {killed}; checks broken: {broken}; the rows of memory, in their order: {same}")
        return (
            f"{plan.records:,} rows, a master and two workers; an executor was killed while rows were randomised: {seconds:.1f} s. "
            "Nothing that `pkanon verify` checks is broken, and rows and order are those of the engine in memory."
        )
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def executors(worker: int) -> list[int]:
    """The executors that a worker has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        fields = re.sub(r"\(.*\)", "x", path.read_text()).split()
        command = (path.parent / "cmdline").read_bytes()
        if int(fields[3]) == worker and b"CoarseGrainedExecutorBackend" in command:
            found.append(int(fields[0]))
    return found


if __name__ == "__main__":
    main()
