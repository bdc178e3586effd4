"""The custodian's attack: honest releases pass, others are caught, and what it says is what was found."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from blocks import BLOCKS
from plans import plan_of, schema_of

import pkanon as pk
from pkanon._audit.attacks import mechanism
from pkanon._audit.resemblance import Uniques, resemblance

ROWS = 2_000
SIZES = [2, 5, 4]


def people_of(rows=ROWS, seed=3):
    """Skewed and related columns: an even column says nothing about whether it was randomised."""
    draw = np.random.default_rng(seed)
    first = draw.choice(2, rows, p=[0.8, 0.2])
    second = np.where(draw.random(rows) < 0.7, 2 * first, draw.choice(5, rows, p=[0.5, 0.2, 0.1, 0.1, 0.1]))
    third = draw.choice(4, rows, p=[0.6, 0.2, 0.15, 0.05])
    return pl.DataFrame({"a0": first + 1, "a1": second + 1, "a2": third + 1})


PEOPLE = people_of()


@pytest.fixture(scope="module", params=["equal-rho", "joint", "optimal"])
def plan(request):
    return pk.plan(schema_of(SIZES), records=ROWS, k=10, design=request.param)


def failed(found):
    return [check.name for check in found.checks if not check.kept]


def attacked(people, release, **more):
    return pk.attack(people, release, rehearsals=2, randomness=pk.Seeded(1), **more)


def test_an_honest_release_keeps_its_promise(plan, tmp_path):
    release = pk.release(PEOPLE, plan)
    found = attacked(PEOPLE, release)
    assert found.kept
    assert [check.name for check in found.checks] == ["made by the plan", "random order", "hits in rehearsals"]
    assert found.k == pytest.approx(plan.k)
    assert 0 < found.links.stated <= found.links.highest <= 1 / found.k
    assert found.links.whole.rows == 2 * ROWS
    assert found.links.columns == ("a0", "a1", "a2")
    assert [guess.attribute for guess in found.guesses] == ["a0", "a1", "a2"]
    for guess in found.guesses:
        assert abs(guess.released - guess.others) < 0.05
        assert guess.others < guess.bound < 1
    release.save(tmp_path / "out")
    for path in (tmp_path / "out", tmp_path / "out" / "data.parquet"):
        again = attacked(PEOPLE, path)
        assert again.to_json() == found.to_json()  # nothing but the seed decides about rehearsals


def test_rows_that_were_never_randomised_are_caught(plan):
    shuffled = PEOPLE.sample(fraction=1, shuffle=True, seed=1)
    found = attacked(PEOPLE, shuffled, plan=plan)
    assert not found.kept
    assert failed(found) == ["made by the plan"]
    assert failed(attacked(PEOPLE, PEOPLE, plan=plan)) == ["made by the plan", "random order"]


@pytest.mark.parametrize("column", ["a0", "a1", "a2"])
def test_one_column_that_was_not_randomised_is_caught(column):
    plan = pk.plan(schema_of(SIZES), records=ROWS, k=10, design="equal-rho")
    made = pk.release(PEOPLE, plan, randomness=pk.Seeded(4))
    codes = dict(made.codes) | {column: np.random.default_rng(1).permutation(PEOPLE[column].to_numpy() - 1)}
    assert failed(attacked(PEOPLE, replace(made, codes=codes))) == ["made by the plan"]


def test_another_plan_and_another_table_are_caught(plan):
    weak = pk.plan(plan.schema, records=ROWS, epsilon=8, design="equal-rho")
    made = pk.release(PEOPLE, weak, randomness=pk.Seeded(1))
    assert "made by the plan" in failed(attacked(PEOPLE, made.table, plan=plan))
    other = PEOPLE.with_columns(a2=6 - pl.col("a2").clip(2))
    assert "made by the plan" in failed(attacked(other, pk.release(PEOPLE, plan), plan=plan))


def test_rows_that_were_not_shuffled_are_caught(plan):
    made = pk.release(PEOPLE, plan, randomness=pk.Seeded(2))
    from pkanon._audit import randomised

    codes = {name: (PEOPLE[name].to_numpy() - 1).astype(np.uint8) for name in PEOPLE.columns}
    in_order = randomised(plan, codes, pk.Seeded(2))
    assert failed(attacked(PEOPLE, replace(made, codes=in_order))) == ["random order"]


def test_an_even_table_released_as_it_is_is_caught():
    """Its counts are those that are expected, but they never come out just so."""
    even = pl.DataFrame({"a0": [1, 2] * 800, "a1": [1, 1, 2, 2, 3, 3, 4, 4] * 200})
    plan = pk.plan(schema_of([2, 4]), records=1600, k=10, design="equal-rho")
    shuffled = even.sample(fraction=1, shuffle=True, seed=1)
    assert failed(attacked(even, shuffled, plan=plan)) == ["made by the plan"]
    assert attacked(even, pk.release(even, plan)).kept


def test_rows_that_cannot_be_are_caught():
    plan = plan_of([BLOCKS["matrix with zeros"]], 4)
    people = pl.DataFrame({"a": [3, 3, 3, 1]})
    found = attacked(people, pl.DataFrame({"a": [1, 1, 1, 1]}), plan=plan)
    assert failed(found) == ["made by the plan"]
    assert "have a chance of 0" in found.checks[0].text
    assert found.links is None
    assert found.guesses == ()


def test_small_tables_have_exact_chances():
    people = pl.DataFrame({"a0": [1, 1, 2, 2, 2, 1], "a1": [1, 2, 3, 4, 5, 1], "a2": [1, 2, 3, 4, 1, 2]})
    plan = pk.plan(schema_of(SIZES), records=6, k=2)
    found = attacked(people, pk.release(people, plan))
    assert found.posterior.whole
    assert 1 / 6 < found.posterior.highest <= 1 / found.k
    assert "exact chances" in [check.name for check in found.checks]
    assert found.kept
    assert attacked(PEOPLE, pk.release(PEOPLE, pk.plan(schema_of(SIZES), records=ROWS, k=10))).posterior is None


def test_a_promise_of_too_large_a_k_is_broken_by_exact_chances(monkeypatch):
    people = pl.DataFrame({"a0": [1] + [2] * 9})
    plan = pk.plan(schema_of([2]), records=10, k=2)
    made = pk.Release(plan, pk.release(people, plan).certificate, {"a0": np.array([0] + [1] * 9, np.uint8)})
    assert "exact chances" not in failed(attacked(people, made))
    monkeypatch.setattr(pk.Plan, "k_for", lambda self, records: 3)
    assert "exact chances" in failed(attacked(people, made))


def test_a_promise_of_too_large_a_k_is_broken_by_hits(monkeypatch):
    plan = pk.plan(schema_of(SIZES), records=ROWS, epsilon=12, design="joint")
    monkeypatch.setattr(pk.Plan, "k_for", lambda self, records: 1900)
    found = attacked(PEOPLE, pk.release(PEOPLE, plan))
    assert failed(found) == ["hits in rehearsals"]
    assert "right in more than" in found.checks[-1].text


def test_bundles_with_forbidden_combinations():
    schema = pk.Schema(
        [pk.Attribute.ranged("a0", 1, 2), pk.Attribute.ranged("a1", 1, 5), pk.Attribute.ranged("a2", 1, 4)],
        [pk.Bundle(["a0", "a1"], forbid=[{"a0": [2], "a1": [5]}])],
    )
    people = PEOPLE.filter(~((pl.col("a0") == 2) & (pl.col("a1") == 5)))
    plan = pk.plan(schema, records=people.height, k=10)
    found = attacked(people, pk.release(people, plan))
    assert found.kept
    assert len(found.guesses) == 3


def test_a_hidden_count_is_attacked_without_checks_of_counts():
    plan = pk.plan(schema_of(SIZES), records=1500, k=10, hide_count="9/10")
    found = attacked(PEOPLE, pk.release(PEOPLE, plan))
    assert found.kept
    assert [check.name for check in found.checks] == ["hits in rehearsals"]
    assert any("count is hidden" in note for note in found.notes)
    assert 0 < found.links.highest < 1 / found.k


def test_a_void_plan_says_so():
    plan = pk.plan(pk.Schema(schema_of(SIZES).attributes, drafted=True), records=ROWS, k=10)
    found = attacked(PEOPLE, pk.release(PEOPLE, plan, drafted_not_protected=True))
    assert any(note.startswith("The release is void") for note in found.notes)


def test_too_many_combinations_are_attacked_by_the_columns_that_tell_most(monkeypatch):
    monkeypatch.setattr(mechanism, "MOST_CELLS", 12)
    plan = pk.plan(schema_of(SIZES), records=ROWS, k=10, design="equal-rho")
    found = attacked(PEOPLE, pk.release(PEOPLE, plan))
    assert found.kept
    assert set(found.links.columns) < {"a0", "a1", "a2"}
    assert any("too many combinations" in note for note in found.notes)


def test_a_published_table_without_a_plan_has_classical_measures_only(tmp_path):
    published = PEOPLE.with_columns(a1=pl.when(pl.col("a1") <= 2).then(pl.lit("1-2")).otherwise(pl.lit("3-5")))
    found = attacked(PEOPLE, published)
    assert (found.k, found.line, found.links, found.checks, found.kept) == (None, None, None, (), True)
    assert found.notes
    published.write_csv(tmp_path / "p.csv")
    published.write_parquet(tmp_path / "p.parquet")
    PEOPLE.write_csv(tmp_path / "people.csv")
    for name in ("p.csv", "p.parquet"):
        assert attacked(tmp_path / "people.csv", tmp_path / name).resemblance == found.resemblance
    with pytest.raises(pk.InputError, match="nothing to draw"):
        found.chart()
    assert "nothing is promised" in str(found)


def test_classical_measures_by_hand():
    private = {"a": np.array([0, 0, 1, 1, 2]), "b": np.array([0, 1, 1, 1, 0])}
    published = {"a": np.array([0, 0, 1, 2]), "b": np.array([0, 0, 0, 1])}
    found = resemblance(private, published)
    assert found.uniques == (
        Uniques(("a",), 1, 2),
        Uniques(("b",), 0, 1),
        Uniques(("a", "b"), 3, 2),
    )
    assert found.equal == 0.5  # (0, 0) twice; (1, 0) and (2, 1) are nobody's
    assert found.equal_private == 0.4  # (1, 1) twice
    # (0,0), (0,1), (1,1), (2,0) with shares a = (1/2, 1/4, 1/4), b = (3/4, 1/4)
    assert found.equal_independent == pytest.approx(3 / 8 + 1 / 8 + 1 / 16 + 3 / 16)
    assert found.nearest == 0.5
    assert found.nearest_private == pytest.approx(3 / 5)


def test_columns_and_attributes_can_be_chosen(plan):
    found = attacked(PEOPLE, pk.release(PEOPLE, plan), columns=["a2", "a0"], sensitive=["a1"])
    assert [each.columns for each in found.resemblance.uniques] == [("a2",), ("a0",), ("a2", "a0")]
    assert [guess.attribute for guess in found.guesses] == ["a1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"columns": "a0"}, "as lists"),
        ({"sensitive": "a0"}, "as lists"),
        ({"columns": ["a9"]}, "'a9' is not a randomised attribute"),
        ({"sensitive": ["a9"]}, "'a9' is not a randomised attribute"),
        ({"rehearsals": 0}, "whole number, 1 or more"),
        ({"rehearsals": True}, "whole number, 1 or more"),
    ],
)
def test_wrong_questions_are_refused(arguments, words):
    plan = pk.plan(schema_of(SIZES), records=ROWS, k=10)
    with pytest.raises(pk.InputError, match=words):
        pk.attack(PEOPLE, pk.release(PEOPLE, plan), **arguments)


def test_tables_that_do_not_belong_together_are_refused(tmp_path):
    plan = pk.plan(schema_of(SIZES), records=1000, k=10)
    release = pk.release(PEOPLE, plan)
    with pytest.raises(pk.DataError, match="not made of this table"):
        pk.attack(PEOPLE[:1500], release)
    with pytest.raises(pk.InputError, match="another one; leave out plan"):
        pk.attack(PEOPLE, release, plan=pk.plan(schema_of(SIZES), records=1000, k=11))
    with pytest.raises(pk.InputError, match="need the plan"):
        pk.attack(PEOPLE, PEOPLE, sensitive=["a0"])
    with pytest.raises(pk.DataError, match="no column in common"):
        pk.attack(PEOPLE, pl.DataFrame({"b": [1]}))
    with pytest.raises(pk.InputError, match="not a finished release"):
        pk.attack(PEOPLE, tmp_path)


def test_the_result_as_json_and_as_text(plan):
    found = attacked(PEOPLE, pk.release(PEOPLE, plan))
    document = json.loads(json.dumps(found.to_json()))
    assert document["kept"] is True
    assert document["links"]["hit_rate"] == found.links.whole.hit_rate <= document["links"]["hit_rate_at_most"]
    assert sum(each["guesses"] for each in document["links"]["bins"]) == 2 * ROWS
    assert str(found) == "Attack on 2,000 rows with k = 10: nothing breaks the promise"
    assert repr(found) == f"<{found}>"


def test_the_chart_shows_every_bin_and_the_line(plan):
    found = attacked(PEOPLE, pk.release(PEOPLE, plan))
    document = found.chart().to_dict()
    data = [document["datasets"][layer["data"]["name"]] for layer in document["layer"]]
    assert [each.stated for each in found.links.bins] in [[row.get("stated") for row in rows] for rows in data]
    assert [{"line": found.line}] in data


def test_a_void_release_is_promised_nothing():
    plan = pk.plan(schema_of(SIZES), records=ROWS, k=10)
    found = pk.attack(PEOPLE, pk.release(PEOPLE, plan, randomness=pk.Seeded(5)), rehearsals=1)
    assert found.void
    assert "promises nothing" in str(found)
    assert "k = " not in str(found)


def test_tables_in_the_wrong_place_are_named(tmp_path):
    plan = pk.plan(schema_of(SIZES), records=ROWS, k=10)
    pk.release(PEOPLE, plan).save(tmp_path / "out", format="csv")
    PEOPLE.write_csv(tmp_path / "people.csv")
    with pytest.raises(pk.InputError, match="private table comes first"):
        pk.attack(tmp_path / "out", tmp_path / "people.csv")
    with pytest.raises(pk.InputError, match="give the folder"):
        pk.attack(tmp_path / "people.csv", tmp_path / "out" / "data.csv")


@pytest.mark.filterwarnings("error")
def test_chances_of_thousands_of_people_who_are_alike():
    """Ways to deal rows to 2,000 people are more than a float can hold; every chance is 1/2,000."""
    people = pl.DataFrame({"a0": [1] * ROWS, "a1": [2] * ROWS, "a2": [3] * ROWS})
    found = pk.attack(people, pk.release(people, pk.plan(schema_of(SIZES), records=ROWS, k=10)), rehearsals=1)
    assert found.kept
    assert found.posterior.highest == pytest.approx(1 / ROWS)
