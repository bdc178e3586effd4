"""Advice: the advised schema does what was promised, by its own plan, and nothing that was asked for is lost."""

import pytest

import pkanon as pk
from pkanon._design.advising.forecast import Column, forecast

AGE = pk.Attribute.binned("age", start=0, stop=90, width=5, open="high")
SEX = pk.Attribute("sex", ["F", "M"])
JOB = pk.Attribute("job", [f"job {number}" for number in range(24)])
ROOMS = pk.Attribute.ranged("rooms", 1, 12)
PAY = pk.Attribute.binned("pay", start=0, stop=20_000, width=1_000, open="high")
EDU = pk.Attribute("edu", ["none", "basic", "school", "college", "degree"], ordered=True)
PEOPLE = pk.Schema([AGE, SEX, JOB, ROOMS, PAY, EDU, pk.Attribute("note", role="drop")])


def worst(plan, tables=()):
    errors = [plan.predict(*table).l1 for table in tables]
    return max(errors or [table.l1 for table in plan.readable().tables])


@pytest.fixture(scope="module")
def told():
    """What was told while the advice below was made."""
    return []


@pytest.fixture(scope="module")
def advice(told):
    """The advice that most tests look at."""
    return pk.advise(PEOPLE, records=5_000, k=20, progress=lambda step, done: told.append((step, done)))


def test_the_plan_of_the_advised_schema_reaches_the_level(advice):
    again = pk.plan(advice.schema, records=5_000, k=20)
    assert worst(again) < 0.3
    assert advice.before.worst.l1 > 1
    assert advice.plan == again
    assert len(advice.schema.randomised) >= 4
    assert advice.schema.names == PEOPLE.names  # dropped columns are declared, and so is every other
    assert {step.attribute for step in advice.steps} == {
        a.name for a, b in zip(PEOPLE.attributes, advice.schema.attributes) if a != b
    }
    last = advice.steps[-1]
    assert last.reached == last.pairs == len(again.readable().tables) - len(advice.schema.randomised)


def test_good_is_harder_than_fair():
    schema = pk.Schema([AGE, SEX, JOB, EDU])
    fair, good = (pk.advise(schema, records=20_000, k=20, level=level) for level in ("fair", "good"))
    assert worst(good.plan) < 0.1 < worst(fair.plan)
    assert sum(a.size for a in good.schema.randomised) < sum(a.size for a in fair.schema.randomised)


def test_what_must_stay_stays():
    advice = pk.advise(PEOPLE, records=40_000, k=20, keep=["job", "sex"])
    assert (advice.schema.attribute("job").size, advice.schema.attribute("sex").size) == (24, 2)
    assert worst(advice.plan) < 0.3


def test_named_tables_reach_the_level_and_the_workload_says_so():
    tables = [("job", "sex")]
    advice = pk.advise(PEOPLE, records=50_000, k=20, tables=tables, level="good")
    again = pk.plan(advice.schema, records=50_000, k=20, workload=advice.workload)
    assert again == advice.plan
    assert worst(again, tables) < 0.1
    assert advice.workload != 2
    assert advice.workload_text.startswith("2; sex,job=")
    assert advice.workload_text in advice.to_toml()
    assert again.asked.workload == advice.workload_text


def test_a_table_of_three_attributes_can_be_named():
    advice = pk.advise(PEOPLE, records=50_000, k=5, tables=[("edu", "sex", "rooms")])
    assert worst(advice.plan, advice.tables) < 0.3


def test_nothing_changes_where_nothing_need():
    schema = pk.Schema([SEX, EDU])
    advice = pk.advise(schema, records=10_000, k=5)
    assert advice.schema == schema
    assert (advice.steps, advice.open_steps, advice.ways_out) == ((), (), ())
    assert "Nothing need change." in str(advice)


def test_one_column():
    advice = pk.advise(pk.Schema([AGE]), records=200, k=20)
    assert [a.name for a in advice.schema.randomised] == ["age"]
    assert 2 <= advice.schema.randomised[0].size < AGE.size
    assert worst(advice.plan) < 0.3


def test_bundles_stay_as_they_are():
    bundle = pk.Bundle(["sex", "edu"], forbid=[{"sex": ["F"], "edu": ["none"]}])
    schema = pk.Schema([AGE, SEX, JOB, EDU], [bundle])
    advice = pk.advise(schema, records=20_000, k=20)
    assert advice.schema.bundles == schema.bundles
    assert advice.schema.attribute("sex") == SEX
    assert advice.schema.attribute("edu") == EDU
    assert worst(advice.plan) < 0.3


def test_a_draft_stays_a_draft_and_a_confirmed_schema_confirmed():
    drafted = pk.Schema([AGE, SEX, JOB], drafted=True)
    advice = pk.advise(drafted, records=5_000, k=20)
    assert advice.schema.drafted
    assert "pkanon confirm" in advice.to_toml()
    assert all(a.drafted for a in advice.schema.randomised)
    confirmed = drafted.confirm(by="J. Doe")
    advised = pk.advise(confirmed, records=5_000, k=20).schema
    assert not advised.drafted
    assert advised.confirmed_by == "J. Doe"


def test_the_file_is_the_schema(advice, tmp_path):
    advice.save(tmp_path / "advised.toml")
    assert pk.read_schema(tmp_path / "advised.toml") == advice.schema


