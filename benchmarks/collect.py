"""The service of a survey under load, and killed under load.

    python benchmarks/collect.py load      64 connections: answers a second beside a bare Starlette endpoint, in one run
    python benchmarks/collect.py many      100,000 answers, one in ten sent twice: none lost, none doubled
    python benchmarks/collect.py crashes   kill -9 ten times on SQLite and on PostgreSQL; PostgreSQL itself ten times

The baseline does what somebody writes first: it reads the JSON of a request and inserts one row into a SQLite table with a
write-ahead log, a commit each, and checks nothing. Ours checks every answer, stores it without order, and acknowledges it when it
is on the disk. Client and server share the machine. With ``--put`` the numbers go to docs/results/collect.md.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import platform
import secrets
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from collecting import Process, Respondents, make, opened, packed, send_until_stored  # noqa: E402
from postgres import cluster  # noqa: E402

import pkanon as pk  # noqa: E402
from report import put  # noqa: E402

CONNECTIONS = 64


# --- servers, each in a process of its own -------------------------------------------------------------------------------


def bare(path: str, port: int) -> None:
    """One row per request into SQLite, nothing checked."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE answer(key TEXT PRIMARY KEY, record TEXT)")

    async def answers(request: Any) -> Any:
        data = await request.json()
        connection.execute("INSERT INTO answer VALUES (?, ?)", (secrets.token_hex(16), json.dumps(data["record"])))
        return JSONResponse({"stored": True})

    app = Starlette(routes=[Route("/answers", answers, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=port, access_log=False, log_level="critical", ws="none")


def ours(folder: str, database: str, port: int) -> None:
    """The service as it is."""
    from pkanon._collect import serve

    serve(lambda: pk.collect.app(pk.collect.Survey.read(folder), database, per_minute=None), "127.0.0.1", port)


def start(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """A server of this file, once it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, __file__, "server", *arguments, str(port)])
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("a server did not start")


def cpu_seconds(process: int) -> float:
    """The processor time that a process has used; unlike the clock it hardly depends on what else runs."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- the client ----------------------------------------------------------------------------------------------------------


async def _send(port: int, bodies: list[bytes], latencies: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = b"POST /answers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    for body in bodies:
        begun = time.perf_counter()
        writer.write(head % len(body) + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"refused: {answer[:40]!r}")
        latencies.append(time.perf_counter() - begun)
    writer.close()


def load(port: int, bodies: list[bytes]) -> tuple[float, float]:
    """Answers a second, and the 99th percentile of the time to an acknowledgement, in milliseconds."""
    latencies: list[float] = []

    async def run() -> float:
        begun = time.perf_counter()
        await asyncio.gather(*(_send(port, bodies[i::CONNECTIONS], latencies) for i in range(CONNECTIONS)))
        return time.perf_counter() - begun

    seconds = asyncio.run(run())
    return len(bodies) / seconds, 1000 * sorted(latencies)[int(0.99 * len(latencies))]


def signed(survey: pk.collect.Survey, folder: Path, records: list[list[int]]) -> list[bytes]:
    """Answers of an invited survey; signed at once, not blindly, which looks the same to the service."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    from pkanon._collect.tokens import SALT_BYTES, to_text

    key: Any = load_pem_private_key((folder / "issuer" / "key.pem").read_bytes(), None)
    scheme = padding.PSS(padding.MGF1(hashes.SHA384()), SALT_BYTES)
    bodies = []
    for record in records:
        token = os.urandom(32)
        signature = key.sign(token, scheme, hashes.SHA384())
        data = {"survey": survey.digest, "token": to_text(token), "signature": to_text(signature), "record": record}
        bodies.append(json.dumps(data).encode())
    return bodies


def measure_load(answers: int, rounds: int) -> list[str]:
    """Every round runs all three after another, each with a new database."""
    results: dict[str, list[tuple[float, float, float]]] = {"bare": [], "open": [], "invited": []}
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as name:
        folder = Path(name)
        public = pk.collect.new_issuer(folder / "issuer")
        surveys = {
            "open": make(folder, records=20_000, k=20),
            "invited": make(folder, records=20_000, k=20, invitation_key=public),
        }
        for kind, survey in surveys.items():
            survey.save(folder / kind)
        people = Respondents(surveys["open"], answers)
        tokens = signed(surveys["invited"], folder, people.records())
        for round in range(rounds):
            for kind in results:
                fresh = [json.dumps(body).encode() for body in people.bodies()]
                database = folder / f"{kind}-{round}.db"
                if kind == "bare":
                    process, port = start("bare", str(database))
                else:
                    process, port = start("ours", str(folder / kind), f"sqlite:///{database}")
                idle = cpu_seconds(process.pid)
                try:
                    rate, late = load(port, tokens if kind == "invited" else fresh)
                    used = cpu_seconds(process.pid)
                finally:
                    process.kill()
                    process.wait()
                spent = 1000 * (used - idle) / answers
                results[kind].append((rate, late, spent))
                print(f"  {kind}: {rate:,.0f}/s, p99 {late:.0f} ms, {spent:.2f} ms of CPU time each", flush=True)
    names = {
        "bare": "bare Starlette, one row per request, write-ahead log, no check",
        "open": "the service, open link",
        "invited": "the service, invited, with the check of the token",
    }
    lines = ["| server | answers a second | of the bare one | p99, ms | CPU time each, ms |", "|---|---|---|---|---|"]
    for kind, found in results.items():
        rate, p99, spent = (statistics.median(column) for column in zip(*found))
        ratio = statistics.median(mine[0] / other[0] for mine, other in zip(found, results["bare"]))
        lines.append(f"| {names[kind]} | {rate:,.0f} | {ratio:.2f} | {p99:.0f} | {spent:.2f} |")
    return lines


# --- nothing lost, nothing doubled ---------------------------------------------------------------------------------------


def check_many(answers: int) -> list[str]:
    """Many answers, one in ten sent twice."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as name:
        folder = Path(name)
        survey = make(folder, records=answers // 4, k=20)  # more come than slots were made for: the table grows
        survey.save(folder / "survey")
        bodies = Respondents(survey, answers).bodies()
        texts = [json.dumps(body).encode() for body in bodies]
        database = f"sqlite:///{folder}/answers.db"
        process, port = start("ours", str(folder / "survey"), database)
        try:
            rate, late = load(port, [*texts, *texts[::10]])
        finally:
            process.kill()
            process.wait()
        store = opened(survey, database)
        contents = store.contents()
        store.close()
        expected = dict(packed(survey, bodies))
        lost = len(expected.keys() - contents.known.keys())
        wrong = sum(expected.get(key) != record for key, record in contents.known.items())
        assert (lost, wrong, contents.count) == (0, 0, answers), (lost, wrong, contents.count)
        return [
            f"{answers:,} answers on SQLite, one in ten sent twice: {lost} lost, {contents.count - answers} doubled, {wrong} changed; "
            f"{rate:,.0f} a second, p99 {late:.0f} ms."
        ]


def crash(database: str, survey: pk.collect.Survey, folder: Path, disturb: Any, times: int, answers: int) -> str:
    """Clients that try again until they are acknowledged, while something is killed."""
    bodies = Respondents(survey, answers).bodies()
    service = Process(folder / "survey", database)
    service.start()
    acknowledged: list[str] = []
    stop = threading.Event()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        sending = [
            pool.submit(send_until_stored, service.port, bodies[i::CONNECTIONS], acknowledged, stop)
            for i in range(CONNECTIONS)
        ]
        for number in range(times):
            while len(acknowledged) < (number + 1) * answers // (times + 1):
                time.sleep(0.002)
            disturb(service)
        for each in sending:
            each.result()
    service.kill()
    store = opened(survey, database)
    contents = store.contents()
    store.close()
    expected = dict(packed(survey, bodies))
    assert contents.known == expected
    assert contents.count == len(acknowledged) == answers
    return f"{answers:,} acknowledged, 0 missing, 0 twice"


def kill(service: Process) -> None:
    """kill -9, and start again."""
    service.kill()
    service.start()


def check_crashes(times: int, answers: int) -> list[str]:
    """On both databases, and of PostgreSQL itself."""
    lines = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as name, cluster() as server:
        folder = Path(name)

        def restart(_: Process) -> None:
            server.stop("immediate")
            server.start()

        for number, (title, database, disturb) in enumerate(
            (
                ("the service on SQLite", f"sqlite:///{folder}/answers.db", kill),
                ("the service on PostgreSQL", server.url, kill),
                ("PostgreSQL itself, stopped at once", server.url, restart),
            )
        ):
            part = folder / f"part-{number}"
            part.mkdir()
            survey = make(part, records=answers + number, k=20)
            survey.save(part / "survey")
            result = crash(database, survey, part, disturb, times, answers)
            lines.append(f"{times} times killed under load, {title}: {result}.")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Run what was asked for."""
    if sys.argv[1:2] == ["server"]:
        kind, *arguments, port = sys.argv[2:]
        (bare if kind == "bare" else ours)(*arguments, int(port))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["load", "many", "crashes"], default=["load", "many", "crashes"])
    parser.add_argument("--answers", type=int, default=20_000, help="answers of one run under load")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=10, help="how often something is killed")
    parser.add_argument("--put", action="store_true", help="write the numbers to docs/results/collect.md")
    chosen = parser.parse_args()
    lines = []
    for part in chosen.parts:
        if part == "load":
            lines += [
                f"{CONNECTIONS} connections, {chosen.answers:,} answers a run, medians of {chosen.rounds} rounds:",
                "",
            ]
            lines += [*measure_load(chosen.answers, chosen.rounds), ""]
        elif part == "many":
            lines += [*check_many(chosen.many), ""]
        else:
            lines += [f"- {line}" for line in check_crashes(chosen.times, 4_000)] + [""]
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    machine += f", SQLite {sqlite3.sqlite_version}"
    text = "\n".join([f"Measured on {machine}.", "", *lines])
    print(text)
    if chosen.put:
        put("collect", text, page="collect.md")


if __name__ == "__main__":
    try:
        main()
    except (http.client.HTTPException, KeyboardInterrupt):
        sys.exit(1)
