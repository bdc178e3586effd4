"""The issuer: each invitation once, nothing kept that tells an order, and nothing that fits one token better than another."""

import asyncio
import hashlib
import itertools
import json
import os
import random
import stat
from concurrent.futures import BrokenExecutor

import coroutines
import pytest
from asked_people import small_survey

import pkanon as pk
from pkanon._collect import tokens
from pkanon._collect.invitations import CODES, KEY, ClaimRefusedError, read_invitations, save_invitations


@pytest.fixture
def office(tmp_path):
    key = pk.collect.new_issuer(tmp_path / "issuer")
    return pk.collect.Issuer(tmp_path / "issuer", small_survey(invitation_key=key))


def request(seed=1):
    """A request such as a device makes, here with numbers that repeat."""
    return random.Random(seed).randrange(2**2040).to_bytes(256, "big")


def test_each_invitation_once(office):
    (code,) = office.invite(1)
    answer = office.claim(code, request())
    assert office.claim(code, request()) == answer  # the reply was lost: the same again
    with pytest.raises(ClaimRefusedError) as caught:
        office.claim(code, request(2))
    assert (caught.value.code, caught.value.status) == ("conflict", 409)
    with pytest.raises(ClaimRefusedError) as caught:
        office.claim(bytes(16), request())
    assert (caught.value.code, caught.value.status) == ("code", 403)
    assert office.counts == (1, 1)


def test_a_request_that_cannot_be_signed_does_not_use_an_invitation(office):
    (code,) = office.invite(1)
    for wrong in (b"", bytes(256), b"\xff" * 256, b"\1" * 255):
        with pytest.raises(ClaimRefusedError) as caught:
            office.claim(code, wrong)
        assert caught.value.status == 400
    assert office.counts == (1, 0)
    office.claim(code, request())


def test_codes_are_kept_as_hashes_only(office, tmp_path):
    codes = office.invite(50)
    office.claim(codes[7], request())
    files = {path.name: path for path in (tmp_path / "issuer").iterdir()}
    assert stat.S_IMODE((tmp_path / "issuer").stat().st_mode) == 0o700
    content = b"".join(path.read_bytes() for path in files.values())
    for code in codes:
        assert code not in content
        assert tokens.to_text(code).encode() not in content
        assert hashlib.sha256(code).digest() in content
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files.values())


def without_counters(content):
    """A database file without the two counters of its changes."""
    return content[:24] + content[28:92] + content[96:]


def test_the_order_of_claims_leaves_no_trace(office, tmp_path):
    """The same claims in another order: the same file, but for the number of changes."""
    codes = office.invite(60)
    path = tmp_path / "issuer" / CODES
    before = path.read_bytes()
    contents = []
    for order in (list(range(40)), list(reversed(range(40))), random.Random(3).sample(range(40), 40)):
        path.write_bytes(before)
        for person in order:
            office.admit(codes[person], request(person))
        contents.append(without_counters(path.read_bytes()))
        assert (tmp_path / "issuer" / f"{CODES}-journal").stat().st_size == 0
    assert contents[0] == contents[1] == contents[2]
    path.write_bytes(before)
    for person in range(39):
        office.admit(codes[person], request(person))
    assert without_counters(path.read_bytes()) != contents[0]  # the comparison sees a claim


def test_invitations_end(office, tmp_path):
    used, fresh = office.invite(2)
    office.claim(used, request())
    secret = (tmp_path / "issuer" / KEY).read_bytes()
    office.close()
    assert office.closed
    assert office.counts == (2, 1)
    assert office.unused([used, fresh]) == [fresh]
    content = b"".join(path.read_bytes() for path in (tmp_path / "issuer").iterdir())
    assert secret not in content
    assert request(1) not in content
    with pytest.raises(ClaimRefusedError) as caught:
        office.claim(fresh, b"\1" * 256)
    assert (caught.value.code, caught.value.status) == ("closed", 410)
    with pytest.raises(pk.InputError, match="have ended"):
        office.invite(1)
    office.close()  # once more does no harm


def test_issuers_that_do_not_fit(office, tmp_path):
    with pytest.raises(pk.InputError, match="not the folder of an issuer"):
        pk.collect.Issuer(tmp_path, small_survey())
    with pytest.raises(pk.InputError, match="open to everybody"):
        pk.collect.Issuer(tmp_path / "issuer", small_survey())
    other = small_survey(invitation_key=pk.collect.new_issuer(tmp_path / "other"))
    with pytest.raises(pk.InputError, match="another survey"):
        pk.collect.Issuer(tmp_path / "issuer", other)
    with pytest.raises(pk.InputError, match="Invite 1 to"):
        office.invite(0)
    with pytest.raises(pk.InputError, match="exists already"):
        pk.collect.new_issuer(tmp_path / "issuer")


