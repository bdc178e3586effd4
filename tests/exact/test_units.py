"""The numbering of combinations, against plain enumeration."""

import itertools
import math

import numpy as np
import pytest
from dense import forbidden, unit_of

import pkanon as pk
from pkanon._schema import Unit, code_dtype

UNITS = [
    unit_of(2),
    unit_of(300),
    unit_of(2, 3),
    unit_of(16, 16),  # 256 combinations: the last with one-byte codes
    unit_of(3, 2, 4),
    unit_of(2, 3, forbid=(((0,), (1, 2)),)),
    unit_of(3, 2, 4, forbid=(((0,), (), (1, 3)), ((2,), (0,), ()))),
    unit_of(3, 2, 4, forbid=(((0, 1), (1,), ()), ((0,), (1,), (2,)))),  # overlapping rules
    unit_of(20, 20, forbid=(((0, 1, 2, 3), tuple(range(1, 20))),)),
    unit_of(2, 2, 2, 3, forbid=(((1,), (1,), (), ()), ((), (1,), (0,), (0, 2)))),
]


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_join_and_split_number_the_allowed_combinations_row_major(unit):
    every = list(itertools.product(*map(range, unit.sizes)))
    allowed = [cell for cell in every if not forbidden(unit, cell)]
    assert unit.size == len(allowed)
    columns = [np.array(column, code_dtype(size)) for column, size in zip(zip(*allowed), unit.sizes)]
    codes = unit.join(columns)
    assert codes.dtype == code_dtype(unit.size)
    assert codes.tolist() == list(range(len(allowed)))
    back = unit.split(codes)
    assert [column.dtype for column in back] == [code_dtype(size) for size in unit.sizes]
    assert all((a == b).all() for a, b in zip(back, columns))


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.forbid], ids=str)
def test_a_forbidden_combination_is_refused_and_counted(unit):
    every = list(itertools.product(*map(range, unit.sizes)))
    bad = [cell for cell in every if forbidden(unit, cell)]
    for cell in bad:
        with pytest.raises(pk.DataError, match=r"^1 row "):
            unit.join([np.array([code], code_dtype(size)) for code, size in zip(cell, unit.sizes)], exact_counts=True)
    columns = [np.array(column, code_dtype(size)) for column, size in zip(zip(*every), unit.sizes)]
    with pytest.raises(pk.DataError, match=rf"^{len(bad)} rows? "):
        unit.join(columns, exact_counts=True)
    with pytest.raises(pk.DataError, match=r"^Some rows hold") as caught:  # the number itself must be asked for
        unit.join(columns)
    assert not any(character.isdigit() for character in str(caught.value))


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_shares_of_every_marginal_in_every_order(unit):
    allowed = [c for c in itertools.product(*map(range, unit.sizes)) if not forbidden(unit, c)]
    for count in range(len(unit.sizes) + 1):
        for places in itertools.permutations(range(len(unit.sizes)), count):
            expected = np.zeros([unit.sizes[i] for i in places])
            for cell in allowed:
                expected[tuple(cell[i] for i in places)] += 1 / len(allowed)
            got = unit.shares([unit.attributes[i] for i in places])
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(65_536, 32_768), (2, 2**30), (2**30, 2), (1291, 1291, 1288), (46_340, 46_341)])
def test_the_largest_units_neither_overflow_nor_mix(sizes):
    assert 2**30 < math.prod(sizes) <= 2**31
    unit = unit_of(*sizes)
    draw = np.random.default_rng(1)
    cells = [tuple(size - 1 for size in sizes), tuple(0 for _ in sizes)]
    cells += [tuple(int(draw.integers(0, size)) for size in sizes) for _ in range(100)]
    columns = [np.array(column, code_dtype(size)) for column, size in zip(zip(*cells), sizes)]
    codes = unit.join(columns)
    assert codes.dtype == np.uint32
    assert codes.tolist() == [int(np.ravel_multi_index(cell, sizes)) for cell in cells]
    assert [column.tolist() for column in unit.split(codes)] == [column.tolist() for column in columns]


def test_join_leaves_its_input_alone():
    unit = unit_of(2, 3)
    columns = [np.array([1, 0], np.uint8), np.array([2, 1], np.uint8)]
    unit.join(columns)
    assert [column.tolist() for column in columns] == [[1, 0], [2, 1]]


@pytest.mark.parametrize(
    ("sizes", "forbid"),
    [
        ((65_536, 65_536), ()),  # more than 2^31
        ((4097, 4097), (((0,), (0,)),)),  # more than 2^24 with forbidden ones
        ((2, 2), (((0,), ()),)),  # a value that no combination has
        ((2, 2), (((0,), (0,)), ((0,), (1,)), ((1,), (0,)))),  # one combination left
        ((1,), ()),
    ],
)
def test_units_that_cannot_be_used_are_refused(sizes, forbid):
    with pytest.raises(pk.SchemaError):
        Unit(tuple("abcd"[: len(sizes)]), sizes, forbid)


@pytest.mark.parametrize(
    "rule",
    [
        ((0,),),  # one list for two attributes
        ((0,), (1,), (0,)),
        ((0,), (-1,)),
        ((0,), (2,)),
        ((0,), (10**30,)),
        ((True,), (1,)),
    ],
)
def test_rules_that_fit_no_attribute_are_refused(rule):
    with pytest.raises(pk.InputError):
        Unit(("a", "b"), (3, 2), (rule,))


def test_codes_use_the_smallest_type():
    assert [code_dtype(size) for size in (2, 256, 257, 65_536, 65_537, 2**31)] == [
        np.uint8,
        np.uint8,
        np.uint16,
        np.uint16,
        np.uint32,
        np.uint32,
    ]
