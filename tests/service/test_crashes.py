"""kill -9 under load: every acknowledged answer is stored, no submission key twice, and who tries again is counted once.

An answer whose acknowledgement was lost may be stored without its client knowing; trying again with the same key settles it.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from collecting import PATIENCE, Process, Respondents, make, opened, packed, send_until_stored

CLIENTS = 16


@pytest.fixture(params=[2_000])
def survey(folder, request):
    survey = make(folder, records=request.param)
    survey.save(folder / "survey")
    return survey


def crash(survey, folder, database, disturb, *, answers, times):
    """Clients send while the service or its database is disturbed some times; acknowledged keys, and what is stored."""
    bodies = Respondents(survey, answers).bodies()
    service = Process(folder / "survey", database)
    service.start()
    acknowledged, stop = [], threading.Event()
    with ThreadPoolExecutor(CLIENTS) as pool:
        sending = [
            pool.submit(send_until_stored, service.port, bodies[i::CLIENTS], acknowledged, stop) for i in range(CLIENTS)
        ]
        try:
            for number in range(times):
                wanted = (number + 1) * answers // (times + 1)
                until = time.monotonic() + PATIENCE
                while len(acknowledged) < wanted and time.monotonic() < until:
                    time.sleep(0.002)
                disturb(service)
            for each in sending:
                each.result(timeout=PATIENCE)
        finally:
            stop.set()
            service.end()
    store = opened(survey, database)
    contents = store.contents()
    records = store.records()
    store.close()
    return bodies, acknowledged, contents, records


def check(survey, bodies, acknowledged, contents, records):
    expected = dict(packed(survey, bodies))
    assert len(acknowledged) == len(set(acknowledged)) == len(bodies)
    assert contents.known == expected  # none lost, none changed, none that nobody sent
    assert contents.count == len(records) == len(bodies)  # none twice
    assert sorted(records) == sorted(expected.values())


def kill(service):
    service.kill()
    service.start()


def test_the_service_on_sqlite_is_killed(survey, folder):
    check(survey, *crash(survey, folder, f"sqlite:///{folder}/answers.db", kill, answers=600, times=3))


def test_the_service_on_postgres_is_killed(survey, folder, server):
    check(survey, *crash(survey, folder, server.url, kill, answers=600, times=2))


@pytest.mark.parametrize("survey", [1_999], indirect=True)  # another survey, as it is the same server
def test_postgres_itself_crashes(survey, folder, server):
    def restart(_):
        server.stop("immediate")
        server.start()

    check(survey, *crash(survey, folder, server.url, restart, answers=600, times=2))
