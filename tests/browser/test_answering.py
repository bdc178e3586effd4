"""A survey from the first sentence to the acknowledgement, in a real browser, on the real service."""

import json
import re
import urllib.request

import pytest
from respondent import BADGE, NEVER_AGAIN, PATIENCE, REPLACES, stop_the_clock

import pkanon as pk
from pkanon._collect import device
from pkanon._collect.tokens import to_text


def accepted(site):
    return json.load(urllib.request.urlopen(site.url + "status"))["accepted"]


@pytest.mark.parametrize("database", ["SQLite", "PostgreSQL"])
def test_an_open_survey(request, database, visit):
    open_site = request.getfixturevalue("open_site" if database == "SQLite" else "postgres_site")
    before = accepted(open_site)
    person = visit(open_site.url)
    person.begin()
    person.fill()
    assert person.storage() == {}
    person.send()
    person.sees("Thank you")
    assert accepted(open_site) == before + 1

    body = open_site.bodies("/answers")[-1].decode()
    data = json.loads(body)
    assert set(data) == {"survey", "key", "record"}
    assert data["survey"] == open_site.survey.digest
    assert person.page.locator("code.bytes").text_content() == body  # what is shown is what was sent
    ((name, kept),) = person.storage().items()
    assert kept == '{"done":true}'
    assert data["key"] not in name
    assert person.console == []


