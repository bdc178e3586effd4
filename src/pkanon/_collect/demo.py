"""A whole survey on this machine, with simulated people: made, served, answered by devices over HTTP, closed and released.

Everything is what a real survey uses, but the people: their true answers are drawn here, so that the estimates can be shown
beside the truth.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from .._errors import EnvironmentFailure
from .._progress import Progress, quiet
from .._release import Release
from .closing import release, set_stored_state
from .device import draw
from .serving import app, listen, make_server, quiet_logging
from .survey import Survey, new

PEOPLE = 2_000
CONNECTIONS = 16
K = 20


@dataclass(frozen=True)
class Demonstration:
    """What a demonstration leaves behind."""

    survey: Survey
    release: Release
    truth: dict[str, list[int]]
    status: dict[str, Any]
    seconds: float


def demonstrate(folder: Path, *, people: int = PEOPLE, k: int = K, progress: Progress = quiet) -> Demonstration:
    """Run a survey of simulated people in a new folder: survey/, answers.db and release/."""
    folder.mkdir()
    (folder / "survey.toml").write_bytes(resources.files("pkanon._collect").joinpath("demo.toml").read_bytes())
    progress("planning", 0)
    survey = new(folder / "survey.toml", records=people, k=k)
    survey.save(folder / "survey")
    progress("planning", 1)
    database = f"sqlite:///{(folder / 'answers.db').absolute()}"
    true = [_person(random.Random(f"person {number}")) for number in range(people)]
    start = time.monotonic()
    status = _answered(survey, database, true, progress)
    seconds = time.monotonic() - start
    set_stored_state(survey, database, "closed")
    released = release(survey, database, folder / "release", progress=progress)
    names = survey.plan.schema.names
    truth = {name: [record[place] for record in true] for place, name in enumerate(names)}
    return Demonstration(survey, released, truth, status, seconds)


def _person(rng: random.Random) -> list[int]:
    """Somebody's true answers. People in the workshop smoke more, and smokers take more breaks."""
    department = rng.choices((0, 1, 2), (55, 30, 15))[0]
    smokes = int(rng.random() < (0.15, 0.4, 0.25)[department])
    breaks = rng.choices((0, 1, 2, 3), (10, 40, 35, 15) if not smokes else (3, 17, 40, 40))[0]
    return [smokes, department, breaks]


def _answered(survey: Survey, database: str, true: list[list[int]], progress: Progress) -> dict[str, Any]:
    """Let everybody answer over HTTP; how the survey stands then."""
    quiet_logging()
    server = make_server(app(survey, database, per_minute=None))
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        try:
            done = 0
            with ThreadPoolExecutor(CONNECTIONS) as pool:
                for _ in pool.map(lambda part: _send(survey, port, part), (true[i::200] for i in range(200))):
                    done += 1
                    progress("answering", done / 200)
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
                connection.request("GET", "/status")
                status: dict[str, Any] = json.loads(connection.getresponse().read())
        finally:
            server.should_exit = True
            thread.join()
    return status


def _send(survey: Survey, port: int, people: list[list[int]]) -> None:
    """What the devices of some people do."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        for record in people:
            sent = {"survey": survey.digest, "key": secrets.token_hex(16), "record": draw(survey.plan, record)}
            connection.request("POST", "/answers", json.dumps(sent), {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise EnvironmentFailure("The service of the demonstration did not take an answer.")