def test_links(office, tmp_path):
    codes = office.invite(3)
    save_invitations(dict.fromkeys(codes, "https://survey.example.org/"), tmp_path / "links.csv")
    lines = (tmp_path / "links.csv").read_text().splitlines()
    assert lines[0] == "link"
    assert all(line.startswith("https://survey.example.org/#") for line in lines[1:])
    assert read_invitations(tmp_path / "links.csv") == dict.fromkeys(codes, "https://survey.example.org")
    assert stat.S_IMODE((tmp_path / "links.csv").stat().st_mode) == 0o600
    with pytest.raises(pk.InputError, match="exists already"):
        save_invitations(dict.fromkeys(codes, "https://survey.example.org/"), tmp_path / "links.csv")
    (tmp_path / "wrong.csv").write_text("name\nAnn\n")
    with pytest.raises(pk.InputError, match="not a file of invitations"):
        read_invitations(tmp_path / "wrong.csv")


# --- on the web -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    """A survey, its issuer and the application, without processes of their own."""
    folder = tmp_path_factory.mktemp("counter") / "issuer"
    survey = small_survey(invitation_key=pk.collect.new_issuer(folder))
    office = pk.collect.Issuer(folder, survey)
    return survey, office, pk.collect.Claims(office, survey, processes=0)


def asked(application, method, path, body=b"", content_type="application/json", headers=()):
    """Status, headers and JSON of one request."""
    sent = []
    parts = [body[i : i + 1000] for i in range(0, len(body), 1000)] or [b""]
    messages = iter([{"type": "http.request", "body": part, "more_body": part is not parts[-1]} for part in parts])

    async def receive():
        return next(messages)

    async def send(message):
        sent.append(message)

    headers = [*headers, *([(b"content-type", content_type.encode())] if content_type else [])]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    coroutines.run(application(scope, receive, send))
    start, end = sent
    return start["status"], dict(start["headers"]), json.loads(end["body"] or b"null")


def claim(survey, code, blinded, /, **changes):
    data = {"survey": survey.digest, "code": tokens.to_text(code), "blinded": tokens.to_text(blinded)}
    return json.dumps({**data, **changes}).encode()


def test_a_claim_on_the_web(counter):
    survey, office, application = counter
    (code,) = office.invite(1)
    token = tokens.new_token()
    blinded = tokens.blind(survey.public_key, token)
    status, headers, data = asked(application, "POST", "/claim", claim(survey, code, blinded.request))
    assert (status, set(data)) == (200, {"signature"})
    assert headers[b"access-control-allow-origin"] == b"*"
    assert headers[b"cache-control"] == b"no-store"
    signature = tokens.finalize(survey.public_key, token, blinded.inverse, tokens.from_text(data["signature"]))
    assert survey.public_key.verify(token, signature)
    assert asked(application, "POST", "/claim", claim(survey, code, blinded.request))[2] == data
    other = tokens.blind(survey.public_key, token)
    assert asked(application, "POST", "/claim", claim(survey, code, other.request))[0] == 409
    made, used = office.counts
    assert asked(application, "GET", "/claims")[2] == {"invitations": made, "used": used}


def test_wrong_claims_have_one_shape_and_change_nothing(counter):
    survey, office, application = counter
    (code,) = office.invite(1)
    counts = office.counts
    good = tokens.blind(survey.public_key, tokens.new_token()).request
    cases = [
        (404, "not_found", ("GET", "/", b"")),
        (405, "method", ("GET", "/claim", b"")),
        (415, "media_type", ("POST", "/claim", claim(survey, code, good), "text/plain")),
        (415, "media_type", ("POST", "/claim", claim(survey, code, good), "")),
        (413, "too_large", ("POST", "/claim", b" " * 20_000)),
        (400, "malformed", ("POST", "/claim", b"")),
        (400, "malformed", ("POST", "/claim", b"\xff")),
        (400, "malformed", ("POST", "/claim", b"[1]")),
        (400, "malformed", ("POST", "/claim", claim(survey, code, good, extra=1))),
        (400, "malformed", ("POST", "/claim", claim(survey, code, good, code=7))),
        (400, "malformed", ("POST", "/claim", claim(survey, code[:8], good))),
        (400, "malformed", ("POST", "/claim", claim(survey, code, good[:-1]))),
        (400, "malformed", ("POST", "/claim", claim(survey, code, bytes(256)))),
        (422, "other_survey", ("POST", "/claim", claim(survey, code, good, survey="0" * 64))),
        (403, "code", ("POST", "/claim", claim(survey, bytes(16), good))),
    ]
    for status, name, arguments in cases:
        got, _, data = asked(application, *arguments)
        assert (got, data["error"]["code"]) == (status, name)
        assert set(data["error"]) == {"code", "message", "retry"}
    assert office.counts == counts


def test_pages_elsewhere_may_ask(counter):
    status, headers, _ = asked(counter[2], "OPTIONS", "/claim", content_type="")
    assert status == 204
    assert headers[b"access-control-allow-headers"] == b"content-type"


def test_processes_sign(tmp_path):
    survey = small_survey(invitation_key=pk.collect.new_issuer(tmp_path / "issuer"))
    office = pk.collect.Issuer(tmp_path / "issuer", survey)
    application = pk.collect.Claims(office, survey, processes=1)
    try:
        (code,) = office.invite(1)
        token = tokens.new_token()
        blinded = tokens.blind(survey.public_key, token)
        status, data = coroutines.run(application.answer(claim(survey, code, blinded.request)))
        assert status == 200
        tokens.finalize(survey.public_key, token, blinded.inverse, tokens.from_text(data["signature"]))
    finally:
        application.close()


