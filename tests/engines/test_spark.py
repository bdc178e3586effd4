"""The Spark engine: the same rows as in memory, whatever fails on the way, and a key that leaves no trace."""

import datetime as dt
import os

import numpy as np
import polars as pl
import pytest
from spark_tables import failing, session, traces

import pkanon as pk

ROWS = 20_000
KEY = b"a key that tests know: 32 bytes!"


class Marked:
    """A source of keys that gives one that can be searched for."""

    def key(self):
        return KEY


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(folder):
    made = session(folder)
    yield made
    made.stop()


SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute.ranged("age", 0, 400),
        pk.Attribute("job", ["farmer", "nurse", "pilot"], missing="value", other="other"),
        pk.Attribute.binned("income", start=0, stop=100, width=10, open="high"),
        pk.Attribute("born", [dt.date(1900 + year, 1, 1) for year in range(50, 60)]),
    ]
)


def people(rows=ROWS, seed=1):
    draw = np.random.default_rng(seed)
    jobs = pl.Series(["farmer", "nurse", "pilot", "smith", None])
    return pl.DataFrame(
        {
            "sex": draw.choice(["F", "M"], rows),
            "age": draw.integers(0, 401, rows),
            "job": jobs[draw.integers(0, 5, rows)],
            "income": draw.integers(0, 150, rows),
            "born": pl.Series([dt.date(1900 + int(year), 1, 1) for year in draw.integers(50, 60, rows)]),
        }
    )


