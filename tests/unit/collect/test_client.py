"""The client: one draw, the same bytes until they are acknowledged, and no true answer anywhere."""

import json
import random
import stat
from collections import Counter

import pytest
from asked_people import SURVEY, served, small_survey

import pkanon as pk
from pkanon._collect import client as module
from pkanon._collect import device, tokens, web
from pkanon._collect.client import codes_of

FORBIDDEN = 'forbid = [{ smokes = ["no"], packs = [1, 2, 3, 4, 5] }]'
TRUE = {"smokes": "yes", "packs": 3, "age": 34}


@pytest.fixture(scope="module")
def survey():
    return small_survey()


@pytest.fixture
def place(survey):
    with served(survey) as state:
        yield state


@pytest.fixture
def quick(monkeypatch):
    """No pause between two tries; their lengths are noted."""
    pauses = []
    inner = web.post_until_answered
    monkeypatch.setattr(module, "post_until_answered", lambda *a, **k: inner(*a, **k, sleep=pauses.append))
    return pauses


def test_an_answer_is_randomised_and_acknowledged(place, survey, tmp_path):
    client = pk.collect.Client(place.url)
    assert client.survey.digest == survey.digest
    sent = client.answer(TRUE, store=tmp_path / "answer.json")
    assert place.answers == [sent]
    body = json.loads(sent)
    assert set(body) == {"survey", "key", "record"}
    assert body["survey"] == survey.digest
    assert len(bytes.fromhex(body["key"])) == 16
    device.check_record(survey.plan, body["record"])
    assert json.loads((tmp_path / "answer.json").read_text()) == {"survey": survey.digest, "state": "done"}
    assert stat.S_IMODE((tmp_path / "answer.json").stat().st_mode) == 0o600
    with pytest.raises(pk.RefusedError, match="given once"):
        client.answer(TRUE, store=tmp_path / "answer.json")
    assert len(place.answers) == 1


def test_all_answers_are_equally_long(place, survey, monkeypatch):
    """TLS hides what is sent, but not how long it is: no digit of a code may show."""
    many = small_survey(SURVEY.replace("range = [0, 5]", "range = [0, 1200]").replace(FORBIDDEN, "forbid = []"))
    place.files = dict(many.files)
    client, drawn = pk.collect.Client(place.url), [[0, 0, 0], [1, 9, 1], [2, 1000, 5], [2, 1200, 5]]
    for record in drawn:
        monkeypatch.setattr(module, "draw", lambda plan, codes, record=record: record)
        client.answer(TRUE)
    assert [json.loads(body)["record"] for body in place.answers] == drawn
    assert len({len(body) for body in place.answers}) == 1
    assert not place.answers[-1].endswith(b" ")  # the longest needs no spaces


def test_the_same_bytes_until_they_are_acknowledged(place, tmp_path, quick):
    store = tmp_path / "answer.json"
    replies = iter([None, (503, {"error": {"code": "busy"}}), (429, {}), (500, {}), (200, {"stored": True})])
    on_disk = []

    def reply(body):
        on_disk.append(json.loads(store.read_text()))
        return next(replies)

    place.answer = reply
    pk.collect.Client(place.url).answer(TRUE, store=store)
    assert len(place.answers) == 5
    assert len(set(place.answers)) == 1
    assert {kept["state"] for kept in on_disk} == {"drawn"}  # saved before the first try
    assert all(kept["body"].encode() == place.answers[0] for kept in on_disk)
    assert len(quick) == 4
    assert quick == sorted(quick)  # each pause is longer than the one before: 0.25-0.5, 0.5-1, ...


@pytest.mark.parametrize(
    "reply", [(200, {}), (200, {"stored": False}), (200, ["stored"]), (408, {}), (201, {"ok": True})]
)
def test_what_says_yes_without_storing_is_no_acknowledgement(place, tmp_path, quick, reply):
    """As that of a network which wants people to log in first; the draw waits in the store, and is sent again."""
    store = tmp_path / "answer.json"
    place.answer = lambda body: reply
    with pytest.raises(pk.EnvironmentFailure, match="not acknowledged"):
        pk.collect.Client(place.url).answer(TRUE, store=store, patience=0)
    assert json.loads(store.read_text())["state"] == "drawn"
    replies = iter([reply, (200, {"stored": True})])
    place.answer = lambda body: next(replies)
    pk.collect.Client(place.url).resend(store=store)
    assert len(set(place.answers)) == 1
    assert json.loads(store.read_text())["state"] == "done"


