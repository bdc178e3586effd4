"""A small survey, and a server that serves it: what its answers are is up to the test."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import coroutines

import pkanon as pk
from pkanon._collect import make_survey
from pkanon._collect.questionnaire import parse_questionnaire

SURVEY = """\
[survey]
title = { en = "Smoking at work", de = "Rauchen bei der Arbeit" }
intro = { en = "Three questions.", de = "Drei Fragen." }
organiser = "Institute of Health"
contact = "survey@example.org"
languages = ["en", "de"]
[attributes.smokes]
values = ["no", "yes"]
missing = "value"
question = { en = "Do you smoke?", de = "Rauchen Sie?" }
help = { en = "Tobacco only.", de = "Nur Tabak." }
labels = { no = { en = "No", de = "Nein" }, yes = { en = "Yes", de = "Ja" } }
[attributes.packs]
range = [0, 5]
question = { en = "How many packs a week?", de = "Wie viele Packungen in der Woche?" }
[attributes.age]
bins = { start = 20, stop = 60, width = 10 }
open = "both"
ask = "number"
question = { en = "How old are you?", de = "Wie alt sind Sie?" }
[[bundles]]
attributes = ["smokes", "packs"]
forbid = [{ smokes = ["no"], packs = [1, 2, 3, 4, 5] }]
"""


def page(survey_json: bytes, plan_json: bytes) -> bytes:
    """A page for tests of everything but the page."""
    return b"<!doctype html><title>A page for tests</title>" + survey_json + plan_json


def small_survey(text: str = SURVEY, *, records: int = 5_000, k: int = 20, **options: Any) -> pk.collect.Survey:
    """The survey of a text, with a page for tests."""
    words = parse_questionnaire(text)
    return make_survey(
        words, pk.plan(words.schema, records=records, k=k), assemble=page, module=b"// for tests\n", **options
    )


Reply = tuple[int, dict[str, Any]] | None
"""A status and its JSON; None closes the connection without an answer."""


class Served:
    """The server: every body it got at /answers and /claim, and the reply to each."""

    def __init__(self, survey: pk.collect.Survey) -> None:
        self.files = dict(survey.files)
        self.url = ""
        self.answers: list[bytes] = []
        self.claims: list[bytes] = []
        self.answer: Callable[[bytes], Reply] = lambda body: (200, {"stored": True})
        self.claim: Callable[[bytes], Reply] = lambda body: (404, {})

    def issue(self, claims: pk.collect.Claims) -> None:
        """Redeem invitations."""
        self.claim = lambda body: coroutines.run(claims.answer(body))


@contextmanager
def served(survey: pk.collect.Survey) -> Iterator[Served]:
    """The survey at an address of this machine."""
    state = Served(survey)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            content = state.files.get(self.path[1:] or "index.html")
            self._send(404 if content is None else 200, content or b"{}")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/json"
            assert "Cookie" not in self.headers
            bodies, reply = {
                "/answers": (state.answers, state.answer),
                "/claim": (state.claims, state.claim),
            }[self.path]
            bodies.append(body)
            result = reply(body)
            if result is None:
                self.close_connection = True
                return
            self._send(result[0], json.dumps(result[1]).encode())

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
