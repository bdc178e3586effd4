"""What every route answers: files, answers, refusals of one shape, states, results, headers."""

import json
import socket
import threading
from contextlib import suppress

import pytest
from collecting import PAGE, PATIENCE, TOKEN, Client, Respondents, make, running

import pkanon as pk
from pkanon._collect.answer import STATUS
from pkanon._collect.service import HEADERS

ADMIN = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def survey(folder):
    return make(folder)


@pytest.fixture
def client(survey, folder):
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        yield client


@pytest.fixture
def bodies(survey):
    return Respondents(survey, 120).bodies()


def post_all(client, bodies, connections=12):
    """Send answers over several connections; the statuses."""
    statuses = []

    def send(part):
        own = Client(client.port)
        statuses.extend(own.ask("POST", "/answers", body)[0] for body in part)
        own.close()

    threads = [threading.Thread(target=send, args=(bodies[i::connections],)) for i in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


def test_the_files_of_the_survey_are_served_as_they_are(client, survey):
    for path, name in (("/", "index.html"), *((f"/{name}", name) for name in survey.files if name != "index.html")):
        status, headers, content = client.ask("GET", path)
        assert status == 200
        if isinstance(content, dict):
            assert content == json.loads(survey.files[name])
            assert int(headers["content-length"]) == len(survey.files[name])
        else:
            assert content == survey.files[name]


def test_every_response_has_the_headers_of_a_careful_service(client):
    for method, path in (("GET", "/"), ("GET", "/status"), ("POST", "/answers"), ("GET", "/nothing"), ("PUT", "/")):
        _, headers, _ = client.ask(method, path, b"" if method != "GET" else None)
        for name in set(HEADERS) - {"content-security-policy"}:
            assert headers[name] == HEADERS[name], (path, name)
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert "set-cookie" not in headers
        assert "strict-transport-security" not in headers


def test_the_page_has_its_own_policy_and_refuses_frames(client):
    policy = client.ask("GET", "/")[1]["content-security-policy"]
    assert policy == "default-src 'none'; script-src 'sha256-x'; form-action 'none'; frame-ancestors 'none'"
    assert b"script-src 'sha256-x'" in PAGE


def test_a_page_without_a_policy_is_refused(folder, monkeypatch):
    monkeypatch.setattr("collecting.PAGE", b"<!doctype html>")
    with pytest.raises(pk.InputError, match="no content security policy"):
        pk.collect.app(make(folder), f"sqlite:///{folder}/answers.db")


def test_the_same_answer_counts_once_and_another_one_with_its_key_is_a_conflict(client, bodies):
    first = bodies[0]
    assert client.ask("POST", "/answers", first)[::2] == (200, {"stored": True})
    assert client.ask("POST", "/answers", first)[::2] == (200, {"stored": True})
    record = [1 - first["record"][0], *first["record"][1:]]
    status, _, content = client.ask("POST", "/answers", {**first, "record": record})
    assert (status, content["error"]["code"], content["error"]["retry"]) == (409, "conflict", False)
    assert client.ask("GET", "/status")[2]["accepted"] == 1


def test_the_same_answer_on_many_connections_at_once_counts_once(client, bodies):
    assert post_all(client, [bodies[0]] * 24) == [200] * 24
    assert client.ask("GET", "/status")[2]["accepted"] == 1


def test_results_are_b_answers_old_or_older_also_after_a_restart(survey, folder):
    assert survey.results_every == 50
    bodies = Respondents(survey, 260).bodies()
    database = f"sqlite:///{folder}/answers.db"
    nothing = {"answers": 0, "attributes": []}
    with running(survey, database) as client:
        assert client.ask("GET", "/results")[2] == nothing
        assert set(post_all(client, bodies[:99])) == {200}
        assert client.ask("GET", "/results")[2] == nothing
        assert set(post_all(client, bodies[99:110])) == {200}
        shown = client.ask("GET", "/results")[2]
        assert shown["answers"] == 50
    with running(survey, database) as client:
        assert client.ask("GET", "/results")[2] == shown
        assert set(post_all(client, bodies[110:199])) == {200}
        assert client.ask("GET", "/results")[2] == shown  # the state of 100 answers was only in memory
        assert client.ask("POST", "/answers", bodies[199])[0] == 200
        later = client.ask("GET", "/results")[2]
        assert later["answers"] == 150
        assert later["attributes"][0]["attribute"] == "smokes"
        assert sum(row["estimate"] for row in later["attributes"][0]["values"]) == pytest.approx(150)
        assert client.ask("POST", "/admin/state", {"state": "closed"}, ADMIN)[0] == 200
        assert client.ask("GET", "/results")[2] == nothing
    with running(survey, database) as client:
        assert client.ask("GET", "/results")[2] == nothing


def test_the_estimates_shown_are_those_of_the_first_b_answers(survey, folder, bodies):
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        for body in bodies[:100]:
            client.ask("POST", "/answers", body)
        shown = client.ask("GET", "/results")[2]["attributes"][0]["values"]
    ones = sum(body["record"][0] for body in bodies[:50])
    rho = survey.plan.rho["smokes"]
    expected = (ones - 50 * (1 - rho) / 2) / rho  # the inverse of retention with two values
    assert shown[1]["value"] == "yes"
    assert shown[1]["estimate"] == pytest.approx(expected, abs=0.01)


def test_k_so_far_is_told_in_both_readings_and_by_what_is_known(client, survey, bodies):
    post_all(client, bodies[:100])
    status = client.ask("GET", "/status")[2]
    ratio = survey.plan.anonymity_ratio
    assert float(status["k"]) == pytest.approx(float(1 + 99 * ratio), abs=2e-4)
    assert float(status["k"]) <= 1 + 99 * ratio
    assert status["k_planned"] == survey.plan.k_text
    assert [known for known, _ in status["k_if_known"]] == [0, 1, 5, 10, 25, 50]
    for known, k in status["k_if_known"]:
        assert float(k) == pytest.approx(float(1 + (99 - known) * ratio), abs=2e-4)


def test_pausing_and_closing(survey, folder, bodies):
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        client.ask("POST", "/answers", bodies[0])
        assert client.ask("POST", "/admin/state", {"state": "paused"}, ADMIN)[2]["state"] == "paused"
        status, headers, content = client.ask("POST", "/answers", bodies[1])
        assert (status, content["error"]["code"], content["error"]["retry"]) == (503, "paused", True)
        assert int(headers["retry-after"]) > 0
        assert client.ask("POST", "/admin/state", {"state": "open"}, ADMIN)[0] == 200
        assert client.ask("POST", "/answers", bodies[1])[0] == 200
        closed = client.ask("POST", "/admin/state", {"state": "closed"}, ADMIN)[2]
        assert (closed["state"], closed["accepted"]) == ("closed", 2)
        for body in bodies[:3]:
            assert client.ask("POST", "/answers", body)[2]["error"]["code"] == "closed"
        assert client.ask("POST", "/admin/state", {"state": "open"}, ADMIN)[0] == 409
        assert client.ask("POST", "/admin/state", {"state": "closed"}, ADMIN)[0] == 200
    with running(survey, f"sqlite:///{folder}/answers.db") as client:  # it can go on telling visitors
        assert client.ask("GET", "/status")[2]["state"] == "closed"
        assert client.ask("POST", "/answers", bodies[5])[0] == 410


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xff\xfe"]
)
def test_only_the_token_changes_the_state(client, given):
    headers = {"Content-Type": "application/json", "Authorization": given}
    status, found, content = client.ask("POST", "/admin/state", {"state": "closed"}, headers)
    assert (status, content["error"]["code"]) == (401, "unauthorised")
    assert found["www-authenticate"] == "Bearer"
    assert client.ask("GET", "/status")[2]["state"] == "open"


