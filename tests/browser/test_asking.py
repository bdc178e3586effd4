"""What the page says, how it asks, and what happens to answers that were not sent: as people see it, in a real browser."""

import json
import re

import pytest
from asked import SMOKING, survey_of
from respondent import BADGE, hosted, stop_the_clock

from pkanon._collect.tokens import to_text

KEEPS = """
const real = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => (array.byteLength <= 8 ? array.fill(255) : real(array));
"""
"""Random words with which every answer is kept."""
HEAD = """
[survey]
title = { en = "Home", de = "Zuhause" }
organiser = "Office of Statistics"
contact = "home@example.org"
languages = ["en", "de"]
"""
NUMBERS = f"""{HEAD}
[attributes.age]
bins = {{ start = 0, stop = 100, width = 10 }}
ask = "number"
question = {{ en = "How old are you?", de = "Wie alt sind Sie?" }}
[attributes.rent]
bins = {{ edges = [0, 500, 1000] }}
open = "high"
ask = "number"
question = {{ en = "What is your rent?", de = "Wie hoch ist Ihre Miete?" }}
[attributes.size]
bins = {{ edges = [0.5, 20.5, 80.5] }}
type = "number"
ask = "number"
question = {{ en = "How large is your home?", de = "Wie groß ist Ihre Wohnung?" }}
[attributes.built]
range = [1900, 2030]
question = {{ en = "When was it built?", de = "Wann wurde sie gebaut?" }}
"""
ONE = f"""{HEAD}
[attributes.garden]
values = ["no", "yes"]
question = {{ en = "Have you a garden?", de = "Haben Sie einen Garten?" }}
"""


def asked(visit, text, *, records=5_000, k=20, **options):
    """Somebody at the page of a survey that cannot be sent."""
    survey = survey_of(text, records=records, k=k)
    person = visit(**options)
    hosted(person, survey, status={"state": "open"})
    person.page.goto("https://survey.test/")
    person.page.locator("h1").wait_for()
    return person, survey


# --- what it says


CLAIMS = {
    "en-GB": (
        "nobody who looks at the data alone can tell which row is yours with better odds than 1 in 20.",
        "We could, if we noted when your answer came.",
    ),
    "de-DE": (
        "Wer nur dort nach Ihrer Zeile sucht, liegt höchstens in 1 von 20 Fällen richtig.",
        "wenn wir festhielten, wann Ihre Antwort eintraf.",
    ),
}


@pytest.mark.parametrize("locale", CLAIMS)
def test_the_condition_is_as_large_as_the_claim(open_site, visit, locale):
    claim, condition = CLAIMS[locale]
    lead = visit(open_site.url, locale=locale).page.locator(".lead")
    words = lead.inner_text()
    assert claim in words
    assert condition in words
    assert "5,000" in words or "5.000" in words
    assert lead.locator("*").count() == 0  # one paragraph, one size


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_k_is_claimed_of_data_that_hold_as_many_people(open_site, visit, locale):
    """Not once so many have answered: a batch may hold fewer, and hides its people among its own rows only."""
    words = visit(open_site.url, locale=locale).page.locator(".lead").inner_text()
    condition = "Once 5,000 people are in the data" if locale == "en-GB" else "Sobald 5.000 Personen in den Daten sind"
    assert words.startswith(condition)


@pytest.mark.parametrize(("locale", "words"), [("en-GB", "kept the results"), ("de-DE", "die Ergebnisse aufgehoben")])
def test_results_that_somebody_kept_are_named(open_site, visit, locale, words):
    page = visit(open_site.url, locale=locale).page
    page.locator("[data-details=whoLearns] summary").click()
    assert words in page.locator("[data-details=whoLearns] tr").last.inner_text()


