"""Algorithms 1-3 where floats are tempted to fail, against bisection in 90-digit decimals."""

import contextlib
from decimal import Decimal
from fractions import Fraction

import pytest
from digits import budget_of_k, rho_for_budget

import pkanon as pk

CENSUS = [2, 18, 12, 3, 3, 18, 20]
SIZES = {
    "two values": [2],
    "the paper": [2, 5, 10],
    "census": CENSUS,
    "60 attributes": [2, 3, 7] * 20,
    "10^6 values": [10**6],
}


def close(value, reference):
    return abs(Decimal(value) / reference - 1) < Decimal("1e-12")


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize(
    ("k", "records"),
    [
        ("1.5", 2),
        ("1.000000000001", 2),  # k near 1: rho near 1
        ("1.000000000000000000000001", 10**12),
        ("1.0001", 10**12),
        ("2", 10**12),
        ("999999999999", 10**12),  # k near n: rho near 0
        ("999999999999.999999", 10**12),
        ("99.99999999999999999999", 100),
        ("2", 3),
        ("50", 99),
    ],
)
def test_rho_from_k(k, records, sizes):
    assert close(pk.rho_from_k(Decimal(k), records, sizes), rho_for_budget(budget_of_k(k, records), sizes))


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("epsilon", ["1e-30", "1e-9", "0.01", "1", "30", "300", "1500"])
def test_rho_from_epsilon(epsilon, sizes):
    assert close(pk.rho_from_epsilon(epsilon, sizes), rho_for_budget(Decimal(epsilon), sizes))


@pytest.mark.parametrize(("k", "epsilon"), [("2", "1"), ("2", "20"), ("500", "3")])
def test_rho_from_both_is_the_smaller(k, epsilon):
    records = 10**6
    both = min(rho_for_budget(budget_of_k(k, records), CENSUS), rho_for_budget(Decimal(epsilon), CENSUS))
    assert close(pk.rho_from_both(k, epsilon, records, CENSUS), both)


def test_the_ends_are_exact():
    for records in (1, 2, 10**12):
        assert pk.rho_from_k(1, records, CENSUS) == 1.0  # k = 1 is no constraint
    for records in (2, 3, 10**12):
        assert pk.rho_from_k(records, records, CENSUS) == 0.0  # k = n: all rows of A equal
    assert pk.rho_from_both(1, 2, 1, [2]) == pk.rho_from_epsilon(2, [2])


def test_rho_falls_with_k_and_rises_with_epsilon():
    rhos = [pk.rho_from_k(Fraction(k, 10), 1000, [2, 5, 10]) for k in range(11, 9999, 7)]
    assert rhos == sorted(rhos, reverse=True)
    assert len(set(rhos)) == len(rhos)
    rhos = [pk.rho_from_epsilon(Fraction(e, 10), [2, 5, 10]) for e in range(1, 300)]
    assert rhos == sorted(rhos)


@pytest.mark.parametrize("epsilon", [2000, 1e7, "1e400"])
def test_a_huge_epsilon_is_an_answer_or_a_refusal(epsilon):
    with contextlib.suppress(pk.TargetError):
        assert pk.rho_from_epsilon(epsilon, [2, 5]) == 1.0  # 1 - rho = e^-1000 and less


@pytest.mark.parametrize("sizes", [[], [1], [2, 1], [2.5], [0], [-3]])
def test_sizes_that_are_no_sizes_are_refused(sizes):
    for solve in (
        lambda: pk.rho_from_k(2, 10, sizes),
        lambda: pk.rho_from_epsilon(1, sizes),
        lambda: pk.rho_from_k(1, 10, sizes),
    ):
        with pytest.raises(pk.TargetError):
            solve()


@pytest.mark.parametrize(
    ("k", "records"), [(0.5, 10), (11, 10), (2, 1), (float("nan"), 10), (2, 0), (2, 1.5), ("x", 3), (True, 3)]
)
def test_targets_that_are_no_targets_are_refused(k, records):
    with pytest.raises(pk.TargetError):
        pk.rho_from_k(k, records, [2])
