"""survey.toml: what it says, and what is refused."""

import pytest
from asked_people import SURVEY

import pkanon as pk
from pkanon._collect.questionnaire import parse_questionnaire, read_questionnaire

ONE = """\
[survey]
title = "Homes"
organiser = "Office"
contact = "office@example.org"
[attributes.rooms]
{rooms}
"""
ROOMS = 'range = [1, 9]\nquestion = "How many rooms?"'


def one(rooms=ROOMS, top=""):
    return parse_questionnaire(top + ONE.format(rooms=rooms))


def test_the_words_of_a_survey():
    asked = parse_questionnaire(SURVEY)
    assert asked.title == {"en": "Smoking at work", "de": "Rauchen bei der Arbeit"}
    assert asked.languages == ("en", "de")
    assert asked.schema.names == ("smokes", "packs", "age")
    smokes, packs, age = asked.questions
    assert (smokes.type, smokes.optional, smokes.range, smokes.edges) == ("choice", True, None, None)
    assert smokes.help == {"en": "Tobacco only.", "de": "Nur Tabak."}
    assert [label["de"] for label in smokes.labels] == ["Nein", "Ja", "Möchte ich nicht sagen"]
    assert (packs.type, packs.range, packs.labels, packs.optional) == ("number", (0, 5), None, False)
    assert (age.type, age.edges, age.open) == ("number", ("20", "30", "40", "50", "60"), "both")


def test_one_language_needs_no_tables():
    asked = one()
    assert asked.title == {"en": "Homes"}
    assert asked.intro is None
    assert asked.questions[0].question == {"en": "How many rooms?"}


def test_bins_and_labelled_ranges_are_lists():
    bins = one('bins = { start = 0, stop = 20, width = 10 }\nquestion = "Rooms?"').questions[0]
    assert [label["en"] for label in bins.labels] == ["0-9", "10-19"]
    labelled = one('range = [1, 3]\nquestion = "Rooms?"\nlabels = { 1 = "one", 3 = "three or more" }').questions[0]
    assert [label["en"] for label in labelled.labels] == ["one", "2", "three or more"]
    other = one('values = ["a", "b"]\nother = "c"\nquestion = "?"\nlabels = { c = "something else" }').questions[0]
    assert [label["en"] for label in other.labels] == ["a", "b", "something else"]