@pytest.mark.parametrize(
    ("text", "records", "k", "locale", "lead", "hint"),
    [
        (ONE, 200, 100, "en-GB", "1 in 100", "It can be a hint."),
        (ONE, 500_000, 20, "en-GB", "1 in 20", "It can be a strong hint."),  # 99 of 100 are sent as they answered
        (ONE, 200, 100, "de-DE", "1 von 100", "Das kann ein Hinweis sein."),
        (ONE, 500_000, 20, "de-DE", "1 von 20", "Das kann ein starker Hinweis sein."),
        (
            ONE,
            5_000,
            1.2,
            "de-DE",
            "Was Ihr Gerät sendet, ist ein starker Hinweis",
            "Das kann ein starker Hinweis sein.",
        ),
        (NUMBERS, 5_000, 1.2, "en-GB", "What your device sends is a strong hint", "It can be a strong hint."),
        (NUMBERS, 200, 100, "en-GB", "1 in 100", "It can be a hint."),
    ],
)
def test_how_much_a_row_says_is_said_by_the_plan(visit, text, records, k, locale, lead, hint):
    page = asked(visit, text, records=records, k=k, locale=locale)[0].page
    page.locator("[data-details=whoLearns] summary").click()
    assert lead in page.locator(".lead").inner_text()
    assert hint in page.locator("[data-details=whoLearns]").inner_text()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["de-DE", "de", "en-US", "en"], "de"),  # what browsers in Germany ask for
        (["fr-FR", "en-US", "de"], "en"),
        (["fr"], "en"),
        (["de-CH"], "de"),
    ],
)
def test_the_page_speaks_the_language_that_the_reader_wants_most(visit, wanted, expected):
    script = f"Object.defineProperty(navigator, 'languages', {{ get: () => {wanted!r} }});"
    person, _ = asked(visit, ONE, script=script)
    assert person.page.locator("html").get_attribute("lang") == expected


def test_a_region_is_chosen_before_another_one(visit):
    text = ONE.replace('["en", "de"]', '["en", "de-DE", "de-CH"]').replace("de =", "de-DE =")
    text = re.sub(r'de-DE = ("[^"]*")', r"de-DE = \1, de-CH = \1", text)
    person, _ = asked(visit, text, locale="de-CH")
    assert person.page.locator("html").get_attribute("lang") == "de-CH"


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_questions_begin_on_the_first_screen_of_a_phone(open_site, visit, locale):
    page = visit(open_site.url, locale=locale).page
    start = page.get_by_role("button", name="Start" if locale == "en-GB" else "Beginnen", exact=True)
    start.wait_for()
    box = start.bounding_box()
    assert box["y"] + box["height"] <= 844
    assert page.locator("details[open]").count() == 0


def test_what_the_service_says_moves_nothing_that_a_finger_may_be_on(open_site, visit):
    page, held = visit().page, []
    page.route("**/manifest.json", lambda route: held.append(route))
    page.goto(open_site.url)
    start = page.get_by_role("button", name="Start", exact=True).element_handle()
    hashes = page.locator("[data-details=experts] dd")
    assert hashes.count() == 1
    held[0].continue_()
    hashes.nth(2).wait_for(state="attached")
    assert start.evaluate("(button) => button.isConnected")


def test_a_long_introduction_can_be_opened(visit):
    first, rest = 20 * "We ask about homes. ", 20 * "It is a long story. "
    intro = f'intro = {{ en = "{first}{rest}", de = "Kurz." }}\n'
    person, _ = asked(visit, ONE.replace("organiser", intro + "organiser"))
    shown = person.page.locator("main p").first.inner_text()
    assert 100 < len(shown) <= 240
    assert shown.endswith("homes.")
    more = person.page.get_by_text("More about this survey")
    assert not person.page.get_by_text("It is a long story.").is_visible()
    more.click()
    opened = person.page.locator("[data-details=more] p").inner_text()
    assert f"{shown} {opened}" == (first + rest).strip()


@pytest.mark.parametrize(
    ("text", "records", "k", "amount", "least", "most"),
    [
        (ONE, 100_000, 20, "a few", 0, 10),
        (ONE, 200, 100, "about half of the", 40, 60),
        (SMOKING, 5_000, 20, "most", 60, 90),
    ],
)
def test_how_many_answers_are_replaced_is_said_by_the_plan(visit, text, records, k, amount, least, most):
    person, survey = asked(visit, text, records=records, k=k)
    assert f"Your device replaces {amount} answers at random" in person.page.locator("main").inner_text()
    rows = [odds["sent_of_100"] or [[odds["kept_of_100"]]] for odds in survey.data["odds"]]
    kept = [sum(row[min(code, len(row) - 1)] for code, row in enumerate(some)) / len(some) for some in rows]
    assert least <= 100 - sum(kept) / len(kept) <= most


