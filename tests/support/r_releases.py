"""Releases of every kind of block and of attribute, small and seeded, to ask the package in r/ about.

``python tests/support/r_releases.py FOLDER`` writes the example of the package anew, into a folder that does not exist.
"""

import datetime as dt
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import mixed
import numpy as np
import polars as pl
from agreement_examples import of_units
from dense import matrix_of, unit_of
from plans import plan_of

import pkanon as pk
from pkanon._blocks import Block

PAIR = unit_of(2, 3, forbid=(((1,), (0, 2)),))  # 4 of 6 combinations
BUNDLE = unit_of(2, 3, 2, names="cde", forbid=(((0,), (1, 2), ()), ((1,), (0,), (1,))))  # 7 of 12


def _people(blocks: Sequence[Block], rows: int, seed: int) -> pl.DataFrame:
    """People with skewed values and allowed combinations."""
    draw = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for unit in (unit for block in blocks for unit in block.units):
        codes = np.minimum(draw.geometric(2 / (unit.size + 1), rows) - 1, unit.size - 1).astype(np.uint32)
        for name, column in zip(unit.attributes, unit.split(codes)):
            columns[name] = column.astype(int) + 1
    return pl.DataFrame(columns)


def of_blocks(*blocks: Block, rows: int, seed: int) -> pk.Release:
    """A release of people made up for these blocks; values are 1, 2, 3, ..."""
    return pk.release(_people(blocks, rows, seed), plan_of(blocks, rows), randomness=pk.Seeded(seed))


def designed(rows: int, seed: int) -> pk.Release:
    """The default design, with a bundle that forbids combinations and missing answers."""
    schema = pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            pk.Attribute.binned("age", edges=[0, 20, 40, 60], open="high"),
            pk.Attribute("education", ["none", "school", "degree"], missing="value"),
            pk.Attribute('työ, "laji"', ["ja", "ei", "ehkä"], other="muu"),
        ],
        [pk.Bundle(["age", "education"], forbid=[{"age": ["0-19"], "education": ["degree"]}])],
    )
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 95, rows)
    education = draw.choice(np.array(["none", "school", "degree", None]), rows, p=[0.2, 0.4, 0.3, 0.1])
    people = pl.DataFrame(
        {
            "sex": draw.choice(["F", "M"], rows),
            "age": age,
            "education": [None if a < 20 and e == "degree" else e for a, e in zip(age, education)],
            'työ, "laji"': draw.choice(["ja", "ei", "ehkä", "?"], rows),
        }
    )
    return pk.release(people, pk.plan(schema, records=rows, k=5), randomness=pk.Seeded(seed))


