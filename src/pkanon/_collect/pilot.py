"""A survey tried out on this machine, with simulated people: served, answered by devices over HTTP, closed and released.

Everything is what a real survey uses, but the people: their true answers are made up here, so that the estimates can be
shown beside the truth. The pilot of a survey is a survey of its own, with the same questions and the same plan and another
digest: its database takes no answer to the real one, and the real one none of its. It is marked as simulated in its folder,
in its certificate and in whatever is made of that.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import EnvironmentFailure, InputError
from .._files import check_free
from .._frames import encode
from .._plan import Plan
from .._progress import Progress, quiet
from .._release import Release
from .closing import release, set_stored_state
from .device import draw
from .serving import any_app, listen, make_server, quiet_logging
from .survey import Survey, simulated

CONNECTIONS = 16
TRIES = 5
PARTS = 200
MOST_PEOPLE = 100_000


@dataclass(frozen=True)
class Pilot:
    """What a pilot leaves behind; :func:`collect.pilot` makes one.

    Parameters
    ----------
    survey
        The survey of the pilot: the same questions and plan, and a digest of its own.
    release
        The release of the simulated answers.
    truth
        How many people truly had each value, by question, in the order of the values.
    status
        How the survey stood at the end, as ``/status`` says it.
    seconds
        How long all the answers took.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Smoking at work"
    ... organiser = "Institute of Health"
    ... contact = "survey@example.org"
    ... [attributes.smokes]
    ... values = ["no", "yes"]
    ... question = "Do you smoke?"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=100, k=20)
    ...     pilot = pk.collect.pilot(survey, Path(folder, "pilot"))
    >>> pilot
    <Pilot of 100 simulated people, 1 question>
    >>> sum(pilot.truth["smokes"]), pilot.release.crosstab("smokes").to_polars().height
    (100, 2)
    """

    survey: Survey
    release: Release
    truth: Mapping[str, Sequence[int]]
    status: Mapping[str, Any] = field(repr=False)
    seconds: float

    def __repr__(self) -> str:
        count = len(self.truth)
        return f"<Pilot of {self.release.rows:,} simulated people, {count} question{'s' * (count != 1)}>"

    def errors(self) -> dict[str, tuple[float, float]]:
        """By question: the error that the plan predicts for its table, and the one that was found.

        Both are differences between estimated and true counts, without their signs, added up, as a share of all people.
        """
        expected = self.release.plan.readable(records=self.release.rows)
        found = {}
        for name, counts in self.truth.items():
            estimate = self.release.crosstab(name).to_polars()["estimate"].to_numpy()
            found[name] = expected.of(name).l1, float(np.abs(estimate - np.asarray(counts)).sum()) / self.release.rows
        return found


def pilot(
    survey: Survey,
    folder: str | Path,
    *,
    people: int | None = None,
    answers: object = None,
    progress: Progress | None = None,
) -> Pilot:
    """Try a survey with simulated people on this machine, before anybody is asked.

    The folder gets the survey of the pilot, its database and its release, all marked as simulated. Invitations are not
    tried: the pilot's link is open.

    Parameters
    ----------
    survey
        The survey.
    folder
        The folder to write, which must not exist.
    people
        How many people answer; as many as the survey expects by default, at most 100,000.
    answers
        A table of made-up true answers instead, a file or a frame with a column for each question and a row for each
        person. By default the first values of a question are the most frequent ones, and questions do not depend on each
        other, unless a bundle says so.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Smoking at work"
    ... organiser = "Institute of Health"
    ... contact = "survey@example.org"
    ... [attributes.smokes]
    ... values = ["no", "yes"]
    ... question = "Do you smoke?"
    ... '''
    >>> made_up = pl.DataFrame({"smokes": ["no"] * 70 + ["yes"] * 30})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=100, k=20)
    ...     pilot = pk.collect.pilot(survey, Path(folder, "pilot"), answers=made_up)
    >>> pilot.truth, pilot.release.certificate.collection.mode
    ({'smokes': [70, 30]}, 'simulated, to try a survey')
    """
    progress = progress or quiet
    if people is not None and answers is not None:
        raise InputError("Give the number of people, or their made-up answers; not both.")
    check_free(folder)
    if answers is None:
        count = survey.expected if people is None else people
        _check_people(count)
        codes = made_up(survey.plan, count)
    else:
        table = encode(answers, survey.plan.schema, progress=progress)
        _check_people(table.rows)
        codes = dict(table.codes)
    return tried(survey, Path(folder), codes, progress)


def _check_people(count: int) -> None:
    if not 2 <= count <= MOST_PEOPLE:
        raise InputError(f"A pilot has 2 to {MOST_PEOPLE:,} people; say how many (people, --people).")


def made_up(plan: Plan, people: int) -> dict[str, NDArray[Any]]:
    """True answers that nobody gave: of each unit the combination number i in proportion to about 1/(i + 1)."""
    rng = np.random.default_rng(people)
    codes: dict[str, NDArray[Any]] = {}
    for unit in plan.units:
        drawn = np.floor(float(unit.size + 1) ** rng.random(people)).astype(np.int64) - 1
        codes |= zip(unit.attributes, unit.split(np.minimum(drawn, unit.size - 1)))
    return codes


def tried(survey: Survey, folder: Path, codes: Mapping[str, NDArray[Any]], progress: Progress) -> Pilot:
    """The pilot of a survey whose people have these true answers, in a new folder."""
    try:
        folder.mkdir()
    except OSError as error:
        raise EnvironmentFailure(f"Cannot write {folder}: {error.strerror}.") from None
    copy = simulated(survey)
    copy.save(folder / "survey")
    names = [attribute.name for attribute in copy.plan.schema.randomised]
    true = np.column_stack([np.asarray(codes[name], np.int64) for name in names]).tolist()
    database = f"sqlite:///{(folder / 'answers.db').absolute()}"
    start = time.monotonic()
    status = _answered(copy, database, true, progress)
    seconds = time.monotonic() - start
    set_stored_state(copy, database, "closed")
    released = release(copy, database, folder / "release", allow_fewer=len(true) < copy.expected, progress=progress)
    sizes = {attribute.name: attribute.size for attribute in copy.plan.schema.randomised}
    truth = {name: np.bincount(codes[name], minlength=sizes[name]).tolist() for name in names}
    return Pilot(copy, released, truth, status, seconds)


def _answered(survey: Survey, database: str, true: list[list[int]], progress: Progress) -> dict[str, Any]:
    """Let everybody answer over HTTP; how the survey stands then."""
    quiet_logging()
    server = make_server(any_app(survey, database, per_minute=None))
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        try:
            done = 0
            with ThreadPoolExecutor(CONNECTIONS) as pool:
                for _ in pool.map(lambda part: _send(survey, port, part), (true[i::PARTS] for i in range(PARTS))):
                    done += 1
                    progress("answering", done / PARTS)
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
            if not any(_stored(connection, json.dumps(sent)) for _ in range(TRIES)):
                raise EnvironmentFailure("The service of the pilot did not take an answer.")


def _stored(connection: http.client.HTTPConnection, body: str) -> bool:
    """Whether an answer was acknowledged. A service ends connections that were idle for long, as on a busy machine."""
    try:
        connection.request("POST", "/answers", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return response.status == 200
    except (OSError, http.client.HTTPException):
        connection.close()  # the next request opens it again, and the key of the answer makes it count once
        return False
