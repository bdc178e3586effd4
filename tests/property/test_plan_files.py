"""plan.json: what goes in comes out equal, and what is damaged is refused.

A damaged plan either raises PlanError or SchemaError, or it *is* a plan: then reading it and writing
it again gives the same text. Nothing is skipped, guessed or converted on the way, because that would
change what a published plan means.
"""

import copy
import datetime as dt
import json
from fractions import Fraction

import pytest
from dense import unit_of
from hypothesis import given, settings
from hypothesis import strategies as st

import pkanon as pk
from pkanon._blocks import Matrix, Retention
from pkanon._design import DESIGNS

RICH = pk.Schema(
    [
        pk.Attribute("patient", role="id"),
        pk.Attribute("sex", ["F", "M"], missing="value", missing_values=["", "NA"]),
        pk.Attribute.binned("age", start=0, stop=90, width=15, open="high", missing="value"),
        pk.Attribute("education", ["none", "school", "degree"], other="other"),
        pk.Attribute.binned("born", edges=[dt.date(1900, 1, 1), dt.date(1950, 1, 1), dt.date(2000, 1, 1)], open="both"),
        pk.Attribute("seen", [dt.date(2020, 1, 1), dt.date(2021, 2, 3)]),
        pk.Attribute.binned("height", edges=[1.0, 1.5, 2.25], labels=["short", "tall"]),
        pk.Attribute.ranged("zip", 0, 99, missing="value", other=-1),
        pk.Attribute("smokes", [True, False]),
        pk.Attribute("dose", [0.5, 1.0, 1e-7]),
        pk.Attribute("note", role="drop"),
        pk.Attribute("region", role="pass"),
    ],
    [
        pk.Bundle(
            ["age", "education"],
            [{"age": ["0-14"], "education": ["degree", "school"]}, {"age": [""], "education": ["other"]}],
        )
    ],
    drafted=True,
)


def rich_plan():
    return pk.plan(
        RICH,
        records=1000,
        k="1.5",
        epsilon=Fraction(40),
        hide_count="9/10",
        matrices={
            "smokes": [[0.9, 0.1], [0.3, 0.7]],
            "seen": pk.TransitionMatrix.invariant([1, 2], 0.5),
        },
    )


PLANS = {
    "rich": rich_plan(),
    "joint": pk.plan(
        pk.Schema(
            [pk.Attribute("b", ["x", "y"]), pk.Attribute("a", ["x", "y", "z"])],
            [pk.Bundle(["a", "b"], [{"a": ["x"], "b": ["y"]}])],
        ),
        records=50,
        k=7.5,
        design="joint",
    ),
    "wide": pk.plan(pk.Schema([pk.Attribute.ranged("a", 1, 10**6)]), records=10**9, k=999_999_000),
    "by hand": pk.Plan(
        pk.Schema([pk.Attribute("a", ["x", "y"]), pk.Attribute("b", ["x", "y"])]),
        (
            Matrix(unit_of(2, names="b"), ((2**64, 0), (1, 2**64 - 1)), 64, True),
            Retention(unit_of(2, names="a"), 0, 16),
        ),
        2**53,
    ),
    "confirmed": pk.plan(
        pk.Schema([pk.Attribute("a", ["x", "y"])], confirmed_by="J. Doe", rows_are="one person"), records=9, epsilon=1
    ),
    "hidden count": pk.plan(
        pk.Schema([pk.Attribute("a", ["x", "y"])]), records=1, epsilon=3, hide_count=Fraction(1, 3)
    ),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_round_trip(plan, tmp_path):
    again = pk.Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    assert again.digest == plan.digest
    assert again.to_json() == plan.to_json()
    assert (again.k, again.epsilon, again.epsilon_unbounded) == (plan.k, plan.epsilon, plan.epsilon_unbounded)
    assert (again.data_dependent, again.schema.drafted) == (plan.data_dependent, plan.schema.drafted)
    plan.save(tmp_path / "plan.json")
    assert pk.read_plan(tmp_path / "plan.json") == plan
    with pytest.raises(pk.InputError, match="exists already"):
        plan.save(tmp_path / "plan.json")


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_file_holds_no_floats(plan):
    def floats(value):
        if isinstance(value, dict):
            return [f for item in value.values() for f in floats(item)]
        if isinstance(value, list):
            return [f for item in value for f in floats(item)]
        return [value] if isinstance(value, float) else []

    assert floats(plan.to_json()) == []


def test_codes_survive_the_round_trip():
    again = pk.Plan.from_json(json.loads(json.dumps(PLANS["rich"].to_json())))
    for before, after in zip(PLANS["rich"].schema.attributes, again.schema.attributes):
        assert list(after.labels()) == list(before.labels())
        assert [after.code(label) for label in _inputs(after)] == [before.code(label) for label in _inputs(before)]


def _inputs(attribute):
    """One private value for some codes."""
    values = {
        "sex": ["F", "M", None],
        "age": [0, 14, 15, 89, 90, 200, None],
        "education": ["none", "degree", "unheard of"],
        "born": [dt.date(1800, 1, 1), dt.date(1950, 1, 1), dt.date(2020, 1, 1)],
        "height": [1.0, 1.49, 2.0],
        "zip": [0, 99, 100, None],
        "dose": [1e-7, 1.0],
        "smokes": [True, False],
    }
    return values.get(attribute.name, [])


@settings(max_examples=100)
@given(st.data())
def test_random_plans_round_trip(data):
    sizes = data.draw(st.lists(st.integers(2, 6), min_size=1, max_size=5))
    names = [f"a{i}" for i in range(len(sizes))]
    attributes = []
    for name, size in zip(names, sizes):
        labels = st.lists(
            st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=4),
            min_size=size,
            max_size=size,
            unique=True,
        )
        other, missing = data.draw(st.booleans()), data.draw(st.sampled_from(["reject", "value"]))
        listed = data.draw(labels)
        attributes.append(pk.Attribute(name, listed, other="".join(listed) + "!" if other else None, missing=missing))
    bundles = []
    if len(names) > 2:
        first, second = attributes[0], attributes[1]
        rule = {first.name: [next(iter(first.labels()))], second.name: [next(iter(second.labels()))]}
        bundles = [pk.Bundle(names[:2], [rule] if data.draw(st.booleans()) else [])]
    schema = pk.Schema(attributes, bundles, drafted=data.draw(st.booleans()))
    records = data.draw(st.integers(2, 10**9))
    plan = pk.plan(
        schema,
        records=records,
        epsilon=data.draw(st.fractions(Fraction(1, 10), 5)),
        design=data.draw(st.sampled_from(DESIGNS)),
    )
    again = pk.Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    assert again.digest == plan.digest