def test_what_was_sent_is_shown_once(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.send()
    person.sees("Thank you")
    sent = len(open_site.bodies("/answers"))
    person.page.reload()
    person.sees("Thank you")
    assert "has already sent answers" in person.page.locator("main").inner_text()
    assert person.page.locator("code.bytes").count() == 0
    assert person.page.get_by_role("button", name="Start").count() == 0
    assert len(open_site.bodies("/answers")) == sent


def test_answers_do_not_change_what_leaves(open_site, visit):
    """Two people with different answers, whose devices replace everything: all they send is equal, but for the key."""
    said = []
    for answers in ({}, {"daily": "More than 10", "badge": "7392111", "branch": "B9"}):
        first = len(open_site.wire.sent)
        person = visit(open_site.url, script=REPLACES)
        person.begin()
        person.fill(**answers)
        person.send()
        person.sees("Thank you")
        person.page.context.close()
        key = json.loads(open_site.bodies("/answers")[-1])["key"].encode()
        requests = re.split(rb"(?=GET /|POST /)", b"".join(open_site.wire.sent[first:]).replace(key, b"KEY"))
        said.append(sorted(request for request in requests if request))
    assert open_site.records()[-1] == [0, 0, 0, 1, 0]
    assert said[0] == said[1]
    assert len(said[0]) == 4  # the page, the manifest, the status, the answer


def test_all_answers_are_equally_long(open_site, calculator):
    """As Python's client pads them, to the byte."""
    survey = open_site.survey
    plan, drawn = json.loads(survey.files["plan.json"]), [[0, 0, 0, 0, 0], [1, 2, 1999, 2, 13], [1, 1, 10, 0, 9]]
    script = (
        "(pk, plan, survey, key, all) => all.map((record) => pk.submission(pk.readPlan(plan), survey, { key }, record))"
    )
    bodies = calculator(script, plan, survey.digest, 32 * "a", drawn)
    assert [json.loads(body)["record"] for body in bodies] == drawn
    assert len(set(map(len, bodies))) == 1
    client = pk.collect.Client(open_site.url, survey)
    assert [client._submission({"key": 32 * "a"}, record).decode() for record in drawn] == bodies


def test_no_true_answer_goes_over_the_wire(open_site, visit):
    first = len(open_site.wire.sent)
    person = visit(open_site.url, script=REPLACES)
    urls = []
    person.page.on("request", lambda request: urls.append((request.method, request.url)))
    person.begin()
    person.fill()
    assert [url for _, url in urls if "answers" in url] == []  # nothing between questions
    length = person.page.evaluate("history.length")
    person.send()
    person.sees("Thank you")
    traffic = b"".join(open_site.wire.sent[first:])
    for marker in (BADGE, "1234"):  # the answer, and its code
        assert marker.encode() not in b"".join(open_site.bodies("/answers")[-1:])
    assert BADGE.encode() not in traffic
    assert b"Cookie" not in traffic
    assert b"Referer" not in traffic
    assert person.page.url == open_site.url
    assert person.page.title() == "Smoking at work"
    assert person.page.evaluate("history.length") == length
    assert all(url.startswith(open_site.url) for _, url in urls)


def test_a_lost_reply_counts_once(open_site, visit):
    before, sent = accepted(open_site), len(open_site.bodies("/answers"))
    person = visit(open_site.url, script=NEVER_AGAIN)
    person.begin()
    person.fill()
    open_site.wire.loses_replies_to = b"POST /answers"
    try:
        person.send()
        person.sees("Not sent yet")
    finally:
        open_site.wire.loses_replies_to = None
    assert open_site.wire.lost >= 1
    assert accepted(open_site) == before + 1
    person.page.get_by_role("button", name="Try again now").click()
    person.sees("Thank you")
    assert accepted(open_site) == before + 1
    bodies = open_site.bodies("/answers")[sent:]
    assert len(bodies) >= 2
    assert len(set(bodies)) == 1


def test_pressing_twice_sends_one_answer(open_site, visit):
    before = accepted(open_site)
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.page.evaluate("""() => {
        const button = [...document.querySelectorAll("button")].find((one) => one.textContent === "Send my answers");
        button.click();
        button.click();
    }""")
    person.sees("Thank you")
    assert accepted(open_site) == before + 1


def test_offline_then_online(open_site, visit):
    before = accepted(open_site)
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.page.context.set_offline(True)
    person.send()
    person.sees("Not sent yet")
    (kept,) = person.storage().values()
    waiting = json.loads(kept)
    assert set(waiting) == {"record", "key"}
    shown = person.page.locator("main").inner_text()
    assert str(waiting["record"]) not in shown  # no preview of a draw that was not sent
    assert person.page.locator("code, table, details").count() == 0
    person.page.context.set_offline(False)
    person.sees("Thank you")
    assert accepted(open_site) == before + 1
    assert open_site.records()[-1] == waiting["record"]


def test_a_reload_while_waiting_draws_nothing_new(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.page.route("**/answers", lambda route: route.abort())
    person.send()
    person.sees("Not sent yet")
    (kept,) = person.storage().values()
    person.page.reload()
    person.sees("Not sent yet")
    assert list(person.storage().values()) == [kept]
    person.page.unroute("**/answers")
    person.page.reload()
    person.sees("Thank you")
    assert open_site.records()[-1] == json.loads(kept)["record"]
    assert json.loads(open_site.bodies("/answers")[-1])["key"] == json.loads(kept)["key"]


def test_a_second_window_does_not_draw_again(open_site, visit):
    before = accepted(open_site)
    person = visit(open_site.url)
    person.begin()
    person.fill()
    other = person.page.context.new_page()
    other.goto(open_site.url)
    other.get_by_label("I have read this").check()
    other.get_by_role("button", name="Start").click()
    person.send()
    person.sees("Thank you")
    person.page = other
    person.fill(smokes="No", daily=None)
    person.send()
    person.sees("Thank you")
    assert accepted(open_site) == before + 1


BLOCKED = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('blocked', 'SecurityError'); } });"
)


def test_blocked_storage_is_said_before_anything_is_asked(open_site, visit):
    person = visit(open_site.url, script=BLOCKED)
    person.sees("This browser does not let the page save anything")
    assert person.page.locator("button.action, input").count() == 0


def reply(status, code, retry, headers=None):
    error = {"error": {"code": code, "message": "no", "retry": retry}}
    return lambda route: route.fulfill(status=status, json=error, headers=headers or {})


