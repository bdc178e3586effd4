"""Everybody can use the page: axe-core in every state, the keyboard alone, large text, small screens, two languages."""

import json

import pytest
from asked import SMOKING, survey_of
from axe_playwright_python.sync_playwright import Axe
from respondent import NEVER_AGAIN, hosted

AXE = Axe()
EN = {
    "consent": "I have read this",
    "start": "Start",
    "send": "Send my answers",
    "dice": "Test the dice",
    "once": "Draw once",
    "many": "Draw 1,000 times",
    "end": "End the test and forget these answers",
    "back": "Back",
    "explained": "Back to the explanations",
}
DE = {
    "consent": "Ich habe das gelesen",
    "start": "Beginnen",
    "send": "Antworten senden",
    "dice": "Die Würfel testen",
    "once": "Einmal würfeln",
    "many": "1.000-mal würfeln",
    "end": "Test beenden und diese Antworten vergessen",
    "back": "Zurück",
    "explained": "Zurück zu den Erklärungen",
}


def states(person, url, words):
    """Walks through the page; stops in every state with its name."""
    page = person.page

    def press(name):
        page.get_by_role("button", name=name, exact=True).click()

    def answer():
        page.locator("[data-question='0'] [role=radio]").nth(1).click()
        page.locator("[data-question='1'] [role=radio]:visible").nth(0).click()
        page.locator("#q2").fill("7391234")
        page.locator("[data-question='3'] [role=radio]").nth(0).click()
        page.locator("#q4").select_option("3")

    page.goto(url)
    page.locator("h1").wait_for()
    for summary in page.locator("summary").all():
        summary.click()
    yield "start"
    press(words["start"])
    yield "no consent"
    press("plan.json")
    yield "a file of the page"
    page.get_by_role("button", name=words["back"], exact=True).first.click()
    press(words["dice"])
    press(words["once"])
    yield "practice, nothing answered"
    answer()
    press(words["once"])
    yield "practice, one draw"
    press(words["many"])
    yield "practice, many draws"
    press(words["end"])
    page.get_by_label(words["consent"]).check()
    press(words["start"])
    yield "questions"
    page.locator("#q2").fill("12")
    page.locator("#q4").focus()
    yield "a number that is not possible"
    press(words["send"])
    yield "errors"
    answer()
    page.route("**/answers", lambda route: route.abort())
    press(words["send"])
    page.locator("[data-question]").first.wait_for(state="detached")
    page.locator("main button.action").wait_for()
    yield "not sent yet"
    page.unroute("**/answers")
    page.locator("main button.action").click()
    page.locator("summary").click()
    yield "done"
    press(words["explained"])
    page.locator("main button.action").wait_for()
    yield "what others can learn, afterwards"


@pytest.mark.parametrize(
    ("width", "locale", "words", "scheme"),
    [
        (390, "en-GB", EN, "light"),
        (390, "de-DE", DE, "dark"),
        (1280, "en-GB", EN, "dark"),
        (1280, "de-DE", DE, "light"),
    ],
)
def test_axe_finds_nothing(open_site, visit, width, locale, words, scheme):
    person = visit(script=NEVER_AGAIN, width=width, locale=locale, color_scheme=scheme, reduced_motion="reduce")
    found = {}
    for state in states(person, open_site.url, words):
        results = AXE.run(person.page).response
        assert len(results["passes"]) > 10
        found |= {f"{state}: {rule['id']}": [node["html"] for node in rule["nodes"]] for rule in results["violations"]}
        assert person.page.locator("h1").count() == 1
        assert person.page.evaluate("document.documentElement.lang") == locale[:2]
    assert found == {}


def test_axe_would_find_something(open_site, visit):
    person = visit(open_site.url)
    person.page.get_by_text(open_site.survey.digest).wait_for(state="attached")  # the page has drawn itself again
    person.page.evaluate("document.querySelector('label').replaceWith(document.querySelector('#consent'))")
    assert [rule["id"] for rule in AXE.run(person.page).response["violations"]] == ["label"]


def test_large_text_on_a_small_screen(open_site, visit):
    """At 320 pixels and twice the text, nothing has to be scrolled sideways."""
    person = visit(script=NEVER_AGAIN, width=320, locale="de-DE")
    wide = []
    for state in states(person, open_site.url, DE):
        person.page.evaluate("document.documentElement.style.fontSize = '200%'")
        if person.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(state)
        person.page.evaluate("document.documentElement.style.fontSize = ''")
        if person.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(f"{state}, normal text")
    assert wide == []


