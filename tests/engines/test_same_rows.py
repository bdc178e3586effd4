"""Do engines agree? The same plan and key: the same rows in the same order, whatever the table, its file and the sizes of runs."""

import dataclasses
import gzip

import numpy as np
import polars as pl
import pytest
from mixed import make_schema, make_table
from streaming import MANY, ONE, SPLIT, Tied, streamed

import pkanon as pk
from pkanon._engines.streaming import Sizes, stream
from pkanon._frames import TextFormat
from pkanon._sample import draw_order

ROWS = 5_000
SEEDED = pk.Seeded(7)
SIZES = {"many": MANY, "split": SPLIT, "one": ONE, "uneven": Sizes(run=777, bucket=333, bits=5)}


@pytest.fixture(scope="module")
def table():
    return make_table(ROWS)


@pytest.fixture(scope="module")
def schema():
    return make_schema()


def same(one: pk.Release, other: pk.Release) -> None:
    assert one.certificate.digests == other.certificate.digests
    assert dataclasses.replace(one.certificate, date="") == dataclasses.replace(other.certificate, date="")
    assert one.table.equals(other.table)
    assert (one.kind, one.dropped, one.rows) == (other.kind, other.dropped, other.rows)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("design", ["optimal", "equal-rho"])
def test_every_kind_of_attribute(table, schema, design, sizes, tmp_path):
    """Bundles, forbidden combinations, missing answers, ids, passed and dropped columns; words of 32 and 64 bits."""
    plan = pk.plan(schema, records=ROWS, k=20, design=design)
    whole = pk.release(table, plan, randomness=SEEDED, allow_pass=True)
    same(whole, streamed(table, plan, tmp_path, SIZES[sizes]))


def test_words_of_64_bits_are_among_them(schema):
    plans = [pk.plan(schema, records=ROWS, k=20, design=design) for design in ("optimal", "equal-rho")]
    widths = {width for plan in plans for block in plan.blocks for width in block.draws}
    assert widths == {32, 64}
    assert {type(block).__name__ for plan in plans for block in plan.blocks} == {"Agreement", "Retention"}


@pytest.mark.parametrize("rows", [2, 3, 999, 1000, 1001, 2000])
def test_few_rows(rows, tmp_path):
    table = pl.DataFrame({"a": np.arange(rows) % 5, "b": np.arange(rows) % 300})
    schema = pk.Schema([pk.Attribute.ranged("a", 0, 4), pk.Attribute.ranged("b", 0, 299)])
    plan = pk.plan(schema, records=rows, k=1.5)
    for sizes in SIZES.values():
        same(pk.release(table, plan, randomness=SEEDED), streamed(table, plan, tmp_path, sizes))