def test_equal_plans_have_equal_digests_and_others_have_others():
    digests = {plan.digest for plan in PLANS.values()}
    assert len(digests) == len(PLANS)
    schema = pk.Schema([pk.Attribute("a", ["x", "y"])])
    for other in (
        pk.plan(pk.Schema([pk.Attribute("a", ["y", "x"])]), records=10, epsilon=1),
        pk.plan(schema, records=11, epsilon=1),
        pk.plan(schema, records=10, epsilon="1.0001"),
        pk.plan(pk.Schema(schema.attributes, drafted=True), records=10, epsilon=1),
    ):
        assert other.digest != pk.plan(schema, records=10, epsilon=1).digest
    assert pk.plan(schema, records=10, epsilon=1).digest == pk.plan(schema, records=10, epsilon=1).digest


JUNK = [
    None,
    True,
    False,
    -1,
    0,
    1,
    7,
    1.5,
    2.0,
    float("inf"),
    float("nan"),
    10**30,
    "",
    "junk",
    "1.5",
    "-1",
    "1e3",
    " 1 ",
]
JUNK += ["١", [], [[]], ["junk"], [None], [-1], [True], [10**30], {}, {"junk": 1}]


def places(value, path=()):
    """The path of everything in a JSON value, the value itself included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def replaced(value, path, junk):
    """A copy with the item at ``path`` replaced."""
    if not path:
        return junk
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = junk
    return value


def removed(value, path):
    """A copy without the item at ``path``."""
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return value


def added(value, path):
    """A copy with a key nobody knows in the object at ``path``; None if that is no object."""
    value = copy.deepcopy(value)
    inner = value
    for key in path:
        inner = inner[key]
    if not isinstance(inner, dict):
        return None
    inner["junk"] = "junk"
    return value


def written(data):
    """The text of a plan without its ``approx`` entries, which are for other readers and ignored by ours."""
    data = copy.deepcopy(data)
    for block in data["blocks"]:
        block.pop("approx", None)
    return json.dumps(data, sort_keys=True)


def problem_with(damaged):
    """What is wrong with how a damaged plan is received; None if nothing is."""
    try:
        plan = pk.Plan.from_json(damaged)
    except (pk.PlanError, pk.SchemaError):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    try:
        same = written(plan.to_json()) == written(damaged)
    except Exception as error:
        return f"accepted, but cannot be written: {type(error).__name__}: {error}"
    if type(plan.records) is not int:
        return "accepted with a record count that is no integer"
    return None if same else "accepted as something else than it says"


def kind_of_place(path):
    """A path without its numbers, so that one test covers all places of a kind."""
    return ".".join("*" if isinstance(key, int) else key for key in path) or "the whole"


def damage():
    """Places of a kind, with the plan they are in: ``blocks.*.width`` -> [(plan, path), ...]."""
    found = {}
    for name in ("rich", "joint", "confirmed"):
        data = json.loads(json.dumps(PLANS[name].to_json()))
        for path in places(data):
            if "approx" not in path:
                found.setdefault(kind_of_place(path), []).append((data, path))
    return {kind: cases[:12] for kind, cases in found.items()}  # a matrix has many places alike


@pytest.mark.parametrize("cases", damage().values(), ids=damage())
def test_damaged_plans_are_refused(cases):
    problems = {}
    for data, path in cases:
        variants = {repr(junk): replaced(data, path, junk) for junk in JUNK}
        if path:
            variants["removed"] = removed(data, path)
        unknown = added(data, path)
        if unknown is not None and path != ("asked",):  # what was asked for may be recorded freely, as texts
            variants["an unknown key"] = unknown
        for what, damaged in variants.items():
            if problem := problem_with(damaged):
                problems[f"{path}: {what}"] = problem
    assert not problems


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "3", '"plan"', "{}", '{"format": "pkanon-plan/2"}', '{"format": "pkanon-plan/1"}']
)
def test_files_that_are_no_plans_are_refused(text, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises((pk.PlanError, pk.SchemaError)):
        pk.read_plan(path)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[" * 100_000, b'{"format": ' + b"1" * 5000 + b"}"])
def test_files_that_are_no_text_or_far_too_deep_are_refused(content, tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(pk.InputError):
        pk.read_plan(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(pk.InputError, match="Cannot read"):
        pk.read_plan(tmp_path / "nowhere.json")


def test_a_key_given_twice_is_refused(tmp_path):
    # JSON readers disagree about which one counts, so a plan with two of them has two meanings
    plan = PLANS["hidden count"]
    text = json.dumps(plan.to_json()).replace('"records": 1,', '"records": 1000000, "records": 1,')
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(pk.PlanError):
        pk.read_plan(path)


def test_a_plan_is_for_all_attributes_once():
    schema = pk.Schema([pk.Attribute("a", ["x", "y"]), pk.Attribute("b", ["x", "y"])])
    a, b = Retention(unit_of(2), 2**30, 32), Retention(unit_of(2, names="b"), 2**30, 32)
    for blocks in ((a,), (a, a), (a, b, b), (a, b, Retention(unit_of(2, names="c"), 1, 32)), ()):
        with pytest.raises(pk.PlanError, match="exactly once"):
            pk.Plan(schema, blocks, 10)
    with pytest.raises(pk.PlanError, match="different sizes"):
        pk.Plan(schema, (a, Retention(unit_of(3, names="b"), 1, 32)), 10)


@pytest.mark.parametrize("records", [0, -1, 2**53 + 1, 1.5, "10", None, True])
def test_record_counts_that_are_none_are_refused(records):
    schema = pk.Schema([pk.Attribute("a", ["x", "y"])])
    with pytest.raises(pk.InputError):
        pk.Plan(schema, (Retention(unit_of(2), 2**30, 32),), records)
    with pytest.raises(pk.InputError):
        pk.plan(schema, records=records, epsilon=1)


@pytest.mark.parametrize(("replace", "width"), [(-1, 32), (2**31 + 1, 32), (1, 8), (1, 128), (1, 0), (2**15 + 1, 16)])
def test_retention_that_needs_more_words_than_there_are_is_refused(replace, width):
    with pytest.raises(pk.PlanError):
        Retention(unit_of(2), replace, width)


@pytest.mark.parametrize(
    "rows",
    [
        ((2**16, 0),),
        ((2**16, 0), (0, 1)),
        ((2**16 + 1, -1), (0, 2**16)),
        ((2**16,), (2**16,)),
        ((2**15, 2**15, 0), (2**15, 2**15, 0)),
    ],
)
def test_a_matrix_whose_rows_are_not_whole_is_refused(rows):
    with pytest.raises(pk.PlanError):
        Matrix(unit_of(2), rows, 16)
