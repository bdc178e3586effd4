"""The formulae of benchmarks/noise.py: a trusted curator's noise, by brute force. OpenDP is not needed."""

import importlib.util
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parents[2] / "benchmarks" / "noise.py"


@pytest.fixture(scope="module")
def noise():
    spec = importlib.util.spec_from_file_location("noise", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "tables", [[(0,)], [(0, 1, 2)], [(0,), (1,), (0, 1)], [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]]
)
def test_sensitivities(noise, tables):
    """All pairs of rows of three attributes: replacing one by the other moves the counts so far, and sometimes just so far."""
    sizes = (2, 3, 2)

    def counts(row):
        vectors = []
        for table in tables:
            found = np.zeros([sizes[axis] for axis in table])
            found[tuple(row[axis] for axis in table)] = 1
            vectors.append(found.ravel())
        return np.concatenate(vectors)

    rows = list(itertools.product(*map(range, sizes)))
    moves = [counts(one) - counts(other) for one, other in itertools.product(rows, rows)]
    l1, l2 = noise.sensitivities(len(tables))
    assert max(np.abs(move).sum() for move in moves) == l1
    assert max((move**2).sum() for move in moves) == pytest.approx(l2**2, rel=1e-12)


@pytest.mark.parametrize("scale", [0.3, 1.0, 16.3, 400.0])
def test_discrete_laplace(noise, scale):
    values = np.arange(-60 * int(scale + 1), 60 * int(scale + 1) + 1)
    chances = np.exp(-np.abs(values) / scale)
    chances /= chances.sum()
    assert noise.laplace_size(scale) == pytest.approx((chances * np.abs(values)).sum(), rel=1e-9)
    assert noise.laplace_deviation(scale) == pytest.approx(math.sqrt((chances * values**2).sum()), rel=1e-9)


@pytest.mark.parametrize("deviation", [2.0, 57.0])
def test_discrete_gaussian(noise, deviation):
    values = np.arange(-20 * int(deviation), 20 * int(deviation) + 1)
    chances = np.exp(-((values / deviation) ** 2) / 2)
    chances /= chances.sum()
    found = (chances * np.abs(values)).sum()
    # Euler and Maclaurin: the kink of |x| at 0 takes 1/12 of the jump of the slope there, twice the density; the next
    # term is smaller by 1/deviation^2 times 1/20
    expected = noise.normal_size(deviation) * (1 - 1 / (12 * deviation**2))
    assert found == pytest.approx(expected, rel=1 / (12 * deviation**4))


def test_a_table_summed_from_a_histogram(noise):
    """Two cells of three summed counts each: each sum has the variance 3 s^2."""
    each = math.sqrt(2 / math.pi) * math.sqrt(3) * 5
    assert noise.summed_l1(2, 6, 5.0, 100) == pytest.approx(2 * each / 100, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.1225, 1e-8), (0.02, 1e-5)])
def test_gaussian_scale(noise, epsilon, delta):
    """The delta of the scale found, by integrating the positive part of p - e^epsilon q; and less noise breaks it."""
    distance = math.sqrt(2)
    scale = noise.gaussian_scale(epsilon, delta, distance)
    x = np.linspace(-15 * scale, 15 * scale, 2_000_001)

    def reached(deviation):
        p, q = (
            np.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
            for mean in (distance, 0)
        )
        return np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0])

    assert reached(scale) <= delta * (1 + 1e-4)
    assert reached(scale * 0.999) > delta
    assert noise.gaussian_delta(epsilon, scale, distance) <= delta


def test_what_replacing_a_row_costs_a_synthesiser(noise):
    """Tables of four people, one of them replaced or left out: how far counts and their L1 distance to a fixed table move."""
    guess = np.array([1.5, 0.0, 2.5])
    people = [(one, *others) for one in range(3) for others in itertools.product(range(3), repeat=3)]
    tables = {rows: np.bincount(rows, minlength=3) for rows in people}
    replaced = [(rows, other) for rows, other in itertools.product(people, people) if rows[1:] == other[1:]]
    moves = [np.abs(tables[rows] - tables[other]) for rows, other in replaced]
    scores = {rows: np.abs(table - guess).sum() for rows, table in tables.items()}
    counts, score = max((move**2).sum() for move in moves), max(abs(scores[a] - scores[b]) for a, b in replaced)
    added = max(abs(scores[rows] - np.abs(np.bincount(rows[1:], minlength=3) - guess).sum()) for rows in people)
    assert (counts, score, added) == (2, 2, 1)
    # rho of normal noise goes with the squared L2 distance, that of an exponential mechanism with the squared step of its score
    assert noise.replacing(0) == pytest.approx(counts)
    assert noise.replacing(1) == pytest.approx((score / added) ** 2)
    assert noise.replacing(noise.SELECTING["MST"]) == pytest.approx(8 / 3)