def test_guessing_the_token_is_slowed_down(survey, folder, monkeypatch):
    monkeypatch.setattr("pkanon._collect.service.ADMIN_PER_MINUTE", 2)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer wrong"}
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        statuses = [client.ask("POST", "/admin/state", {"state": "closed"}, headers)[0] for _ in range(4)]
        assert statuses == [401, 401, 429, 429]
        # whoever guesses does not keep the one who knows it from closing
        assert client.ask("POST", "/admin/state", {"state": "closed"}, ADMIN)[0] == 200


def test_without_a_token_there_is_no_admin_route(survey, folder):
    with running(survey, f"sqlite:///{folder}/answers.db", admin_token=None) as client:
        assert client.ask("POST", "/admin/state", {"state": "closed"}, ADMIN)[0] == 404
        assert "/admin/state" not in client.ask("GET", "/openapi.json")[2]["paths"]


def test_what_pages_of_other_origins_may_ask(client, bodies):
    origin = {"Origin": "null", "Content-Type": "application/json"}
    status, headers, _ = client.ask(
        "OPTIONS", "/answers", None, {"Origin": "null", "Access-Control-Request-Method": "POST"}
    )
    assert (status, headers["access-control-allow-origin"], headers["access-control-allow-methods"]) == (
        204,
        "*",
        "POST",
    )
    assert headers["access-control-allow-headers"] == "content-type"
    for body, expected in ((bodies[0], 200), ({}, 400)):  # refusals too, so that the page can tell people why
        status, headers, _ = client.ask("POST", "/answers", body, origin)
        assert (status, headers["access-control-allow-origin"]) == (expected, "*")
    for path in ("/", "/manifest.json", "/status"):  # which survey it is, and whether it is open
        assert client.ask("GET", path, None, origin)[1]["access-control-allow-origin"] == "*"
    for method, path in (("GET", "/results"), ("POST", "/admin/state"), ("GET", "/nothing")):
        headers = client.ask(method, path, b"" if method == "POST" else None, origin)[1]
        assert "access-control-allow-origin" not in headers, path


