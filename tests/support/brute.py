"""The definitions of docs/why/theory.md 2 and 3 by enumeration: every table, every release, every order.

Matrices hold exact numbers (integers or Fractions) in any scale common to their rows: posteriors
and likelihood ratios do not change when a matrix is multiplied by a constant.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod

Exact = int | Fraction
Matrix = Sequence[Sequence[Exact]]
Table = tuple[int, ...]


def tables(values: int, records: int) -> Iterator[Table]:
    """Every table: one value per record."""
    return itertools.product(range(values), repeat=records)


def releases(values: int, records: int) -> Iterator[Table]:
    """Every release, up to the order of its rows: reordering rows only renames them."""
    return itertools.combinations_with_replacement(range(values), records)


def links(matrix: Matrix, table: Table, release: Table) -> tuple[Exact, list[list[Exact]]]:
    """The weight of a release, and of it together with "row i is person r's", over all orders.

    Row i of the release is person ``order[i]``'s. All n! orders are equally likely, so the common
    factor 1/n! is left out.
    """
    persons = range(len(table))
    total: Exact = 0
    joint: list[list[Exact]] = [[0] * len(release) for _ in persons]
    for order in itertools.permutations(persons):
        weight: Exact = prod(matrix[table[person]][value] for person, value in zip(order, release))
        total += weight
        for row, person in enumerate(order):
            joint[person][row] += weight
    return total, joint


def highest_posterior(matrix: Matrix, records: int) -> Fraction:
    """The most any adversary who knows the private table can believe of any link, over all tables and releases.

    Knowing the table is no loss: a posterior is a ratio of two functions that are linear in the
    prior, so it is a weighted mean of the posteriors of the single tables.
    """
    values = len(matrix)
    return max(
        Fraction(max(map(max, joint))) / Fraction(total)
        for table in tables(values, records)
        for release in releases(values, records)
        for total, joint in [links(matrix, table, release)]
        if total
    )


def mixed_posterior(
    matrix: Matrix, prior: Mapping[Table, Exact], release: Table, also: Callable[[Table], Exact] = lambda table: 1
) -> Fraction:
    """The highest posterior of any link for a prior over tables; ``also`` weighs in other evidence."""
    total: Exact = 0
    joint: list[list[Exact]] = []
    for table, weight in prior.items():
        one_total, one_joint = links(matrix, table, release)
        weight = weight * also(table)
        total += weight * one_total
        scaled = [[weight * entry for entry in row] for row in one_joint]
        joint = scaled if not joint else [[a + b for a, b in zip(r, s)] for r, s in zip(joint, scaled)]
    return Fraction(max(map(max, joint))) / Fraction(total) if total else Fraction(0)


def highest_likelihood_ratio(matrix: Matrix, records: int) -> Fraction | None:
    """e^eps over all neighbouring tables (one record differs) and all releases; None if it is unbounded."""
    values = len(matrix)
    worst = Fraction(0)
    for release in releases(values, records):
        weight = {table: links(matrix, table, release)[0] for table in tables(values, records)}
        for table, own in weight.items():
            for person, value in itertools.product(range(records), range(values)):
                other = weight[(*table[:person], value, *table[person + 1 :])]
                if own and not other:
                    return None
                if own:
                    worst = max(worst, Fraction(own) / Fraction(other))
    return worst
