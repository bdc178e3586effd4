"""Refusals count no rows unless asked, and with a hidden record count nothing tells the true one.

A schema is often written by somebody else than the custodian: "3 rows hold a forbidden combination" would answer
whatever its author asks of the private table.
"""

import re
import sys
import traceback
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._cli import run
from pkanon._release import pipeline

ATTRIBUTES = [
    pk.Attribute("person", role="id", type="integer"),
    pk.Attribute("sex", ["F", "M"]),
    pk.Attribute.ranged("rooms", 1, 9),
    pk.Attribute("edu", ["none", "degree"]),
    pk.Attribute("job", ["farm", "care"], other="else"),
]
SCHEMA = pk.Schema(ATTRIBUTES, [pk.Bundle(["sex", "edu"], [{"sex": ["F"], "edu": ["degree"]}])])
N = 7919
BOUND = 6000
HIDDEN = pk.plan(SCHEMA, records=BOUND, epsilon=6, hide_count="9/10")
PUBLIC = pk.plan(SCHEMA, records=N, k=5)


def people(rows=N):
    number = np.arange(rows)
    return pl.DataFrame(
        {
            "person": number,
            "sex": np.array(["F", "M"])[number % 2],
            "rooms": number % 9 + 1,
            "edu": np.array(["none", "degree"])[number % 2],
            "job": np.array(["farm", "care", "x"])[number % 3],
        }
    )


def with_lines(path, change):
    people().write_csv(path)
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *change(lines)]) + "\n")
    return path


def short(line):
    return line.rpartition(",")[0]


TABLES = {
    "no value": lambda path: people().with_columns(sex=pl.lit(None, pl.String)),
    "not listed": lambda path: people().with_columns(sex=pl.lit("X")),
    "not a number": lambda path: people().with_columns(rooms=pl.lit("x")),
    "some of them": lambda path: people().with_columns(rooms=pl.when(pl.col("person") < 4321).then(0).otherwise(1)),
    "forbidden": lambda path: people().with_columns(sex=pl.lit("F"), edu=pl.lit("degree")),
    "repeated ids": lambda path: people().with_columns(person=pl.lit(7)),
    "no ids": lambda path: people().with_columns(person=pl.lit(None, pl.Int64)),
    "ids of another type": lambda path: people().with_columns(person=pl.lit("x")),
    "all lines short": lambda path: with_lines(path, lambda lines: map(short, lines)),
    "all lines long": lambda path: with_lines(path, lambda lines: [line + ",1" for line in lines]),
    "one line short": lambda path: with_lines(path, lambda lines: [*lines[:-1], short(lines[-1])]),
    "a quote left open": lambda path: with_lines(path, lambda lines: [*lines, '"']),
    "a NUL": lambda path: with_lines(path, lambda lines: [*lines, "\0"]),
    "an undeclared column": lambda path: people().with_columns(more=pl.lit(1)),
    "an absent column": lambda path: people().drop("sex"),
    "a column of another type": lambda path: people().with_columns(sex=pl.lit(1.5)),
}
COUNTED = ["no value", "not listed", "not a number", "some of them", "forbidden", "repeated ids", "no ids"]
COUNTED += ["ids of another type", "all lines short", "all lines long", "one line short"]


def told(error):
    """Every text that an error carries, its causes included."""
    texts = []
    while error is not None:
        texts += [str(error), repr(error), *map(str, error.args), *traceback.format_exception_only(error)]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


