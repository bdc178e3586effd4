"""The survey folder: complete, hashed, never changed."""

import hashlib
import json

import pytest
from asked_people import SURVEY, small_survey

import pkanon as pk
from pkanon._collect import tokens
from pkanon._collect.survey import FILES, MANIFEST, Survey, least_step, to_bytes


@pytest.fixture(scope="module")
def survey():
    return small_survey()


@pytest.fixture(scope="module")
def key():
    return tokens.PrivateKey.generate()


def test_the_folder_is_the_survey(survey, tmp_path):
    survey.save(tmp_path / "survey")
    assert sorted(path.name for path in (tmp_path / "survey").iterdir()) == sorted([*FILES, MANIFEST])
    read = Survey.read(tmp_path / "survey")
    assert read == survey
    assert read.digest == hashlib.sha256((tmp_path / "survey" / MANIFEST).read_bytes()).hexdigest()
    assert read.questions == survey.questions
    assert pk.read_plan(tmp_path / "survey" / "plan.json") == read.plan
    manifest = json.loads((tmp_path / "survey" / MANIFEST).read_text())
    assert manifest["plan_digest"] == read.plan.digest
    for name in FILES:
        assert manifest["files"][name] == hashlib.sha256((tmp_path / "survey" / name).read_bytes()).hexdigest()
    with pytest.raises(pk.InputError, match="exists already"):
        survey.save(tmp_path / "survey")


def test_equal_surveys_have_equal_bytes(survey):
    assert small_survey().files == survey.files
    assert small_survey(SURVEY.replace("Tobacco only.", "Tobacco.")).digest != survey.digest


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_a_changed_file_is_refused(survey, tmp_path, name):
    survey.save(tmp_path / "survey")
    path = tmp_path / "survey" / name
    path.write_bytes(path.read_bytes() + b" ")
    if name == MANIFEST:  # white space: another survey, by its digest
        assert Survey.read(tmp_path / "survey").digest != survey.digest
        return
    with pytest.raises(pk.InputError, match=f"{name} differs"):
        Survey.read(tmp_path / "survey")


def test_an_incomplete_folder_is_refused(survey, tmp_path):
    with pytest.raises(pk.InputError, match="not the folder of a survey"):
        Survey.read(tmp_path)
    survey.save(tmp_path / "survey")
    (tmp_path / "survey" / "pkanon.js").unlink()
    with pytest.raises(pk.InputError, match="Cannot read the survey"):
        Survey.read(tmp_path / "survey")
    client = Survey({name: survey.files[name] for name in ("plan.json", "survey.json", MANIFEST)})
    assert client.digest == survey.digest
    with pytest.raises(pk.InputError, match="without its page"):
        client.save(tmp_path / "again")


def changed(survey, **changes):
    """The survey with other words, hashed anew."""
    data = to_bytes({**survey.data, **changes})
    files = {**survey.files, "survey.json": data}
    hashes = {name: hashlib.sha256(files[name]).hexdigest() for name in FILES}
    manifest = {"format": "pkanon-survey-manifest/1", "plan_digest": survey.plan.digest, "files": hashes}
    return {**files, MANIFEST: to_bytes(manifest)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "pkanon-survey/2"}, "not in the format"),
        ({"extra": 1}, "not in the format"),
        ({"plan_digest": "0" * 64}, "another plan"),
        ({"expected": 7}, "another plan"),
        ({"questions": []}, "other attributes"),
        ({"questions": [{}]}, "damaged"),
        ({"results_every": 50}, "too often"),
    ],
)
def test_words_that_do_not_fit_the_plan_are_refused(survey, changes, message):
    assert Survey(changed(survey)) == survey
    with pytest.raises(pk.InputError, match=message):
        Survey(changed(survey, **changes))