@pytest.mark.parametrize(
    ("handler", "heading", "words", "kept"),
    [
        (reply(429, "too_many", True, {"Retry-After": "30"}), "Noch nicht gesendet", "nimmt gerade keine", "record"),
        (reply(503, "paused", True), "Noch nicht gesendet", "versucht es von selbst wieder", "record"),
        (
            lambda route: route.fulfill(body="<p>Log in"),
            "Noch nicht gesendet",
            "versucht es",
            "record",
        ),  # a hotel's page
        (lambda route: route.abort(), "Noch nicht gesendet", "nicht erreichbar", "record"),
        (
            reply(410, "closed", False),
            "Diese Umfrage ist beendet",
            "Falls Ihre nicht schon vorher angekommen sind",
            "closed",
        ),
        (reply(409, "conflict", False), "Ihre Antworten konnten nicht gesendet werden", "conflict", "record"),
        (
            reply(422, "other_survey", False),
            "Diese Seite gehört nicht zu dieser Umfrage",
            "keine Antworten angenommen",
            "record",
        ),
    ],
    ids=["too many", "paused", "a login page", "unreachable", "closed", "conflict", "another survey"],
)
def test_refusals_are_told_in_the_readers_language(open_site, visit, handler, heading, words, kept):
    person = visit(open_site.url, locale="de-AT")
    person.page.route("**/answers", handler)
    person.begin("Ich habe das gelesen", "Beginnen")
    person.page.get_by_role("button", name="English").click()
    person.fill()
    person.page.get_by_role("button", name="Deutsch").click()
    person.page.get_by_role("button", name="Antworten senden").click()
    person.sees(heading)
    assert words in person.page.locator("main").inner_text()
    (entry,) = person.storage().values()
    assert kept in json.loads(entry)


def test_a_survey_that_closes_after_a_lost_reply_does_not_say_that_the_answers_are_lost(open_site, visit):
    before = accepted(open_site)
    person = visit(open_site.url, script=NEVER_AGAIN)
    person.begin()
    person.fill()
    open_site.wire.loses_replies_to = b"POST /answers"
    try:
        person.send()
        person.sees("Not sent yet")
    finally:
        open_site.wire.loses_replies_to = None
    assert accepted(open_site) == before + 1  # they did arrive
    person.page.route("**/answers", reply(410, "closed", False))
    person.page.get_by_role("button", name="Try again now").click()
    person.sees("This survey is closed")
    shown = person.page.locator("main").inner_text()
    assert "If yours had not arrived before, they are not counted." in shown
    assert "before your answers arrived" not in shown


def test_a_closed_survey_says_so_at_once(open_site, visit):
    person = visit()
    person.page.route("**/status", lambda route: route.fulfill(json={"state": "closed"}))
    person.page.goto(open_site.url)
    person.sees("This survey is closed")
    assert person.page.locator("button.action").count() == 0


def test_a_service_with_another_survey_is_noticed_before_anything_is_asked(open_site, visit):
    person = visit()
    manifest = json.loads(open_site.survey.files["manifest.json"])
    manifest["files"]["survey.json"] = 64 * "0"
    person.page.route("**/manifest.json", lambda route: route.fulfill(json=manifest))
    person.page.goto(open_site.url)
    person.sees("This page does not belong to this survey")


# --- practice


def test_a_practice_draw_can_be_computed_again_in_python(open_site, visit):
    person = visit(open_site.url)
    page = person.page
    page.get_by_text("For experts").click()
    page.get_by_role("button", name="Test the dice").click()
    person.fill()
    page.get_by_role("button", name="Draw once").click()
    words = json.loads(page.locator("code.bytes").text_content())
    shown = [row.locator("td").nth(1).inner_text() for row in page.locator("#practised tbody tr").all()]
    drawn = device.draw(open_site.survey.plan, [1, 1, 234, 0, 2], device.listed_words(words))
    labels = [
        f"{7391000 + code:,}" if question.labels is None else question.labels[code]["en"]
        for question, code in zip(open_site.survey.questions, drawn)
    ]
    assert [
        text.replace("I prefer not to say", f"{7391000 + 2000:,}") if i == 2 else text for i, text in enumerate(shown)
    ] == labels


