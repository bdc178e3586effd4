"""Rules for several draws: the published formulas, by hand."""

import numpy as np
import pytest
from scipy.stats import t

import pkanon as pk
from pkanon._errors import InputError

VALUES, VARIANCES = [3.0, 7.0, 5.0, 9.0], [1.0, 2.0, 3.0, 2.0]


def test_synthetic():
    found = pk.combine_draws(VALUES, VARIANCES)
    between = np.var(VALUES, ddof=1)  # 20/3
    total = 1.25 * between - 2
    degrees = 3 * (1 - 2 / (1.25 * between)) ** 2
    assert float(found.value) == 6
    assert float(found.se) == pytest.approx(np.sqrt(total))
    assert float(found.degrees) == pytest.approx(degrees)
    low, high = found.interval(0.9)
    assert [float(low), float(high)] == pytest.approx(list(t.interval(0.9, degrees, 6, np.sqrt(total))))


def test_rubin():
    found = pk.combine_draws(VALUES, VARIANCES, rule="rubin")
    between = 1.25 * np.var(VALUES, ddof=1)
    assert float(found.se) == pytest.approx(np.sqrt(2 + between))
    assert float(found.degrees) == pytest.approx(3 * (1 + 2 / between) ** 2)


def test_draws_that_hardly_differ():
    """A variance is never negative: the synthetic rule falls back to that of the rows; Rubin's becomes a normal interval."""
    equal = pk.combine_draws([1.0, 1.0, 1.0], [4.0, 4.0, 4.0])
    assert (float(equal.se), float(equal.degrees)) == (2.0, 2.0)
    rubin = pk.combine_draws([1.0, 1.0, 1.0], [4.0, 4.0, 4.0], rule="rubin")
    assert float(rubin.interval(0.95)[1]) == pytest.approx(1 + 1.959964 * 2)


def test_arrays_are_combined_cell_by_cell():
    values, variances = np.array([VALUES, [1.0, 1, 1, 2]]).T, np.array([VARIANCES, [0.1] * 4]).T
    found = pk.combine_draws(values, variances)
    assert found.se[0] == pk.combine_draws(VALUES, VARIANCES).se
    assert found.se[1] == pk.combine_draws(values[:, 1], variances[:, 1]).se


@pytest.mark.parametrize(
    ("values", "variances", "more", "sentence"),
    [
        ([1.0, 2.0], [1.0], {}, "as many values as variances"),
        ([1.0], [1.0], {}, "At least two draws"),
        ([1.0, np.nan], [1.0, 1.0], {}, "not negative"),
        ([1.0, 2.0], [1.0, -1.0], {}, "not negative"),
        (["a", "b"], [1.0, 1.0], {}, "Values of draws are numbers"),
        ([[1.0], [1.0, 2.0]], [1.0, 1.0], {}, "Values of draws are numbers"),
        ([1.0, 2.0], [1.0, 1.0], {"rule": "best"}, "The rule 'best' is unknown. Available: synthetic, rubin."),
    ],
)
def test_refused(values, variances, more, sentence):
    with pytest.raises(InputError, match=sentence):
        pk.combine_draws(values, variances, **more)
