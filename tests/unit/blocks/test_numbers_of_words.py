"""A block that validates works: its numbers are integers, and every one of them fits into a word."""

import numpy as np
import pytest
from dense import unit_of

import pkanon as pk
from pkanon._blocks import Agreement, Matrix, Retention
from pkanon._sample import randomise
from pkanon._schema import code_dtype


class Extreme:
    """The lowest and the highest words in the first round of a draw, zeros in the later ones."""

    def words(self, stream, start, count, width):
        first = [0, 1, 2**width - 2, 2**width - 1] if stream % 2**8 == 0 else [0] * 4
        return np.array(first[start : start + count], f"u{width // 8}")


def applied(block):
    """What the block makes of its highest codes."""
    columns = [np.full(4, unit.size - 1, code_dtype(unit.size)) for unit in block.units]
    out = [np.empty_like(column) for column in columns]
    randomise([block], columns, Extreme(), out=out, threads=1)
    return [column.tolist() for column in out]


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("size", [2, 3, 2**16 - 1, 2**16, 2**16 + 1, 2**20, 2**31])
def test_whatever_validates_can_be_applied(width, size):
    unit = unit_of(size)
    makers = [
        lambda: Retention(unit, 0, width),
        lambda: Retention(unit, 1, width),
        lambda: Retention(unit, 2**width // size, width),
        lambda: Agreement((unit,), (2**width - 1, 1), width),
        lambda: Agreement((unit, unit_of(2, names="b")), (2**width - 3, 1, 1, 1), width),
    ]
    worked = 0
    for make in makers:
        try:
            block = make()
        except pk.PlanError:
            continue
        with np.errstate(all="raise"):
            released = applied(block)
        assert all(0 <= code < unit.size for codes, unit in zip(released, block.units) for code in codes)
        worked += 1
    assert worked >= 1


@pytest.mark.parametrize("number", [1.0, np.int64(1), np.uint64(1), True, "1"], ids=repr)
def test_numbers_that_are_no_integers_are_refused(number):
    rest = 2**16 - 1
    for make in (
        lambda: Retention(unit_of(2), number, 16),
        lambda: Agreement((unit_of(2),), (number, rest), 16),
        lambda: Matrix(unit_of(2), ((number, rest), (1, rest)), 16),
    ):
        with pytest.raises(pk.PlanError, match="must be an integer"):
            make()
    with pytest.raises(pk.PlanError, match="must be an integer"):
        Matrix(unit_of(2), ((0.5, rest + 0.5), (1, rest)), 16)  # sums up, but no half word can be drawn