def test_an_answer_that_is_sent_less_often_than_chance(visit):
    person, survey = asked(visit, SMOKING)
    person.page.get_by_text("How it works, in numbers").click()
    kept = survey.data["odds"][0]["sent_of_100"][0][0]
    words = person.page.locator("[data-details=how]").inner_text()
    assert kept < 50
    assert "less often than pure chance would send them; the statistics correct for it." in words
    assert f"picking blindly would send about 50 as “No”; here it is about {kept}." in words
    person, _ = asked(visit, ONE)
    person.page.get_by_text("How it works, in numbers").click()
    assert "pure chance" not in person.page.locator("[data-details=how]").inner_text()


def test_a_plan_that_keeps_numbers_less_often_than_chance(visit):
    """An optimal design with a negative rho: 12 people of 100 keep one of seven values, and a blind draw keeps 14."""
    numbers = "".join(
        f'[attributes.{name}]\nrange = [1, {high}]\nquestion = {{ en = "{name}?", de = "{name}?" }}\n'
        for name, high in (("rooms", 7), ("people", 9))
    )
    person, survey = asked(visit, ONE + numbers, records=200, k=100)
    assert min(survey.plan.rho.values()) < 0
    kept = survey.data["odds"][1]["kept_of_100"]
    assert kept < 14
    person.page.get_by_text("How it works, in numbers").click()
    words = person.page.locator("[data-details=how]").inner_text()
    assert f"who answer “1” to “rooms?”, picking blindly would send about 14 as “1”; here it is about {kept}." in words


def test_the_table_has_the_least_and_the_most_of_the_plan(visit):
    person, survey = asked(visit, SMOKING)
    person.page.get_by_text("How it works, in numbers").click()
    cells = person.page.locator("[data-details=how] tbody tr").first.locator("td").all_inner_texts()
    kept = [row[code] for code, row in enumerate(survey.data["odds"][0]["sent_of_100"])]
    low, high = min(kept), max(kept)
    assert low < high == survey.data["odds"][0]["kept_of_100"]
    assert cells == [f"{low} to {high}", f"{100 - high} to {100 - low}"]


@pytest.mark.parametrize(
    ("locale", "table", "row", "parts"),
    [
        (
            "en-GB",
            "Who can learn what",
            "A court or an authority",
            [
                "orders us to hand them over",
                "order us to note",
                "nobody can tell for certain which answers in a row are true",
            ],
        ),
        (
            "de-DE",
            "Wer was erfahren kann",
            "Ein Gericht oder eine Behörde",
            [
                "Herausgabe anordnet",
                "von da an festhalten",
                "niemand mit Gewissheit sagen, welche Antworten in einer Zeile wahr sind",
            ],
        ),
        ("en-GB", "Who can learn what", "Somebody who watches your connection", ["took part, and when"]),
        ("de-DE", "Wer was erfahren kann", "Wer Ihre Verbindung beobachtet", ["teilgenommen haben, und wann"]),
        (
            "en-GB",
            "Who can learn what",
            "What is not protected",
            ["note the time and your address", "fewer left to search"],
        ),
        (
            "de-DE",
            "Wer was erfahren kann",
            "Was nicht geschützt ist",
            ["Uhrzeit und Ihre Adresse festhalten", "unter weniger Zeilen"],
        ),
    ],
)
def test_what_the_table_says_of_a_court_a_watcher_and_what_is_not_protected(
    open_site, visit, locale, table, row, parts
):
    page = visit(open_site.url, locale=locale).page
    page.get_by_text(table).click()
    said = page.get_by_role("row", name=row).get_by_role("cell").inner_text()
    assert [part for part in parts if part not in said] == []
    assert "nirgends" not in said
    assert "nowhere" not in said


# --- consent


@pytest.mark.parametrize("key", ["mouse", "keyboard"])
def test_a_box_that_was_not_ticked_says_so_beside_it(open_site, visit, key):
    page = visit(open_site.url).page
    start = page.get_by_role("button", name="Start", exact=True)
    start.focus()
    if key == "mouse":
        start.click()
    else:
        page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "consent"
    box, error = page.locator("#consent"), page.locator("#consent-error")
    assert box.get_attribute("aria-describedby") == "consent-error"
    assert box.get_attribute("aria-invalid") == "true"
    label = page.locator("label[for=consent]").bounding_box()
    assert 0 <= error.bounding_box()["y"] - label["y"] - label["height"] <= 16
    page.get_by_role("button", name="Deutsch").click()
    assert error.inner_text() == "Setzen Sie hier das Häkchen, wenn Sie teilnehmen möchten."
    box.check()
    assert error.count() == 0
    assert box.get_attribute("aria-describedby") is box.get_attribute("aria-invalid") is None