def in_spark(spark, table, folder, name, groups=8):
    """The table as a Parquet file that Spark reads in several partitions."""
    path = folder / f"{name}.parquet"
    table.write_parquet(path, row_group_size=-(-table.height // groups))
    frame = spark.read.parquet(str(path))
    spark.conf.set("spark.sql.files.maxPartitionBytes", max(1, path.stat().st_size // 3))
    return frame


def assert_same(path, release):
    opened = pk.open_release(path)
    for name, column in release.codes.items():
        np.testing.assert_array_equal(opened.codes[name], column)
    assert opened.certificate.digests == release.certificate.digests
    if release.passed is not None:
        assert opened.passed.equals(release.passed)


def plans():
    yield "retention", SCHEMA, {"k": 20}
    yield "optimal", SCHEMA, {"k": 20, "epsilon": 6, "design": "optimal"}
    bundle = pk.Bundle(["sex", "job"], forbid=[{"sex": ["M"], "job": ["farmer"]}])
    more = [pk.Attribute(f"c{i}", ["0", "1"]) for i in range(6)]  # records of more than eight bytes
    yield "bundle", pk.Schema([*SCHEMA.attributes, *more], bundles=[bundle]), {"k": 2}
    pointed = pk.Attribute.pointed("income", [0, 50, 100, 150])
    others = [attribute for attribute in SCHEMA.attributes if attribute.name != "income"]
    yield "points", pk.Schema([*others, pointed]), {"k": 20}


@pytest.mark.parametrize(("name", "schema", "target"), list(plans()), ids=[name for name, _, _ in plans()])
def test_rows_and_their_order_are_those_of_memory(spark, folder, seed, tmp_path, name, schema, target):
    table = people()
    if name == "bundle":
        table = table.filter((pl.col("sex") != "M") | (pl.col("job").ne_missing("farmer")))
    table = table.with_columns(
        pl.Series(f"c{i}", np.random.default_rng(i).choice(["0", "1"], table.height))
        for i in range(6 * (name == "bundle"))
    )
    plan = pk.plan(schema, records=table.height, **target)
    frame = in_spark(spark, table, tmp_path, "people")
    assert frame.rdd.getNumPartitions() > 2
    certificate = pk.spark.release(frame, plan, tmp_path / "out", randomness=pk.Seeded(seed))
    release = pk.release(table, plan, randomness=pk.Seeded(seed))
    assert_same(tmp_path / "out", release)
    assert certificate.rows == table.height
    assert certificate.void == release.certificate.void


PLAN = pk.plan(SCHEMA, records=ROWS, k=20)


def test_passed_columns_go_with_their_rows_and_undeclared_ones_are_dropped(spark, seed, tmp_path):
    table = people().with_columns(
        weight=pl.Series(np.random.default_rng(2).random(ROWS)),
        note=pl.Series([None if i % 7 == 0 else f"note {i}" for i in range(ROWS)]),
        day=pl.Series([dt.date(2020, 1, 1 + i % 28) for i in range(ROWS)]),
        extra=pl.lit("x"),
    )
    passed = [pk.Attribute(name, role="pass", type=kind) for name, kind in
              (("weight", "number"), ("note", "text"), ("day", "date"))]  # fmt: skip
    plan = pk.plan(pk.Schema([*SCHEMA.attributes, *passed], others="drop"), records=ROWS, k=20)
    frame = in_spark(spark, table, tmp_path, "people")
    with pytest.raises(pk.RefusedError, match="allow_pass"):
        pk.spark.release(frame, plan, tmp_path / "out", randomness=pk.Seeded(seed))
    pk.spark.release(frame, plan, tmp_path / "out", randomness=pk.Seeded(seed), allow_pass=True, format="both")
    release = pk.release(table, plan, randomness=pk.Seeded(seed), allow_pass=True)
    assert_same(tmp_path / "out", release)
    assert (tmp_path / "out" / "data.csv").read_text().count("\n") == ROWS + 1


def test_a_release_of_the_system_key_is_verified(spark, tmp_path):
    frame = in_spark(spark, people(), tmp_path, "people")
    certificate = pk.spark.release(frame, PLAN, tmp_path / "out")
    assert certificate.claims
    verification = pk.verify(tmp_path / "out")
    assert [check.name for check in verification.checks if check.verdict == "broken"] == []
    assert certificate.digests["data"] != pk.release(people(), PLAN).certificate.digests["data"]  # another key
    assert sorted(os.listdir(tmp_path)) == ["out", "people.parquet"]


def once(partition, time):
    """The first time a partition is read is the survey, the second the randomising."""
    return (partition, time) in ((1, 1), (1, 3), (2, 2), (0, 2), (0, 3))


def never(partition, time):
    return False


def test_failed_tasks_give_the_same_rows_again_and_the_key_leaves_no_trace(spark, folder, tmp_path):
    table = people()
    reads = tmp_path / "reads"
    reads.mkdir()
    # partition 0 comes in another order in its third try: that one is thrown away, too
    frame = failing(in_spark(spark, table, tmp_path, "people"), once, lambda *read: read == (0, 4), reads)
    pk.spark.release(frame, PLAN, tmp_path / "out", randomness=Marked())
    assert_same(tmp_path / "out", pk.release(table, PLAN, randomness=Marked()))  # that key was used
    assert {"0-5", "1-4", "2-3"} <= set(os.listdir(reads))  # they did fail, and were read again
    assert traces(KEY, folder, tmp_path) == []
    assert any(path.stat().st_size for path in (folder / "local").rglob("shuffle_*"))  # there was something to search
    assert (folder / "driver.log").stat().st_size > 10_000
    assert any(path.stat().st_size > 10_000 for path in (folder / "events").rglob("*"))


def test_all_passes_read_the_same_partitions_and_the_session_is_left_as_it_was(spark, tmp_path):
    """Executors that come and go would change how Spark cuts files, and with it the numbers of the records."""
    name, told = "spark.sql.leafNodeDefaultParallelism", set()
    frame = in_spark(spark, people(), tmp_path, "people")
    with pytest.raises(pk.RefusedError):
        pk.spark.release(frame, pk.plan(SCHEMA, records=ROWS + 1, k=20), tmp_path / "out",
                         progress=lambda *_: told.add(spark.conf.get(name, None)))  # fmt: skip
    assert told == {str(spark.sparkContext.defaultParallelism)}
    assert spark.conf.get(name, None) is None


def test_a_disk_of_the_driver_that_is_full(spark, tmp_path, monkeypatch):
    import errno

    from pkanon._engines.spark import host

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(host, "_owner_only", full)
    with pytest.raises(pk.EnvironmentFailure, match=r"Cannot write .*out: No space left on device"):
        pk.spark.release(in_spark(spark, people(), tmp_path, "people"), PLAN, tmp_path / "out")
    assert os.listdir(tmp_path) == ["people.parquet"]


@pytest.mark.parametrize(
    ("fails", "changes"),
    [
        (never, lambda partition, time: time > 1),
        (once, lambda partition, time: partition == 0 and time >= 4),
    ],
    ids=["between the passes", "after a failed task"],
)
def test_rows_in_another_order_are_refused(spark, tmp_path, fails, changes):
    reads = tmp_path / "reads"
    reads.mkdir()
    frame = failing(in_spark(spark, people(), tmp_path, "people"), fails, changes, reads)
    with pytest.raises(pk.DataError, match="in another order, when Spark read it again; write it to files"):
        pk.spark.release(frame, PLAN, tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["people.parquet", "reads"]


def test_a_task_that_fails_for_good_leaves_nothing(spark, folder, tmp_path):
    reads = tmp_path / "reads"
    reads.mkdir()
    frame = failing(in_spark(spark, people(), tmp_path, "people"), lambda partition, time: time > 1, never, reads)
    with pytest.raises(pk.EnvironmentFailure, match="Spark could not finish") as caught:
        pk.spark.release(frame, PLAN, tmp_path / "out")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert sorted(os.listdir(tmp_path)) == ["people.parquet", "reads"]


def test_a_key_that_travels_as_usual_leaves_traces(spark, folder, tmp_path):
    """The search would find what a broadcast, an expression, a setting or a shuffled row holds."""
    from pyspark.sql import functions

    names = ("broadcast", "expression", "setting", "row")
    secrets = {name: bytes([number]) + os.urandom(31) for number, name in enumerate(names)}
    held = spark.sparkContext.broadcast(secrets["broadcast"])
    spark.sparkContext.setLocalProperty("setting", secrets["setting"].hex())
    rows = in_spark(spark, pl.DataFrame({"row": [secrets["row"].hex()] * 10}), tmp_path, "rows", groups=1)
    rows.withColumn("key", functions.lit(secrets["expression"].hex())).groupBy("row", "key").count().collect()
    spark.sparkContext.setLocalProperty("setting", "")
    assert {name for name, secret in secrets.items() if traces(secret, folder)} == set(names)
    held.destroy()


def test_ids_are_compared_and_not_written(spark, folder, tmp_path):
    schema = pk.Schema([pk.Attribute("patient", role="id"), *SCHEMA.attributes])
    plan = pk.plan(schema, records=ROWS, k=20)
    names = [f"patient-{i * 7919 % ROWS:07d}-of-the-clinic" for i in range(ROWS)]
    table = people().with_columns(patient=pl.Series(names))
    pk.spark.release(in_spark(spark, table, tmp_path, "people"), plan, tmp_path / "out", randomness=pk.Seeded(3))
    assert_same(tmp_path / "out", pk.release(table, plan, randomness=pk.Seeded(3)))
    names[17] = names[ROWS - 5]
    twice = table.with_columns(patient=pl.Series(names))
    frame = in_spark(spark, twice, tmp_path, "twice")
    for counts in (False, True):
        with pytest.raises(pk.DataError) as told:
            pk.release(twice, plan, exact_counts=counts)
        with pytest.raises(pk.DataError) as caught:
            pk.spark.release(frame, plan, tmp_path / "again", exact_counts=counts)
        assert str(caught.value) == str(told.value)
    assert traces(b"-of-the-clinic", folder / "local", folder / "events") == []
    missing = in_spark(
        spark, table.with_columns(patient=pl.when(pl.col("age") > 3).then("patient")), tmp_path, "missing"
    )
    with pytest.raises(pk.DataError, match="The id column 'patient': some rows have no id; complete them"):
        pk.spark.release(missing, plan, tmp_path / "again")


WRONG = {
    "unlisted": (pl.col("sex").replace("F", "secret value"), "sex"),
    "missing": (pl.when(pl.col("age") > 3).then("age"), "age"),
    "type": (pl.col("age").cast(pl.String) + "secret", "age"),
    "kind": (pl.concat_list(pl.col("sex")), "sex"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_tables_are_refused_in_the_same_words(spark, tmp_path, wrong):
    how, name = WRONG[wrong]
    table = people().with_columns(how.alias(name))
    frame = in_spark(spark, table, tmp_path, "people")
    for counts in (False, True):
        with pytest.raises(pk.DataError) as told:
            pk.release(table, PLAN, exact_counts=counts)
        with pytest.raises(pk.DataError) as caught:
            pk.spark.release(frame, PLAN, tmp_path / "out", exact_counts=counts)
        assert str(caught.value) == str(told.value)
        assert "secret" not in str(caught.value)
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_values_in_errors_of_spark_go_no_further(spark, tmp_path):
    spark.conf.set("spark.sql.ansi.enabled", "true")
    table = people().with_columns(age=pl.lit("4711 is secret"))
    frame = in_spark(spark, table, tmp_path, "people").selectExpr(
        "sex", "cast(age as int) age", "job", "income", "born"
    )
    with pytest.raises(pk.EnvironmentFailure) as caught:
        pk.spark.release(frame, PLAN, tmp_path / "out")
    assert "4711" not in str(caught.value)
    assert caught.value.__context__ is None


def test_other_refusals(spark, tmp_path):
    frame = in_spark(spark, people(), tmp_path, "people")
    with pytest.raises(pk.RefusedError, match="The table has 20,000 rows and the plan was made for 30,000"):
        pk.spark.release(frame, pk.plan(SCHEMA, records=30_000, k=20), tmp_path / "out")
    with pytest.raises(pk.PlanError, match="Spark counts rows in its logs; release with another engine"):
        pk.spark.release(frame, pk.plan(SCHEMA, records=ROWS, k=20, hide_count=0.5), tmp_path / "out")
    drawn = pk.Schema([pk.Attribute("sex", role="id", repeats="one at random"), *SCHEMA.attributes[1:]])
    with pytest.raises(pk.PlanError, match="draws one row of each person by 'sex'"):
        pk.spark.release(frame, pk.plan(drawn, records=ROWS, k=20), tmp_path / "out")
    with pytest.raises(pk.DataError, match="has no column 'sex'"):
        pk.spark.release(frame.drop("sex"), PLAN, tmp_path / "out")
    with pytest.raises(pk.InputError, match="A Spark DataFrame is needed, not an object of type DataFrame"):
        pk.spark.release(people(), PLAN, tmp_path / "out")
    with pytest.raises(pk.InputError, match="exists already"):
        pk.spark.release(frame, PLAN, tmp_path)
    with pytest.raises(pk.InputError, match="The format 'xml' is unknown"):
        pk.spark.release(frame, PLAN, tmp_path / "out", format="xml")
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_counts_are_those_of_the_release(spark, seed, tmp_path):
    bundle = pk.Bundle(["sex", "job"])
    plan = pk.plan(pk.Schema(SCHEMA.attributes, bundles=[bundle]), records=ROWS, k=5)
    release = pk.release(people(), plan, randomness=pk.Seeded(seed))
    release.save(tmp_path / "out")
    frame = spark.read.parquet(str(tmp_path / "out" / "data.parquet"))
    tables = [("age", "sex"), "job", ("born", "income", "job")]
    found = pk.spark.counts(frame, plan, tables, level=0.9)
    assert list(found) == [("age", "sex"), ("job",), ("born", "income", "job")]
    for names, estimate in found.items():
        expected = release.crosstab(*names, level=0.9)
        np.testing.assert_array_equal(estimate.counts, expected.counts)
        np.testing.assert_array_equal(estimate.standard_errors, expected.standard_errors)
        assert estimate.level == 0.9
        assert estimate.to_polars().equals(expected.to_polars())
    mean = found["age", "sex"].mean("age", where={"sex": "F"})
    assert mean.value == release.crosstab("age", "sex").mean("age", where={"sex": "F"}).value
    from_folder = pk.spark.counts(tmp_path / "out", plan, ["job"], method="em")
    np.testing.assert_array_equal(from_folder["job",].counts, release.crosstab("job", method="em").counts)
    with pytest.raises(pk.InputError, match="'jop'"):
        pk.spark.counts(frame, plan, ["jop"])
    with pytest.raises(pk.DataError, match="no column 'job'"):
        pk.spark.counts(frame.drop("job"), plan, ["job"])
    wrong = in_spark(spark, people().with_columns(job=pl.lit("secret")), tmp_path, "wrong")
    with pytest.raises(pk.DataError, match="Some rows hold a value that the schema does not list") as caught:
        pk.spark.counts(wrong, plan, ["job"])
    assert "secret" not in str(caught.value)
