"""Reference values computed without the package (tests/data/vectors.json), to their last digits."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._plan.privacy import hidden_count_ratio, log_above
from pkanon._schema import Unit

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "vectors.json").read_text(encoding="utf-8"))


def relative_error(value, reference):
    return abs(Fraction(value) / Fraction(reference) - 1)


@pytest.mark.parametrize("vector", VECTORS["rho_from_k"])
def test_rho_from_k(vector):
    rho = pk.rho_from_k(vector["k"], vector["records"], vector["sizes"])
    assert relative_error(rho, vector["rho"]) < Fraction(1, 10**12)


@pytest.mark.parametrize("vector", VECTORS["rho_from_epsilon"])
def test_rho_from_epsilon(vector):
    rho = pk.rho_from_epsilon(vector["epsilon"], vector["sizes"])
    assert relative_error(rho, vector["rho"]) < Fraction(1, 10**12)


def test_the_example_of_the_paper():
    # "roughly 0.303" in print; 20 digits by bisection in 40-digit arithmetic
    rho = pk.rho_from_k(100, 100_000, [2, 5, 10])
    assert relative_error(rho, "0.30319562308941341884") < Fraction(1, 10**12)
    assert pk.rho_from_both(100, 3.5, 100_000, [2, 5, 10]) == rho  # eps(k) = log(99999/99)/2 = 3.4589 < 3.5


@pytest.mark.parametrize("vector", VECTORS["k_of_matrix"])
def test_k_and_epsilon_of_a_matrix(vector):
    # the vectors are doubles themselves: 1e-13 is some hundred of their last bits
    assert pk.k_of([vector["matrix"]], vector["records"]) == pytest.approx(vector["k"], rel=1e-13)
    assert pk.epsilon_of([vector["matrix"]]) == pytest.approx(vector["epsilon"], rel=1e-13)


@pytest.mark.parametrize("vector", VECTORS["cell_error"])
def test_cell_error(vector):
    names = "abcd"[: len(vector["sizes"])]
    schema = pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in zip(names, vector["sizes"])])
    rho = Fraction(vector["rho"])
    blocks = tuple(
        Retention(Unit((name,), (size,)), round((1 - rho) * 2**64 / size), 64)
        for name, size in zip(names, vector["sizes"])
    )
    prediction = pk.Plan(schema, blocks, vector["records"]).predict(*names)
    # replace is off by at most half a word, rho by V / 2^65 < 1e-18; the rest is float rounding
    assert prediction.exact
    assert prediction.cells == math.prod(vector["sizes"])
    assert prediction.l1 == pytest.approx(vector["l1"], rel=1e-12)
    assert prediction.rmse**2 * prediction.cells == pytest.approx(vector["total_squared_error"], rel=1e-12)
    assert prediction.standard_error == pytest.approx(prediction.rmse / vector["records"], rel=1e-15)
    factor = math.prod(block.error_factor([name]) for block, name in zip(blocks, names))
    assert factor == pytest.approx(vector["c"], rel=1e-12)


@pytest.mark.parametrize("vector", VECTORS["hidden_count_epsilon"])
def test_hidden_count(vector):
    ratio = hidden_count_ratio(Fraction(str(vector["p"])), vector["records_at_least"])
    assert log_above(ratio) + vector["epsilon"] == pytest.approx(vector["epsilon_unbounded"], rel=1e-14)


@pytest.mark.parametrize("vector", VECTORS["hidden_count_epsilon"])
def test_hidden_count_of_a_plan(vector):
    # One attribute of two values with e^eps = (2^64 - q)/q: q = 2^64 / (1 + e^eps).
    q = math.floor(2**64 / (1 + math.exp(vector["epsilon"])))
    schema = pk.Schema([pk.Attribute("a", ["x", "y"])])
    noise = pk.CountNoise(Fraction(str(vector["p"])))
    plan = pk.Plan(schema, (Retention(Unit(("a",), (2,)), q, 64),), vector["records_at_least"], count_noise=noise)
    assert plan.epsilon == pytest.approx(vector["epsilon"], rel=1e-14)
    assert plan.epsilon_unbounded == pytest.approx(vector["epsilon_unbounded"], rel=1e-14)


def test_a_public_count_states_no_unbounded_epsilon():
    schema = pk.Schema([pk.Attribute("a", ["x", "y"])])
    assert pk.plan(schema, records=10, epsilon=1).epsilon_unbounded is None
