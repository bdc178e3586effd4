"""Are regressions of releases right on average, and are their intervals honest?

People are drawn from models with known coefficients, and every release has other people. Two mutants must be rejected: the
regression of the rows as they are, and the standard errors that such rows would have.
"""

import functools

import numpy as np
import polars as pl
import pytest

import pkanon as pk

RELEASES, PEOPLE = 60, 4_000
TRUTH = np.array([-0.5, 0.8, 0.6, -0.4, 0.2])
"""Intercept, sex, two of three groups, age."""
FORMULAS = {
    "linear": ("hours ~ sex + group + age", np.array([3.0, 0, 0, 0, 0])),
    "logistic": ("ill == 'yes' ~ sex + group + age", np.zeros(5)),
    "poisson": ("visits ~ sex + group + age", np.zeros(5)),
}
"""The formula, and what is added to the coefficients."""
SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("group", ["a", "b", "c"]),
        pk.Attribute.ranged("age", 0, 3),
        pk.Attribute.ranged("hours", 0, 7),
        pk.Attribute("ill", ["no", "yes"]),
        pk.Attribute.ranged("visits", 0, 15),
    ]
)


def by_retention(rho):
    blocks = [pk.Retention(unit, replace=round((1 - rho) * 2**32 / unit.size)) for unit in SCHEMA.units]
    return pk.Plan(SCHEMA, blocks, records=PEOPLE)


@functools.cache
def releases(seed):
    """Each release, and the same rows as if nothing had been randomised."""
    plan, kept = by_retention(0.6), by_retention(1.0)
    found = []
    for number in range(RELEASES):
        draw = np.random.default_rng([seed, number])
        sex, group, age = draw.integers(0, 2, PEOPLE), draw.integers(0, 3, PEOPLE), draw.integers(0, 4, PEOPLE)
        eta = TRUTH[0] + TRUTH[1] * sex + np.array([0, TRUTH[2], TRUTH[3]])[group] + TRUTH[4] * age
        hours = 3.0 + eta + draw.choice([-1, 0, 1], PEOPLE)
        table = pl.DataFrame(
            {
                "sex": np.array(["F", "M"])[sex],
                "group": np.array(["a", "b", "c"])[group],
                "age": age,
                "hours": (np.floor(hours) + (draw.random(PEOPLE) < hours % 1)).astype(int),  # with the mean 3 + eta
                "ill": np.array(["no", "yes"])[(draw.random(PEOPLE) < 1 / (1 + np.exp(-eta))).astype(int)],
                "visits": np.minimum(draw.poisson(np.exp(eta)), 15),
            }
        )
        release = pk.release(table, plan, randomness=pk.Seeded(seed + number))
        found.append((release, pk.release(release.table, kept, randomness=pk.Seeded(1))))
    return found


@functools.cache
def measured(family, seed):
    """Distances from the truth in standard errors, and whether intervals cover it; then the same for both mutants."""
    formula, added = FORMULAS[family]
    truth = TRUTH + added
    results = {"corrected": [], "rows as they are": [], "errors of such rows": []}
    for release, raw in releases(seed):
        fit, naive = release.regress(formula, family=family), raw.regress(formula, family=family)
        value, low, high = (np.array([getattr(each, part) for each in fit]) for part in ("value", "low", "high"))
        error = np.array([each.standard_error for each in fit])
        results["corrected"].append(((value - truth) / error, (low <= truth) & (truth <= high)))
        wrong, small = (np.array([getattr(each, part) for each in naive]) for part in ("value", "standard_error"))
        results["rows as they are"].append(((wrong - truth) / error, abs(wrong - truth) < 1.96 * error))
        results["errors of such rows"].append(((value - truth) / error, abs(value - truth) < 1.96 * small))
    return {name: tuple(np.array(part) for part in zip(*pairs)) for name, pairs in results.items()}


def is_right(distances):
    """The mean of each coefficient over releases is the truth, within 4.5 of its own standard errors; or 0.3 deviations.

    Coefficients are quotients, so a part of a deviation is allowed: a bias that an interval would hardly notice.
    """
    mean, deviation = distances.mean(0), distances.std(0, ddof=1)
    return bool((np.abs(mean) < np.maximum(4.5 * deviation / np.sqrt(len(distances)), 0.3 * deviation)).all())


def is_honest(covered):
    """Of intervals that say 95%, 91 to 99% cover: five coefficients of 60 releases, three standard errors of the mean."""
    shares = covered.mean(1)
    return bool(abs(shares.mean() - 0.95) < 0.01 + 3 * shares.std(ddof=1) / np.sqrt(len(shares)))


@pytest.mark.parametrize("family", FORMULAS)
def test_coefficients_are_right_on_average_and_their_intervals_cover(family, seed):
    distances, covered = measured(family, seed)["corrected"]
    assert is_right(distances)
    assert is_honest(covered)


@pytest.mark.parametrize("family", FORMULAS)
def test_rows_as_they_are_would_be_caught(family, seed):
    distances, covered = measured(family, seed)["rows as they are"]
    assert not is_right(distances)
    assert not is_honest(covered)


@pytest.mark.parametrize("family", FORMULAS)
def test_errors_that_forget_the_randomisation_would_be_caught(family, seed):
    distances, covered = measured(family, seed)["errors of such rows"]
    assert is_right(distances)
    assert not is_honest(covered)
