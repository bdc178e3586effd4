"""benchmarks/noisy_model.py: the model takes a curator's noise for what it is."""

from pathlib import Path

import numpy as np
import pytest

import pkanon as pk
from pkanon._estimate import tabulate

SIZES = (2, 3, 4)


@pytest.mark.parametrize(("epsilon", "limit"), [(50.0, 0.01), (0.02, 0.25)])
def test_tables_come_back_through_little_noise_and_not_through_much(monkeypatch, epsilon, limit):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from noisy_model import fit_noisy

    draw = np.random.default_rng(1)
    first = draw.integers(0, 2, 20_000)
    people = [first, (first + draw.integers(0, 2, 20_000)) % 3, (2 * first + draw.integers(0, 3, 20_000)) % 4]
    schema = pk.Schema([pk.Attribute.ranged(f"a{i}", 0, size - 1) for i, size in enumerate(SIZES)])
    tables = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    truth = {s: tabulate([people[a].astype(np.uint8) for a in s], [SIZES[a] for a in s]) for s in tables}
    model = fit_noisy(truth, schema, 20_000, epsilon, 1e-8, seed=3)
    errors = [np.abs(model.table([f"a{a}" for a in s]) - truth[s] / 20_000).sum() for s in tables[3:]]
    independent = np.abs(np.outer(truth[(0,)], truth[(1,)]) / 20_000**2 - truth[0, 1] / 20_000).sum()
    assert max(errors) < limit < 0.5 < independent
    assert (max(errors) > 0.02) == (epsilon < 1)