def test_messages_follow_the_language(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.page.get_by_label("Which number is on your badge?").fill("12")
    person.send()
    page = person.page
    before = page.locator(".errors li").count()
    page.get_by_role("button", name="Deutsch").click()
    assert page.locator(".errors li").count() == before
    words = page.locator(".errors").inner_text() + " ".join(page.locator(".message").all_inner_texts())
    assert "Wählen Sie eine Antwort." in words
    assert "Geben Sie eine ganze Zahl von 7.391.000 bis 7.392.999 ein." in words
    assert "Choose" not in words
    assert "Enter" not in words


# --- questions


def test_an_optional_question_may_stay_open(open_site, visit):
    person = visit(open_site.url, script=KEEPS)
    person.begin()
    page = person.page
    badge = page.locator("[data-question='2']")
    assert "(optional)" in badge.locator("legend").inner_text()
    assert "You may leave this open. It then counts as “I prefer not to say”." in badge.inner_text()
    assert page.locator("[data-question='0'] [data-open]").count() == 0
    person.choose("Do you smoke?", "Yes")
    person.choose("How many cigarettes a day?", "1 to 10")
    page.get_by_label("In which branch do you work?").select_option(label="B3")
    person.send()
    person.sees("Thank you")
    assert open_site.records()[-1] == [1, 1, 2000, 2, 2]  # both open questions have their last code: no answer


def test_an_emptied_field_counts_as_open(open_site, visit):
    person = visit(open_site.url, script=KEEPS)
    person.begin()
    person.fill()
    person.page.get_by_label("Which number is on your badge?").fill("")
    person.send()
    person.sees("Thank you")
    assert open_site.records()[-1] == [1, 1, 2000, 0, 2]


def test_an_open_answer_that_others_rule_out_is_asked_for(visit):
    text = f"""{HEAD}
[attributes.garden]
values = ["no", "yes", "shared"]
question = {{ en = "Have you a garden?", de = "Haben Sie einen Garten?" }}
[attributes.trees]
values = ["none", "some", "many"]
missing = "value"
question = {{ en = "Has it trees?", de = "Hat er Bäume?" }}
[[bundles]]
attributes = ["garden", "trees"]
forbid = [{{ garden = ["no"], trees = ["some", "many", ""] }}, {{ garden = ["yes"], trees = [""] }}]
"""
    person, _ = asked(visit, text)
    person.begin()
    trees = person.page.locator("[data-question='1']")
    person.choose("Have you a garden?", "shared")
    assert "(optional)" in trees.inner_text()
    person.choose("Have you a garden?", "yes")
    assert "optional" not in trees.inner_text()
    assert "leave this open" not in trees.inner_text()
    person.send()
    assert "Choose an answer." in trees.inner_text()


@pytest.mark.parametrize(
    ("locale", "question", "typed", "group"),
    [
        ("en-GB", "How old are you?", "37", "Counted as 30-39"),
        ("en-GB", "How old are you?", " 9 ", "Counted as 0-9"),
        ("en-GB", "What is your rent?", "1,200", "Counted as 1000+"),
        ("de-DE", "Wie hoch ist Ihre Miete?", "1.200", "Zählt als 1000+"),
        ("de-DE", "Wie groß ist Ihre Wohnung?", "20,4", "Zählt als 0,5 bis unter 20,5"),
    ],
)
def test_the_group_of_a_number_is_shown(visit, locale, question, typed, group):
    person, _ = asked(visit, NUMBERS, locale=locale)
    person.begin(*(("Ich habe das gelesen", "Beginnen") if locale == "de-DE" else ()))
    field = person.page.get_by_label(question)
    field.fill(typed)
    shown = person.page.locator("[role=status]").filter(has_text=group)
    assert shown.inner_text() == group
    assert shown.get_attribute("id") in field.get_attribute("aria-describedby").split()
    field.fill("none")
    assert shown.count() == 0


@pytest.mark.parametrize(
    ("question", "typed", "message", "german"),
    [
        ("How old are you?", "100", "Enter a whole number from 0 to 99.", "Geben Sie eine ganze Zahl von 0 bis 99 ein."),
        ("How old are you?", "-1", "Enter a whole number from 0 to 99.", "Geben Sie eine ganze Zahl von 0 bis 99 ein."),
        ("How old are you?", "3.5", "Enter a whole number from 0 to 99.", "Geben Sie eine ganze Zahl von 0 bis 99 ein."),
        ("What is your rent?", "-5", "Enter a whole number, 0 or more.", "Geben Sie eine ganze Zahl ein, 0 oder mehr."),
        ("How large is your home?", "80.5", "Enter a number from 0.5 to below 80.5.", "Geben Sie eine Zahl von 0,5 bis unter 80,5 ein."),
        ("When was it built?", "1899", "Enter a whole number from 1900 to 2030.", "Geben Sie eine ganze Zahl von 1900 bis 2030 ein."),
    ],
)  # fmt: skip
def test_a_number_that_is_not_possible_is_told_beside_its_field(visit, question, typed, message, german):
    person, _ = asked(visit, NUMBERS)
    person.begin()
    page = person.page
    field = page.get_by_label(question)
    place = field.get_attribute("id").removeprefix("q")
    error = page.locator(f"#error{place}")
    field.fill(typed)
    assert error.count() == 0  # not while somebody types
    page.keyboard.press("Tab")
    assert error.inner_text() == message
    assert 0 <= field.bounding_box()["y"] - error.bounding_box()["y"] <= 80
    assert field.get_attribute("aria-invalid") == "true"
    assert f"error{place}" in field.get_attribute("aria-describedby").split()
    assert page.locator("#live").inner_text() == message
    assert page.locator(".errors").count() == 0
    page.get_by_role("button", name="Deutsch").click()
    assert error.inner_text() == german
    page.get_by_role("button", name="Antworten senden").click()
    assert page.locator(".errors li").count() == 4
    assert person.storage() == {}
    page.locator(f"#q{place}").fill("20" if place != "3" else "1999")
    assert error.count() == 0
    assert page.locator(f"#q{place}").get_attribute("aria-invalid") is None


# --- leaving


def test_leaving_with_answers_is_asked_first(open_site, visit):
    person = visit(open_site.url)
    page, asked_first = person.page, []
    page.on("dialog", lambda dialog: (asked_first.append(dialog.type), dialog.dismiss()))
    person.begin()
    assert "If you leave or reload this page before, your answers are lost" in page.locator("main").inner_text()
    page.get_by_label("Which number is on your badge?").fill(BADGE)
    page.evaluate("setTimeout(() => location.reload())")
    while not asked_first:
        page.wait_for_timeout(20)
    assert asked_first == ["beforeunload"]
    assert page.get_by_label("Which number is on your badge?").input_value() == BADGE
    assert person.storage() == {}
    page.get_by_label("Which number is on your badge?").fill("")
    page.reload()  # nothing to lose, so nobody is asked
    person.sees("What can others learn about you?")
    assert asked_first == ["beforeunload"]


def test_after_the_draw_nobody_is_asked(open_site, visit):
    person = visit(open_site.url)
    asked_first = []
    person.page.on("dialog", lambda dialog: (asked_first.append(dialog.type), dialog.accept()))
    person.begin()
    person.fill()
    person.page.route("**/answers", lambda route: route.abort())
    person.send()
    person.sees("Not sent yet")
    person.page.reload()
    person.sees("Not sent yet")
    assert asked_first == []


def test_back_keeps_the_answers_in_the_page(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    page = person.page
    page.go_back()
    person.sees("What can others learn about you?")
    assert page.url == open_site.url
    assert "Your answers are still here" in page.locator("main").inner_text()
    assert page.evaluate("JSON.stringify(history.state)") == "null"
    page.go_forward()
    person.sees("Questions")
    assert page.get_by_label("Which number is on your badge?").input_value() == BADGE
    assert BADGE not in page.evaluate("JSON.stringify(history.state)")
    page.get_by_role("button", name="Back to the explanations").click()
    page.get_by_role("button", name="Go on with my answers").click()
    assert page.get_by_role("radio", name="Yes", exact=True).get_attribute("aria-checked") == "true"
    assert person.storage() == {}


def test_practice_leaves_the_answers_alone(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    page = person.page
    page.go_back()
    page.get_by_text("For experts").click()
    page.get_by_role("button", name="Test the dice").click()
    assert page.get_by_label("Which number is on your badge?").input_value() == ""
    person.fill(badge="7392000")
    page.get_by_role("button", name="Draw once").click()
    page.go_back()
    page.get_by_role("button", name="Go on with my answers").click()
    assert page.get_by_label("Which number is on your badge?").input_value() == BADGE


def test_back_after_sending_sends_nothing_again(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.send()
    person.sees("Thank you")
    sent = len(open_site.bodies("/answers"))
    person.page.go_back()
    person.page.wait_for_timeout(200)
    person.sees("Thank you")
    assert person.page.get_by_role("button", name="Start").count() == 0
    assert len(open_site.bodies("/answers")) == sent


# --- ways back


def test_what_was_sent_can_be_closed_and_the_words_read_again(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.send()
    person.sees("Thank you")
    page = person.page
    page.get_by_text("See what was sent").click()
    assert "nobody else can tell for certain which of them are true" in page.locator("main").inner_text()
    sent = page.locator("code.bytes").inner_text()
    page.get_by_role("button", name="Close this view").click()
    assert not page.locator("code.bytes").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "See what was sent"
    page.get_by_role("button", name="Back to the explanations").click()
    person.sees("What can others learn about you?")
    assert page.locator("#consent").count() == 0
    page.get_by_role("button", name="Back", exact=True).click()
    person.sees("Thank you")
    page.get_by_text("See what was sent").click()
    assert page.locator("code.bytes").inner_text() == sent


@pytest.mark.parametrize("name", ["plan.json", "survey.json", "The program of this page"])
@pytest.mark.parametrize("way", ["button", "browser"])
def test_a_file_can_be_read_and_left_again(open_site, visit, name, way):
    person = visit(open_site.url)
    page = person.page
    page.get_by_label("I have read this").check()
    page.get_by_text("For experts").click()
    page.get_by_role("button", name=name).click()
    person.sees(name)
    shown = page.locator("code.bytes").text_content()
    held = open_site.survey.files.get(name, open_site.survey.files["pkanon.js"]).decode()
    assert shown == held or (name not in open_site.survey.files and shown.startswith(held))
    if way == "button":
        page.get_by_role("button", name="Back", exact=True).first.click()
    else:
        page.go_back()
    person.sees("What can others learn about you?")
    assert page.locator("#consent").is_checked()
    assert page.get_by_role("button", name=name).is_visible()  # as it was left


# --- waiting


def test_an_invitation_shows_how_far_it_is(invited_site, visit):
    (code,) = invited_site.issuer.invite(1)
    person = visit()
    page, held, early = person.page, [], []
    page.expose_function("seen", lambda words: early.append(words))
    page.add_init_script("""let last = "";
        new MutationObserver(() => {
            const words = document.getElementById("live")?.textContent ?? "";
            if (words !== last) window.seen((last = words));
        }).observe(document, { childList: true, subtree: true });""")
    page.route("**/claim", lambda route: held.append(route))
    page.goto(f"{invited_site.url}#{to_text(code)}")
    page.locator("main").get_by_text("Step 2 of 3").wait_for()
    bar = page.get_by_role("progressbar", name="Checking your invitation")
    assert bar.is_visible()
    assert 0 < float(bar.get_attribute("value")) < float(bar.get_attribute("max"))
    assert page.locator("#live").get_attribute("role") == "status"
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    person.sees("What can others learn about you?")
    assert [words[:11] for words in early if words] == ["Step 1 of 3", "Step 2 of 3", "Step 3 of 3"]


def test_the_wait_before_sending_shows_how_far_it_is(invited_site, visit):
    (code,) = invited_site.issuer.invite(1)
    person = visit()
    page = person.page
    page.clock.install()
    page.goto(f"{invited_site.url}#{to_text(code)}")
    person.begin()
    person.fill()
    stop_the_clock(page)
    person.send()
    person.sees("Sending")
    bar = page.get_by_role("progressbar", name="Sending")
    first = bar.evaluate("(bar) => bar.value / bar.max")
    page.clock.run_for(3_000)
    assert first < bar.evaluate("(bar) => bar.value / bar.max") < 1
    page.clock.run_for(21_000)
    person.sees("Thank you")


def test_the_whole_link_put_into_the_same_window(invited_site, visit):
    (code,) = invited_site.issuer.invite(1)
    person = visit(invited_site.url)
    person.sees("You need an invitation")
    person.page.goto(f"{invited_site.url}#{to_text(code)}")  # only what follows # is new, so nothing is loaded
    person.sees("What can others learn about you?")
    assert person.page.url == invited_site.url
    (entry,) = person.storage().values()
    assert set(json.loads(entry)) == {"token", "signature"}