def test_another_process_sends_the_same_draw(place, survey, tmp_path, quick):
    store = tmp_path / "answer.json"
    place.answer = lambda body: (503, {})
    with pytest.raises(pk.EnvironmentFailure, match="not acknowledged"):
        pk.collect.Client(place.url).answer(TRUE, store=store, patience=0)
    with pytest.raises(pk.EnvironmentFailure, match="not acknowledged"):
        pk.collect.Client(place.url).resend(store=store, patience=0)
    place.answer = lambda body: (200, {"stored": True})
    with pytest.raises(pk.RefusedError, match="send that one first"):  # new answers are neither sent nor ignored
        pk.collect.Client(place.url).answer({"smokes": "no", "packs": 0, "age": 20}, store=store)
    assert len(place.answers) == 2
    assert pk.collect.Client(place.url).resend(store=store) == place.answers[0]
    assert len(place.answers) == 3
    assert len(set(place.answers)) == 1
    assert set(json.loads(store.read_text())) == {"survey", "state"}


def test_without_a_store_the_client_keeps_the_draw(place, quick):
    client = pk.collect.Client(place.url)
    place.answer = lambda body: None
    with pytest.raises(pk.EnvironmentFailure):
        client.answer(TRUE, patience=0)
    assert "a draw that waits" in repr(client)
    place.answer = lambda body: (200, {"stored": True})
    with pytest.raises(pk.RefusedError, match="send that one first"):
        client.answer(TRUE)
    client.resend()
    assert len(set(place.answers)) == 1
    with pytest.raises(pk.InputError, match="no draw that waits"):
        client.resend()
    client.answer(TRUE)  # another person at the same device
    assert len(set(place.answers)) == 2


def test_people_with_stores_of_their_own_do_not_wait_for_each_other(place, tmp_path, quick):
    client = pk.collect.Client(place.url)
    place.answer = lambda body: None
    with pytest.raises(pk.EnvironmentFailure):
        client.answer(TRUE, store=tmp_path / "first.json", patience=0)
    place.answer = lambda body: (200, {"stored": True})
    second = client.answer(TRUE, store=tmp_path / "second.json")
    assert second != place.answers[0]
    assert client.resend(store=tmp_path / "first.json") == place.answers[0]


@pytest.mark.parametrize("state", ["paused", "closed", "released"])
def test_nothing_is_drawn_for_a_survey_that_takes_no_answers(place, tmp_path, monkeypatch, state):
    place.files["status"] = json.dumps({"state": state}).encode()
    monkeypatch.setattr(module, "draw", lambda *a: pytest.fail("drawn"))
    with pytest.raises(pk.RefusedError, match="nothing was drawn or sent"):
        pk.collect.Client(place.url).answer(TRUE, store=tmp_path / "answer.json")
    assert place.answers == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [b"{}", b"[]", b"no JSON", b'{"state": "failed"}'])
def test_a_survey_that_does_not_say_how_it_stands_is_drawn_for(place, status):
    place.files["status"] = status
    pk.collect.Client(place.url).answer(TRUE)
    assert len(place.answers) == 1


def test_a_client_says_what_it_is_and_no_answer(place, survey, monkeypatch):
    client = pk.collect.Client(place.url + "/#code", survey)
    assert repr(client) == f"<Client of survey {survey.digest[:12]} at {place.url}, open to everybody>"
    invited = small_survey(invitation_key=tokens.PrivateKey.generate().public)
    assert "for invited people" in str(pk.collect.Client(place.url, invited))