def test_equal_questions_have_equal_answers():
    schema = pk.Schema([AGE, SEX, JOB, EDU])
    first, second = (pk.advise(schema, records=5_000, k=20, k_range=[5, 50]) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert str(first) == str(second)


def test_an_open_step_taken_by_a_person_keeps_the_column():
    schema = pk.Schema([AGE, SEX, JOB, EDU])
    advice = pk.advise(schema, records=3_000, k=20)
    step = next(step for step in advice.open_steps if step.attribute == "job")
    assert 2 <= step.most < 24
    jobs = [f"job {number}" for number in range(24)]
    labels = {f"group {number}": jobs[number :: step.most] for number in range(step.most)}
    by_hand = pk.Schema([AGE, SEX, pk.Attribute("job", merge=labels), EDU])
    again = pk.advise(by_hand, records=3_000, k=20, min_columns=4)
    assert len(again.schema.randomised) == 4


def test_codes_are_not_merged():
    schema = pk.Schema([pk.Attribute.ranged("race", 1, 9), AGE, SEX])
    assert pk.advise(schema, records=300, k=10, codes=["race"]).schema.attribute("race").size in (0, 9)


def test_ways_out_have_numbers_that_hold():
    schema = pk.Schema([AGE, SEX, EDU])
    ways = pk.advise(schema, records=3_000, k=20, k_range=[2, 10]).ways_out
    people = next(way for way in ways if way.startswith("More people"))
    records = int("".join(c for c in people.split("about ")[1].split(" records")[0] if c.isdigit()))
    assert worst(pk.plan(schema, records=records, k=20)) < 0.33
    assert worst(pk.plan(schema, records=records // 2, k=20)) > 0.3
    assert [way.split(" ")[2] for way in ways[-2:]] == ["2", "10"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": ["agee"]}, "did you mean 'age'"),
        ({"keep": "age"}, "a list of names"),
        ({"codes": ["x"]}, "codes names 'x'"),
        ({"tables": [("age", "note")]}, "has the role 'drop'"),
        ({"tables": [("age", "age")]}, "each once"),
        ({"level": "poor"}, "fair or good"),
        ({"min_columns": 9}, "ask for 1 to 6"),
        ({"min_columns": 0}, "ask for 1 to 6"),
        ({"k": 6_000}, "nobody hides among more"),
        ({"k": None}, "Ask for k"),
        ({"k": 5_000}, "ask for a lower k"),
        ({"k_range": [10_000]}, "nobody hides among more"),
        ({"tables": [("job", "age")], "level": "good", "k": 1_000}, "the nearest has an error of"),
        ({"min_columns": 6, "k": 200}, "columns do. Ask for fewer"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(options, words):
    with pytest.raises(pk.InputError) as refusal:
        pk.advise(PEOPLE, **{"records": 5_000, "k": 20, **options})
    assert words.lower() in str(refusal.value).lower()
    assert "\n" not in str(refusal.value)


def test_a_schema_is_needed():
    with pytest.raises(pk.SchemaError, match="A schema is needed"):
        pk.advise("people.toml", records=100, k=2)


def test_progress_is_told(advice, told):
    assert {step for step, _ in told} == {"planning", "searching", "comparing"}
    assert all(0 <= done <= 1 for _, done in told)


def test_a_notebook_shows_it(advice):
    html = advice._repr_html_()
    assert "merge age" in html
    assert "Other ways" in html


@pytest.mark.parametrize(
    ("sizes", "records", "k"),
    [
        ((2, 3, 4, 5), 20_000, 20),
        ((2, 2, 2, 6, 6, 9), 48_842, 20),
        ((3, 4, 4, 5, 6, 7, 2), 100_000, 100),
        ((5, 9), 3_000, 50),
    ],
)
def test_forecasts_are_near_the_plan(sizes, records, k):
    schema = pk.Schema([pk.Attribute.ranged(f"a{i}", 1, size) for i, size in enumerate(sizes)])
    plan = pk.plan(schema, records=records, k=k)
    real = {tuple(int(name[1:]) for name in table.attributes): table.l1 for table in plan.readable().tables}
    found = forecast(
        sizes, [Column(i, size) for i, size in enumerate(sizes)], dict.fromkeys(real, 1.0), plan.epsilon, records
    )
    ratios = [found[table] / real[table] for table in real]
    assert 0.9 < sum(ratios) / len(ratios) < 1.1
    assert all(0.7 < ratio < 1.4 for ratio in ratios)


def test_a_number_among_tables_is_all_tables_of_so_many_attributes():
    schema = pk.Schema([SEX, EDU, ROOMS])
    both = pk.plan(schema, records=5_000, k=20, workload={2: 1, ("sex", "edu"): 3})
    tables = {(a.name,): 1.0 for a in schema.attributes}
    tables |= {("sex", "edu"): 4.0, ("sex", "rooms"): 1.0, ("edu", "rooms"): 1.0}
    assert both.blocks == pk.plan(schema, records=5_000, k=20, workload=tables).blocks
    assert both.asked.workload == "2; sex,edu=3"
    assert pk.Plan.from_json(both.to_json()) == both
    for wrong in ({0: 1, ("sex",): 1}, {2: 5, ("sex",): 1}):
        with pytest.raises(pk.TargetError, match="one number of attributes"):
            pk.plan(schema, records=5_000, k=20, workload=wrong)
