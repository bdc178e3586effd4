"""What was asked of a plan: read as data where that is certain, kept as it stands where it is not."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pkanon as pk
from pkanon._plan import Asked

NAMES = ("sex", "age", "job")

UNDERSTOOD = {
    "nothing": ({}, Asked()),
    "a simple design": ({"design": "equal-rho", "k": "20"}, Asked(design="equal-rho", k="20")),
    "numbers with all their digits": (
        {"k": "5.50", "epsilon": "1e-05", "central_epsilon": "1E+2", "delta": "1e-8"},
        Asked(k="5.50", epsilon="1e-05", central_epsilon="1E+2", delta="1e-8"),
    ),
    "numbers of attributes": ({"workload": "2", "floor": "3"}, Asked(workload=2, floor=3)),
    "words": ({"workload": "full", "floor": "all"}, Asked(workload="full", floor="all")),
    "no floor": ({"floor": "none"}, Asked(floor="none")),
    "one name": ({"workload": "sex"}, Asked(workload={("sex",): 1.0})),
    "tables": (
        {"workload": "sex,age=2; job=0.5; age", "floor": "age,sex=0.1; job"},
        Asked(workload={("sex", "age"): 2.0, ("job",): 0.5, ("age",): 1.0}, floor={("age", "sex"): 0.1, ("job",): 1.0}),
    ),
    "what became of it": (
        {"weighting": "relative", "fallback": "joint: nothing better was found", "lost": "sex; age,job"},
        Asked(weighting="relative", fallback="joint: nothing better was found", lost=(("sex",), ("age", "job"))),
    ),
}


@pytest.mark.parametrize(("texts", "asked"), UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_texts_that_are_understood(texts, asked):
    read = Asked.from_json(texts, NAMES)
    for name in ("design", "workload", "weighting", "floor", "fallback", "lost", "k", "epsilon", "central_epsilon"):
        assert getattr(read, name) == getattr(asked, name)
    assert read.delta == asked.delta
    assert read.unread == {}
    assert read == asked
    assert read.to_json() == texts


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("note", "made on a Monday"),
        ("unread", "x"),
        ("k", "many"),
        ("k", "nan"),
        ("delta", "inf"),
        ("workload", "02"),
        ("workload", "all"),
        ("workload", "²"),
        ("workload", ""),
        ("workload", "sex,agee"),
        ("workload", "sex;age"),
        ("workload", "sex; sex"),
        ("workload", "sex=1"),
        ("workload", "sex=2.0"),
        ("workload", "sex=much"),
        ("floor", "full"),
        ("floor", "-1"),
        ("lost", ""),
        ("lost", "none"),
        ("lost", "sex=2"),
    ],
)
def test_texts_that_are_not_understood_are_kept(key, text):
    read = Asked.from_json({"design": "optimal", key: text}, NAMES)
    assert read.unread == {key: text}
    assert read == Asked(design="optimal", unread={key: text})
    assert getattr(read, key, None) in (None, (), {key: text})
    assert read.to_json() == {"design": "optimal", key: text}


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        (("a,b", "a", "b"), {"workload": "a,b"}),
        (("a; b", "c"), {"lost": "a; b"}),
        (("a=2", "a"), {"floor": "a=2"}),
        (("2", "a"), {"workload": "2"}),
        (("full", "a"), {"workload": "full"}),
        (("all", "none"), {"floor": "none"}),
    ],
)
def test_where_names_make_a_text_ambiguous_it_is_not_read(names, texts):
    assert Asked.from_json(texts, names).unread == texts


@given(
    st.dictionaries(
        st.sampled_from(["k", "workload", "floor", "lost", "delta", "x"]), st.text("sexag,;= 012.", max_size=9)
    )
)
def test_whatever_a_file_says_is_written_again(texts):
    assert Asked.from_json(texts, ("s", "e", "x", "sex")).to_json() == texts


def test_other_things_than_texts_are_refused():
    with pytest.raises(pk.PlanError, match="must hold texts"):
        Asked.from_json({"k": 5}, NAMES)


def test_equal_records_write_the_same():
    third = Asked(workload={("sex",): 1 / 3})
    assert third == Asked.from_json({"workload": "sex=0.333333"}, NAMES)
    assert hash(third) == hash(Asked(workload={("sex",): 0.333333}))
    assert third != Asked(workload={("sex",): 0.34})
    assert third != third.to_json()


def test_a_record_shows_what_it_has():
    assert (
        repr(Asked(k="5", lost=(("sex",),), unread={"x": "y"})) == "Asked(lost=(('sex',),), k='5', unread={'x': 'y'})"
    )


SCHEMA = pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in zip(NAMES, (2, 5, 9))])
PLANS = {
    "defaults": ({"k": 5}, {"workload": 2, "floor": 3, "k": "5"}),
    "numbers": (
        {"k": np.float64(5.5), "epsilon": Fraction(10, 3)},
        {"k": "5.5", "epsilon": "3.33333333333333333333333333333"},
    ),
    "central": ({"central_epsilon": "1.50"}, {"central_epsilon": "1.50", "delta": "1e-05"}),
    "tables": (
        {"k": 5, "workload": {("job", "sex"): 2}, "floor": {"age": 0.1}},
        {"workload": {("job", "sex"): 2.0}, "floor": {("age",): 0.1}},
    ),
    "lost": ({"k": 5, "workload": ["sex"], "floor": None}, {"floor": "none", "lost": (("age",), ("job",))}),
    "no options of another design": ({"k": 5, "design": "joint"}, {"workload": None, "weighting": None, "floor": None}),
}


@pytest.mark.parametrize(("how", "expected"), PLANS.values(), ids=PLANS)
def test_a_plan_says_the_same_before_and_after_it_is_saved(how, expected, tmp_path):
    plan = pk.plan(SCHEMA, records=10_000, **how)
    plan.save(tmp_path / "plan.json")
    again = pk.read_plan(tmp_path / "plan.json")
    for asked in (plan.asked, again.asked):
        assert {name: getattr(asked, name) for name in expected} == expected
    assert again == plan
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()


def test_a_plan_with_words_of_its_own_opens_and_keeps_them():
    data = json.loads(json.dumps(pk.plan(SCHEMA, records=10_000, k=5).to_json()))
    data["asked"] |= {"by": "the office", "workload": "whatever", "lost": "much"}
    plan = pk.Plan.from_json(data)
    assert plan.to_json() == data
    assert plan.asked.unread == {"by": "the office", "workload": "whatever", "lost": "much"}
    assert (plan.asked.workload, plan.asked.lost, plan.asked.k) == (None, (), "5")
