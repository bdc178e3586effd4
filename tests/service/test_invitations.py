"""Answers with invitations: one answer per token, and the token is not the code."""

import json

import pytest
from collecting import Client, Process, Respondents, make, opened, packed, running

import pkanon as pk
from pkanon._cli import run
from pkanon._collect import set_stored_state
from pkanon._collect.tokens import blind, finalize, from_text, new_token, to_text


@pytest.fixture
def office(folder):
    """An invited survey and its issuer."""
    key = pk.collect.new_issuer(folder / "issuer")
    survey = make(folder, invitation_key=key)
    return survey, pk.collect.Issuer(folder / "issuer", survey)


def claim(client, survey, code):
    """What a device does with a code; its token and signature."""
    token = new_token()
    blinded = blind(survey.public_key, token)
    status, _, content = client.ask(
        "POST", "/claim", {"survey": survey.digest, "code": to_text(code), "blinded": to_text(blinded.request)}
    )
    assert status == 200, content
    return token, finalize(survey.public_key, token, blinded.inverse, from_text(content["signature"]))


def body_of(survey, token, signature, record):
    return {"survey": survey.digest, "token": to_text(token), "signature": to_text(signature), "record": record}


def test_a_token_is_good_for_one_answer(office, folder):
    survey, issuer = office
    codes = issuer.invite(3)
    first, second, third = Respondents(survey, 3).records()
    with running(survey, f"sqlite:///{folder}/answers.db", issuer=issuer) as client:
        token, signature = claim(client, survey, codes[0])
        good = body_of(survey, token, signature, first)
        assert client.ask("POST", "/answers", good)[0] == 200
        assert client.ask("POST", "/answers", good)[0] == 200  # sent again: counted once
        other = [1 - first[0], *first[1:]]
        assert client.ask("POST", "/answers", good | {"record": other})[2]["error"]["code"] == "conflict"
        other_token, other_signature = claim(client, survey, codes[1])
        for wrong in (
            body_of(survey, new_token(), signature, second),  # a signature of another token
            body_of(survey, token[:-1] + bytes([token[-1] ^ 1]), signature, second),
            body_of(survey, other_token, signature, second),
            body_of(survey, new_token(), bytes(256), second),
            body_of(survey, new_token(), b"", second),
        ):
            status, _, content = client.ask("POST", "/answers", wrong)
            assert status in (400, 403), content
        assert client.ask("POST", "/answers", body_of(survey, other_token, other_signature, third))[0] == 200
        open_answer = {"survey": survey.digest, "key": "ab" * 16, "record": third}
        assert client.ask("POST", "/answers", open_answer)[0] == 400
        assert client.ask("GET", "/status")[2]["accepted"] == 2
        assert client.ask("GET", "/claims")[2] == {"invitations": 3, "used": 2}
    image = (folder / "answers.db").read_bytes()
    assert token not in image
    assert signature not in image


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_invited_survey_from_its_first_link_to_its_release(folder, request, kind):
    """As people run it: the commands, the clients, a service and an issuer in processes of their own."""
    database = f"sqlite:///{folder}/answers.db" if kind == "sqlite" else request.getfixturevalue("server").url
    people = 6
    survey = make(folder, records=people, k=2, invitation_key=pk.collect.new_issuer(folder / "issuer"))
    survey.save(folder / "survey")
    codes = pk.collect.Issuer(folder / "issuer", survey).invite(people + 1)
    service = Process(
        folder / "survey", database, "--issuer", str(folder / "issuer"), "--admin-token-file", token_file(folder)
    )
    service.start()
    url = f"http://127.0.0.1:{service.port}"
    true = Respondents(survey, people).truth
    names = [attribute.name for attribute in survey.plan.schema.randomised]
    sent = []
    try:
        for number in range(people):
            client, store = pk.collect.Client(url), folder / f"device-{number}.json"
            client.claim(to_text(codes[number]), store=store)
            if number == people // 2:
                service.kill()  # the tokens that were taken are still known afterwards
                service.start()
            values = {name: survey.plan.schema.attribute(name).label(int(true[name][number])) for name in names}
            sent.append(json.loads(client.answer(values, store=store)))
        with pytest.raises(pk.RefusedError, match="used already"):
            pk.collect.Client(url).claim(to_text(codes[0]))
        again = Client(service.port)
        assert (
            again.ask("POST", "/answers", sent[0])[0] == 200
        )  # the first token again, after the restart: counted once
        changed = sent[0] | {"record": [1 - sent[0]["record"][0], *sent[0]["record"][1:]]}
        assert again.ask("POST", "/answers", changed)[2]["error"]["code"] == "conflict"
        forged = sent[0] | {"token": to_text(new_token())}
        assert again.ask("POST", "/answers", forged)[2]["error"]["code"] == "token"
        assert again.ask("GET", "/status")[2]["accepted"] == people
        assert again.ask("GET", "/claims")[2] == {"invitations": people + 1, "used": people}
        again.close()
        assert run(["collect", "close", url, "--admin-token-file", token_file(folder)]) == 0
    finally:
        service.stop()
    release = pk.collect.release(survey, database, folder / "out")
    assert release.certificate.collection.mode == "invited, operator can link"
    rows = zip(*(release.codes[name].tolist() for name in names))
    assert sorted(rows) == sorted(tuple(body["record"]) for body in sent)
    assert pk.verify(folder / "out").ok


