"""One record, randomised on the device of the person it belongs to.

The blocks of the plan do exactly what they do to a table, here to one row: what a device sends has the probabilities
that the plan states, to the last word (docs/why/theory.md 1). Each draw of a block takes one word of its width from the
operating system, and one more for each round in which it is rejected. Words are neither kept nor shown, unless the
record is made for practice and never sent.

``pkanon.js`` computes the same from the same words; tests/data/client-vectors.json holds both to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._blocks import Block
from .._errors import DataError, InputError
from .._plan import Plan
from .._schema import code_dtype

WordSource: TypeAlias = Callable[[int, int, int, int], int]
"""The word of a block, a draw and a round, all counted from 0, of a width in bits."""


def system_words(block: int, draw: int, round: int, width: int) -> int:
    """A fresh word from the operating system."""
    return int.from_bytes(os.urandom(width // 8), "little")


class Noted:
    """Words from another source, noted down: for practice and for tests only, because they reveal the true answer."""

    def __init__(self, source: WordSource = system_words) -> None:
        self._source = source
        self.words: dict[str, str] = {}
        """The words drawn so far: "block/draw/round" to the number in decimal digits."""

    def __call__(self, block: int, draw: int, round: int, width: int) -> int:
        word = self._source(block, draw, round, width)
        self.words[f"{block}/{draw}/{round}"] = str(word)
        return word


def listed_words(words: Mapping[str, str]) -> WordSource:
    """Words that were noted down, as :class:`Noted` does."""

    def word(block: int, draw: int, round: int, width: int) -> int:
        name = f"{block}/{draw}/{round}"
        text = words.get(name)
        if not isinstance(text, str) or not (text.isascii() and text.isdecimal()):
            raise InputError(f"The words hold no number for {name} (block/draw/round); write it as a text of digits.")
        if int(text) >= 2**width:
            raise InputError(f"The word {name} (block/draw/round) does not fit in {width} bits.")
        return int(text)

    return word


def draw(plan: Plan, record: Sequence[int], words: WordSource = system_words) -> list[int]:
    """The record to send, one code per attribute in the order of the schema, from the true codes in ``record``."""
    names = [attribute.name for attribute in plan.schema.randomised]
    codes = dict(zip(names, check_record(plan, record)))
    sent: dict[str, int] = {}
    for number, block in enumerate(plan.blocks):
        columns = [
            unit.join([np.array([codes[name]], code_dtype(size)) for name, size in zip(unit.attributes, unit.sizes)])
            for unit in block.units
        ]
        for unit, column in zip(block.units, block.apply(columns, _words_of(number, block, words))):
            for name, (code,) in zip(unit.attributes, unit.split(column)):
                sent[name] = int(code)
    return [sent[name] for name in names]


def _words_of(number: int, block: Block, words: WordSource) -> Callable[..., NDArray[Any]]:
    def one(draw: int, round: int = 0) -> NDArray[Any]:
        width = block.draws[draw]
        return np.array([words(number, draw, round, width)], f"<u{width // 8}")

    return one


def check_record(plan: Plan, record: Sequence[int]) -> list[int]:
    """The codes as they are, if the plan knows them; the error says which attribute is wrong, not its value."""
    attributes = plan.schema.randomised
    if len(record) != len(attributes):
        raise DataError(f"A record has one code for each of the {len(attributes)} questions.")
    codes = {}
    for attribute, code in zip(attributes, record):
        if type(code) is not int or not 0 <= code < attribute.size:
            raise DataError(f"The answer to '{attribute.name}' is outside its declared values.")
        codes[attribute.name] = code
    for unit in plan.units:
        if unit.forbid and not unit.allowed[tuple(codes[name] for name in unit.attributes)]:
            raise DataError(
                f"The answers to {', '.join(unit.attributes)} cannot all be true: the survey forbids them together."
            )
    return list(record)
