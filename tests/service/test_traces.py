"""Nothing but the randomised record and its key is written anywhere: no true answer, no address, no time, no user agent."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from collecting import Client, Process, Respondents, make, opened, packed

from pkanon._collect.store import sqlite

AGENT = "Marker-Agent/7.31"
FORWARDED = "203.0.113.77"
TIME = re.compile(rb"20[0-9]{2}-[01][0-9]-[0-3][0-9]|[0-2][0-9]:[0-5][0-9]:[0-5][0-9]")


@pytest.fixture
def survey(folder):
    survey = make(folder)
    survey.save(folder / "survey")
    return survey


def everything(folder):
    """All bytes of all files in a folder, but for the public survey, by name; names count too."""
    return {
        str(path): path.read_bytes() + path.name.encode()
        for path in Path(folder).rglob("*")
        if path.is_file() and "survey" not in path.relative_to(folder).parts[0]
    }


def run_survey(survey, folder, database, temporary):
    """A whole survey with the command line, temporary files in a folder of their own; its output and the bodies."""
    os.environ["TMPDIR"] = str(temporary)
    try:
        service = Process(folder / "survey", database, "--behind-proxy")
        service.start()
    finally:
        del os.environ["TMPDIR"]
    bodies = Respondents(survey, 20).bodies()
    client = Client(service.port)
    headers = {"Content-Type": "application/json", "User-Agent": AGENT, "X-Forwarded-For": FORWARDED}
    try:
        for body in bodies:
            assert client.ask("POST", "/answers", body, headers)[0] == 200
        wrong = {**bodies[0], "record": ["Marker-Answer", 1, 0, 0]}
        assert client.ask("POST", "/answers?Marker-Query=1", wrong, headers)[0] == 400
        assert client.ask("GET", "/Marker-Path", None, headers)[0] == 404
        client.close()
        service.stop()
    finally:
        service.end()
    return service.output, bodies


def test_files_and_output_hold_no_trace(survey, folder, tmp_path):
    database = folder / "db" / "answers.db"
    database.parent.mkdir()
    before = datetime.now(UTC)
    output, bodies = run_survey(survey, folder, f"sqlite:///{database}", tmp_path)
    stored = everything(folder) | everything(tmp_path) | {"output": output.encode()}
    assert set(map(os.path.basename, stored)) >= {"answers.db", "answers.db.lock", "output"}
    for name, content in stored.items():
        for marker in (AGENT, FORWARDED, "Marker-", "127.0.0.1:"):
            if name == "output" and marker == "127.0.0.1:":
                continue  # where the service listens, said once
            assert marker.encode() not in content, (name, marker)
        assert TIME.search(content) is None, name
        for unit in ("little", "big"):  # seconds since 1970, as four bytes; twelve seconds around
            times = {int(before.timestamp() + shift).to_bytes(4, unit) for shift in range(-1, 12)}
            assert not any(time in content for time in times), name
    assert output.count("\n") <= 5  # no line per request
    image = stored[str(database)]
    assert all(key in image for key, _ in packed(survey, bodies))  # the test would see what is there
    assert database.stat().st_mode & 0o077 == 0

    command = ["collect", "close", str(folder / "survey"), "--database", f"sqlite:///{database}", "--allow-fewer"]
    subprocess.run([sys.executable, "-m", "pkanon", *command], check=True, capture_output=True)
    for name, content in everything(folder).items():
        assert not any(key in content for key, _ in packed(survey, bodies)), name


def test_nobody_else_can_read_a_file_at_any_moment(survey, folder, monkeypatch):
    """Modes are seen when SQLite connects to a new file, and when the copy at the close reaches the disk."""
    seen = {}
    real_sync, real_connect = sqlite.sync, sqlite.sqlite3.connect

    def noting_sync(path):
        if path.is_file():
            seen[path.name] = path.stat().st_mode & 0o777
        real_sync(path)

    def noting_connect(path, **options):
        if path != ":memory:":
            seen.setdefault(Path(path).name, Path(path).stat().st_mode & 0o777)
        return real_connect(path, **options)

    monkeypatch.setattr(sqlite, "sync", noting_sync)
    monkeypatch.setattr(sqlite.sqlite3, "connect", noting_connect)
    before = os.umask(0o022)
    try:
        store = opened(survey, f"sqlite:///{folder}/answers.db")
        store.add(packed(survey, Respondents(survey, 5).bodies()))
        store.finish()
        store.close()
    finally:
        os.umask(before)
    assert seen == {"answers.db": 0o600, "answers.db.closing": 0o600}
    assert (folder / "answers.db").stat().st_mode & 0o777 == 0o600


def test_postgres_logs_nothing_of_an_answer(survey, folder, server, tmp_path):
    output, bodies = run_survey(survey, folder, server.url, tmp_path)
    log = server.log.read_bytes()
    for key, record in packed(survey, bodies):
        assert (key + b"\x00" + record).hex().encode() not in log
        assert key.hex().encode() not in log
    assert b"INSERT" not in log
    for marker in (AGENT, FORWARDED, "Marker-"):
        assert marker.encode() not in log
        assert marker not in output