def test_processes_that_end_are_replaced(tmp_path):
    survey = small_survey(invitation_key=pk.collect.new_issuer(tmp_path / "issuer"))
    office = pk.collect.Issuer(tmp_path / "issuer", survey)
    application = pk.collect.Claims(office, survey, processes=1)
    (code,) = office.invite(1)
    token = tokens.new_token()
    blinded = tokens.blind(survey.public_key, token)
    body = claim(survey, code, blinded.request)
    try:
        with pytest.raises(BrokenExecutor):
            application._pool.submit(os._exit, 1).result()
        status, headers, data = asked(application, "POST", "/claim", body)
        assert (status, data["error"]["code"], data["error"]["retry"]) == (503, "busy", True)
        assert set(data["error"]) == {"code", "message", "retry"}
        assert int(headers[b"retry-after"]) > 0
        status, _, data = asked(application, "POST", "/claim", body)  # as a device does
        assert status == 200
        tokens.finalize(survey.public_key, token, blinded.inverse, tokens.from_text(data["signature"]))
    finally:
        application.close()


def test_claims_from_one_address_are_limited(counter):
    survey, office, _ = counter
    application = pk.collect.Claims(office, survey, processes=0, per_minute=2, behind_proxy=True)
    near = [(b"x-forwarded-for", b"203.0.113.9")]
    statuses = [
        asked(application, "POST", "/claim", b"{}", headers=[(b"x-forwarded-for", b"198.51.100.%d" % i), *near])
        for i in range(3)
    ]
    assert [status for status, _, _ in statuses] == [400, 400, 429]
    _, headers, data = statuses[-1]
    assert (data["error"]["code"], data["error"]["retry"], set(data)) == ("too_many", True, {"error"})
    assert 1 <= int(headers[b"retry-after"]) <= 60
    other = [(b"x-forwarded-for", b"203.0.113.10")]
    assert asked(application, "POST", "/claim", b"{}", headers=other)[0] == 400


def test_a_claim_that_does_not_arrive_is_not_waited_for(counter, monkeypatch):
    monkeypatch.setattr("pkanon._collect.issuing.BODY_PATIENCE", 0.01)
    sent = []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/claim", "headers": [(b"content-type", b"application/json")]}
    coroutines.run(counter[2](scope, receive, send))
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["error"]["code"] == "slow"


def test_a_thousand_claims_and_answers_cannot_be_matched(tmp_path, seed):
    """Everything the issuer kept beside everything the service got: each pair fits, by exactly one factor.

    The issuer's rows stand in the order of their hashes, the answers are shuffled as storage shuffles them. If the operator
    is both, all that is left to join is the requests with the tokens; for any pair there is one factor, all factors are
    equally likely, so every assignment of answers to people is exactly as likely as every other.
    """
    import sqlite3

    survey = small_survey(invitation_key=pk.collect.new_issuer(tmp_path / "issuer"))
    office = pk.collect.Issuer(tmp_path / "issuer", survey)
    key = tokens.PrivateKey.read(office.key_file)
    n, e = key.n, tokens.EXPONENT
    codes = office.invite(1_000)
    chance = random.Random(seed)
    answers, people = [], {}
    chance.shuffle(codes)
    with sqlite3.connect(tmp_path / "issuer" / CODES) as database:  # as admit does, in one transaction for speed
        for code in codes:
            token = tokens.new_token()
            blinded = tokens.blind(survey.public_key, token)
            database.execute(
                "UPDATE invitation SET used = 1, request = ? WHERE hash = ?",
                (blinded.request, hashlib.sha256(code).digest()),
            )
            answers.append(token)
            people[token] = blinded
        rows = database.execute("SELECT request FROM invitation ORDER BY id").fetchall()
    database.close()
    chance.shuffle(answers)
    requests = [row[0] for row in rows]
    assert not set(answers) & set(requests)

    def encoded(token):
        """s^e, which everybody computes from the signature that comes with the token."""
        blinded = people[token]
        return int.from_bytes(blinded.request, "big") * pow(int.from_bytes(blinded.inverse, "big"), e, n) % n

    # every pair fits: the true ones and any others, by one factor each
    true = [(people[token].request, token) for token in chance.sample(answers, 10)]
    for request, token in [*true, *zip(chance.sample(requests, 40), chance.sample(answers, 40))]:
        factor = key.root(int.from_bytes(request, "big") * pow(encoded(token), -1, n) % n)
        assert encoded(token) * pow(factor, e, n) % n == int.from_bytes(request, "big")
        assert key.root(pow(factor, e, n)) == factor
    # what comes next to each other at the issuer did not come next to each other at the service
    place = {people[token].request: i for i, token in enumerate(answers)}
    ranks = [place[request] for request in requests]
    rising = sum(a < b for a, b in itertools.pairwise(ranks))
    assert 430 < rising < 570
