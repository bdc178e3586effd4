"""Honest releases of every kind are kept: 200 of them, from two rows on, every second one written to disk and read again."""

import itertools

import numpy as np
import polars as pl
import pytest
from blocks import BLOCKS
from plans import plan_of, schema_of
from tampering import rehash

import pkanon as pk
from pkanon._frames import decode
from pkanon._plan import Collection
from pkanon._plan.collection import MODES
from pkanon._release import collected
from pkanon._schema import code_dtype

ROWS = (2, 3, 17, 60, 400)
TYPES = pk.Schema(
    [
        pk.Attribute("id", role="id"),
        pk.Attribute("text", ['a "quoted", one', "ünïcode", "plain"], missing="value"),
        pk.Attribute.binned("age", start=0, stop=20, width=5, open="high"),
        pk.Attribute("children", [0, 1, 2], other=3),
        pk.Attribute("height", [1.5, 1.75], type="number"),
        pk.Attribute("smokes", [False, True], missing="value"),
        pk.Attribute("visit", ["2024-01-01", "2024-02-01"], type="date"),
        pk.Attribute("note", role="drop"),
    ]
)
BUNDLED = pk.Schema(
    [
        pk.Attribute("age", ["child", "adult", "old"]),
        pk.Attribute("degree", ["no", "yes"]),
        pk.Attribute("sex", ["F", "M"]),
    ],
    [pk.Bundle(["age", "degree"], forbid=[{"age": ["child"], "degree": ["yes"]}])],
)
PASSING = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("weight", role="pass", type="number"),
        pk.Attribute("town", role="pass"),
        pk.Attribute("day", role="pass", type="date"),
        pk.Attribute("old", role="pass", type="boolean"),
    ]
)
STRANGE = ["a,b", 'say "x"', "two\nlines", " leading", "#", "ünï"]
NUMBERS = [1e-7, 1e20, 0.1, -3.0, 1e16]
VISITS = pk.Schema(
    [
        pk.Attribute("patient", role="id", repeats="one at random"),
        pk.Attribute("job", merge={"care": ["nurse", "doctor"], "other, or none": ["clerk", "none"]}, missing="value"),
        pk.Attribute.pointed("weight", [0, 200, 800], type="number", open="high"),
        pk.Attribute("said", STRANGE),
        pk.Attribute("measured", NUMBERS),
    ]
)
SKEWED = pk.Schema([pk.Attribute.ranged("a0", 1, 12), pk.Attribute("visits", role="pass", type="integer")])
NOTHING_KEPT = [(32, 2**31), (32, 2**31 - 1), (64, 2**63), (64, 2**63 - 1), (64, 2**63 - 2**12)]
"""(bits, words for each of two values) that replace every answer, or all but a few in a billion."""


def typed_people(rows, draw):
    return pl.DataFrame(
        {
            "id": range(rows),
            "text": draw.choice(['a "quoted", one', "ünïcode", "plain"], rows),
            "age": draw.integers(0, 90, rows),
            "children": draw.integers(0, 6, rows),
            "height": draw.choice([1.5, 1.75], rows),
            "smokes": pl.Series(draw.choice(["true", "false", ""], rows)).replace_strict(
                {"true": True, "false": False, "": None}
            ),
            "visit": draw.choice(["2024-01-01", "2024-02-01"], rows),
            "note": ["-"] * rows,
        }
    )


def bundled_people(rows, draw):
    ages = draw.choice(["child", "adult", "old"], rows)
    degrees = np.where(ages == "child", "no", draw.choice(["no", "yes"], rows))
    return pl.DataFrame({"age": ages, "degree": degrees, "sex": draw.choice(["F", "M"], rows)})


def passing_people(rows, draw):
    town = draw.choice(["Graz", "Linz", None], rows)
    return pl.DataFrame(
        {
            "sex": draw.choice(["F", "M"], rows),
            "weight": draw.random(rows),
            "town": pl.Series(list(town), dtype=pl.String),
            "day": [f"2024-03-{1 + i % 28:02}" for i in range(rows)],
            "old": draw.choice([True, False], rows),
        }
    )


def visits(people, draw):
    """Of each person one to three, some of them without a job."""
    patients = [patient for patient in range(people) for _ in range(1 + patient % 3)]
    rows = len(patients)
    jobs = draw.choice(["nurse", "doctor", "clerk", "none", ""], rows)
    return pl.DataFrame(
        {
            "patient": [f"p{patient}" for patient in patients],
            "job": [job or None for job in jobs.tolist()],
            "weight": draw.gamma(4, 50, rows),
            "said": draw.choice(STRANGE, rows),
            "measured": draw.choice(NUMBERS, rows),
        }
    )


def coded_people(schema, rows, draw, *, alike):
    """Rows of any schema of whole numbers; all of them the same, or as they come."""
    codes = {
        a.name: (np.zeros(rows) if alike else draw.integers(0, a.size, rows)).astype(code_dtype(a.size))
        for a in schema.randomised
    }
    return decode(schema, codes, None)


def skewed_people(rows, draw):
    """Of twelve values, one has four rows in five; a passed number is as skewed."""
    values, numbers = (np.where(draw.random(rows) < 0.8, 7, draw.integers(1, 13, rows)) for _ in range(2))
    return pl.DataFrame({"a0": values, "visits": numbers})


