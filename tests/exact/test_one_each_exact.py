"""One row of each person keeps the promise: over all releases of all small tables of visits, in fractions."""

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import polars as pl
import pytest

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._schema import Unit

SIZE, PERSONS = 2, 3
PLAN = pk.Plan(
    pk.Schema([pk.Attribute("person", role="id", repeats="one at random"), pk.Attribute("sick", ["no", "yes"])]),
    (Retention(Unit(("sick",), (SIZE,)), 2**30, 32),),
    PERSONS,
)
MATRIX = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
"""Half of the answers are kept, half replaced by a fair coin."""
VISITS = [rows for count in (1, 2, 3) for rows in itertools.combinations_with_replacement(range(SIZE), count)]
"""What the rows of one person can be, in any order."""


def uniform(rows):
    return {value: Fraction(count, len(rows)) for value, count in Counter(rows).items()}


def like_the_others(rows, others):
    """A rule that compares persons: the value that the others have most often stays, if she has it."""
    most = max(range(SIZE), key=lambda value: sum(other.count(value) for other in others))
    return {most: Fraction(1)} if most in rows else uniform(rows)


def releases(table, drawn):
    """The probability of each release: how many rows show each value, and whose row each released one is.

    Of a uniformly shuffled table an outsider sees the counts; given the released values of all persons, every row with
    one value is equally likely to be any of those who show it.
    """
    laws = [drawn(rows, table[:number] + table[number + 1 :]) for number, rows in enumerate(table)]
    chances, whose = defaultdict(Fraction), defaultdict(Fraction)
    for kept in itertools.product(*(law.items() for law in laws)):
        for shown in itertools.product(range(SIZE), repeat=PERSONS):
            chance = Fraction(1)
            for (value, probability), out in zip(kept, shown):
                chance *= probability * MATRIX[value][out]
            counts = tuple(shown.count(value) for value in range(SIZE))
            chances[counts] += chance
            for person, out in enumerate(shown):
                whose[counts, out, person] += chance / counts[out]
    return chances, whose


def worst_factor(drawn):
    """The largest ratio of a release's chances, over all tables that differ in all rows of the first person."""
    worst = Fraction(0)
    for others in itertools.combinations_with_replacement(VISITS, PERSONS - 1):
        laws = [releases((own, *others), drawn)[0] for own in VISITS]
        worst = max(worst, *(one[o] / two[o] for one, two in itertools.permutations(laws, 2) for o in one))
    return worst


def test_epsilon_holds_for_all_rows_of_a_person():
    assert PLAN.epsilon_ratio == 3
    assert worst_factor(lambda rows, others: uniform(rows)) <= PLAN.epsilon_ratio


def test_k_holds_for_a_person_whatever_her_rows():
    k = PLAN.k_for(PERSONS)
    for table in itertools.combinations_with_replacement(VISITS, PERSONS):
        chances, whose = releases(table, lambda rows, others: uniform(rows))
        assert sum(chances.values()) == 1
        assert max(chance / chances[counts] for (counts, _, _), chance in whose.items()) <= 1 / k


def test_without_the_draw_a_person_with_many_rows_pays_more():
    """Two persons, of whom one has two rows or the same two answered otherwise: three rows, and a factor of 9."""
    laws = []
    for own in (0, 1):
        law = defaultdict(Fraction)
        for shown in itertools.product(range(SIZE), repeat=3):
            law[sum(shown)] += MATRIX[own][shown[0]] * MATRIX[own][shown[1]] * MATRIX[0][shown[2]]
        laws.append(law)
    assert max(laws[1][o] / laws[0][o] for o in laws[0]) > PLAN.epsilon_ratio


def test_a_rule_that_compares_persons_is_noticed():
    assert worst_factor(like_the_others) > PLAN.epsilon_ratio


@pytest.mark.parametrize("own", [(0,), (0, 1), (1, 1, 0)])
def test_the_pipeline_draws_from_these_laws(own):
    """The released counts of 300 keys, against the exact chances."""
    table = (own, (1,), (0, 0))
    frame = pl.DataFrame(
        [(person, ["no", "yes"][value]) for person, rows in enumerate(table) for value in rows],
        schema=["person", "sick"],
        orient="row",
    )
    seen = Counter()
    for seed in range(300):
        codes = pk.release(frame, PLAN, randomness=pk.Seeded(seed)).codes["sick"]
        seen[int((codes == 0).sum()), int((codes == 1).sum())] += 1
    chances, _ = releases(table, lambda rows, others: uniform(rows))
    for counts, chance in chances.items():
        spread = (300 * float(chance) * (1 - float(chance))) ** 0.5
        assert abs(seen[counts] - 300 * float(chance)) < 5 * spread
