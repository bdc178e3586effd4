"""The mean positive part of a sum is bounded from above at every step: with few frequencies, and whatever rounding does."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from pkanon._plan.central import positive
from pkanon._plan.central.positive import _CUT, Atoms, _saddle, _Sums, positive_part


@dataclass(frozen=True)
class Wrong(Atoms):
    """Means that are off by as much as is said of them, each where it makes the bound smallest: the worst that rounding can do."""

    error: float = 0.0
    records: int = 2
    tau: float = 0.0

    def rounding(self, t):
        return self.error

    def grown(self, t):
        return super().grown(t) - self.error * t

    def turned(self, t, theta, columns):
        real, imaginary = super().turned(t, theta, columns)
        w, gamma = t + 1j * theta, self.gamma
        one = 1 + gamma * (super().grown(t) + real[:, 0] + 1j * imaginary[:, 0])
        counts = one**self.records * np.exp(self.tau**2 * w**2 / 2) / w**2
        off, size = gamma * self.error * np.abs(w), np.abs(one)
        moved = one / size * np.where(counts.real > 0, np.maximum(size - off, 0), size + off)
        difference = (moved - 1) / gamma - self.grown(t)
        difference[theta == 0] = 0
        return difference.real[:, None], difference.imag[:, None]


def enumerated(x, p, gamma, records):
    """E[S_+] over all ways to draw the summands."""
    values, chances = np.append(x, 0.0), np.append(gamma * p, 1 - gamma)
    total = 0.0
    for drawn in itertools.product(range(len(values)), repeat=records):
        total += max(values[list(drawn)].sum(), 0.0) * chances[list(drawn)].prod()
    return total


def random_law(rng):
    while True:
        x = rng.normal(0, 1, int(rng.integers(2, 4))) - rng.uniform(0, 1.5)
        if x.max() > 0.01:
            return x, rng.dirichlet(np.ones(len(x))), float(rng.choice([1.0, rng.uniform(0.02, 1)]))


def bound(law, records, count, *, turns=1.0, periods=40.0):
    """The bound of so many frequencies."""
    t = _saddle(law, records) * turns
    period = periods / t
    if isinstance(law, Wrong):
        law = Wrong(law.x, law.p, law.size, law.gamma, law.error, records, _CUT * period / (2 * math.pi * count))
    grown = law.grown(t)
    scale = law.gamma / (1 + law.gamma * grown)
    rounding = records * scale * law.rounding(t)
    sums = _Sums(law, float(records), t, period, scale, records * np.log1p(law.gamma * grown), rounding, np.array([0]))
    return float(sums.bound(count)[0])


@pytest.mark.parametrize("count", [1, 2, 4, 16, 64, 512])
def test_no_number_of_frequencies_is_too_small(count):
    rng = np.random.default_rng(count)
    closest = math.inf
    for _ in range(300):
        x, p, gamma = random_law(rng)
        records = int(rng.integers(1, 5))
        truth = enumerated(x, p, gamma, records)
        law = Atoms(x, p, np.abs(x), gamma)
        reached = bound(law, records, count, turns=10 ** rng.uniform(-0.7, 0.7), periods=10 ** rng.uniform(0.5, 1.6))
        assert reached >= truth * (1 - 1e-9)
        closest = min(closest, reached / truth)
    assert count < 16 or closest < 1.01


@pytest.mark.parametrize("steep", [1.0, 0.0])
def test_frequencies_that_are_bounded_in_groups_are_no_larger(steep, monkeypatch):
    """Without steepness, which the second run leaves out, some of them are."""
    monkeypatch.setattr(
        Atoms, "steepness", lambda law, t: np.array([steep * (law.p * np.exp(t * law.x)) @ np.abs(law.x)])
    )
    rng = np.random.default_rng(1)
    seen, larger = 0, 0
    for _ in range(300):
        x, p, gamma = random_law(rng)
        law, records = Atoms(x, p, np.abs(x), gamma), int(10 ** rng.uniform(2, 6))
        t = _saddle(law, records)
        scale = gamma / (1 + gamma * law.grown(t))
        rounding = records * scale * law.rounding(t)
        log_f = records * np.log1p(gamma * law.grown(t))
        sums = _Sums(law, float(records), t, 10 ** rng.uniform(0.5, 1.6) / t, scale, log_f, rounding, np.array([0]))
        for count in (33, 129, 500):
            sums._extend(count)
        exact = sums._logarithms(np.arange(500))[0]
        # sums of matrix products differ from machine to machine
        assert np.allclose(sums.exponent[~sums.faint], exact[~sums.faint], rtol=1e-9, atol=1e-9)
        seen += int(sums.faint.sum())
        larger += int((exact > sums.exponent)[sums.faint].sum())
    assert seen > 10_000
    assert (larger == 0) == (steep > 0)


def test_what_is_bounded_in_groups_adds_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    laws = [Atoms(x, p, np.abs(x), gamma) for x, p, gamma in (random_law(rng) for _ in range(30))]
    found = [positive_part(law, 10**5) for law in laws]
    monkeypatch.setattr(positive, "_FAINT", -math.inf)
    assert found == pytest.approx([positive_part(law, 10**5) for law in laws], rel=1e-8)


def test_what_is_far_from_what_is_sought_is_bounded_with_a_few_frequencies(monkeypatch):
    counts = []
    whole = _Sums.bound
    monkeypatch.setattr(_Sums, "bound", lambda self, count: counts.append(count) or whole(self, count))
    rng = np.random.default_rng(3)
    for _ in range(30):
        x, p, gamma = random_law(rng)
        law = Atoms(x, p, np.abs(x), gamma)
        close = positive_part(law, 10**5)
        counts.clear()
        far = positive_part(law, 10**5, rough=True, sought=close / 100)
        assert close <= far
        assert set(counts) <= {32}
        assert positive_part(law, 10**5, rough=True, sought=close) == positive_part(law, 10**5, rough=True)


@pytest.mark.parametrize("count", [64, 512, 2048])
def test_what_rounding_may_do_is_covered(count):
    rng = np.random.default_rng(count)
    for _ in range(200):
        x, p, gamma = random_law(rng)
        records = int(rng.integers(1, 5))
        law = Wrong(x, p, np.abs(x), gamma, float(10 ** rng.uniform(-9, -2)))
        assert bound(law, records, count) >= enumerated(x, p, gamma, records) * (1 - 1e-9)


def test_the_atom_of_no_summand_is_taken_off_and_no_more():
    # hardly ever a summand: almost all of what smoothing adds is that of 0
    rng = np.random.default_rng(5)
    for _ in range(200):
        x, p, _ = random_law(rng)
        gamma, records = 10 ** rng.uniform(-3, -1), int(rng.integers(1, 5))
        law = Atoms(x, p, np.abs(x), gamma)
        truth = enumerated(x, p, gamma, records)
        for count in (4, 32, 256):
            assert bound(law, records, count) >= truth * (1 - 1e-9)
        assert truth * (1 - 1e-9) <= positive_part(law, records) <= truth * 1.2


@pytest.mark.parametrize("cost", [0.02, 0.06, 0.12])
def test_far_tails_are_known_to_many_digits(cost):
    # 1 with a chance of 1%, else the cost is lost: the sum is positive with odds of 10^-6 to 10^-200
    records = 3_000
    law = Atoms(np.array([1.0, -cost]), np.array([0.01, 0.99]), np.array([1.0, cost]), 1.0)
    wins = np.arange(records + 1)
    truth = float(binom.pmf(wins, records, 0.01) @ np.maximum(wins - cost * (records - wins), 0))
    assert truth * (1 - 1e-9) <= positive_part(law, records) <= truth * 1.05


@pytest.mark.parametrize("scale", [1e-4, 1.0, 30.0])
def test_last_bits_of_the_values_are_covered(scale):
    rng = np.random.default_rng(11)
    for _ in range(100):
        a, b, p = rng.uniform(1, 50, 40), rng.uniform(1, 50, 40), rng.dirichlet(np.ones(40))
        x, size = a - b, a + b
        t = scale / x.max()
        law, off = Atoms(x, p, size, 0.5), Atoms(x + 2.0**-52 * size, p, size, 0.5)
        assert 0 < float(abs(law.grown(t) - off.grown(t))[0]) <= law.rounding(t) * t
