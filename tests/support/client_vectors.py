"""Writes tests/data/client-vectors.json: what a device sends for given words, worked out by hand-written rules.

    python tests/support/client_vectors.py

Nothing of the package's samplers is used here: each rule is written again for one record, with Python integers, so that
the package and the module for browsers are both held to it.

    {"vectors":    [{"name", "plan", "cases": [{"record", "words", "sent"}]}],
     "exhaustive": [{"name", "plan", "record", "vary", "words", "runs"}]}

``words`` maps "block/draw/round" to a number in decimal digits. In ``exhaustive`` the word ``vary`` takes each of the
65,536 values, the other words are as listed, and ``runs`` are pairs [first word, record sent]: each holds up to the next.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pkanon as pk

FILE = Path(__file__).parents[1] / "data" / "client-vectors.json"
Words = Mapping[str, int]


# --- the rules, for one record --------------------------------------------------------------------------------------


def cells(unit: Mapping[str, Any], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """The allowed combinations of a unit, in the order of their codes: row-major, forbidden ones left out."""
    return _cells(json.dumps(unit.get("forbid", [])), tuple(sizes))


@cache
def _cells(forbid: str, sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    rules = json.loads(forbid)
    return [
        cell
        for cell in itertools.product(*map(range, sizes))
        if not any(all(code in codes or not codes for code, codes in zip(cell, rule)) for rule in rules)
    ]


def retention(block: Mapping[str, Any], codes: list[int], sizes: list[int], words: Words, at: str) -> list[int]:
    replace = int(block["replace"])
    if replace == 0:
        return codes
    drawn = words[f"{at}/0/0"] // replace
    return [drawn if drawn < sizes[0] else codes[0]]


def matrix(block: Mapping[str, Any], codes: list[int], sizes: list[int], words: Words, at: str) -> list[int]:
    ends = list(itertools.accumulate(int(count) for count in block["rows"][codes[0]]))
    return [next(value for value, end in enumerate(ends) if words[f"{at}/0/0"] < end)]


def agreement(block: Mapping[str, Any], codes: list[int], sizes: list[int], words: Words, at: str) -> list[int]:
    ends = list(itertools.accumulate(int(count) for count in block["sets"]))
    survivors = next(mask for mask, end in enumerate(ends) if words[f"{at}/0/0"] < end)
    bits = min(block["width"], 32)
    sent, draw = [], 0
    for place, (code, size) in enumerate(zip(codes, sizes)):
        draw += size > 2
        if survivors >> place & 1:
            sent.append(code)
        elif size == 2:
            sent.append(1 - code)
        else:
            digits = (words[f"{at}/{draw}/{round}"] // (2**bits // (size - 1)) for round in itertools.count())
            digit = next(digit for digit in digits if digit < size - 1)
            sent.append(digit + (digit >= code))
    return sent


RULES = {"retention": retention, "matrix": matrix, "agreement": agreement}


def sent(plan: Mapping[str, Any], record: Sequence[int], words: Words) -> list[int]:
    """What is sent for a true record and these words."""
    sizes = {item["name"]: size(item) for item in plan["attributes"]}
    codes = dict(zip(sizes, record))
    for number, block in enumerate(plan["blocks"]):
        units = [plan["units"][place] for place in block.get("units", [block.get("unit")])]
        combinations = [cells(unit, [sizes[name] for name in unit["attributes"]]) for unit in units]
        before = [
            listed.index(tuple(codes[name] for name in unit["attributes"])) for unit, listed in zip(units, combinations)
        ]
        after = RULES[block["kind"]](block, before, [len(listed) for listed in combinations], words, str(number))
        for unit, listed, code in zip(units, combinations, after):
            codes |= dict(zip(unit["attributes"], listed[code]))
    return [codes[name] for name in sizes]


def size(attribute: Mapping[str, Any]) -> int:
    """How many codes an attribute of a plan file has."""
    if "values" in attribute:
        declared = len(attribute["values"])
    elif "range" in attribute:
        low, high = map(int, attribute["range"])
        declared = high - low + 1
    else:
        declared = len(attribute["bins"]["labels"])
    return declared + ("other" in attribute) + (attribute.get("missing") == "value")


# --- the plans ------------------------------------------------------------------------------------------------------


def named(*sizes: int) -> pk.Schema:
    return pk.Schema([pk.Attribute.ranged(name, 1, values) for name, values in zip("abcdefgh", sizes)])


def unit(schema: pk.Schema, *names: str, forbid: Sequence[Any] = ()) -> pk.Unit:
    return pk.Unit(names, tuple(schema.attribute(name).size for name in names), tuple(forbid))


def plans() -> dict[str, pk.Plan]:
    two, three, four = named(2, 3), named(2, 3, 5), named(2, 3, 4, 300)
    forbid = (((0,), (1, 2)),)
    sets = (1, 2**61, 2**61 - 1, 2**61, 2**60, 2**60 + 5, 2**62)
    rows = ((1, 2**16 - 2, 1), (2**16 - 1, 1, 0), (0, 1, 2**16 - 1))
    made = {
        "retention, 16 bits": pk.Plan(
            two, (pk.Retention(unit(two, "a"), 20_001, 16), pk.Retention(unit(two, "b"), 9_999, 16)), 100
        ),
        "retention, 32 bits, the second kept always": pk.Plan(
            two, (pk.Retention(unit(two, "a"), 2**30 + 7, 32), pk.Retention(unit(two, "b"), 0, 32)), 100
        ),
        "retention, 64 bits": pk.Plan(
            two, (pk.Retention(unit(two, "b"), 2**62 + 12_345, 64), pk.Retention(unit(two, "a"), 2**63, 64)), 100
        ),
        "retention, a bundle with forbidden combinations, 16 bits": pk.Plan(
            two, (pk.Retention(unit(two, "a", "b", forbid=forbid), 12_345, 16),), 100
        ),
        "retention, a bundle out of order with forbidden combinations, 64 bits": pk.Plan(
            three,
            (
                pk.Retention(unit(three, "c", "a", forbid=(((1, 4), (0,)), ((0,), (1,)))), 2**60 + 1, 64),
                pk.Retention(unit(three, "b"), 2**61, 64),
            ),
            100,
        ),
        "matrix, 16 bits": pk.Plan(
            two,
            (pk.Matrix(unit(two, "b"), rows, 16), pk.Matrix(unit(two, "a"), ((2**16, 0), (3, 2**16 - 3)), 16)),
            100,
        ),
        "matrix, 32 bits": pk.Plan(
            two,
            (
                pk.Retention(unit(two, "a"), 2**29, 32),
                pk.Matrix(
                    unit(two, "b"), ((2**31, 2**31 - 1, 1), (5, 2**32 - 10, 5), (2**30, 2**30, 2**31)), 32
                ),
            ),
            100,
        ),
        "matrix, 64 bits": pk.Plan(
            two,
            (
                pk.Retention(unit(two, "a"), 2**62 + 3, 64),
                pk.Matrix(unit(two, "b"), ((2**64, 0, 0), (1, 2**64 - 2, 1), (2**63 + 1, 2**62, 2**62 - 1)), 64),
            ),
            100,
        ),
        "agreement, 16 bits": pk.Plan(
            three,
            (
                pk.Agreement(
                    (unit(three, "a"), unit(three, "b"), unit(three, "c")),
                    (5_000, 3_000, 0, 9_000, 7_000, 11_000, 13_000, 17_536), 16,
                ),
            ),
            100,
        ),
        "agreement of a bundle, 32 bits": pk.Plan(
            three,
            (
                pk.Agreement(
                    (unit(three, "b", "c", forbid=(((0,), (0, 1, 2)), ((2,), (4,)))), unit(three, "a")),
                    (2**30 - 1, 2**30, 2**30, 2**30 + 1), 32,
                ),
            ),
            100,
        ),
        "agreement, 64 bits": pk.Plan(
            four,
            (
                pk.Agreement(
                    (unit(four, "a"), unit(four, "b", "c"), unit(four, "d")),
                    (*sets, 2**64 - sum(sets)), 64,
                ),
            ),
            100,
        ),
    }  # fmt: skip
    schema = pk.Schema(
        [
            pk.Attribute("smokes", ["no", "yes"], missing="value"),
            pk.Attribute.binned("age", start=0, stop=90, width=10, open="high"),
            pk.Attribute("job", ["farmer", "nurse"], other="other"),
        ],
        [pk.Bundle(["smokes", "job"], forbid=[{"smokes": ["yes"], "job": ["nurse"]}])],
    )
    for design in ("optimal", "equal-rho", "joint"):
        made[f"the design {design}"] = pk.plan(schema, records=5_000, k=20, design=design)
    return made


# --- words ----------------------------------------------------------------------------------------------------------


def records(plan: Mapping[str, Any]) -> list[list[int]]:
    """Every true record, or a spread of them."""
    sizes = [size(item) for item in plan["attributes"]]
    spread = [range(values) if values <= 12 else [0, 1, values // 2, values - 2, values - 1] for values in sizes]
    names = [item["name"] for item in plan["attributes"]]
    allowed = []
    for record in itertools.product(*spread):
        codes = dict(zip(names, record))
        if all(
            tuple(codes[name] for name in unit["attributes"])
            in cells(unit, [sizes[names.index(name)] for name in unit["attributes"]])
            for unit in plan["units"]
            if "forbid" in unit
        ):
            allowed.append(list(record))
    return allowed


def draws(plan: pk.Plan) -> Iterator[tuple[int, Any, int, int]]:
    """Each block, draw and width."""
    for number, block in enumerate(plan.blocks):
        for draw, width in enumerate(block.draws):
            yield number, block, draw, width


def edges(block: Any, draw: int, width: int) -> list[int]:
    """Words at which the outcome of a draw changes, and the words beside them."""
    counts: list[int] = []
    if isinstance(block, pk.Retention):
        counts = [block.replace * value for value in range(block.units[0].size + 1)]
    elif isinstance(block, pk.Matrix):
        counts = [end for row in block.rows for end in itertools.accumulate(row)]
    elif draw == 0:
        counts = list(itertools.accumulate(block.sets))
    else:
        large = [unit for unit in block.units if unit.size > 2][draw - 1]
        wide = 2**width // (large.size - 1)
        counts = [wide, wide * (large.size - 2), wide * (large.size - 1)]
    near = {word + step for word in (0, *counts, 2**width) for step in (-1, 0, 1)}
    return sorted(word for word in near if 0 <= word < 2**width)


class Asked(dict[str, int]):
    """Words that are drawn when a rule first asks for them, and only then."""

    def __init__(self, made: pk.Plan, chance: random.Random):
        super().__init__()
        self._made, self._chance = made, chance

    def __missing__(self, name: str) -> int:
        number, draw, round = map(int, name.split("/"))
        block = self._made.blocks[number]
        width: int = block.draws[draw]
        likely = edges(block, draw, width)
        if draw and round < 3 and self._chance.random() < 0.5:
            word: int = 2**width - 1 - self._chance.randrange(3)  # rejected unless V - 1 divides 2^width
        else:
            word = self._chance.choice(likely) if self._chance.random() < 0.5 else self._chance.getrandbits(width)
        self[name] = word
        return word


def complete(made: pk.Plan, words: dict[str, int], chance: random.Random) -> dict[str, str]:
    """The words with one for every draw: a sampler may ask for a word that it then does not need."""
    for number, block, draw, width in draws(made):
        if not (isinstance(block, pk.Retention) and block.replace == 0):
            words.setdefault(f"{number}/{draw}/0", chance.getrandbits(width))
    order = sorted(words, key=lambda name: tuple(map(int, name.split("/"))))
    return {name: str(words[name]) for name in order}


def vectors() -> dict[str, Any]:
    """Everything that the file holds."""
    chance = random.Random(9474)
    listed, exhaustive = [], []
    for name, made in plans().items():
        plan = made.to_json()
        true = records(plan)
        cases = []
        for i in range(max(60, len(true))):
            record = true[i % len(true)]
            words = Asked(made, chance)
            outcome = sent(plan, record, words)
            cases.append({"record": record, "words": complete(made, dict(words), chance), "sent": outcome})
        listed.append({"name": name, "plan": plan, "cases": cases})
        if "16 bits" not in name:
            continue
        for number, _block, draw, width in draws(made):
            assert width == 16
            for record in true[:: max(1, len(true) // 6)]:
                fixed = {f"{n}/{d}/{round}": 2**15 + 321 * n for n, _, d, _ in draws(made) for round in range(2)}
                fixed |= {f"{n}/{d}/0": 1 for n, _, d, _ in draws(made) if d == 0 and draw}  # every value goes
                vary = f"{number}/{draw}/0"
                runs: list[tuple[int, list[int]]] = []
                for word in range(2**16):
                    outcome = sent(plan, record, {**fixed, vary: word})
                    if not runs or runs[-1][1] != outcome:
                        runs.append((word, outcome))
                del fixed[vary]
                listed_words = {key: str(value) for key, value in fixed.items()}
                exhaustive.append(
                    {"name": name, "plan": plan, "record": record, "vary": vary, "words": listed_words, "runs": runs}
                )
    return {"format": "pkanon-client-vectors/1", "vectors": listed, "exhaustive": exhaustive}


def main() -> None:
    """Write the file."""
    data = json.loads(json.dumps(vectors()))
    lines = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for mark in ('{"name":', '{"record":'):
        lines = lines.replace(mark, "\n" + mark)
    FILE.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