def test_too_many_answers_from_one_address_are_told_to_wait(survey, folder, bodies):
    with running(survey, f"sqlite:///{folder}/answers.db", per_minute=2) as client:
        replies = [client.ask("POST", "/answers", body) for body in bodies[:5]]
        assert [status for status, _, _ in replies] == [200, 200, 429, 429, 429]
        assert 1 <= int(replies[-1][1]["retry-after"]) <= 60
        assert replies[-1][2]["error"]["retry"] is True
        assert client.ask("GET", "/status")[2]["refused"]["too_many"] == 3


def test_behind_a_proxy_the_last_forwarded_address_counts(survey, folder, bodies):
    def send(client, body, forwarded):
        return client.ask("POST", "/answers", body, {"Content-Type": "application/json", "X-Forwarded-For": forwarded})[
            0
        ]

    with running(survey, f"sqlite:///{folder}/answers.db", per_minute=2, behind_proxy=True) as client:
        # what a visitor writes stands before what the proxy adds
        statuses = [send(client, body, f"198.51.100.{i}, 203.0.113.9") for i, body in enumerate(bodies[:4])]
        assert statuses == [200, 200, 429, 429]
        assert send(client, bodies[4], "203.0.113.10") == 200
        assert "max-age" in client.ask("GET", "/status")[1]["strict-transport-security"]
    with running(survey, f"sqlite:///{folder}/answers.db", per_minute=2) as client:
        statuses = [send(client, body, f"203.0.113.{i}") for i, body in enumerate(bodies[10:14])]
        assert statuses == [200, 200, 429, 429]  # a header that nobody vouches for changes nothing


