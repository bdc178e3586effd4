"""Is the association of those who answered calibrated? The noise of everybody else is in it too."""

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._estimate.statistics import association

ROWS, RELEASES = 2_000, 80
LIMIT = 5 * np.sqrt(2 / (4 * RELEASES))
"""Five standard errors: the mean of a squared distance on 4 degrees of freedom, over its expectation, has sqrt(2 / (4 n))."""


@pytest.fixture(scope="module")
def released(seed):
    """Releases of independent answers, of which half are missing, often both at once."""
    draw = np.random.default_rng(seed)
    schema = pk.Schema([pk.Attribute(name, ["x", "y", "z"], missing="value") for name in "ab"])
    plan = pk.plan(schema, records=ROWS, k=20)
    tables = []
    for number in range(RELEASES):
        silent = draw.random(ROWS) < 0.4
        people = {
            name: np.where(silent | (draw.random(ROWS) < 0.2), None, draw.choice(list("xyz"), ROWS, p=[0.5, 0.3, 0.2]))
            for name in "ab"
        }
        release = pk.release(
            pl.DataFrame({name: pl.Series(values.tolist(), dtype=pl.String) for name, values in people.items()}),
            plan,
            randomness=pk.Seeded(seed + number),
        )
        tables.append(release.crosstab("a", "b", missing="exclude"))
    return tables


def ratio(tables):
    """The mean squared distance from independence, over what its covariance says."""
    pairs = [association._Pair.of(table) for table in tables]
    return np.mean([pair.d @ pair.d for pair in pairs]) / np.mean([np.trace(pair.covariance) for pair in pairs])


def test_the_distance_is_that_of_independent_answers(released):
    assert abs(ratio(released) - 1) < LIMIT


def test_without_the_noise_of_those_left_out_it_would_not_be(released, monkeypatch):
    whole = association.people_if_independent

    def without(table, independent):
        people = whole(table, independent)
        return people * (table.grouping.spread(np.ones(table.counts.shape)) > 0)

    monkeypatch.setattr(association, "people_if_independent", without)
    assert ratio(released) - 1 > LIMIT
