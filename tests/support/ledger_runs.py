"""Many runs that share a ledger: a program of its own, because it makes processes and kills them.

python ledger_runs.py race LEDGER PLAN COUNT     COUNT processes reserve at the same moment; prints the exit code of each
python ledger_runs.py kill LEDGER PLAN SEED      writers are killed at random moments; prints what was wrong afterwards
"""

import os
import random
import select
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pkanon as pk

WRITERS = 60
LONGEST = 0.04
"""Seconds that a writer lives on after it has begun: long enough for some events, which take about a millisecond each."""


def race(path: Path, plan: pk.Plan, count: int) -> None:
    gate, start = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            os.close(start)
            os.read(gate, 1)  # ends when the parent closes the other side: all begin together
            try:
                pk.Ledger(path).reserve("people", plan)
            except pk.RefusedError:
                os._exit(1)
            except BaseException:
                os._exit(9)
            os._exit(0)
        children.append(child)
    os.close(start)
    for child in children:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def write_for_ever(path: Path, plan: pk.Plan, out: int) -> None:
    """Reserve and abandon, and write a line after each."""
    ledger = pk.Ledger(path)
    while True:
        number = ledger.reserve("people", plan).number
        os.write(out, b"reserved\n")
        ledger.abandon(number, reason="a test")
        os.write(out, b"abandoned\n")


def _is_ready(pipe: int) -> bool:
    """Whether there is something to read."""
    return bool(select.select([pipe], [], [], 0)[0])


def kill(path: Path, plan: pk.Plan, seed: int) -> None:
    draw, first = random.Random(seed), path
    before, events = 0, 0
    for round in range(WRITERS):
        if round % 3 == 0:  # from time to time a new ledger, so that its beginning is cut short too
            path = first.with_name(f"{first.name}.{round}")
            before = 0
        inside, out = os.pipe()
        writer = os.fork()
        if writer == 0:
            write_for_ever(path, plan, out)
        os.close(out)
        # however slow the machine is: it has begun the file, or written an event into one that was there
        while not (path.exists() if round % 3 == 0 else _is_ready(inside)):
            assert os.waitid(os.P_PID, writer, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None, (
                "the writer ended by itself"
            )
            time.sleep(0.0002)
        time.sleep(draw.random() ** 2 * LONGEST)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        with os.fdopen(inside) as lines:
            told = len(lines.readlines())
        said = before + told
        events += told
        entries = [entry for account in pk.Ledger(path).accounts().values() for entry in account.entries]
        with sqlite3.connect(path) as connection:
            (found,) = connection.execute("PRAGMA integrity_check").fetchone()
            (written,) = connection.execute("SELECT count(*) FROM events").fetchone()
        connection.close()
        if found != "ok":
            print(f"round {round}: {found}")
        if not said <= written <= said + 1:
            print(f"round {round}: {said} were said to be written, and {written} are there")
        before = written
        if sum(entry.state == "reserved" for entry in entries) > round % 3 + 1:
            print(f"round {round}: a writer left more than one reservation open")
    print("events", events)


if __name__ == "__main__":
    task, ledger, plan_file, number = sys.argv[1:]
    plan = pk.read_plan(plan_file)
    pk.Ledger(f"{ledger}.first").reserve("people", plan)  # what is loaded and computed once is not done by every child
    {"race": race, "kill": kill}[task](Path(ledger), plan, int(number))
