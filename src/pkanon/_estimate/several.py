"""Numbers from several releases: compared, added up or averaged, once it is said how their people are related.

Every release has noise of its own. Given the people, the noises of two releases are independent. So

    disjoint   nobody is in two releases: all errors are independent
    same       the same people are in all of them: about the table, errors are independent; about the population, the
               releases share one sampling error, and it is counted once

Nobody can tell from releases who is in both of them. So people who are partly the same cannot be combined.

An average of unbiased numbers is unbiased if its weights do not depend on the data. Those of ``pool`` come from the error
that the plan predicts for people spread evenly over all possible cells; the released counts do not enter it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from .._errors import InputError, did_you_mean
from .delta import Derived
from .joint import AnyBasis, gathered, on_counted, parts_of
from .linear import Listed
from .quantity import Quantity
from .statistics import Quantile
from .uncertainty import Joint
from .variance import People, variance_if

Number = TypeVar("Number", Quantity, Quantile)
PEOPLE = ("disjoint", "same")
WEIGHTS = ("plan", "rows", "equal")


def together(*numbers: Number, people: People) -> tuple[Number, ...]:
    """Numbers from several releases, made ready to be calculated with together.

    Parameters
    ----------
    *numbers
        The numbers, or quantiles; several may be from one release.
    people
        How the people of the releases are related: ``disjoint`` if nobody is in two of them, ``same`` if the same people
        are in all. People who are partly the same are refused: nobody can tell from the releases who is in both.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> north = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan, randomness=pk.Seeded(7))
    >>> south = pk.release(pl.DataFrame({"sex": ["F", "F", "M"] * 400}), plan, randomness=pk.Seeded(8))
    >>> shares = [release.crosstab("sex").proportion({"sex": "F"}) for release in (north, south)]
    >>> first, second = pk.together(*shares, people="disjoint")
    >>> print((second - first).test())
    The estimate 0.1395 ± 0.01844 differs from 0: z = 7.562, p = 3.97e-14.
    """
    _check(numbers, people)
    leads = [each if isinstance(each, Quantity) else each._lead for each in numbers]
    known = [lead for lead in leads if lead is not None]
    if not known:
        return numbers
    basis, carried = gathered([(each._basis, each._number) for each in known], people)
    if isinstance(basis, Joint):
        _check_releases(basis)
    ready = (replace(each, _basis=basis, _number=number) for each, number in zip(known, carried))
    return tuple(
        each if lead is None else next(ready) if isinstance(each, Quantity) else replace(each, _lead=next(ready))
        for each, lead in zip(numbers, leads)
    )


def pool(numbers: Sequence[Quantity], *, people: People, weights: str | Sequence[float] = "plan") -> Quantity:
    """The average of estimates of one number from several releases.

    It is unbiased if they are: weights do not depend on the data, unless you give such ones. Counts of disjoint people are
    added up instead, with :func:`together`.

    Parameters
    ----------
    numbers
        One estimate from each release.
    people
        As in :func:`together`.
    weights
        ``plan``: by the error that each plan predicts, for counts, sums, shares and means; ``rows``: by the number of rows;
        ``equal``; or a number for each.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500})
    >>> twice = [pk.release(people, plan, randomness=pk.Seeded(seed)) for seed in (7, 8)]
    >>> counts = [release.crosstab("sex").count(sex="F") for release in twice]
    >>> counts[0], pk.pool(counts, people="same")
    (<Quantity 501.3 ± 13.62>, <Quantity 496.7 ± 9.632>)
    """
    _check(numbers, people)
    if any(not isinstance(each, Quantity) for each in numbers):
        raise InputError("Quantiles are compared, not pooled.")
    if len(numbers) == 0:
        raise InputError("There is nothing to pool: name at least one number.")
    factors = _factors(numbers, people, weights)
    ready: tuple[Quantity, ...] = together(*numbers, people=people)
    if isinstance(ready[0]._basis, Joint) != (len(numbers) > 1):
        raise InputError("Two of these numbers are from one and the same release; pool takes one from each.")
    total = ready[0] * float(factors[0])
    for number, factor in zip(ready[1:], factors[1:]):
        total = total + number * float(factor)
    first = numbers[0]
    scale = first.scale if all(each.scale == first.scale for each in numbers) else "plain"
    bounds = first.bounds if all(each.bounds == first.bounds for each in numbers) else (-np.inf, np.inf)
    return replace(total, scale=scale, bounds=bounds)


def _check(numbers: Sequence[Quantity | Quantile], people: str) -> None:
    if people not in PEOPLE:
        raise InputError(
            f"people is 'disjoint' (nobody is in two releases) or 'same' (the same people are in all), not {people!r}. Of people "
            "who are partly the same nobody can tell from the releases who is in both."
        )
    for number in numbers:
        if not isinstance(number, Quantity | Quantile):
            raise InputError(
                f"Only numbers such as a count or a share can be put together, not a {type(number).__name__}."
            )


def _check_releases(basis: Joint) -> None:
    """Refuse releases of the same people that cannot be."""
    tables = [part.table for part in basis.parts]
    if basis.people != "same":
        return
    rows = sorted({table.rows for table in tables})
    if len(rows) > 1:
        counts = " and ".join(f"{count:,}" for count in rows)
        raise InputError(f"Releases of the same people have equally many rows; these have {counts}.")


def _factors(numbers: Sequence[Quantity], people: People, weights: str | Sequence[float]) -> Sequence[float]:
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise InputError(
                f"Weights are by 'plan', by 'rows' or 'equal', not '{weights}'. {did_you_mean(weights, WEIGHTS)}"
            )
        if weights == "plan":
            found = np.array([_predicted(each._basis, each._number, people) for each in numbers])
            certain = found <= 0
            given = certain.astype(float) if certain.any() else 1 / found
        elif weights == "rows":
            given = np.array([float(parts_of(each._basis)[0].table.rows) for each in numbers])
        else:
            given = np.ones(len(numbers))
    else:
        given = np.asarray(weights, float)
        if given.shape != (len(numbers),) or not np.isfinite(given).all() or (given < 0).any() or not given.sum() > 0:
            raise InputError("Weights are numbers, zero or more, one for each estimate, and not all zero.")
    return [float(each) for each in given / given.sum()]


def _predicted(basis: AnyBasis, number: Derived, people: People) -> float:
    """The variance that the plan predicts if people were spread evenly; the data do not enter it.

    Of the same people only the noise counts: the sampling error is the same in all releases.
    """
    if isinstance(basis, Joint):
        raise InputError("Each number to be pooled must be from one release.")
    table = basis.table
    if not number.linear and not number.of_sums:
        raise InputError(
            "Weights by plan are known for counts, sums, shares and means only; say weights='rows', 'equal' or a number for each."
        )
    counted = table if table.weighing is None else table.weighing.table
    whole = counted.evenly * counted.rows
    weights = on_counted(table, number.slopes)
    if number.above is not None and number.below is not None:
        above, below = (on_counted(table, part.slopes) for part in (number.above, number.below))
        even = counted.channel.collapse(whole)
        size = float((below * even).sum())
        if not size:
            raise InputError("The plan predicts no error for a share of a group that has nobody; say weights=.")
        weights = (above - float((above * even).sum()) / size * below) / size
    if people == "same":
        counted = replace(counted, about="table")
    return float(variance_if(counted, Listed(counted.channel, weights[None]), whole)[0])
