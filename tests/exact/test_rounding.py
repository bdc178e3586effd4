"""Numbers that leave the package are rounded to the safe side: k down, eps up, budgets down."""

import decimal
import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from dense import naive_anonymity_ratio, naive_epsilon_ratio, unit_of
from digits import exp, ln

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._plan.privacy import epsilon_of, exp_below, float_below, k_of, log_above, round_down, round_up

RATIOS = [
    Fraction(2),
    Fraction(3),
    Fraction(10**20 + 1, 10**20),
    Fraction(2**64 - 1, 2**64 - 2),
    Fraction(2**64 - 1, 1) ** 8,
    Fraction(4, 3),
    *(Fraction(n, 7) for n in range(8, 200, 5)),
]


@pytest.mark.parametrize("ratio", RATIOS)
def test_a_logarithm_is_never_understated(ratio):
    above = log_above(ratio)
    assert Decimal(above) >= ln(ratio)
    assert Decimal(math.nextafter(math.nextafter(above, 0), 0)) < ln(ratio)  # and not by more than two steps


def test_the_ends_of_the_logarithm():
    assert log_above(Fraction(1)) == 0.0
    assert log_above(None) == math.inf


def test_a_budget_is_never_overstated():
    for exponent in [Fraction(n, 7) for n in range(1, 200)] + [Fraction(1, 10**9), Fraction(700)]:
        below = exp_below(exponent)
        true = Fraction(exp(exponent))  # 90 digits: wrong from the 89th on
        assert below <= true, exponent
        assert below >= true * (1 - Fraction(1, 10**48)), exponent


def test_floats_below(seed):
    draw = random.Random(seed)
    for _ in range(1000):
        value = 1 + Fraction(draw.getrandbits(90), 2 ** draw.randint(1, 80))
        below = float_below(value)
        assert Fraction(below) <= value < Fraction(math.nextafter(below, math.inf))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(4, 3), 4, "1.3333"),
        (Fraction(5, 3), 4, "1.6666"),
        (Fraction(2), 4, "2"),
        (Fraction(199999, 100000), 4, "1.9999"),
        (Fraction(10**20) + Fraction(9, 10), 4, "100000000000000000000.9"),
        (Fraction(100), 0, "100"),
        (Fraction(2**53) - Fraction(1, 10**9), 6, "9007199254740991.999999"),
    ],
)
def test_k_is_printed_rounded_down(value, digits, text):
    assert round_down(value, digits) == text
    assert Fraction(text) <= value


@pytest.mark.parametrize(
    ("value", "text"), [(1.00001, "1.0001"), (2.0, "2"), (0.1, "0.1001"), (math.inf, "unbounded"), (1e-9, "0.0001")]
)
def test_epsilon_is_printed_rounded_up(value, text):
    # 0.1 as a float is a little above 1/10, so four digits must say 0.1001
    assert round_up(value) == text


@pytest.mark.parametrize("precision", [1, 6, 28, 200])
def test_claims_do_not_depend_on_the_decimal_context_of_the_caller(precision):
    with decimal.localcontext(prec=precision, rounding=decimal.ROUND_DOWN):
        assert Decimal(log_above(Fraction(3))) >= ln(Fraction(3))
        assert exp_below(Fraction(1)) <= Fraction(exp(Fraction(1)))
        assert round_down(Fraction(123456789, 1000)) == "123456.789"
        assert round_up(1234.56781) == "1234.5679"


def test_a_plan_claims_the_same_in_any_decimal_context():
    schema = pk.Schema([pk.Attribute("a", ["x", "y", "z"])])
    usual = pk.plan(schema, records=1000, k=7, epsilon=3)
    with decimal.localcontext(prec=5):
        unusual = pk.plan(schema, records=1000, k=7, epsilon=3)
        claims = (unusual.epsilon, unusual.k, str(unusual))
    assert unusual == usual
    assert claims == (usual.epsilon, usual.k, str(usual))


def test_a_plan_rounds_k_down_and_epsilon_up(seed):
    draw = random.Random(seed)
    schema = pk.Schema([pk.Attribute("a", ["x", "y", "z"])])
    for _ in range(300):
        plan = pk.Plan(schema, (Retention(unit_of(3), draw.randint(1, 2**32 // 3), 32),), draw.randint(2, 10**9))
        assert Fraction(plan.k) <= plan.k_for(plan.records)
        assert Decimal(plan.epsilon) >= ln(plan.epsilon_ratio)
        assert Fraction(plan.k_text) <= plan.k_for(plan.records)
        assert Decimal(plan.epsilon_text) >= ln(plan.epsilon_ratio)


def test_k_of_and_epsilon_of_err_to_the_safe_side(seed):
    draw = np.random.default_rng(seed)
    for _ in range(100):
        matrix = draw.dirichlet(np.ones(3), 3)
        exact = [[Fraction(entry) for entry in row] for row in matrix.tolist()]
        k = 1 + 999 * naive_anonymity_ratio(exact)
        assert Fraction(k_of([matrix], 1000)) <= k
        assert k_of([matrix], 1000) == pytest.approx(float(k), rel=1e-14)
        # AR does not change when rows are rescaled; eps does, by the last bits in which rows of floats miss 1
        assert epsilon_of([matrix]) == pytest.approx(float(ln(naive_epsilon_ratio(exact))), rel=1e-14)


def test_epsilon_of_rows_that_do_not_quite_sum_to_one():
    # Rows may be off by 1e-6. A sampler can only draw from rows made whole: 0.7499995 / 0.9999995 is more
    # than 0.7499995, so e^eps = that / 0.24 is 5e-7 more than the numbers as they were written.
    matrix = [[0.7499995, 0.25], [0.24, 0.76]]
    rows = [[Fraction(entry) / sum(map(Fraction, row)) for entry in row] for row in matrix]
    assert Decimal(epsilon_of([matrix])) >= ln(naive_epsilon_ratio(rows))
    schema = pk.Schema([pk.Attribute("a", ["x", "y"])])
    assert epsilon_of([matrix]) == pytest.approx(pk.plan(schema, records=10, matrices={"a": matrix}).epsilon, rel=1e-8)


def test_several_matrices_multiply():
    a, b = [[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5], [0.25, 0.75]]
    # AR: (1/3)^2 = 1/9 and 0.25 * 0.5 / (0.75 * 0.5) = 1/3; e^eps: 3 and 2
    assert k_of([a, b], 28) <= 2 < k_of([a, b], 28) + 1e-12  # 1 + 27/27
    assert epsilon_of([a, b]) == pytest.approx(math.log(6), rel=1e-15)
    assert k_of([a], 1) == 1.0
    assert epsilon_of([[[1, 0], [0, 1]]]) == math.inf


@pytest.mark.parametrize("records", [0, -1])
def test_k_of_needs_records(records):
    with pytest.raises(pk.TargetError):
        k_of([[[0.5, 0.5], [0.5, 0.5]]], records)


@pytest.mark.parametrize(
    "matrices",
    [[], [[[1, 0]]], [[[0.5, 0.6], [0.5, 0.5]]], [[[-0.5, 1.5], [0.5, 0.5]]], [[[float("nan"), 1], [0, 1]]], [[["a"]]]],
)
def test_what_is_no_transition_matrix_is_refused(matrices):
    for claim in (lambda: k_of(matrices, 10), lambda: epsilon_of(matrices)):
        with pytest.raises(pk.InputError):
            claim()
