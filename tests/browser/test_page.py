"""The page as a file: self-contained, the same bytes for the same survey, and closed to everything else."""

import base64
import hashlib
import json
import re
from importlib import resources
from types import SimpleNamespace

import pytest
from asked import SMOKING, survey_of
from marking_keys import marking_key
from respondent import hosted

from pkanon._collect.page import assemble_page, module
from pkanon._collect.serving import KEPT_SECONDS, make_server
from pkanon._collect.survey import to_bytes
from pkanon._collect.tokens import PrivateKey, to_text
from pkanon._errors import InputError

HOSTILE = r"""</script><script>document.title='broken'</script><!-- "quoted" & 'so' \u003c \\u003c {{style}} $& é"""
EVIL = SMOKING.replace('"Smoking at work"', f'"""{HOSTILE.replace(chr(92), chr(92) * 2)}"""', 1)


@pytest.fixture(scope="module")
def survey():
    return survey_of()


def policy(page):
    text = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)[1]
    return dict(part.split(" ", 1) for part in text.split("; "))


def element(page, tag, **attributes):
    given = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return re.search(f"<{tag}{given}>(.*?)</{tag}>", page, re.DOTALL)[1]


def test_the_same_files_give_the_same_page(survey):
    files = survey.files
    assert assemble_page(files["survey.json"], files["plan.json"]) == files["index.html"]


def test_the_module_is_in_the_page_byte_for_byte(survey):
    assert survey.files["pkanon.js"] == module()
    assert module() in survey.files["index.html"]


