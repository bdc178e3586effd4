"""Small surveys, respondents, and services to run them against."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pkanon as pk
from pkanon._collect import listen, make_server, make_survey, read_questionnaire
from pkanon._collect.serving import KEPT_SECONDS
from pkanon._collect.store import Layout, Store, open_store

SURVEY = """\
[survey]
title = "Smoking at work"
intro = "A short survey."
organiser = "Institute of Health"
contact = "survey@example.org"
[attributes.smokes]
values = ["no", "yes"]
question = "Do you smoke?"
[attributes.age]
values = ["child", "adult", "old"]
question = "How old are you?"
[attributes.drives]
values = ["no", "yes"]
question = "Do you drive?"
[attributes.rooms]
type = "integer"
range = [1, 300]
question = "How many rooms are in your building?"
[[bundles]]
attributes = ["age", "drives"]
forbid = [{ age = ["child"], drives = ["yes"] }]
"""
PAGE = b"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-x'; form-action 'none'">
<title>Survey</title></head><body></body></html>"""
TOKEN = "an admin token of sufficient length"
PATIENCE = 300
"""Seconds after which something has gone wrong; no test takes as long, on any machine."""


def make(folder: Path, *, records: int = 400, k: int = 5, text: str = SURVEY, **options: Any) -> pk.collect.Survey:
    """A survey with a page that does nothing, so that no browser code is needed."""
    path = folder / f"survey-{secrets.token_hex(4)}.toml"
    path.write_text(text, encoding="utf-8")
    words = read_questionnaire(path)
    plan = pk.plan(words.schema, records=records, k=k, design="equal-rho")
    return make_survey(words, plan, assemble=lambda survey, plan: PAGE, module=b"// nothing\n", **options)


def opened(survey: pk.collect.Survey, database: str) -> Store:
    return open_store(database, survey.plan, survey.digest, expected=survey.expected)


class Respondents:
    """People with true answers, and devices that randomise them by the plan of a survey."""

    def __init__(self, survey: pk.collect.Survey, count: int, seed: int = 1) -> None:
        self.survey = survey
        rng = np.random.default_rng(seed)
        age = rng.choice(3, count, p=[0.2, 0.5, 0.3])
        self.truth = {
            "smokes": (rng.random(count) < 0.3).astype(int),
            "age": age,
            "drives": np.where(age == 0, 0, rng.random(count) < 0.7).astype(int),
            "rooms": rng.integers(0, 300, count),
        }

    def records(self) -> list[list[int]]:
        """What the devices draw, all in one go."""
        from pkanon._sample import Keystream, System, randomise

        plan = self.survey.plan
        columns = [unit.join([self.truth[name] for name in unit.attributes]) for unit in plan.units]
        randomise(plan.blocks, columns, Keystream(System().key()), out=columns)
        split: dict[str, Any] = {}
        for unit, column in zip(plan.units, columns):
            split.update(zip(unit.attributes, unit.split(column)))
        return [list(map(int, row)) for row in zip(*(split[a.name] for a in plan.schema.randomised))]

    def bodies(self) -> list[dict[str, Any]]:
        """What the devices send."""
        digest = self.survey.digest
        return [{"survey": digest, "key": secrets.token_hex(16), "record": record} for record in self.records()]


def packed(survey: pk.collect.Survey, bodies: list[dict[str, Any]]) -> list[tuple[bytes, bytes]]:
    """Keys and records as a store takes them."""
    layout = Layout.of(survey.plan)
    return [(bytes.fromhex(body["key"]), layout.pack(body["record"])) for body in bodies]


class Client:
    """A connection to a service, kept open as long as the service keeps it: on a busy machine a pause may be longer."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._used = time.monotonic()

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], Any]:
        """Status, headers and content; a body that is no bytes is sent as JSON."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if headers is None and body is not None else headers or {}
        if time.monotonic() - self._used > KEPT_SECONDS / 2:
            self._connection.close()  # it opens again by itself
        self._connection.request(method, path, body=data, headers=sent)
        response = self._connection.getresponse()
        content = response.read()
        self._used = time.monotonic()
        found = {name.lower(): value for name, value in response.getheaders()}
        is_json = found.get("content-type", "").startswith("application/json")
        return response.status, found, json.loads(content) if is_json else content

    def close(self) -> None:
        self._connection.close()


@contextmanager
def running(survey: pk.collect.Survey, database: str, **options: Any) -> Iterator[Client]:
    """A service in a thread of this process."""
    options = {"admin_token": TOKEN, "per_minute": None} | options
    app = pk.collect.app(survey, database, **options)
    listener = listen("127.0.0.1", 0)
    server = make_server(app)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.005)
    client = Client(listener.getsockname()[1])
    try:
        yield client
    finally:
        client.close()
        server.should_exit = True
        thread.join()
        listener.close()


class Process:
    """``pkanon collect serve`` in a process of its own, on the same port whenever it is started again."""

    def __init__(self, folder: Path, database: str, *arguments: str) -> None:
        # bound and never listening: nobody else gets the port while the service is down
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))
        self.port = self._held.getsockname()[1]
        self._command = [
            sys.executable, "-m", "pkanon", "collect", "serve", str(folder), "--database", database,
            "--port", str(self.port), "--per-minute", "0", *arguments,
        ]  # fmt: skip
        self.output = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ)
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if "survey is at" in line:
                return
        raise AssertionError(f"the service did not start: {self.output}")

    def kill(self) -> None:
        """kill -9; it can be started again."""
        assert self.process is not None
        self.process.kill()
        self._ended()

    def stop(self) -> None:
        """Ask it to end, once it is needed no more."""
        assert self.process is not None
        self.process.terminate()
        self._ended()
        self._held.close()

    def end(self) -> None:
        """Whatever has happened, nothing of it is left."""
        if self.process is not None and self.process.poll() is None:
            self.kill()
        self._held.close()

    def _ended(self) -> None:
        assert self.process is not None
        rest, _ = self.process.communicate(timeout=PATIENCE)
        self.output += rest


def send_until_stored(port: int, bodies: list[dict[str, Any]], stored: list[str], stop: threading.Event) -> None:
    """What a patient client does: try again until it is stored; notes the key when it is acknowledged."""
    client = Client(port)
    for body in bodies:
        while True:
            try:
                status, _, content = client.ask("POST", "/answers", body)
                if status == 200:
                    stored.append(body["key"])
                    break
                assert status == 503, content
            except (OSError, http.client.HTTPException):
                client.close()
                client = Client(port)
            if stop.is_set():
                return
            time.sleep(0.05)
    client.close()
