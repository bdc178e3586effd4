"""What a device sends for given words (tests/data/client-vectors.json, whose rules are written without the package).

The module for browsers is held to the same file.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import pkanon as pk
from pkanon._collect import device
from pkanon._sample import randomise
from pkanon._sample.keystream import block_stream
from pkanon._schema import code_dtype

FILE = Path(__file__).parents[1] / "data" / "client-vectors.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))
EXHAUSTIVE = VECTORS["exhaustive"]


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
def test_vectors(vector):
    plan = pk.Plan.from_json(vector["plan"])
    for case in vector["cases"]:
        assert device.draw(plan, case["record"], device.listed_words(case["words"])) == case["sent"]


def test_every_kind_width_and_round_occurs():
    blocks = {(block["kind"], block["width"]) for vector in VECTORS["vectors"] for block in vector["plan"]["blocks"]}
    assert blocks >= {(kind, width) for kind in ("retention", "matrix", "agreement") for width in (16, 32, 64)}
    cases = [case for vector in VECTORS["vectors"] for case in vector["cases"]]
    assert max(int(name.split("/")[2]) for case in cases for name in case["words"]) >= 3
    assert any("forbid" in unit for vector in VECTORS["vectors"] for unit in vector["plan"]["units"])
    assert any(case["record"] != case["sent"] for case in cases)


class Words:
    """One word takes every value, from row to row; the others are as listed."""

    def __init__(self, entry):
        number, draw, round = map(int, entry["vary"].split("/"))
        self._vary = block_stream(number, draw, round)
        self._fixed = {block_stream(*map(int, name.split("/"))): int(word) for name, word in entry["words"].items()}

    def words(self, stream, start, count, width):
        if stream == self._vary:
            return np.arange(start, start + count, dtype=np.uint16)
        return np.full(count, self._fixed[stream], f"u{width // 8}")


def expected(entry):
    starts = [first for first, _ in entry["runs"]]
    sent = np.array([record for _, record in entry["runs"]])
    return np.repeat(sent, np.diff([*starts, 2**16]), axis=0)


@pytest.mark.parametrize("number", range(len(EXHAUSTIVE)))
def test_all_words_through_tables(number):
    entry = EXHAUSTIVE[number]
    plan = pk.Plan.from_json(entry["plan"])
    codes = dict(zip(plan.schema.names, entry["record"]))
    columns = [
        unit.join([np.full(2**16, codes[name], code_dtype(size)) for name, size in zip(unit.attributes, unit.sizes)])
        for unit in plan.units
    ]
    out = [column.copy() for column in columns]
    randomise(plan.blocks, columns, Words(entry), out=out, threads=1)
    sent = {}
    for unit, column in zip(plan.units, out):
        sent |= dict(zip(unit.attributes, unit.split(column)))
    np.testing.assert_array_equal(np.stack([sent[name] for name in plan.schema.names], axis=1), expected(entry))


@pytest.mark.parametrize("number", range(len(EXHAUSTIVE)))
def test_words_beside_every_change_through_the_device(number):
    entry = EXHAUSTIVE[number]
    plan, sent = pk.Plan.from_json(entry["plan"]), expected(entry)
    near = {first + step for first, _ in entry["runs"] for step in (-1, 0, 1)} | set(range(0, 2**16, 4099))
    for word in sorted(near & set(range(2**16))):
        words = device.listed_words({**entry["words"], entry["vary"]: str(word)})
        assert device.draw(plan, entry["record"], words) == sent[word].tolist()


@pytest.mark.parametrize("name", ["retention, 16 bits"])  # the others differ in their blocks, which the tables try
def test_all_words_through_the_device(name):
    entry = next(entry for entry in EXHAUSTIVE if entry["name"] == name)
    plan, sent = pk.Plan.from_json(entry["plan"]), expected(entry).tolist()
    words = {key: int(word) for key, word in entry["words"].items()}
    for word in range(2**16):
        words[entry["vary"]] = word
        assert device.draw(plan, entry["record"], lambda *at: words["{}/{}/{}".format(*at)]) == sent[word]
