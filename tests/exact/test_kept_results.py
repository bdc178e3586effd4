"""Results that a survey shows while it is open: what they take from k, to somebody who also knows when a person answered.

By enumeration, for one question of two values: four people, and a result that was shown after the first two.
"""

import itertools
from fractions import Fraction
from math import prod

import pytest
from blocks import BLOCKS
from plans import plan_of

import pkanon as pk
from pkanon._audit.attacks.mechanism import exact_chances
from pkanon._plan import Collection, assumptions

PEOPLE, FIRST = 4, 2
PLAN = plan_of([BLOCKS["retention"]], PEOPLE)


def highest(shown):
    """The highest chance of any link, over all tables and releases, to somebody who knows the table; ``shown``: and the result."""
    values = range(PLAN.units[0].size)
    cells = [(value,) for value in values]
    chances = exact_chances(PLAN, cells, cells)
    best = Fraction(0)
    for table in itertools.product(values, repeat=PEOPLE):
        seen = {}
        for sent in itertools.product(values, repeat=PEOPLE):
            weight = prod(chances[true][value] for true, value in zip(table, sent))
            what = tuple(sorted(sent)), tuple(sorted(sent[:FIRST])) if shown else None
            seen.setdefault(what, []).append((sent, weight))
        for (release, _), ways in seen.items():
            total = sum(weight for _, weight in ways)
            for person, value in itertools.product(range(PEOPLE), values):
                hers = sum(weight for sent, weight in ways if sent[person] == value)
                if hers:  # rows with one value cannot be told apart
                    best = max(best, hers / total / release.count(value))
    return best


def test_k_holds_for_the_release_alone():
    assert highest(shown=False) == 1 / PLAN.k_for(PEOPLE)


def test_a_kept_result_leaves_the_k_of_the_answers_in_between():
    assert highest(shown=True) == 1 / PLAN.k_for(FIRST) > 1 / PLAN.k_for(PEOPLE)


@pytest.mark.parametrize("mode", ["open link", "invited, operator can link", "invited, unlinkable given separation"])
def test_the_certificate_says_so(mode):
    plan = pk.plan(pk.Schema([pk.Attribute("smokes", ["no", "yes"])]), records=1_000, k=20)
    said = " ".join(assumptions(plan, 1_000, Collection(mode)))
    assert "kept the results that were shown while the survey was open" in said
    assert "k may count only the answers between two of these results" in said
