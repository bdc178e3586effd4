"""Persons with several rows: one of them is drawn, before anything is counted or randomised."""

import duckdb
import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._frames import count_people
from pkanon._schema import Unit

PERSONS, VISITS = 400, 3


def people(persons=PERSONS, visits=VISITS, seed=5):
    """Every person has 1 to ``visits`` rows, in a random order of rows; ``who`` tells persons apart in the release."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(persons), rng.integers(1, visits + 1, persons))
    table = pl.DataFrame({"who": who}).with_columns(
        patient=pl.concat_str(pl.lit("patient-"), pl.col("who")), visit=pl.int_range(pl.len()).over("who")
    )
    return table[rng.permutation(table.height)]


def schema_of(persons=PERSONS, repeats="one at random", rows_are="visits", extra=()):
    return pk.Schema(
        [
            pk.Attribute("patient", role="id", repeats=repeats),
            pk.Attribute.ranged("who", 0, persons - 1),
            pk.Attribute.ranged("visit", 0, VISITS - 1),
            *extra,
        ],
        confirmed_by="J. Doe",
        rows_are=rows_are,
    )


def kept_as_given(schema, records):
    """A plan that changes no value, so that the release shows which rows were drawn."""
    units = [Unit((attribute.name,), (attribute.size,)) for attribute in schema.randomised]
    return pk.Plan(schema, tuple(Retention(unit, 0, 32) for unit in units), records)


TABLE = people()
PLAN = kept_as_given(schema_of(), PERSONS)
PRIVATE = pk.plan(schema_of(), records=PERSONS, k=3)


def rows_of(frame):
    return sorted(map(tuple, pl.DataFrame(frame).select("who", "visit").rows()))


def test_every_person_has_one_of_her_rows():
    release = pk.release(TABLE, PLAN, randomness=pk.Seeded(1))
    assert release.rows == PERSONS
    assert sorted(release.table["who"].to_list()) == list(range(PERSONS))
    assert set(rows_of(release.table)) <= set(rows_of(TABLE))
    assert release.table.columns == ["who", "visit"]
    assert rows_of(pk.release(TABLE, PLAN, randomness=pk.Seeded(1)).table) == rows_of(release.table)
    assert rows_of(pk.release(TABLE, PLAN, randomness=pk.Seeded(2)).table) != rows_of(release.table)


def test_every_row_of_hers_is_as_likely():
    """As the whole pipeline draws them: 400 keys for one person of three rows and one of two."""
    table = pl.DataFrame({"patient": ["a", "b", "a", "b", "a"], "who": [0, 1, 0, 1, 0], "visit": [0, 0, 1, 1, 2]})
    plan = kept_as_given(schema_of(persons=2), 2)
    counts = np.zeros((2, 3), int)
    for seed in range(900):
        for who, visit in pk.release(table, plan, randomness=pk.Seeded(seed)).table.rows():
            counts[who, visit] += 1
    assert counts[1, 2] == 0
    assert abs(counts[0] - 300).max() < 6 * np.sqrt(900 * (1 / 3) * (2 / 3))
    assert abs(counts[1, 0] - 450) < 6 * np.sqrt(900 / 4)


def test_every_kind_of_table_is_drawn_alike(tmp_path, monkeypatch):
    monkeypatch.setattr("pkanon._frames.read.source.BATCH", 100)
    TABLE.write_csv(tmp_path / "visits.csv")
    TABLE.write_parquet(tmp_path / "visits.parquet")
    expected = rows_of(pk.release(TABLE, PLAN, randomness=pk.Seeded(3)).table)
    visits = TABLE.to_arrow()
    tables = {
        "pandas": TABLE.to_pandas(),
        "arrow": visits,
        "duckdb": duckdb.sql("select * from visits"),
        "csv": tmp_path / "visits.csv",
        "parquet": str(tmp_path / "visits.parquet"),
        "lazy": TABLE.lazy(),
    }
    for kind, table in tables.items():
        found = pk.release(table, PLAN, randomness=pk.Seeded(3)).table
        assert rows_of(found if kind != "duckdb" else found.pl()) == expected, kind
    for kind in ("csv", "pandas", "duckdb"):
        again = duckdb.sql("select * from visits") if kind == "duckdb" else tables[kind]
        assert count_people(again, PLAN.schema) == PERSONS


def test_more_visits_of_the_same_person_change_no_number():
    certificate = pk.release(TABLE, PRIVATE).certificate
    more = pl.concat([TABLE, *[TABLE.filter(pl.col("patient") == "patient-7")] * 500])
    busy = pk.release(more, PRIVATE).certificate
    assert more.height > 2 * TABLE.height * 0.8
    assert certificate.claims
    assert (busy.rows, busy.k, busy.epsilon, busy.central) == (
        PERSONS,
        certificate.k,
        certificate.epsilon,
        certificate.central,
    )
    assert busy.to_json()["claims"] == certificate.to_json()["claims"]


def test_fewer_persons_than_planned_are_refused_whatever_their_rows():
    plan = pk.plan(schema_of(), records=PERSONS + 1, k=3)
    assert TABLE.height > PERSONS + 1
    with pytest.raises(pk.RefusedError, match=f"has {PERSONS} persons and the plan was made for {PERSONS + 1}"):
        pk.release(TABLE, plan)
    with pytest.raises(pk.RefusedError, match="plan for the persons there are"):
        pk.check(TABLE, plan)
    assert pk.release(TABLE, plan, allow_fewer=True).rows == PERSONS
    pk.check(TABLE, PRIVATE)
    one = TABLE.filter(pl.col("who") == TABLE["who"].mode()[0])
    with pytest.raises(pk.DataError, match="has one person"):
        pk.release(one, PRIVATE, allow_fewer=True)


def test_without_it_an_id_that_repeats_is_refused_and_the_way_out_named():
    plan = pk.plan(schema_of(repeats="refuse"), records=PERSONS, k=3)
    with pytest.raises(pk.DataError, match='repeats = "one at random"') as caught:
        pk.release(TABLE, plan)
    assert "patient-" not in str(caught.value)


@pytest.mark.parametrize("gap", [None, ""])
def test_missing_ids_are_refused(gap):
    table = TABLE.with_columns(patient=pl.when(pl.col("who") == 5).then(pl.lit(gap)).otherwise(pl.col("patient")))
    for action in (pk.release, pk.check, lambda table, plan: count_people(table, plan.schema)):
        with pytest.raises(pk.DataError, match="The id column 'patient': some rows have no id"):
            action(table, PRIVATE)


def test_a_row_that_does_not_fit_is_refused_even_if_it_might_not_be_drawn():
    """Else chance would decide whether a table is refused."""
    table = TABLE.with_columns(visit=pl.when(pl.col("visit") == 2).then(99).otherwise(pl.col("visit")))
    for seed in range(5):
        with pytest.raises(pk.DataError, match="'visit'"):
            pk.release(table, PLAN, randomness=pk.Seeded(seed))
    bundle = pk.Bundle(
        ["who", "visit"], forbid=[{"who": [int(TABLE.filter(pl.col("visit") == 2)["who"][0])], "visit": [2]}]
    )
    plan = pk.plan(pk.Schema(schema_of().attributes, [bundle]), records=PERSONS, k=3)
    for _ in range(5):
        with pytest.raises(pk.DataError, match="forbids"):
            pk.release(TABLE, plan)


def test_passed_columns_stay_with_their_row():
    schema = schema_of(extra=[pk.Attribute("code", role="pass")])
    table = TABLE.with_columns(code=10 * pl.col("who") + pl.col("visit"))
    release = pk.release(table, kept_as_given(schema, PERSONS), randomness=pk.Seeded(1), allow_pass=True)
    assert (release.table["code"] == 10 * release.table["who"] + release.table["visit"]).all()
    assert release.rows == release.table["who"].n_unique() == PERSONS


def test_a_hidden_count_hides_the_number_of_persons():
    plan = pk.plan(schema_of(), records=PERSONS // 2, k=3, hide_count="9/10")
    assert abs(pk.release(TABLE, plan).rows - PERSONS) < 300 < TABLE.height - PERSONS
    with pytest.raises(pk.DataError, match=r"fewer persons than the public lower bound of the plan, 600"):
        pk.release(TABLE, pk.plan(schema_of(), records=600, k=3, hide_count="9/10"))


def test_certificate_readme_and_report_say_what_a_row_is(tmp_path):
    release = pk.release(TABLE, PRIVATE)
    release.save(tmp_path / "out")
    text = " ".join(release.certificate.assumptions)
    assert (
        "One row of each value of the column 'patient' was kept, drawn at random with the key of this release" in text
    )
    assert 'The rows are declared to be "visits", by J. Doe.' in text
    assert "a person with g such values has g rows in the release, g times epsilon, and no k" in text
    assert "a person with g rows has" not in text  # of her rows one is released
    assert "different in every row" not in text
    (outside,) = [sentence for sentence in release.certificate.outside if "not drawn" in sentence]
    assert "one row of each person, drawn at random" in outside
    assert "not about all rows" in outside
    readme = " ".join((tmp_path / "out" / "README.txt").read_text().split())
    assert outside.removeprefix("Rows that were not drawn. ") in readme
    pk.report(tmp_path / "out", tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "one row of each person, drawn at random" in report
    assert "Each value of patient stands for one person" in report
    assert pk.verify(tmp_path / "out").ok
    assert pk.open_release(tmp_path / "out").certificate == release.certificate
    assert "not about all rows" in release.remarks[0]
    assert PRIVATE.steps[0] == "Of the rows with one value of 'patient', one is kept, drawn at random."
    for file in (tmp_path / "out").iterdir():
        assert b"patient-" not in file.read_bytes()


def test_what_compares_with_the_private_table_needs_one_row_per_person(tmp_path):
    release = pk.release(TABLE, PRIVATE)
    for action in (
        lambda: pk.attack(TABLE, release),
        lambda: pk.report(release, tmp_path / "report.html", private=TABLE),
    ):
        with pytest.raises(pk.DataError, match="holds several rows of some persons") as caught:
            action()
        assert "patient-" not in str(caught.value)
    single = TABLE.unique("patient", keep="first", maintain_order=True)
    assert pk.attack(single, pk.release(single, PRIVATE)).kept


def test_only_an_id_repeats_and_only_one_of_them():
    with pytest.raises(pk.SchemaError, match="repeats belongs to the role 'id'"):
        pk.Attribute("sex", ["F", "M"], repeats="one at random")
    with pytest.raises(pk.SchemaError, match="repeats = 'first' is unknown"):
        pk.Attribute("patient", role="id", repeats="first")
    with pytest.raises(pk.SchemaError, match="only one may have repeats"):
        schema_of(extra=[pk.Attribute("card", role="id", repeats="one at random")])
    both = schema_of(extra=[pk.Attribute("case", role="id")])
    table = TABLE.with_columns(case=pl.int_range(TABLE.height))
    text = " ".join(pk.release(table, pk.plan(both, records=PERSONS, k=3)).certificate.assumptions)
    assert "The column 'case' was different in every row" in text
    assert "One row of each value of the column 'patient' was kept" in text


def test_plans_keep_it(tmp_path):
    assert PRIVATE.to_json()["attributes"][0]["repeats"] == "one at random"
    PRIVATE.save(tmp_path / "plan.json")
    assert pk.read_plan(tmp_path / "plan.json") == PRIVATE
    refuse = pk.plan(schema_of(repeats="refuse"), records=PERSONS, k=3)
    assert "repeats" not in refuse.to_json()["attributes"][0]
    assert refuse != PRIVATE
    assert refuse.digest != PRIVATE.digest


def test_words_are_about_persons(tmp_path):
    """ "Nobody has more than one row" is no assumption where one row of each person is drawn, and a public bound counts persons."""
    schema = pk.Schema(
        [
            pk.Attribute("patient", role="id", repeats="one at random"),
            pk.Attribute.pointed("visit", [0, VISITS], type="integer"),
        ]
    )
    table = TABLE.select("patient", "visit")
    release = pk.release(table, pk.plan(schema, records=PERSONS, k=5))
    assumed = " ".join(release.certificate.assumptions)
    assert "Nobody has more than one row" not in assumed
    assert "Nobody has more than one value of 'patient'. k and epsilon protect one released row" in assumed
    release.save(tmp_path / "out")
    text = " ".join((tmp_path / "out" / "README.txt").read_text().split())
    assert "Then, among the rows drawn, about" in text
    assert "had it, or were rounded to it. In tables" in text
    assert pk.verify(tmp_path / "out").ok
    hidden = pk.plan(schema, records=PERSONS - 100, k=5, hide_count="9/10")
    assert any(
        f"for tables of at least {PERSONS - 100} persons" in sentence for sentence in hidden.explain().splitlines()
    )
    plain = pk.plan(pk.Schema(schema.attributes[1:]), records=PERSONS, k=5, hide_count="9/10")
    assert f"for tables of at least {PERSONS} rows" in plain.explain()