def test_the_policy_names_one_script_and_one_style(survey):
    page = survey.files["index.html"].decode()

    def hashed(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert policy(page) == {
        "default-src": "'none'",
        "script-src": hashed(element(page, "script", type="module")),
        "style-src": hashed(element(page, "style")),
        "img-src": "data:",
        "connect-src": "'self'",
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    assert page.count("<script") == 3
    assert not re.search(r"\s(src|style|on\w+)=\"", page.split("<script", 1)[0])


def test_the_policy_names_the_addresses_of_the_survey(survey):
    data = {**survey.data, "service": "https://a.example/deep/", "issuer": "https://b.example:8443"}
    page = assemble_page(json.dumps(data).encode(), survey.files["plan.json"]).decode()
    assert policy(page)["connect-src"] == "'self' https://a.example https://b.example:8443"


def test_an_address_cannot_add_to_the_policy(survey):
    data = {**survey.data, "service": "https://a.example;script-src *"}
    with pytest.raises(InputError, match="not a web address"):
        assemble_page(json.dumps(data).encode(), survey.files["plan.json"])


@pytest.mark.parametrize("content", [b'{"a": "\\u003c"}', b'{"a":\r\n1}'])
def test_files_that_cannot_be_restored_are_refused(survey, content):
    with pytest.raises(InputError, match="not in the form that pkanon writes"):
        assemble_page(content[:-1] + b', "languages": ["en"], "title": {"en": ""}}', survey.files["plan.json"])


def test_words_cannot_break_out_of_the_page(visit):
    survey = survey_of(EVIL)
    person = visit()
    hosted(person, survey, status={"state": "open"})
    person.page.goto("https://survey.test/")
    person.sees("What can others learn about you?")
    assert person.page.locator("h1").inner_text() == re.sub(r"\s+", " ", HOSTILE)
    assert person.page.title() == HOSTILE
    person.page.get_by_text("For experts").click()
    assert (
        survey.digest in person.page.locator("dl").inner_text()
    )  # its own hashes fit: what it holds is what is published
    assert hashlib.sha256(survey.files["index.html"]).hexdigest() in person.page.locator("dl").inner_text()


def test_nothing_else_runs_and_nothing_goes_elsewhere(visit, survey):
    person = visit()
    hosted(person, survey)
    person.page.route("https://elsewhere.test/**", lambda route: route.fulfill(body="reached"))
    person.page.goto("https://survey.test/")
    result = person.page.evaluate("""async () => {
        const blocked = [];
        addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        const reached = await fetch("https://elsewhere.test/").then(() => true, () => false);
        const image = new Image();
        image.src = "https://elsewhere.test/a.png";
        document.body.setAttribute("style", "color: red");
        const form = document.createElement("form");
        form.action = "https://elsewhere.test/form";
        document.body.append(form);
        form.submit();
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { blocked: blocked.sort(), reached, ran: Boolean(window.ran) };
    }""")
    expected = ["connect-src", "form-action", "img-src", "script-src-elem", "style-src-attr"]
    assert result == {"blocked": expected, "reached": False, "ran": False}
    assert person.page.url == "https://survey.test/"


def test_without_scripts_nothing_can_be_typed_or_sent(visit, survey):
    person = visit(java_script_enabled=False)
    hosted(person, survey)
    person.page.goto("https://survey.test/")
    text = person.page.locator("body").inner_text()
    assert "This page needs JavaScript" in text
    assert "Diese Seite braucht JavaScript" in text
    assert person.page.locator("form, input, select, textarea, button").count() == 0


def test_an_address_without_https(visit, survey):
    person = visit()
    hosted(person, survey, "http://survey.test/")
    person.page.goto("http://survey.test/")
    person.sees("This address is not secure")


def test_a_key_that_could_mark_people_is_told_before_anything_is_sent(visit):
    private = PrivateKey.generate()
    honest = survey_of(invitation_key=private.public)
    changed = to_bytes({**honest.data, "invitation_key": marking_key(1009).to_json()})
    files = {**honest.files, "survey.json": changed, "index.html": assemble_page(changed, honest.files["plan.json"])}
    person = visit()
    hosted(person, SimpleNamespace(files=files))
    asked = []
    person.page.on("request", lambda request: asked.append(request.method))
    person.page.goto(f"https://survey.test/#{to_text(bytes(16))}")
    person.sees("This survey cannot be trusted with invitations")
    assert asked == ["GET"]  # the page itself
    assert person.storage() == {}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("locale", "table", "row", "same", "apart"),
    [
        ("en-GB", "Who can learn what", "Whoever invited you", "the same address", "staying apart"),
        ("de-DE", "Wer was erfahren kann", "Wer Sie eingeladen hat", "derselben Adresse", "getrennt bleibt"),
    ],
)
def test_who_could_match_an_invitation_is_said_by_address_and_mode(visit, strict, locale, table, row, same, apart):
    survey = survey_of(invitation_key=PrivateKey.generate().public, strict=strict)
    place = f"pkanon {hashlib.sha256(survey.files['survey.json']).hexdigest()}"
    redeemed = json.dumps({"token": "AA", "signature": "AA"})
    person = visit(locale=locale, script=f"localStorage.setItem({place!r}, {redeemed!r})")
    hosted(person, survey, status={"state": "open"})
    person.page.goto("https://survey.test/")
    person.page.get_by_text(table).click()
    said = person.page.get_by_role("row", name=row).get_by_role("cell").inner_text()
    assert re.search("address|adress", said, re.IGNORECASE)
    assert (same in said) is not strict
    assert (apart in said) is strict


def test_the_page_waits_longer_than_the_service_keeps_a_connection():
    least = int(re.search(r"APART = \{ least: (\d+)", SOURCE)[1])
    assert make_server(None).config.timeout_keep_alive == KEPT_SECONDS < least


# --- from a disk


@pytest.mark.parametrize("invited", [False, True])
def test_from_a_disk_without_an_address_it_can_be_tested_but_not_answered(visit, tmp_path, invited):
    survey = survey_of(invitation_key=PrivateKey.generate().public if invited else None)
    (tmp_path / "index.html").write_bytes(survey.files["index.html"])
    person = visit(f"{(tmp_path / 'index.html').as_uri()}#{to_text(bytes(16))}")
    person.sees("What can others learn about you?")
    page = person.page
    assert "it does not say where answers go" in page.locator("main").inner_text()
    assert page.get_by_role("button", name="Start", exact=True).count() == page.locator("input").count() == 0
    page.get_by_text("For experts").click()
    page.get_by_role("button", name="Test the dice").click()
    person.fill()
    page.get_by_role("button", name="Draw once").click()
    assert page.locator("code.bytes").count() == 1
    assert person.storage() == {}


def test_from_a_disk_with_the_address_of_the_service(open_site, visit, tmp_path):
    (tmp_path / "index.html").write_bytes(open_site.survey.files["index.html"])
    person = visit((tmp_path / "index.html").as_uri())
    person.begin()
    person.fill()
    person.send()
    person.sees("Thank you")
    body = open_site.bodies("/answers")[-1].decode()
    assert person.page.locator("code.bytes").text_content() == body
    assert json.loads(body)["survey"] == open_site.survey.digest


# --- words

SOURCE = resources.files("pkanon._collect.page").joinpath("page.js").read_text(encoding="utf-8")
TABLES = {
    language: dict(re.findall(r'^    (\w+): "((?:[^"\\]|\\.)*)",$', table, re.MULTILINE))
    for language, table in re.findall(r"^  (\w\w): \{\n(.*?)^  \},$", SOURCE, re.MULTILINE | re.DOTALL)
}


def test_every_language_has_every_word():
    assert set(TABLES) == {"en", "de"}
    assert len(TABLES["en"]) > 90
    assert list(TABLES["de"]) == list(TABLES["en"])
    for key, text in TABLES["en"].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", TABLES["de"][key])), key


def test_every_word_is_used():
    code = SOURCE.split("// ---------------------------------------------------------------- what the page knows")[1]
    unused = [key for key in TABLES["en"] if not re.search(rf'"{key}"', code) and not key.endswith("Learn")]
    assert unused == []


@pytest.mark.parametrize("language", TABLES)
def test_words_that_frighten_or_promise_too_much_are_avoided(language):
    avoided = re.compile(
        r"noise|perturb|\blies?\b|false answer|anonym|traced|rauschen|\blüge|falsche antwort|sicher ", re.I
    )
    assert [key for key, text in TABLES[language].items() if avoided.search(text) and key != "insecure"] == []
    assert [key for key, text in TABLES[language].items() if "epsilon" in text.lower()] == ["factor"]