LONG = f"values = {list(map(str, range(201)))!r}\nquestion = '?'"
REFUSED = {
    "a hierarchy": ('hierarchy = { file = "x.csv" }\nquestion = "?"', "write them instead of a hierarchy"),
    "a coarse code list": ('codes = { list = "isced2011", level = 1 }\nquestion = "?"', "nothing is merged"),
    "a notation": ('range = [0, 9999]\nthousands = "."\nquestion = "?"', "no text file is read"),
    "merged": ('values = ["a", "b"]\nmerge = { a = ["c"] }\nquestion = "?"', "nothing is merged; leave out merge"),
    "no question": ("range = [1, 9]", "say what people are asked"),
    "an empty question": ('range = [1, 9]\nquestion = " "', "question: write a text on one line"),
    "a question of two lines": ('range = [1, 9]\nquestion = "a\\nb"', "question: write a text on one line"),
    "a hidden character": ('range = [1, 9]\nquestion = "a\\u202eb"', "question: write a text on one line"),
    "another role": ('role = "id"\nquestion = "?"\n[attributes.b]\nrange = [1, 2]\nquestion = "?"', "its role is 'id'"),
    "passed through": (
        'role = "pass"\nquestion = "?"\n[attributes.b]\nrange = [1, 2]\nquestion = "?"',
        "nothing that is not randomised",
    ),
    "too many values": (LONG, "at most 200 can be shown"),
    "too many of a range in a list": ('range = [1, 201]\nquestion = "?"\nask = "choice"', "at most 200"),
    "an unknown way to ask": ('range = [1, 9]\nquestion = "?"\nask = "slider"', "write choice or number"),
    "a number of texts": ('values = ["a", "b"]\nquestion = "?"\nask = "number"', "for ranges and for bins"),
    "labels of a number": ('range = [1, 9]\nquestion = "?"\nask = "number"\nlabels = { 1 = "a" }', "belong to a list"),
    "other of a number": ('range = [1, 9]\nother = 0\nquestion = "?"', "leave out other"),
    "a label of no value": ('values = ["a", "b"]\nquestion = "?"\nlabels = { z = "Z" }', "'z' is unknown"),
    "a label of what cannot be left open": ('values = ["a", "b"]\nquestion = "?"\nlabels = { "" = "-" }', 'missing = "value"'),
    "two values that look alike": ('values = ["a", "b"]\nquestion = "?"\nlabels = { a = "b" }', "the same label"),
    "labels that are no table": ('values = ["a", "b"]\nquestion = "?"\nlabels = ["a", "b"]', "write labels ="),
    "an unknown language": ('range = [1, 9]\nquestion = { fr = "?" }', 'write languages = \\["en", "fr"\\]'),
    "an unknown key": ('range = [1, 9]\nquestion = "?"\nshown = true', "the key 'shown' is unknown"),
    "numbers a browser does not know": (
        f'range = [{2**53}, {2**53 + 5}]\nquestion = "?"', "not exact in a browser"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rooms", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_attributes(rooms, message):
    with pytest.raises(pk.SchemaError, match=message):
        one(rooms)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("attributes.a.values = ['x', 'y']", "has no table \\[survey\\]"),
        ("[survey", "not valid TOML"),
        (SURVEY.replace('organiser = "Institute of Health"', ""), "has no organiser"),
        (
            SURVEY.replace('contact = "survey@example.org"', ""),
            'has no contact; people are told it: write contact = "..."',
        ),
        (
            SURVEY.replace('title = { en = "Smoking at work", de', 'title = { en = "S", fr'),
            "title: the language fr is not one of the survey's",
        ),
        (SURVEY.replace(', de = "Rauchen Sie?"', ""), "the language de is absent"),
        (SURVEY.replace('{ en = "Do you smoke?", de = "Rauchen Sie?" }', '"Smoke?"'), "several languages"),
        (
            SURVEY.replace('languages = ["en", "de"]\n', ""),
            r'the language de is not .* write languages = \["en", "de"\]',
        ),
        (SURVEY.replace('["en", "de"]', '["en", "en"]'), "different language tags"),
        (SURVEY.replace('["en", "de"]', '["English"]'), "language tags"),
        (SURVEY.replace("[survey]", "[survey]\nlogo = 1"), "'logo' is unknown"),
        ('domains = "drafted"\n' + SURVEY, "has no data yet"),
        ('others = "drop"\n' + SURVEY, "no columns but its questions"),
    ],
)
def test_refused_surveys(text, message):
    with pytest.raises(pk.SchemaError, match=message):
        parse_questionnaire(text)


def test_an_order_and_a_code_list_are_as_good_as_values():
    grades = one('codes = "isced2011"\nquestion = "?"').schema.attribute("rooms")
    assert (grades.size, grades.ordered, grades.merge) == (9, True, {})
    assert one('values = ["a", "b"]\nordered = true\nquestion = "?"').schema.attribute("rooms").ordered


def test_no_answer_has_a_label_in_every_language():
    text = ONE.format(rooms='values = ["a", "b"]\nmissing = "value"\nquestion = "?"').replace(
        'title = "Homes"', 'title = "Homes"\nlanguages = ["fr"]'
    )
    with pytest.raises(pk.SchemaError, match="shown in the language fr"):
        parse_questionnaire(text)
    asked = parse_questionnaire(text + 'labels = { "" = "sans réponse" }')
    assert asked.questions[0].labels[-1] == {"fr": "sans réponse"}


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(pk.InputError, match="Cannot read the survey"):
        read_questionnaire(tmp_path / "none.toml")
    (tmp_path / "survey.toml").write_bytes(b"\xff")
    with pytest.raises(pk.SchemaError, match="not UTF-8"):
        read_questionnaire(tmp_path / "survey.toml")