def test_many_practice_draws_beside_the_plan(open_site, visit):
    person = visit(open_site.url)
    page = person.page
    page.get_by_text("For experts").click()
    page.get_by_role("button", name="Test the dice").click()
    person.fill()
    page.get_by_role("button", name="Draw 1,000 times").click()
    table = page.get_by_role("table", name="Do you smoke?")
    rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    sent = open_site.survey.data["odds"][0]["sent_of_100"][1]
    assert [round(int(planned) / 10) for planned, _, _ in rows] == sent
    assert sum(int(count) for _, _, count in rows) == 1000
    assert page.locator("#practised table").count() == 5


# --- invitations


def link(site):
    (code,) = site.issuer.invite(1)
    return f"{site.url}#{to_text(code)}", to_text(code)


@pytest.mark.parametrize("database", ["SQLite", "PostgreSQL"])
def test_an_invited_survey(request, database, visit):
    invited_site = request.getfixturevalue("invited_site" if database == "SQLite" else "invited_postgres_site")
    before = accepted(invited_site)
    url, code = link(invited_site)
    person = visit()
    person.page.clock.install()
    person.page.goto(url)
    person.sees("What can others learn about you?")
    assert person.page.url == invited_site.url  # the code left the address bar
    (entry,) = person.storage().values()
    assert set(json.loads(entry)) == {"token", "signature"}  # and the device forgot it
    claim = json.loads(invited_site.bodies("/claim")[-1])
    assert claim["code"] == code
    person.begin()
    person.fill()
    stop_the_clock(person.page)
    person.send()
    person.sees("Sending")
    assert "waits a moment before it sends" in person.page.locator("main").inner_text()
    assert accepted(invited_site) == before  # some time apart from the claim
    person.page.clock.run_for(21_000)
    person.sees("Thank you")
    assert accepted(invited_site) == before + 1
    answer = invited_site.bodies("/answers")[-1].decode()
    assert set(json.loads(answer)) == {"survey", "token", "signature", "record"}
    assert code not in answer
    assert claim["blinded"] not in answer
    assert json.loads(answer)["token"] not in invited_site.bodies("/claim")[-1].decode()
    assert list(person.storage().values()) == ['{"done":true}']
    assert all(b"POST /claim" not in said for said in invited_site.wire.sent if b"POST /answers" in said)
    assert f"GET /{code}".encode() not in invited_site.wire.requests
    assert invited_site.issuer.counts[1] >= 1


def test_an_invitation_serves_one_device(invited_site, visit):
    url, _ = link(invited_site)
    visit(url).sees("What can others learn about you?")
    late = visit(url)
    late.sees("This invitation has been used")
    assert "No answers have been sent from here." in late.page.locator("main").inner_text()  # the code has


def test_an_invitation_can_be_opened_again_on_its_device(invited_site, visit):
    url, _ = link(invited_site)
    person = visit(url)
    person.sees("What can others learn about you?")
    claims = len(invited_site.bodies("/claim"))
    person.page.goto("about:blank")
    person.page.goto(url)
    person.sees("What can others learn about you?")
    assert len(invited_site.bodies("/claim")) == claims


TOKEN = {"token": 43 * "A", "signature": 342 * "A"}


@pytest.mark.parametrize("won", [TOKEN, {"done": True}], ids=["redeemed", "answered"])
@pytest.mark.parametrize("late", ["conflict", "signature"])
def test_a_late_reply_to_a_claim_erases_nothing_that_another_window_has_reached(invited_site, visit, won, late):
    url, _ = link(invited_site)
    person = visit()
    held = []
    person.page.route("**/claim", lambda route: held.append(route))
    person.page.goto(url)
    person.sees("Checking your invitation")
    wait_until(person.page, lambda: held)
    ((place, claim),) = person.storage().items()
    assert set(json.loads(claim)) == {"claim"}
    person.page.evaluate("([place, entry]) => localStorage.setItem(place, entry)", [place, json.dumps(won)])
    if late == "conflict":
        reply(409, "conflict", False)(held[0])
    else:
        held[0].continue_()
    person.sees("Thank you" if "done" in won else "What can others learn about you?")
    assert [json.loads(entry) for entry in person.storage().values()] == [won]


