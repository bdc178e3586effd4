"""Whatever is sent, nothing fails and nothing wrong is stored: 10,000 malformed bodies, and requests made up from the OpenAPI document."""

import json
import random
from contextlib import suppress

import coroutines
import pytest
import schemathesis
from collecting import Respondents, make, opened, running
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import pkanon as pk

BODIES = 10_000


async def post(app, body, content_type=b"application/json"):
    """The status of one request, without a network; and the code of the refusal."""
    sent = []
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/answers", "raw_path": b"/answers", "query_string": b"", "root_path": "",
        "headers": [(b"content-type", content_type)], "client": ("192.0.2.1", 1), "server": ("x", 80), "scheme": "http",
        "http_version": "1.1", "asgi": {"version": "3.0"},
    }  # fmt: skip
    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], json.loads(content)


def spoiled(good, rng):
    """A body that is not an answer: bytes changed, parts moved, values of other types."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.randbytes(rng.randrange(200))
    text = bytearray(json.dumps(good).encode())
    if kind == 1:  # some bytes are other ones; what is still an answer does not count as spoiled
        for _ in range(rng.randrange(1, 6)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        return bytes(text)
    if kind == 2:
        return bytes(text[: rng.randrange(len(text))])
    strange = [None, True, -1, 1.5, 10**30, "", "\ud800", [], {}, [[]], {"a": 1}, "0" * 32, "\x00", [0] * 4, [10**400]]
    data = dict(good)
    if kind == 3:
        data[rng.choice(list(data))] = rng.choice(strange)
    elif kind == 4:
        data["record"] = [rng.choice([*strange, 0]) for _ in range(rng.randrange(6))] + [rng.choice([-1, 2**63, 999])]
    else:
        data[rng.choice(["", "record ", "Key", "a" * 1_000])] = rng.choice(strange)
    return json.dumps(data).encode()


def is_answer(body, survey):
    """Written down once more, by hand: what an answer is."""
    try:
        data = json.loads(body.decode("utf-8"), object_pairs_hook=list)
        names = [name for name, _ in data]
        found = dict(data)
        key, record = found["key"], found["record"]
        return (
            sorted(names) == ["key", "record", "survey"] and found["survey"] == survey.digest
            and type(key) is str and len(key) == 32 and set(key) <= set("0123456789abcdef") and key != "0" * 32
            and type(record) is list and all(type(code) is int for code in record) and len(record) == 4
            and all(0 <= code < size for code, size in zip(record, (2, 3, 2, 300))) and record[1:3] != [0, 1]
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def test_malformed_bodies_are_refused_and_nothing_is_stored(folder, seed):
    survey = make(folder)
    good = Respondents(survey, 50).bodies()
    rng = random.Random(seed)
    app = pk.collect.app(survey, f"sqlite:///{folder}/answers.db", per_minute=None)

    async def run():
        async with app.router.lifespan_context(app):
            assert (await post(app, json.dumps(good[0]).encode()))[0] == 200
            count = 0
            while count < BODIES:
                body = spoiled(rng.choice(good), rng)
                if is_answer(body, survey):
                    continue
                status, content = await post(app, body)
                assert status in (400, 413, 422), (status, content)
                assert set(content["error"]) == {"code", "message", "retry"}
                count += 1

    coroutines.run(run())
    store = opened(survey, f"sqlite:///{folder}/answers.db")
    assert store.contents().count == 1
    store.close()


def test_the_strangest_bodies(folder):
    survey = make(folder)
    app = pk.collect.app(survey, f"sqlite:///{folder}/answers.db", per_minute=None)

    async def run():
        async with app.router.lifespan_context(app):
            for body in (
                b"\xef\xbb\xbf{}",
                b"{" * 9_000,
                b'{"a":' * 3_000,
                b'"' + b"x" * 16_000,
                b"1e999999",
                b"-0",
                b"\x00",
            ):
                assert (await post(app, body))[0] == 400
            assert (await post(app, b"x" * 16_385))[0] == 413
            assert (await post(app, b"{}", b"application/json\xff"))[0] == 415

    coroutines.run(run())


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def try_out(operation, mode, seen):
    """Call one operation many times; ``seen`` gets the statuses."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=30, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    def check(case):
        seen.add(case.call_and_validate(checks=CHECKS).status_code)

    check()


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_the_service_answers_as_its_document_says(folder, mode):
    """Requests that fit the document, and requests that do not, as Schemathesis makes them up."""
    survey, statuses = make(folder), {}
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{client.port}/openapi.json")
        for result in schema.get_all_operations():
            operation = result.ok()
            seen = statuses.setdefault((operation.method.upper(), operation.path), set())
            with suppress(Unsatisfiable):  # a request without parts has no wrong form
                try_out(operation, mode, seen)
    if mode is schemathesis.GenerationMode.POSITIVE:
        assert all(200 in seen for (method, _), seen in statuses.items() if method == "GET")
        assert statuses["POST", "/answers"] & {200, 422}
        assert statuses["POST", "/admin/state"] <= {401, 429}
    else:
        assert statuses["POST", "/answers"] & {400, 415, 422}
        assert 200 not in statuses["POST", "/answers"]
