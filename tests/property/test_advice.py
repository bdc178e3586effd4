"""Whatever is asked of an adviser is promised and kept, or refused: the same random questions in every run."""

import math

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pkanon as pk

LIMITS = {"fair": 0.3, "good": 0.1}


@st.composite
def attributes(draw, number):
    name = f"a{number}"
    missing = draw(st.sampled_from(["reject", "value"]))
    match draw(st.sampled_from(["list", "ordered", "range", "bins"])):
        case "list":
            return pk.Attribute(
                name, [f"v{i}" for i in range(draw(st.sampled_from([2, 2, 3, 5, 12])))], missing=missing
            )
        case "ordered":
            return pk.Attribute(name, [f"v{i}" for i in range(draw(st.integers(2, 9)))], ordered=True, missing=missing)
        case "range":
            low = draw(st.integers(-9, 2))
            return pk.Attribute.ranged(name, low, low + draw(st.sampled_from([1, 4, 30, 10**6])), missing=missing)
        case _:
            ends = draw(st.sampled_from(["none", "low", "high", "both"]))
            return pk.Attribute.binned(name, start=0, stop=100, width=draw(st.sampled_from([5, 20])), open=ends)


@st.composite
def questions(draw):
    count = draw(st.integers(1, 5))
    schema = pk.Schema([draw(attributes(number)) for number in range(count)], drafted=draw(st.booleans()))
    records = draw(st.sampled_from([20, 500, 5_000, 10**6]))
    asked = {
        "records": records,
        "k": draw(st.sampled_from([2, 20, records // 2])),
        "level": draw(st.sampled_from([*LIMITS])),
    }
    some = st.lists(st.sampled_from(schema.names), min_size=1, max_size=2, unique=True)
    asked |= draw(st.fixed_dictionaries({}, optional={"keep": some, "tables": some.map(lambda table: [table])}))
    return schema, asked | draw(st.fixed_dictionaries({}, optional={"min_columns": st.integers(1, count)}))


@given(questions())
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_an_advice_is_kept_by_the_plan_of_its_schema(question):
    schema, asked = question
    try:
        advice = pk.advise(schema, **asked)
    except pk.TargetError:
        smallest = min((a for a in schema.randomised), key=lambda a: a.size)  # refused: at least not what is easy
        easy = pk.plan(pk.Schema([smallest]), records=asked["records"], k=asked["k"])
        assert {*asked} & {"keep", "tables", "min_columns"} or easy.readable().worst.l1 >= LIMITS[asked["level"]]
        return
    plan = pk.plan(advice.schema, records=asked["records"], k=asked["k"], workload=advice.workload)
    tables = asked.get("tables") or [table.attributes for table in plan.readable().tables]
    assert all(plan.predict(*table).l1 < LIMITS[asked["level"]] for table in tables)
    kept = {attribute.name for attribute in advice.schema.randomised}
    assert kept >= {*asked.get("keep", ()), *(name for table in asked.get("tables", ()) for name in table)}
    assert len(kept) >= asked.get("min_columns", 1)
    assert advice.schema.drafted == schema.drafted
    assert advice.schema.names == schema.names
    assert len(advice.steps) == sum(a != b for a, b in zip(schema.attributes, advice.schema.attributes))
    assert all(math.isfinite(step.worst) for step in advice.steps)


def test_the_promise_is_about_the_plan_and_not_about_the_forecast(monkeypatch):
    """A forecast that says that all is well is not believed."""
    from pkanon._design.advising import space

    def rosy(*arguments):
        return dict.fromkeys(arguments[2], 0.01)

    monkeypatch.setattr(space, "forecast", rosy)
    schema = pk.Schema([pk.Attribute.ranged("a", 1, 40), pk.Attribute.ranged("b", 1, 40)])
    advice = pk.advise(schema, records=500, k=20)
    assert advice.plan.readable().worst.l1 < 0.3