def token_file(folder):
    path = folder / "admin.token"
    if not path.exists():
        path.write_text("an-admin-token-for-this-test")
        path.chmod(0o600)
    return str(path)


def test_a_token_of_another_survey_is_refused(office, folder):
    survey, _ = office
    key = pk.collect.new_issuer(folder / "foreign")
    foreign = make(folder, invitation_key=key)
    other = pk.collect.Issuer(folder / "foreign", foreign)
    token = new_token()
    blinded = blind(key, token)
    signature = finalize(key, token, blinded.inverse, other.claim(other.invite(1)[0], blinded.request))
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        record = Respondents(survey, 1).records()[0]
        status, _, content = client.ask("POST", "/answers", body_of(survey, token, signature, record))
        assert (status, content["error"]["code"]) == (403, "token")
        assert client.ask("POST", "/claim", {})[0] == 404  # no issuer here


def test_a_strict_survey_redeems_no_invitations_itself(folder):
    key = pk.collect.new_issuer(folder / "issuer")
    survey = make(folder, invitation_key=key, strict=True)
    with pytest.raises(pk.RefusedError, match="strict"):
        pk.collect.app(survey, f"sqlite:///{folder}/answers.db", issuer=pk.collect.Issuer(folder / "issuer", survey))


@pytest.mark.parametrize(
    ("strict", "mode"), [(False, "invited, operator can link"), (True, "invited, unlinkable given separation")]
)
def test_the_certificate_says_which_invitations_there_were(folder, strict, mode):
    survey = make(folder, records=100, invitation_key=pk.collect.new_issuer(folder / "issuer"), strict=strict)
    database = f"sqlite:///{folder}/answers.db"
    store = opened(survey, database)
    store.add(packed(survey, Respondents(survey, 120).bodies()))
    store.close()
    set_stored_state(survey, database, "closed")
    release = pk.collect.release(survey, database, folder / "out")
    assert json.loads((folder / "out" / "certificate.json").read_text())["collection"]["mode"] == mode
    written = " ".join((folder / "out" / "README.txt").read_text().split())
    html = pk.report(folder / "out").html
    for text in (written, html):
        assert "private table" not in text  # nobody ever had one
        assert "the key" not in text
    assert "Nobody ever had a table of the true answers" in written
    assert "Where nobody noted which answer came from whom" in html
    assert "an invitation was good for one answer" in html
    assert ("has not matched answers" in html) == (not strict)
    assert ("redeemed apart from the answers" in html) == strict
    told = " ".join(release.certificate.assumptions)
    assert ("signed blindly" in told) == strict
    assert ("could link an answer" in told) == (not strict)


def test_the_document_asks_for_tokens(office, folder):
    survey, _ = office
    with running(survey, f"sqlite:///{folder}/answers.db") as client:
        fields = client.ask("GET", "/openapi.json")[2]["components"]["schemas"]["Answer"]["required"]
    assert fields == ["survey", "token", "signature", "record"]