def test_results_change_in_steps():
    assert small_survey().results_every == 101  # 5 k, and k is a little more than 20
    assert small_survey(k=2).results_every == 50
    assert small_survey(results_every=250).results_every == 250
    with pytest.raises(pk.InputError, match="every 101 answers or more"):
        small_survey(results_every=100)
    assert least_step(small_survey(k=200).plan) == 1_001


def test_surveys_that_promise_nothing_are_refused():
    from pkanon._collect import make_survey
    from pkanon._collect.questionnaire import parse_questionnaire

    words = parse_questionnaire(SURVEY)
    hidden = pk.plan(words.schema, records=500, k=5, hide_count="9/10")
    with pytest.raises(pk.TargetError, match="cannot hide how many"):
        make_survey(words, hidden)
    identity = pk.Matrix(
        pk.Unit(("age",), (6,)), tuple(tuple(2**16 * (i == j) for i in range(6)) for j in range(6)), 16, True
    )
    others = pk.plan(words.schema, records=500, k=5, design="equal-rho").blocks[0]
    assert others.attributes == ("smokes", "packs")
    with pytest.raises(pk.TargetError, match="promises nothing"):
        make_survey(words, pk.Plan(words.schema, (others, identity), 500))


@pytest.mark.parametrize("target", [{"records": 10**8, "k": 20}, {"records": 500, "epsilon": 20}])
def test_surveys_that_replace_hardly_anything_are_refused(tmp_path, target):
    """The page would count one person of 100 whose answer is replaced, where there is none."""
    text = SURVEY.split("[attributes.packs]")[0]
    (tmp_path / "survey.toml").write_text(text)
    with pytest.raises(pk.TargetError, match=r"Answers to 'smokes' .* fewer than 1 person in 200"):
        pk.collect.new(tmp_path / "survey.toml", **target)
    assert pk.collect.new(tmp_path / "survey.toml", **{**target, "epsilon": 3}).plan.epsilon <= 3


def test_invitations(key):
    survey = small_survey(invitation_key=key.public, strict=True, issuer="https://issuer.example.org/")
    assert (survey.mode, survey.strict, survey.issuer) == ("invited", True, "https://issuer.example.org")
    assert survey.public_key == key.public
    assert str(key.p) not in "".join(content.decode() for content in survey.files.values())
    open_survey = small_survey()
    assert (open_survey.mode, open_survey.strict, open_survey.public_key) == ("open", False, None)
    for options in ({"strict": True}, {"issuer": "https://issuer.example.org"}):
        with pytest.raises(pk.InputError, match="belong to invitations"):
            small_survey(**options)


@pytest.mark.parametrize(
    "url",
    [
        "survey.example.org",
        "ftp://a.example",
        "https://",
        "https://a.example/?x=1",
        "https://a.example/#x",
        "https://me@a.example",
        "https://x.example;script-src *",
        "https://x.example;script-src%20*",
        "https://x.example'",
        'https://x.example">',
        "https://*.example",
        "https://x.example https://y.example",
        "https://x.exam\nple",
        "https://x.example\n",
        "https://-x.example",
        "https://x..example",
        "https://x.example:99999",
        "https://x.example:0",
        "https://x.example:*",
        "https://[::1",
        "https://[:::::]",
        "https://x.example/a;b",
        'https://x.example/"',
        "https://é.example",
    ],
)
def test_addresses(url):
    with pytest.raises(pk.InputError, match="not a web address"):
        small_survey(service=url)


def test_addresses_that_are_kept():
    assert small_survey(service="https://a.example/survey/").service == "https://a.example/survey"
    for url in (
        "http://127.0.0.1:8000",
        "http://[::1]:8000/a",
        "https://xn--9ca.example",
        "https://A-1.example/~me/a%20b",
    ):
        assert small_survey(service=url).service == url


def test_an_address_in_a_survey_of_others_is_checked(survey):
    for url in ("https://x.example;script-src *", "https://x.example/", 3):
        with pytest.raises(pk.InputError, match="address"):
            Survey(changed(survey, service=url))
