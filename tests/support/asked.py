"""Surveys that the tests of the page ask, and the service that takes the answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wire import Wire

from pkanon._collect.invitations import Issuer, new_issuer
from pkanon._collect.questionnaire import parse_questionnaire
from pkanon._collect.serving import app, listen, make_server
from pkanon._collect.survey import Survey, make_survey
from pkanon._design import plan as make_plan

SMOKING = """
[survey]
title = { en = "Smoking at work", de = "Rauchen am Arbeitsplatz" }
intro = { en = "Five short questions.\\nThat takes two minutes.", de = "Fünf kurze Fragen.\\nDas dauert zwei Minuten." }
organiser = "Institute of Health"
contact = "survey@example.org"
languages = ["en", "de"]

[attributes.smokes]
values = ["no", "yes"]
question = { en = "Do you smoke?", de = "Rauchen Sie?" }
labels = { no = { en = "No", de = "Nein" }, yes = { en = "Yes", de = "Ja" } }

[attributes.daily]
values = ["none", "few", "many"]
question = { en = "How many cigarettes a day?", de = "Wie viele Zigaretten am Tag?" }
labels.none = { en = "None", de = "Keine" }
labels.few = { en = "1 to 10", de = "1 bis 10" }
labels.many = { en = "More than 10", de = "Mehr als 10" }

[attributes.badge]
range = [7391000, 7392999]
missing = "value"
question = { en = "Which number is on your badge?", de = "Welche Nummer steht auf Ihrem Ausweis?" }
help = { en = "It has seven digits.", de = "Sie hat sieben Ziffern." }

[attributes.support]
values = ["for", "against"]
missing = "value"
question = { en = "Are you for a smoke-free workplace?", de = "Sind Sie für einen rauchfreien Arbeitsplatz?" }
labels.for = { en = "For it", de = "Dafür" }
labels.against = { en = "Against it", de = "Dagegen" }

[attributes.branch]
values = ["B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10", "B11", "B12", "B13", "B14"]
question = { en = "In which branch do you work?", de = "In welcher Branche arbeiten Sie?" }

[[bundles]]
attributes = ["smokes", "daily"]
forbid = [{ smokes = ["no"], daily = ["few", "many"] }, { smokes = ["yes"], daily = ["none"] }]
"""
"""A choice, a question that depends on it, a number that may be left out, a choice that may be, and a menu."""


def survey_of(text: str = SMOKING, *, records: int = 5_000, k: int = 20, **options: Any) -> Survey:
    """The survey of a survey.toml."""
    words = parse_questionnaire(text)
    return make_survey(words, make_plan(words.schema, records=records, k=k), **options)


class Site:
    """A survey that is being served; ``wire`` is how browsers reach it."""

    def __init__(self, survey: Survey, wire: Wire, issuer: Issuer | None):
        self.survey, self.wire, self.issuer = survey, wire, issuer

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.wire.url

    def bodies(self, path: str) -> list[bytes]:
        """The bodies of all requests to ``path``, as they went over the wire."""
        found = []
        for said in self.wire.sent:
            for request in said.split(f"POST {path} HTTP".encode())[1:]:
                head, _, rest = request.partition(b"\r\n\r\n")
                length = next(
                    int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
                )
                found.append(rest[:length])
        return found

    def records(self) -> list[list[int]]:
        """The records in the bodies of all answers."""
        return [json.loads(body)["record"] for body in self.bodies("/answers")]


@contextlib.contextmanager
def served(folder: Path, text: str = SMOKING, *, invited: bool = False, database: str | None = None) -> Iterator[Site]:
    """A survey on the real service, on SQLite unless told otherwise, with its invitations if it has any."""
    with Wire() as wire:
        key = new_issuer(folder / "issuer") if invited else None
        survey = survey_of(text, service=wire.url, invitation_key=key)
        issuer = Issuer(folder / "issuer", survey) if invited else None
        service = app(survey, database or f"sqlite:///{folder / 'answers.db'}", per_minute=None, issuer=issuer)
        with running(service) as wire.upstream:
            yield Site(survey, wire, issuer)


@contextlib.contextmanager
def running(application: Any) -> Iterator[int]:
    """An ASGI application in a thread, on the server that pkanon runs; its port."""
    server = make_server(application)
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()