def test_targets_are_large_enough_for_fingers(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    small = """[...document.querySelectorAll("button, input, select, summary")].filter((one) => one.offsetParent)
        .map((one) => one.closest("label") ?? one)
        .filter((one) => one.getBoundingClientRect().height < 40).map((one) => one.outerHTML)"""
    assert person.page.evaluate(small) == []


def test_the_keyboard_alone(open_site, visit):
    person = visit(open_site.url)
    page, press = person.page, person.page.keyboard.press
    page.locator("h1").wait_for()
    page.locator("h1").evaluate("(h1) => (h1.tabIndex = -1, h1.focus())")  # the keyboard starts at the top

    def tab_to(name):
        for _ in range(30):
            press("Tab")
            focused = page.evaluate("""() => {
                const one = document.activeElement;
                const label = one.labels?.[0] ?? document.getElementById(one.getAttribute("aria-labelledby")) ?? one;
                return label.textContent;
            }""")
            assert outlined(page), f"no visible focus at {focused}"
            if focused.startswith(name):
                return
        raise AssertionError(f"Tab never reaches {name}")

    tab_to("I have read this")
    press("Space")
    tab_to("Start")
    press("Enter")
    person.sees("Questions")
    assert page.evaluate("document.activeElement.textContent") == "Questions"  # focus is where the new part begins
    tab_to("No")
    press("ArrowDown")  # from No to Yes
    assert page.get_by_role("radio", name="Yes", exact=True).get_attribute("aria-checked") == "true"
    tab_to("1 to 10")  # one stop for each question
    press("Space")
    press("ArrowUp")  # round to the last
    assert page.get_by_role("radio", name="More than 10").get_attribute("aria-checked") == "true"
    tab_to("Which number is on your badge?")
    page.keyboard.type("7391234")
    press("Enter")  # sends nothing
    person.sees("Questions")
    tab_to("For it")
    press("Space")
    tab_to("In which branch do you work?")
    tab_to("Send my answers")
    press("Enter")
    assert page.evaluate("document.activeElement.className") == "errors"  # the menu was left open
    press("Tab")
    assert "In which branch do you work?" in page.evaluate("document.activeElement.textContent")
    press("Enter")
    assert page.evaluate("document.activeElement.id") == "q4"
    press("ArrowDown")
    tab_to("Send my answers")
    press("Enter")
    person.sees("Thank you")
    assert page.evaluate("document.activeElement.textContent") == "Thank you"


def outlined(page):
    return page.evaluate("""() => {
        const style = getComputedStyle(document.activeElement);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    }""")


def test_another_language_keeps_the_answers(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.page.get_by_role("button", name="Deutsch").click()
    page = person.page
    assert page.evaluate("document.activeElement.textContent") == "Deutsch"
    assert page.evaluate("document.documentElement.lang") == "de"
    assert page.title() == "Rauchen am Arbeitsplatz"
    assert page.get_by_role("radio", name="Ja", exact=True).get_attribute("aria-checked") == "true"
    assert page.get_by_role("radio", name="1 bis 10").get_attribute("aria-checked") == "true"
    assert page.get_by_label("Welche Nummer steht auf Ihrem Ausweis?").input_value() == "7391234"
    assert page.get_by_label("In welcher Branche arbeiten Sie?").input_value() == "2"
    assert page.locator(".languages [lang=en]").inner_text() == "English"  # each language in its own words
    assert open_site.survey.digest not in str(person.storage())


def test_a_question_that_depends_on_another(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    daily = person.page.get_by_role("radiogroup", name="How many cigarettes a day?")
    person.choose("Do you smoke?", "No")
    assert daily.count() == 0  # one answer is left, so nobody is asked
    person.choose("Do you smoke?", "Yes")
    assert daily.get_by_role("radio").all_inner_texts() == ["1 to 10", "More than 10"]
    assert daily.locator("[aria-checked=true]").count() == 0  # what followed from No is forgotten


def test_a_number_that_depends_on_another_answer(visit):
    survey = survey_of("""
[survey]
title = "Packs"
organiser = "Institute of Health"
contact = "survey@example.org"
[attributes.smokes]
values = ["no", "yes"]
question = "Do you smoke?"
[attributes.packs]
range = [0, 5]
question = "How many packs a week?"
[[bundles]]
attributes = ["smokes", "packs"]
forbid = [{ smokes = ["no"], packs = [1, 2, 3, 4, 5] }, { smokes = ["yes"], packs = [0] }]
""")
    person = visit()
    hosted(person, survey)
    person.page.goto("https://survey.test/")
    person.begin()
    person.choose("Do you smoke?", "yes")
    packs = person.page.get_by_label("How many packs a week?")
    packs.fill("0")
    person.send()
    assert person.page.get_by_text("does not go together").count() > 0
    person.choose("Do you smoke?", "no")
    assert not packs.is_visible()
    person.send()
    person.sees("Not sent yet")
    (entry,) = person.storage().values()
    assert len(json.loads(entry)["record"]) == 2  # the record has every attribute


def test_messages_go_when_the_answer_comes(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.page.get_by_label("Which number is on your badge?").fill("12")
    person.send()
    field = person.page.locator("[data-question='2']")
    assert "Enter a whole number from 7,391,000 to 7,392,999." in field.inner_text()
    badge = person.page.get_by_label("Which number is on your badge?")
    assert badge.get_attribute("aria-describedby") == "help2 hint2 error2"
    listed = person.page.locator(".errors li")
    before = listed.count()
    badge.fill("7391999")
    assert listed.count() == before - 1
    assert field.locator(".message").count() == 0
    assert badge.get_attribute("aria-describedby") == "help2 hint2"
    assert badge.get_attribute("aria-invalid") is None
    person.fill()
    assert person.page.locator(".errors, .message, .missed").count() == 0


def test_a_language_the_page_has_no_words_for(visit):
    survey = survey_of(SMOKING.replace('"de"]', '"fr"]').replace("de = ", "fr = ").replace('missing = "value"', ""))
    person = visit(locale="fr-FR")
    hosted(person, survey)
    person.page.goto("https://survey.test/")
    assert person.page.locator("html").get_attribute("lang") == "fr"
    assert person.page.get_by_role("button", name="Start").get_attribute("lang") == "en"  # in English, and marked so
    assert AXE.run(person.page).response["violations"] == []