def people_of_units(plan, rows, draw, *, alike):
    """Rows of a plan whose units may forbid combinations."""
    codes = {}
    for unit in plan.units:
        drawn = (np.zeros(rows) if alike else draw.integers(0, unit.size, rows)).astype(code_dtype(unit.size))
        codes |= dict(zip(unit.attributes, unit.split(drawn)))
    return decode(plan.schema, codes, None)


def cases(seed):
    """(what it is, plan, people) of each release."""
    draw = np.random.default_rng(seed)
    for rows, alike, (name, block) in itertools.product((2, 7, 40), (False, True), BLOCKS.items()):
        plan = plan_of([block], rows)
        yield f"{name}, {rows} rows", plan, people_of_units(plan, rows, draw, alike=alike)
    for rows, design in itertools.product((17, 60), ("optimal", "equal-rho")):
        yield f"all types, {design}", pk.plan(TYPES, records=rows, k="1.3", design=design), typed_people(rows, draw)
    for people, design in itertools.product((17, 60, 400), ("optimal", "joint")):
        yield f"visits, {design}", pk.plan(VISITS, records=people, k="1.3", design=design), visits(people, draw)
    for rows, design in itertools.product(ROWS, ("optimal", "equal-rho", "joint")):
        plan = pk.plan(BUNDLED, records=rows, k="1.3", design=design)
        yield f"bundle, {design}, {rows} rows", plan, bundled_people(rows, draw)
        plan = pk.plan(PASSING, records=rows, k="1.3", design=design)
        yield f"passed columns, {design}, {rows} rows", plan, passing_people(rows, draw)
    for rows, sizes, alike in itertools.product((*ROWS, 5, 6, 9, 200), ((2,), (50,), (2, 3), (3, 3, 2)), (False, True)):
        schema = schema_of(sizes)
        plan = pk.plan(schema, records=rows, k="1.5")
        yield f"{sizes}, {rows} rows", plan, coded_people(schema, rows, draw, alike=alike)
    for p, sizes, rows in itertools.product(("1/2", "9/10"), ((2,), (4, 3)), (30, 31, 50, 100, 300)):
        schema = schema_of(sizes)
        plan = pk.plan(schema, records=30, k=2, hide_count=p)
        yield f"hidden count, {rows} rows", plan, coded_people(schema, rows, draw, alike=False)
    for rows, design in itertools.product((60, 400, 4_000), ("joint", "optimal")):
        plan = pk.plan(SKEWED, records=rows, k=2, design=design)
        yield f"skewed, {design}, {rows} rows", plan, skewed_people(rows, draw)
        plan = pk.plan(schema_of((12,)), records=rows, k=2, design=design)
        yield f"skewed and nothing passed, {design}, {rows} rows", plan, skewed_people(rows, draw).select("a0")
    for rows, (width, replace) in itertools.product((2, 40, 400), NOTHING_KEPT):
        unit = pk.Unit(("a0",), (2,))
        plan = pk.Plan(schema_of((2,)), (pk.Retention(unit, replace, width),), records=rows)
        yield f"nothing kept, {width} bits", plan, coded_people(plan.schema, rows, draw, alike=True)
    matrix = pk.TransitionMatrix([[0.9, 0.1, 0], [0.2, 0.7, 0.1], [0, 0.3, 0.7]])
    dependent = pk.TransitionMatrix([[0.9, 0.1], [0.1, 0.9]], data_dependent=True)
    for rows in ROWS:
        schema = schema_of((3, 2))
        yield (
            "zeros in a matrix",
            pk.plan(schema, records=rows, matrices={"a0": matrix, "a1": dependent}),
            coded_people(schema, rows, draw, alike=False),
        )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_collected_releases_are_kept(tmp_path, seed, mode, format):
    plan = pk.plan(schema_of((3, 2)), records=60, k=2)
    draw = np.random.default_rng(seed)
    codes = {name: draw.integers(0, size, 60).astype(np.uint8) for name, size in (("a0", 3), ("a1", 2))}
    collected(plan, codes, collection=Collection(mode, batch=2)).save(tmp_path / "out", format=format)
    found = pk.verify(tmp_path / "out")
    assert found.ok, str(found)


def test_a_text_file_is_compared_piece_by_piece(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("pkanon._audit.verification.pieces.PIECE", 7)
    people = visits(60, np.random.default_rng(seed))
    pk.release(people, pk.plan(VISITS, records=60, k=2)).save(tmp_path / "out", format="csv")
    assert pk.verify(tmp_path / "out").ok
    lines = (tmp_path / "out" / "data.csv").read_bytes()
    (tmp_path / "out" / "data.csv").write_bytes(lines[:-1] + b"\r\n")  # the end of the last line
    rehash(tmp_path / "out")
    assert pk.verify(tmp_path / "out").broken == ("values",)


def test_honest_releases_are_kept(tmp_path, seed):
    made = 0
    for what, plan, people in cases(seed):
        release = pk.release(people, plan, allow_pass=True, data_dependent=True)
        saved = made % 2 == 0
        if saved:
            release.save(tmp_path / str(made), format=("parquet", "csv", "both")[made // 2 % 3])
        found = pk.verify(tmp_path / str(made) if saved else release)
        assert found.ok, f"{what}\n{found}"
        not_made = {check.name for check in found if check.verdict == "not checked"}
        in_folders = {"files", "hashes", "data package", "README.txt", "predicted.csv"}
        assert not_made <= {"copies", "central epsilon", "signature"} | (set() if saved else in_folders), what
        made += 1
    assert made >= 200
