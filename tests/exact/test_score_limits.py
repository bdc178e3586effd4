"""Score limits of counts: every limit is where its equation changes its sign, to rounding, also where the equation has kinks."""

import math

import numpy as np
import pytest

from pkanon._estimate.interval import _bracketed, _distance, _far, _limit, _smooth_root, normal_quantile
from pkanon._estimate.linear import Shape

CELLS = 4_000


def shapes(seed, total):
    """Counts of cells whose people are released in them with probability ``kept``, and all others with ``drawn``."""
    rng = np.random.default_rng(seed)
    drawn = 10 ** rng.uniform(-6, -0.1, CELLS)
    kept = drawn + (1 - drawn) * 10 ** rng.uniform(-3, 0, CELLS)
    high, low = (
        (1 - drawn) / (kept - drawn),
        -drawn / (kept - drawn),
    )  # what a row adds: 1 on average for a member, else 0
    own, others = ([high**m * p + low**m * (1 - p) for m in (2, 3)] for p in (kept, drawn))
    people = np.floor(total * rng.random(CELLS) ** 8)
    shape = Shape(people, high, np.ones(CELLS), *own, *others, total)
    noise = np.sqrt(own[0] * people + others[0] * total)
    estimate = people + noise * rng.normal(size=CELLS) * rng.choice([0.1, 1, 3], CELLS)
    return estimate, shape, np.where(rng.random(CELLS) < 0.5, high / 2, 0.0)


def halved(error, near, far):
    """The root between two ends at which ``error`` has different signs, by halving."""
    sign = np.sign(error(near))
    for _ in range(200):
        middle = (near + far) / 2
        same = np.sign(error(middle)) == sign
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    return (near + far) / 2


@pytest.mark.parametrize("total", [30.0, 1e4, 1e7])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_limits_are_roots(total, sampled, level, sign):
    estimate, shape, half = shapes(int(total), total)
    z = normal_quantile(level)
    limit = _limit(estimate, shape, half, sampled, z, sign)

    def error(c):
        return estimate - c - _distance(np.maximum(c, 0.0), shape, half, sampled, z, sign)

    assert np.isfinite(limit).all()
    around = 1e-9 * (np.abs(estimate) + np.abs(limit))
    changes = error(limit - around) * error(limit + around) <= 0
    assert changes.all()
    # on the right side of the estimate, and never nearer to it than half a step
    assert (sign * (estimate - limit) >= half * (1 - 1e-9)).all()


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_three_ways_to_a_limit_agree(sampled, sign):
    """Newton's steps, brackets and halving, where there is one limit between nobody and everybody."""
    estimate, shape, half = shapes(3, 1e6)
    z = normal_quantile(0.95)
    start = estimate - _distance(np.zeros(CELLS), shape, half, sampled, z, sign)
    limit = _limit(estimate, shape, half, sampled, z, sign)
    places = np.flatnonzero((start > 0) & (limit < 0.9 * shape.total))
    assert len(places) > CELLS / 8
    own, some, halves = estimate[places], shape.of(places), half[places]
    near, far = np.maximum(own, 0.0), _far(own, some, halves, sampled, z, sign)
    found = _bracketed(own, some, halves, sampled, z, sign, near, far)
    exact = halved(lambda c: own - c - _distance(c, some, halves, sampled, z, sign), near, far)
    scale = np.abs(own) + limit[places]
    assert (np.abs(found - limit[places]) <= 1e-11 * scale).all()
    assert (np.abs(exact - limit[places]) <= 1e-11 * scale).all()
    newton = _smooth_root(own, some, halves, sampled, z, sign, start[places])
    assert (np.abs(newton - limit[places]) <= 1e-11 * scale).mean() > 0.5  # the others have kinks


def test_a_limit_that_false_positions_alone_reached_late():
    """Twenty rows of noise among 300 people: where fourteen steps ended was a quarter of the limit away."""
    one = {"people": 0.0, "step": 57736.5, "expected": 0.2, "own_2": 2.1e7, "own_3": 1.2e11, "others_2": 7e6}
    shape = Shape(**{name: np.array([value]) for name, value in one.items()}, others_3=np.array([2e10]), total=300.0)
    z = normal_quantile(0.95)
    (limit,) = _limit(np.array([-1e5]), shape, np.array([28868.25]), False, z, -1.0)
    variance, third = (2.1e7 - 1) * limit, (1.2e11 - 3 * 2.1e7 + 2) * limit  # beyond everybody there are no others
    assert limit > 300
    assert -1e5 + z * math.sqrt(variance) - (z * z - 1) / 6 * third / variance + 28868.25 == pytest.approx(
        limit, rel=1e-12
    )