def numbers(text, path):
    """The numbers in a text, but for those in the name of the file."""
    return {int(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]*", text.replace(str(path), ""))}


def public(release):
    """The rows of a release and, as its sentences count them, the others beside one row: either may be N by chance."""
    return {release.rows, release.rows - 1}


@pytest.mark.parametrize("action", [pk.release, pk.check])
@pytest.mark.parametrize("fault", TABLES)
def test_no_refusal_counts_rows(fault, action, tmp_path):
    path = tmp_path / "t.csv"
    table = TABLES[fault](path)
    for plan in (PUBLIC, HIDDEN):
        with pytest.raises(pk.DataError) as caught:
            action(table, plan)
        # the columns of the header, the bits of a whole number, and UTF-16
        assert numbers(told(caught.value), path) <= {5, 64, 16}
        assert ("ome rows " in str(caught.value)) == (fault in COUNTED)


@pytest.mark.parametrize("fault", COUNTED)
def test_the_custodian_may_ask_for_the_number(fault, tmp_path):
    expected = {"some of them": 4321, "one line short": 1}.get(fault, N)
    with pytest.raises(pk.DataError) as caught:
        pk.check(TABLES[fault](tmp_path / "t.csv"), PUBLIC, exact_counts=True)
    assert f"{expected:,} row" in str(caught.value)


@pytest.mark.parametrize("action", [pk.release, pk.check])
def test_not_under_a_hidden_count(action):
    with pytest.raises(pk.RefusedError, match="exact_counts"):
        action(people(), HIDDEN, exact_counts=True)


SMALL = {"no rows": 0, "one row": 1, "one fewer": BOUND - 1}


@pytest.mark.parametrize("rows", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_all_tables_below_the_bound_are_refused_alike(rows, form, tmp_path):
    table = people(rows)
    path = tmp_path / f"t.{form}"
    if form == "csv":
        table.write_csv(path)
    elif form == "parquet":
        table.write_parquet(path)
    for allow_fewer in (False, True):
        with pytest.raises(pk.DataError) as caught:
            pk.check(table if form == "frame" else path, HIDDEN, allow_fewer=allow_fewer)
        assert str(caught.value) == (
            "The table has fewer rows than the public lower bound of the plan, 6,000; plan for a lower one."
        )


def test_a_central_target_in_a_plan_made_by_hand_tells_nothing():
    asked = replace(HIDDEN.asked, central_epsilon="0.1")
    plan = replace(HIDDEN, asked=asked)
    release = pk.release(people(), plan)
    assert N not in numbers(str(release.certificate), "") - public(release)
    assert pk.check(people(), plan) == {}


def test_a_lack_of_memory_names_no_number_of_rows(monkeypatch):
    def full(dtypes, rows):
        raise MemoryError(f"Unable to allocate an array with shape ({rows}, 8)")

    monkeypatch.setattr(pipeline, "Records", full)
    for plan in (PUBLIC, HIDDEN):
        with pytest.raises(pk.EnvironmentFailure, match="not enough memory") as caught:
            pk.release(people(), plan)
        assert numbers(told(caught.value), "") == set()


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_progress_tells_steps_and_no_shares(form, tmp_path, monkeypatch):
    # batches that end within the table: shares would be 1000/7919, 2000/7919, ...
    monkeypatch.setattr("pkanon._frames.read.source.BATCH", 1000)
    monkeypatch.setattr(sys.modules["pkanon._sample.randomise"], "PIECE", 1000)
    table = people()
    if form != "frame":
        getattr(table, f"write_{form}")(tmp_path / f"t.{form}")
    given = table if form == "frame" else tmp_path / f"t.{form}"

    def reports(plan):
        seen = []
        pk.release(given, plan, progress=lambda *step: seen.append(step))
        return seen

    seen = reports(HIDDEN)
    steps = list(dict.fromkeys(step for step, _ in seen))
    assert steps[:3] == ["reading", "randomising", "shuffling"]
    assert seen == [(step, share) for step in steps for share in (0.0, 1.0)]
    if form == "frame":  # which the same table with a public count does not hide
        assert 0.126 < reports(PUBLIC)[0][1] < 0.127


def test_nothing_printed_tells_a_hidden_count(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    people().write_csv("t.csv")
    HIDDEN.save("hidden.json")
    for arguments in (
        ["--check"],
        ["--check", "--json"],
        ["-o", "out"],
        ["-o", "out2", "--json", "--format", "both"],
        ["-o", "out"],  # it exists already
        ["-o", "out3", "--exact-counts"],
    ):
        run(["release", "t.csv", "--plan", "hidden.json", *arguments])
        out, err = capfd.readouterr()
        releases = [pk.open_release(folder) for folder in ("out", "out2") if (tmp_path / folder).exists()]
        known = set().union(*map(public, releases))
        digests = re.compile(r"[0-9a-f]{64}")
        assert N not in numbers(digests.sub("", out + err), "") - known
    assert pk.check(people(), HIDDEN) == {}
    TABLES["not listed"](None).write_csv("bad.csv")
    for option in (["--check"], ["-o", "out4"]):
        assert run(["release", "bad.csv", "--plan", "hidden.json", *option]) == 2
        out, err = capfd.readouterr()
        assert numbers(out + err, "") == set()