def test_what_is_refused_is_not_sent_again(place, tmp_path):
    place.answer = lambda body: (410, {"error": {"code": "closed", "message": "The survey has ended.", "retry": False}})
    with pytest.raises(pk.RefusedError, match=r"not acknowledged: The survey has ended\."):
        pk.collect.Client(place.url).answer(TRUE, store=tmp_path / "answer.json")
    assert len(place.answers) == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"smokes": "secret", "packs": 0, "age": 30}, "'smokes' is outside"),
        ({"smokes": "yes", "packs": 999_888, "age": 30}, "'packs' is outside"),
        ({"smokes": "yes", "packs": "secret", "age": 30}, "'packs' is outside"),
        ({"smokes": "yes", "packs": None, "age": 30}, "'packs' is missing"),
        ({"smokes": "yes", "packs": 0, "age": "secret"}, "'age' is outside"),
        ({"smokes": "no", "packs": 3, "age": 30}, "smokes, packs cannot all be true"),
        ({"smokes": "yes", "packs": 0}, "'age' has no answer"),
        ({"smokes": "yes", "packs": 0, "age": 30, "ages": 3}, "no question 'ages'"),
    ],
)
def test_wrong_answers_are_refused_before_anything_is_drawn(place, survey, tmp_path, values, message):
    with pytest.raises(pk.InputError, match=message) as caught:
        pk.collect.Client(place.url, survey).answer(values, store=tmp_path / "answer.json")
    assert "secret" not in str(caught.value)
    assert "999888" not in str(caught.value).replace(",", "")
    assert place.answers == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ({"smokes": "no", "packs": 0, "age": 19}, [0, 0, 0]),
        ({"smokes": "yes", "packs": "5", "age": "60"}, [1, 5, 5]),
        ({"smokes": None, "packs": 0, "age": "30-39"}, [2, 0, 2]),
        ({"smokes": "", "packs": 2, "age": 59}, [2, 2, 4]),
    ],
)
def test_values_are_numbered_as_in_a_table(survey, values, codes):
    assert codes_of(survey.plan, values) == codes


def test_other_types_in_writing():
    schema = pk.Schema(
        [
            pk.Attribute("late", [False, True]),
            pk.Attribute("day", ["2026-01-01", "2026-01-02"], type="date"),
            pk.Attribute("size", [0.5, 1.5], other=0.0),
            pk.Attribute("job", ["farmer"], other="other", missing="value", missing_values=["NA"]),
        ]
    )
    plan = pk.plan(schema, records=1_000, k=5)
    assert codes_of(plan, {"late": "true", "day": "2026-01-02", "size": "1.5", "job": "NA"}) == [1, 1, 1, 2]
    assert codes_of(plan, {"late": False, "day": "2026-01-01", "size": 7, "job": "nurse"}) == [0, 0, 2, 1]


def test_practice_shows_words_and_is_never_sent(place, survey):
    client = pk.collect.Client(place.url)
    practice = client.practice(TRUE)
    assert place.answers == []
    again = client.practice(TRUE, device.listed_words(practice.words))
    assert again == practice
    labels = {a.name: a.label(c) for a, c in zip(survey.plan.schema.randomised, practice.record)}
    assert practice.values == labels


def test_many_draws_follow_the_plan(survey):
    """4,000 draws of one person: kept and replaced as often as the plan says, within 5 standard errors."""
    plan = survey.plan
    codes = codes_of(plan, TRUE)
    chance = random.Random(20)
    counts = Counter(device.draw(plan, codes, lambda *at: chance.getrandbits(at[3]))[2] for _ in range(4_000))
    block = next(block for block in plan.blocks if block.attributes == ("age",))
    for code in range(6):
        share = float(block.as_matrix()[codes[2]][code])
        assert abs(counts[code] - 4_000 * share) < 5 * (4_000 * share * (1 - share)) ** 0.5


def test_a_server_that_changes_the_plan_is_recognised(place):
    place.files["plan.json"] = place.files["plan.json"].replace(b'"records": 5000', b'"records": 5001')
    with pytest.raises(pk.InputError, match=r"plan\.json differs"):
        pk.collect.Client(place.url)


@pytest.mark.parametrize("url", ["nowhere", "file:///etc/hosts", "http://127.0.0.1:1"])
def test_addresses_that_serve_no_survey(url):
    with pytest.raises(pk.PkanonError):
        pk.collect.Client(url)