def test_numbers_that_are_rounded_to_points(tmp_path):
    rows = 4_000
    schema = pk.Schema([pk.Attribute.pointed("x", [0, 10, 20, 50], type="number"), pk.Attribute("s", ["F", "M"])])
    table = pl.DataFrame({"x": np.linspace(0, 50, rows), "s": ["F", "M"] * (rows // 2)})
    plan = pk.plan(schema, records=rows, k=5)
    same(pk.release(table, plan, randomness=SEEDED), streamed(table, plan, tmp_path))


@pytest.mark.parametrize("seed", range(12))
def test_hidden_counts(seed, tmp_path):
    """Dummies are added, or rows left out."""
    rows = 1_500
    schema = pk.Schema([pk.Attribute.ranged("a", 0, 9)])
    table = pl.DataFrame({"a": np.arange(rows) % 10})
    plan = pk.plan(schema, records=1_000, epsilon=2, hide_count="9/10")
    whole = pk.release(table, plan, randomness=pk.Seeded(seed))
    same(whole, streamed(table, plan, tmp_path, randomness=pk.Seeded(seed)))


def test_hidden_counts_go_both_ways():
    schema = pk.Schema([pk.Attribute.ranged("a", 0, 9)])
    table = pl.DataFrame({"a": np.arange(1_500) % 10})
    plan = pk.plan(schema, records=1_000, epsilon=2, hide_count="9/10")
    found = {np.sign(pk.release(table, plan, randomness=pk.Seeded(seed)).rows - 1_500) for seed in range(12)}
    assert {-1, 1} <= found


@pytest.mark.parametrize("mask", [0, 1, 2**63, 2**62 + 1, 2**64 - 2**60])
def test_order_words_that_tie(mask, tmp_path):
    """Few different words: ties are settled by further rounds, as in memory, whichever bits the buckets use."""
    rows = 600
    schema = pk.Schema([pk.Attribute.ranged("a", 0, rows - 1)])
    plan = pk.Plan(schema, (pk.Retention(schema.units[0], 0, 32),), rows)
    table = pl.DataFrame({"a": np.arange(rows)})
    source = Tied(pk.Seeded(3).key(), mask)
    expected = draw_order(rows, source).tolist()
    for sizes in (MANY, SPLIT, Sizes(run=64, bucket=9, bits=4)):
        found = stream(
            table, plan, source, folder=tmp_path, sizes=sizes, text=TextFormat(), exact_counts=False,
            refuse=lambda rows: None, progress=lambda step, done: None,
        )  # fmt: skip
        assert found.codes["a"].tolist() == expected


@pytest.fixture
def people(table, schema):
    """The table without types that a text file has not, a plan, and what it should be released as."""
    plan = pk.plan(schema, records=ROWS, k=20)
    return table, plan, pk.release(table, plan, randomness=SEEDED, allow_pass=True)


def written(table, folder, form):
    """The table in files of a form; what to open."""
    third = table.height // 3
    parts = [table[:third], table[third : 2 * third], table[2 * third :]]
    if form == "csv":
        table.write_csv(folder / "t.csv")
        return folder / "t.csv"
    if form == "csv.gz":
        (folder / "t.csv.gz").write_bytes(gzip.compress(table.write_csv().encode()))
        return folder / "t.csv.gz"
    if form == "latin-1":
        (folder / "t.csv").write_bytes(table.write_csv().encode("latin-1"))
        return folder / "t.csv"
    if form == "parquet":
        table.write_parquet(folder / "t.parquet", row_group_size=617)
        return folder / "t.parquet"
    if form == "pattern of csv.gz":
        for number, part in enumerate(parts):
            (folder / f"t{number}.csv.gz").write_bytes(gzip.compress(part.write_csv().encode()))
        return folder / "t*.csv.gz"
    if form == "folder of csv":
        for number, part in enumerate(parts):
            part.select(part.columns[:: 1 if number else -1]).write_csv(
                folder / f"{number}.csv"
            )  # in any order of columns
        return folder
    assert form == "partitioned"
    for region in sorted(table["Region"].unique().to_list()):
        (folder / f"Region={region}" / "deep").mkdir(parents=True)
        part = table.filter(pl.col("Region") == region)
        part.drop("Region").write_parquet(folder / f"Region={region}" / "deep" / "0.parquet")
    (folder / "_SUCCESS").write_text("")
    return folder


@pytest.mark.parametrize(
    "form", ["csv", "csv.gz", "latin-1", "parquet", "pattern of csv.gz", "folder of csv", "partitioned"]
)
def test_files(people, form, tmp_path):
    table, plan, expected = people
    (tmp_path / "in").mkdir()
    place = written(table, tmp_path / "in", form)
    text = pk.TextFormat(encoding="latin-1" if form == "latin-1" else None)
    if form == "partitioned":
        table = pl.concat(table.filter(pl.col("Region") == region) for region in sorted(table["Region"].unique()))
        expected = pk.release(table, plan, randomness=SEEDED, allow_pass=True)
    whole = pk.release(place, plan, randomness=SEEDED, allow_pass=True, text=text)
    assert whole.certificate.digests == expected.certificate.digests
    same(whole, streamed(place, plan, tmp_path, text=text))


def test_a_text_file_that_has_to_be_read_twice(schema, tmp_path):
    """A value that no small type holds is met late, and the file is read again as text: no row is there twice."""
    table = make_table(4_000).with_columns(pl.col("floor").cast(pl.String))
    table[3_990, "floor"] = "attic"  # taken as other
    table.write_csv(tmp_path / "t.csv")
    plan = pk.plan(schema, records=4_000, k=20)
    whole = pk.release(tmp_path / "t.csv", plan, randomness=SEEDED, allow_pass=True)
    same(whole, streamed(tmp_path / "t.csv", plan, tmp_path))


@pytest.mark.parametrize("form", ["parquet", "csv", "both"])
def test_saved_and_opened_again(people, form, tmp_path):
    table, plan, expected = people
    made = streamed(table, plan, tmp_path)
    made.save(tmp_path / "out", format=form)
    expected.save(tmp_path / "expected", format=form)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "expected").iterdir())
    again = pk.open_release(tmp_path / "out")
    assert again.table.equals(pk.open_release(tmp_path / "expected").table)
    assert not pk.verify(tmp_path / "out").broken
    for name in names:
        if not name.endswith((".parquet", ".json")):
            assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()


def test_the_budget_is_a_word_of_the_public_interface(people, tmp_path):
    table, plan, expected = people
    for memory in ("16MiB", 2**24, "1GB"):
        made = pk.release(table, plan, randomness=SEEDED, allow_pass=True, memory=memory, spool=tmp_path)
        same(expected, made)
    assert type(made) is not pk.Release
    assert type(expected) is pk.Release


@pytest.mark.parametrize("memory", ["much", "-1GB", "2 parsecs", True, 1.5, "10MB", 100, ""])
def test_budgets_that_are_none(people, memory):
    table, plan, _ = people
    with pytest.raises(pk.InputError, match="--memory"):
        pk.release(table, plan, allow_pass=True, memory=memory)


def test_a_file_larger_than_the_budget_is_streamed_by_itself(people, tmp_path, monkeypatch):
    from pkanon._engines.streaming import budget

    table, plan, expected = people
    table.write_csv(tmp_path / "t.csv")
    monkeypatch.setattr(budget, "SMALLEST", 2**10)
    for free, kind in ((2**40, pk.Release), (2**17, type(None))):
        monkeypatch.setattr(budget, "_free", lambda free=free: free)
        made = pk.release(tmp_path / "t.csv", plan, randomness=SEEDED, allow_pass=True, spool=tmp_path)
        assert (type(made) is pk.Release) == (kind is pk.Release)
        assert made.certificate.digests == expected.certificate.digests


def test_one_row_of_each_person_is_not_drawn_while_streaming(tmp_path):
    schema = pk.Schema([pk.Attribute("p", role="id", repeats="one at random"), pk.Attribute("s", ["F", "M"])])
    table = pl.DataFrame({"p": ["a", "a", "b"], "s": ["F", "M", "M"]})
    plan = pk.plan(schema, records=2, k=1.2)
    for asked in (pk.release, pk.check):
        with pytest.raises(pk.RefusedError, match="draw it before, or give enough memory"):
            asked(table, plan, memory="1GB")
    assert pk.check(table, plan) == {}


def test_no_column_is_loaded_while_a_release_is_made_and_saved(people, tmp_path, monkeypatch):
    from pkanon._estimate import StoredCodes

    table, plan, expected = people
    loaded = []
    monkeypatch.setattr(StoredCodes, "__getitem__", lambda codes, name: loaded.append(name))
    made = streamed(table, plan, tmp_path)
    made.save(tmp_path / "out")
    assert loaded == []
    assert made.certificate.digests == expected.certificate.digests


@pytest.mark.parametrize("role", ["pass", "id"])
def test_files_whose_columns_have_other_types(role, tmp_path):
    """What is kept as it is has one type; codes are the same from whichever."""
    (tmp_path / "in").mkdir()
    numbers = pl.Series("n", range(200))
    kept = pk.Schema([pk.Attribute.ranged("c", 0, 199), pk.Attribute("n", role=role)])
    coded = pk.Schema([pk.Attribute.ranged("c", 0, 199)], others="drop")
    for start, dtype in ((0, pl.Int32), (100, pl.Int64)):
        part = numbers[start : start + 100].cast(dtype)
        pl.DataFrame([part, part.alias("c")]).write_parquet(tmp_path / "in" / f"{start}.parquet")
    for sizes in (MANY, ONE, Sizes(run=10, bucket=10, bits=2)):
        with pytest.raises(pk.DataError, match="Column 'n' holds values of several types; convert it to one type"):
            streamed(tmp_path / "in", pk.plan(kept, records=200, k=1.5), tmp_path, sizes)
        plan = pk.plan(coded, records=200, k=1.5)
        same(pk.release(tmp_path / "in", plan, randomness=SEEDED), streamed(tmp_path / "in", plan, tmp_path, sizes))