def kinds_of_values(rows: int, seed: int) -> pk.Release:
    """Points, numbers as values, whole numbers beyond 2^53, a value that is the text NA."""
    schema = pk.Schema(
        [
            pk.Attribute.pointed("hours", [0, 10, 20, 40], missing="value"),
            pk.Attribute("dose", [0.1, 1e-05, 123456789012345680.0, 2.5]),
            pk.Attribute("code", [2**53, 2**53 + 1, -(2**62)]),
            pk.Attribute.ranged("number", 2**60, 2**60 + 2),
            pk.Attribute("text", ["NA", " x", "(missing)", 'q"t, u'], missing="value"),
        ]
    )
    draw = np.random.default_rng(seed)
    people = pl.DataFrame(
        {
            "hours": [None if h > 40 else h for h in draw.integers(0, 44, rows).tolist()],
            "dose": draw.choice([0.1, 1e-05, 123456789012345680.0, 2.5], rows, p=[0.5, 0.2, 0.2, 0.1]),
            "code": [[2**53, 2**53 + 1, -(2**62)][i] for i in draw.integers(0, 3, rows)],
            "number": [2**60 + int(i) for i in draw.integers(0, 3, rows)],
            "text": [["NA", " x", "(missing)", 'q"t, u', None][i] for i in draw.integers(0, 5, rows)],
        }
    )
    blocks = tuple(pk.Retention(unit, replace=2**64 // (4 * unit.size) + 12345, width=64) for unit in schema.units)
    return pk.release(people, pk.Plan(schema, blocks, records=rows), randomness=pk.Seeded(seed))


def few_people() -> pk.Release:
    """80 people and a bundle: groups whose estimated size is negative, and groups with one possible cell; always the same."""
    rows = 80
    nothing: Any = None  # the missing answer
    schema = pk.Schema(
        [
            pk.Attribute("a", ["x", "y", "z"]),
            pk.Attribute("c", ["u", "v"], missing="value"),
            pk.Attribute("e", ["p", "q", "r"]),
        ],
        [pk.Bundle(["a", "c", "e"], forbid=[{"a": ["z"], "c": ["u", nothing]}, {"a": ["y"], "e": ["p", "q"]}])],
    )
    draw = np.random.default_rng(0)
    a = draw.choice(["x", "y", "z"], rows, p=[0.9, 0.08, 0.02]).tolist()
    people = pl.DataFrame(
        {
            "a": a,
            "c": ["v" if own == "z" else [None, "u", "v"][i] for own, i in zip(a, draw.integers(0, 3, rows))],
            "e": ["r" if own == "y" else "pqr"[i] for own, i in zip(a, draw.integers(0, 3, rows))],
        }
    )
    return pk.release(people, pk.plan(schema, records=rows, k=4), randomness=pk.Seeded(0))


def releases(seed: int) -> Mapping[str, pk.Release]:
    """The releases by name."""
    several = (
        pk.Retention(unit_of(3), 2**29),
        matrix_of(unit_of(3, names="b"), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32),
        of_units(BUNDLE, unit_of(3, names="f"), unit_of(2, names="g"), weights=(3, 2, 5, 1, 2, 7, 4, 40), width=64),
    )
    tiny = 2**64 // 3 - 2**64 // 3000  # rho is 0.001
    return {
        "retention": mixed.make_release(mixed.make_table(3_000), mixed.noisy, seed=seed),
        "joint": of_blocks(pk.Retention(BUNDLE, 2**28), pk.Retention(unit_of(4), 2**28), rows=2_000, seed=seed),
        "agreement": designed(3_000, seed),
        "matrix": of_blocks(
            matrix_of(PAIR, [[10, 3, 1, 2], [1, 9, 4, 2], [5, 1, 9, 1], [1, 2, 1, 12]], 64),
            matrix_of(unit_of(3, names="x"), [[12, 4, 0], [2, 13, 1], [0, 0, 16]], 32),
            rows=1_500,
            seed=seed,
        ),
        "several": of_blocks(*several, rows=2_500, seed=seed),
        "sparse": of_blocks(*several, rows=60, seed=seed),
        "nearly nothing left": of_blocks(
            pk.Retention(unit_of(3), tiny, 64),
            of_units(unit_of(2, names="b"), unit_of(3, names="c"), weights=(333, 167, 167, 334), width=64),
            rows=4_000,
            seed=seed,
        ),
        "less than chance": of_blocks(
            of_units(unit_of(2), unit_of(3, names="b"), weights=(40, 15, 7, 3), width=64), rows=1_000, seed=seed
        ),
        "everything kept": of_blocks(
            pk.Retention(unit_of(3), 0), pk.Retention(unit_of(4, names="b"), 0), rows=300, seed=seed
        ),
        "values": kinds_of_values(2_000, seed),
        "few": few_people(),
    }


def label(value: object) -> str:
    """How the package writes a value."""
    if value is None:
        return "(missing)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def example() -> pk.Release:
    """The release in r/inst/extdata/example: 1,000 invented people, the default design with a bundle."""
    schema = pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            pk.Attribute.binned("age", edges=[0, 20, 40, 60], open="high"),
            pk.Attribute("education", ["none", "school", "degree"], missing="value"),
            pk.Attribute.ranged("rooms", 1, 4),
        ],
        [pk.Bundle(["age", "education"], forbid=[{"age": ["0-19"], "education": ["degree"]}])],
    )
    draw = np.random.default_rng(1)
    age = draw.integers(0, 95, 1_000)
    ways = {True: [0.7, 0.25, 0.0, 0.05], False: [0.15, 0.45, 0.3, 0.1]}
    people = pl.DataFrame(
        {
            "sex": draw.choice(["F", "M"], 1_000),
            "age": age,
            "education": [draw.choice(np.array(["none", "school", "degree", None]), p=ways[bool(a < 20)]) for a in age],
            "rooms": draw.choice([1, 2, 3, 4], 1_000, p=[0.2, 0.4, 0.3, 0.1]),
        }
    )
    plan = pk.plan(schema, records=1_000, epsilon=4, workload=2)
    return pk.release(people, plan, randomness=pk.Seeded(1))


if __name__ == "__main__":
    example().save(sys.argv[1], format="csv")