def test_stores_of_others_are_refused(place, tmp_path):
    client = pk.collect.Client(place.url)
    (tmp_path / "other.json").write_text('{"survey": "abc", "state": "done"}')
    with pytest.raises(pk.InputError, match="another survey"):
        client.answer(TRUE, store=tmp_path / "other.json")
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(pk.InputError, match="not a store"):
        client.answer(TRUE, store=tmp_path / "notes.txt")
    with pytest.raises(pk.EnvironmentFailure, match="Cannot write"):
        client.answer(TRUE, store=tmp_path / "none" / "answer.json")
    assert place.answers == []  # what cannot be kept is not sent


def test_the_address_serves_the_survey(place, survey):
    assert all(file.same for file in pk.collect.check(place.url, survey))
    assert all(file.same for file in pk.collect.check(place.url + "/", digest=survey.digest))
    place.files["index.html"] += b" "
    assert [file.name for file in pk.collect.check(place.url, survey) if not file.same] == ["index.html"]
    assert [file.name for file in pk.collect.check(place.url, digest=survey.digest) if not file.same] == ["index.html"]
    other = small_survey(SURVEY.replace("Tobacco only.", "Tobacco."))
    place.files = dict(other.files)
    assert not all(file.same for file in pk.collect.check(place.url, digest=survey.digest))
    with pytest.raises(pk.InputError, match="another digest"):
        pk.collect.check(place.url, other, digest=survey.digest)


@pytest.fixture(scope="module")
def key():
    return tokens.PrivateKey.generate()


def test_an_invitation(key, tmp_path, quick):
    from pkanon._collect.invitations import CODES, KEY

    key_of_survey = pk.collect.new_issuer(tmp_path / "survey.issuer")
    survey = small_survey(invitation_key=key_of_survey)
    issuer = pk.collect.Issuer(tmp_path / "survey.issuer", survey)
    first, second = (tokens.to_text(code) for code in issuer.invite(2))
    store = tmp_path / "answer.json"
    with served(survey) as place:
        client = pk.collect.Client(place.url)
        with pytest.raises(pk.InputError, match="invited people"):
            client.answer(TRUE)
        claims = pk.collect.Claims(issuer, survey, processes=0)
        place.issue(claims)
        signing = place.claim
        lost = iter([True, False])
        place.claim = lambda body: (signing(body), None)[1] if next(lost) else signing(body)  # the reply is lost
        client.claim(f"{place.url}/#{first}", store=store)
        assert len(place.claims) == 2
        assert len(set(place.claims)) == 1
        kept = json.loads(store.read_text())
        assert kept["state"] == "claimed"
        assert first not in store.read_text()
        sent = json.loads(client.answer(TRUE, store=store))
        assert set(sent) == {"survey", "token", "signature", "record"}
        assert survey.public_key.verify(tokens.from_text(sent["token"]), tokens.from_text(sent["signature"]))
        with pytest.raises(pk.RefusedError, match="answered already"):
            client.claim(second, store=store)
        place.claim = signing
        with pytest.raises(pk.RefusedError, match="used already"):
            client.claim(first)
        typo = tmp_path / "typo.json"
        with pytest.raises(pk.RefusedError, match="unknown"):
            client.claim(tokens.to_text(bytes(16)), store=typo)
        with pytest.raises(pk.InputError, match="is not complete"):
            client.claim("not a code")
        token = client.claim(second, store=typo)  # the right code takes the place of the wrong one
        foreign = tokens.new_token()
        blinded = tokens.blind(key.public, foreign)
        signature = tokens.finalize(key.public, foreign, blinded.inverse, key.sign_blinded(blinded.request))
        forged = pk.collect.Token(foreign, signature)
        with pytest.raises(pk.InputError, match="not one of this survey"):
            client.answer(TRUE, token=forged)
        client.answer(TRUE, token=token)
    # what the issuer holds has neither token nor signature
    content = (tmp_path / "survey.issuer" / CODES).read_bytes()
    assert tokens.from_text(sent["token"]) not in content
    assert tokens.from_text(sent["signature"]) not in content
    assert (tmp_path / "survey.issuer" / KEY).exists()


def test_an_open_survey_takes_no_invitation(place):
    client = pk.collect.Client(place.url)
    with pytest.raises(pk.InputError, match="needs no invitation"):
        client.claim("x")
    with pytest.raises(pk.InputError, match="takes no token"):
        client.answer(TRUE, token=pk.collect.Token(b"", b""))
