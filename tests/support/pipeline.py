"""The whole way from codes to released codes: through the package, and one record at a time without it."""

import functools
import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from dense import forbidden

from pkanon._blocks import Block, Matrix, Retention
from pkanon._plan import Plan
from pkanon._sample import Records, draw_order, randomise
from pkanon._sample.keystream import Keystream, Seeded, WordSource
from pkanon._schema import Codes, Unit


def released(
    blocks: Sequence[Block],
    columns: Mapping[str, Codes],
    source: WordSource,
    *,
    piece: int | None = None,
    threads: int | None = 1,
) -> dict[str, Codes]:
    """Released codes by attribute, through the package: join, randomise, order, move, split.

    ``columns`` maps attributes to codes.
    """
    units = [unit for block in blocks for unit in block.units]
    codes = [unit.join([columns[name] for name in unit.attributes]) for unit in units]
    records = Records([column.dtype for column in codes], len(codes[0]))
    randomise(blocks, codes, source, out=records.columns, piece=piece, threads=threads)
    moved = records.permuted(draw_order(len(codes[0]), source), threads=threads)
    return {
        name: column for unit, codes in zip(units, moved) for name, column in zip(unit.attributes, unit.split(codes))
    }


def randomised(plan: Plan, people: Mapping[str, Codes], number: int) -> dict[str, Codes]:
    """Released codes by attribute, unshuffled: a table does not depend on the order of rows. ``number`` seeds them."""
    columns = [unit.join([people[name] for name in unit.attributes]) for unit in plan.units]
    out = [np.empty_like(column) for column in columns]
    randomise(plan.blocks, columns, Keystream(Seeded(number).key()), out=out, threads=1)
    return {
        name: codes for unit, both in zip(plan.units, out) for name, codes in zip(unit.attributes, unit.split(both))
    }


def aes_words(key: bytes, stream: int, start: int, count: int, width: int) -> list[int]:
    """Words by the definition: AES-256 of (stream, block number), both 8 bytes big-endian, read little-endian."""
    size = width // 8
    first, last = start * size // 16, ((start + count) * size + 15) // 16
    counters = b"".join(stream.to_bytes(8, "big") + block.to_bytes(8, "big") for block in range(first, last))
    text = Cipher(AES256(key), ECB()).encryptor().update(counters)
    text = text[start * size - first * 16 :]
    return [int.from_bytes(text[i * size : (i + 1) * size], "little") for i in range(count)]


def reference_rows(blocks: Sequence[Block], columns: Mapping[str, Codes], key: bytes) -> list[dict[str, int]]:
    """The released rows as a list of dicts, one record at a time, without numpy and without the package's samplers."""
    rows = len(next(iter(columns.values())))

    @functools.cache
    def order_words(round: int) -> list[int]:
        return aes_words(key, 2**63 + round, 0, rows, 64)

    words = {b: aes_words(key, b * 2**24, 0, rows, block.width) for b, block in enumerate(blocks)}
    result = []
    for record in range(rows):
        row: dict[str, int] = {}
        for b, block in enumerate(blocks):
            (unit,) = block.units
            code = join_one(unit, [int(columns[name][record]) for name in unit.attributes])
            row |= zip(unit.attributes, split_one(unit, sample(block, code, words[b][record])))
        result.append(row)
    # 64-bit words of a few thousand records do not tie; round 1 is listed so that a tie would not pass unseen
    keys = [(order_words(0)[record], order_words(1)[record]) for record in range(rows)]
    return [result[record] for record in sorted(range(rows), key=keys.__getitem__)]


def sample(block: Block, code: int, word: int) -> int:
    """What one word makes of one code.

    Retention: ``word // replace`` is the new code if it is one, else the code stays. Matrix: the row's counts are laid end to
    end, and the word falls into one of them.
    """
    if isinstance(block, Retention):
        if block.replace == 0:
            return code
        digit = word // block.replace
        return digit if digit < block.unit.size else code
    assert isinstance(block, Matrix)
    for value, count in enumerate(block.rows[code]):
        if word < count:
            return value
        word -= count
    raise AssertionError("the rows of a matrix sum to 2^width")


@functools.cache
def _combinations(unit: Unit) -> list[tuple[int, ...]]:
    return [cell for cell in itertools.product(*map(range, unit.sizes)) if not forbidden(unit, cell)]


def join_one(unit: Unit, cell: Sequence[int]) -> int:
    """The number of an allowed combination: its place in the row-major list of them."""
    return _combinations(unit).index(tuple(cell))


def split_one(unit: Unit, code: int) -> tuple[int, ...]:
    """The inverse of join_one."""
    return _combinations(unit)[code]