WRONG = {
    "no object": (b"[]", 400),
    "no JSON": (b"{", 400),
    "not UTF-8": ('{"survey": "\xff"}'.encode("latin-1"), 400),
    "UTF-16": (json.dumps({"survey": "x"}).encode("utf-16"), 400),
    "too deep": (b"[" * 15_000, 400),
    "a huge number": (b'{"record": [' + b"9" * 10_000 + b"]}", 400),
    "not a number": (b'{"record": [NaN]}', 400),
    "too large": (b" " * 20_000, 413),
    "nothing": (b"", 400),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_refused(client, name):
    body, expected = WRONG[name]
    status, _, content = client.ask("POST", "/answers", body, {"Content-Type": "application/json"})
    assert status == expected
    assert STATUS[content["error"]["code"]] == expected
    assert client.ask("GET", "/status")[2]["accepted"] == 0


def changed(body, **changes):
    return {name: value for name, value in (body | changes).items() if value is not ...}


CHANGES = {
    "another survey": ({"survey": "0" * 64}, 422, "other_survey"),
    "a survey that is no text": ({"survey": 1}, 422, "other_survey"),
    "no key": ({"key": ...}, 400, "malformed"),
    "a further field": ({"name": "x"}, 400, "malformed"),
    "a short key": ({"key": "ab"}, 400, "malformed"),
    "a key of zeros": ({"key": "0" * 32}, 400, "malformed"),
    "a key in capitals": ({"key": "AB" * 16}, 400, "malformed"),
    "digits of another script": ({"key": "\u0663" * 32}, 400, "malformed"),
    "a short record": ({"record": [0, 0, 0]}, 400, "malformed"),
    "a long record": ({"record": [0, 0, 0, 0, 0]}, 400, "malformed"),
    "a truth value": ({"record": [True, 1, 0, 0]}, 400, "malformed"),
    "a fraction": ({"record": [0.0, 1, 0, 0]}, 400, "malformed"),
    "a text": ({"record": ["0", 1, 0, 0]}, 400, "malformed"),
    "a negative code": ({"record": [-1, 1, 0, 0]}, 422, "out_of_domain"),
    "a code too many": ({"record": [0, 3, 0, 0]}, 422, "out_of_domain"),
    "a large code": ({"record": [0, 1, 0, 2**70]}, 422, "out_of_domain"),
    "a child that drives": ({"record": [0, 0, 1, 0]}, 422, "forbidden_combination"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_wrong_answer_is_refused_with_its_reason(client, bodies, name):
    changes, expected, code = CHANGES[name]
    status, _, content = client.ask("POST", "/answers", changed(bodies[0], **changes))
    assert (status, content["error"]["code"]) == (expected, code)
    assert set(content["error"]) == {"code", "message", "retry"}
    status = client.ask("GET", "/status")[2]
    assert (status["accepted"], status["refused"]) == (0, {code: 1})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_other_media_are_refused(client, bodies, headers):
    status, _, content = client.ask("POST", "/answers", json.dumps(bodies[0]).encode(), headers)
    assert (status, content["error"]["code"]) == (415, "media_type")


def test_a_body_without_an_end_is_cut_off(client):
    """Chunks that never announce their size."""

    def chunks():
        for _ in range(100):
            yield b" " * 1_000

    connection = client._connection
    connection.request(
        "POST", "/answers", body=chunks(), headers={"Content-Type": "application/json"}, encode_chunked=True
    )
    assert connection.getresponse().status == 413


@pytest.mark.parametrize("sent", [b"", b"GET /status HT", b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_a_connection_that_does_not_come_to_the_point_is_closed(survey, folder, monkeypatch, sent):
    """Before the first request, within its head, and within the head of the next one."""
    whole = sent.endswith(b"\r\n\r\n")
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        with monkeypatch.context() as hurried:
            if not whole:
                hurried.setattr("pkanon._collect.limits.REQUEST_PATIENCE", 0.05)
            with (
                socket.create_connection(("127.0.0.1", client.port), timeout=PATIENCE) as connection,
                suppress(ConnectionError),  # closed before we have said what we wanted to say
            ):
                connection.sendall(sent)
                if whole:
                    assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
                    hurried.setattr("pkanon._collect.limits.REQUEST_PATIENCE", 0.05)
                    connection.sendall(b"GET /")
                while connection.recv(65_536):
                    pass  # what is left of the response; then the end, and no timeout
        assert client.ask("GET", "/status")[0] == 200


def test_visitors_beyond_the_limit_are_told_to_come_back(survey, folder, bodies, monkeypatch):
    monkeypatch.setattr("pkanon._collect.serving.MOST_CONNECTIONS", 3)
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        idle = [socket.create_connection(("127.0.0.1", client.port)) for _ in range(3)]
        assert client.ask("POST", "/answers", bodies[0])[0] == 503
        for connection in idle:
            connection.close()


def test_unknown_addresses_and_methods_have_the_same_shape(client):
    for method, path, code in (("GET", "/x", "not_found"), ("GET", "/status/", "not_found"), ("DELETE", "/", "method")):
        content = client.ask(method, path)[2]
        assert content["error"]["code"] == code


def test_a_second_service_on_the_same_database_is_refused(client, survey, folder):
    with pytest.raises(pk.InputError, match="in use by another process"):
        pk.collect.app(survey, f"sqlite:///{folder}/answers.db")