def test_a_winning_claim_is_kept_whatever_a_losing_window_left(invited_site, visit):
    url, _ = link(invited_site)
    person = visit()
    held = []
    person.page.route("**/claim", lambda route: held.append(route))
    person.page.goto(url)
    wait_until(person.page, lambda: held)
    person.page.evaluate("localStorage.clear()")
    held[0].continue_()
    person.sees("What can others learn about you?")
    (entry,) = person.storage().values()
    assert set(json.loads(entry)) == {"token", "signature"}


def test_two_windows_with_one_invitation_make_one_claim(invited_site, visit):
    url, _ = link(invited_site)
    claims = len(invited_site.bodies("/claim"))
    person = visit(invited_site.url)
    person.sees("You need an invitation")
    others = [person.page.context.new_page() for _ in range(3)]
    for other in others:
        other.goto(url, wait_until="commit")
    for other in others:
        other.get_by_role("heading", name="What can others learn about you?").wait_for()
    (entry,) = person.storage().values()
    assert set(json.loads(entry)) == {"token", "signature"}
    assert len(set(invited_site.bodies("/claim")[claims:])) == 1


def wait_until(page, condition):
    for _ in range(PATIENCE // 20):
        if condition():
            return
        page.wait_for_timeout(20)
    raise AssertionError("it did not happen")


def test_a_late_refusal_does_not_undo_an_acknowledgement(open_site, visit):
    person = visit(open_site.url)
    held = []
    person.page.route("**/answers", lambda route: held.append(route))
    person.begin()
    person.fill()
    person.send()
    wait_until(person.page, lambda: held)
    (place,) = person.storage()
    person.page.evaluate("(place) => localStorage.setItem(place, '{\"done\":true}')", place)
    reply(410, "closed", False)(held[0])
    person.sees("Thank you")
    assert person.storage() == {place: '{"done":true}'}


def test_without_locks_everything_works(invited_site, visit):
    url, _ = link(invited_site)
    person = visit(script="Object.defineProperty(navigator, 'locks', { value: undefined });")
    person.page.clock.install()
    person.page.goto(url)
    person.begin()
    person.fill()
    stop_the_clock(person.page)
    person.send()
    person.sees("Sending")
    person.page.clock.run_for(21_000)
    person.sees("Thank you")


def test_a_claim_whose_reply_is_lost_is_made_again(invited_site, visit):
    url, _ = link(invited_site)
    claims = len(invited_site.bodies("/claim"))
    person = visit()
    invited_site.wire.loses_replies_to = b"POST /claim"
    try:
        person.page.goto(url)
        person.page.locator("main").get_by_text("tries again by itself").wait_for()
    finally:
        invited_site.wire.loses_replies_to = None
    person.page.reload()
    person.sees("What can others learn about you?")
    bodies = invited_site.bodies("/claim")[claims:]
    assert len(bodies) >= 2
    assert len(set(bodies)) == 1


def test_without_or_with_a_wrong_invitation(invited_site, visit):
    visit(invited_site.url).sees("You need an invitation")
    wrong = visit(f"{invited_site.url}#{to_text(bytes(16))}")
    wrong.sees("This invitation is not valid")
    assert "No answers have been sent." in wrong.page.locator("main").inner_text()  # the code has


def test_a_key_that_could_tell_people_apart_is_not_used(invited_site, calculator):
    key = invited_site.survey.data["invitation_key"]
    assert calculator("(pk, key) => pk.isProven(key)", key)
    assert not calculator("(pk, key) => pk.isProven(key)", {**key, "proof": key["proof"][::-1]})
    assert not calculator("(pk, key) => pk.isProven(key)", {**key, "proof": key["proof"][:7]})
