"""Comparisons that take a third attribute into account, and trends.

    standardised     the share of people who meet a condition, as if a group had the strata of a standard population
    mantel_haenszel  the odds ratio that is common to all strata, and a test whether it is 1
    trend            how a share changes along an ordered attribute, and a test whether it does

Estimates are those of the textbooks, computed from corrected counts. In the sums of Mantel and Haenszel the products of two
noisy counts are too large or small by the covariance of their noise on average; it is taken off.

The two tests compare a sum that is zero on average where there is no association with its variance under just that
assumption, as those of Cochran, Mantel, Haenszel and Armitage do. Without randomisation they are these tests (the variances
with n - 1). The interval of the odds ratio or the slope does not make that assumption, so near the border of significance the
two may differ.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._errors import InputError, did_you_mean
from ..delta import Derived
from ..interval import normal_quantile
from ..linear import Grouped, Listed
from ..quantity import Quantity
from ..reconstruction import Reconstruction, as_names
from ..simplex import nearest
from ..testing import Test, p_text, short, two_sided
from ..variance import spread_whole, variance_if, variances
from .conditions import Where, cells_where, code_of
from .moments import Values
from .numbers import is_numeric, representative

Standard = Mapping[Any, float] | None


@dataclass(frozen=True)
class MantelHaenszel:
    """The odds ratio that is common to all strata.

    Attributes
    ----------
    odds_ratio
        The estimate.
    test
        Whether it may be 1: the test of Cochran, Mantel and Haenszel.
    strata
        How many strata were used.
    left_out
        The strata left out, because their size cannot be told from zero.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> answers = {"smokes": ["no", "yes"] * 900, "coughs": ["no", "yes", "no", "yes", "yes", "no"] * 300}
    >>> people = pl.DataFrame(answers | {"sex": ["F", "M", "M"] * 600})
    >>> schema = pk.Schema([pk.Attribute(name, sorted(set(people[name]))) for name in people.columns])
    >>> release = pk.release(people, pk.plan(schema, records=1_800, k=5), randomness=pk.Seeded(7))
    >>> table = release.crosstab("smokes", "coughs", "sex")
    >>> print(table.mantel_haenszel({"smokes": "yes"}, {"coughs": "yes"}, within="sex"))
    Common odds ratio 2.682 ± 0.2049 (95%: 2.309 to 3.115), chi-square 171.9, p < 1e-15; 2 strata.
    """

    odds_ratio: Quantity
    test: Test
    strata: int
    left_out: tuple[Any, ...] = ()

    def __str__(self) -> str:
        low, high = self.odds_ratio.interval()
        without = f"; {len(self.left_out)} too small to be used" if self.left_out else ""
        return (
            f"Common odds ratio {self.odds_ratio} (95%: {short(low)} to {short(high)}), chi-square "
            f"{self.test.statistic:.4g}, {p_text(self.test.p_value)}; {self.strata} strata{without}."
        )

    def _repr_html_(self) -> str:
        """The sentence, as a notebook shows it."""
        return f"<p>{self}</p>"


@dataclass(frozen=True)
class Trend:
    """How the share of people who meet a condition changes along an ordered attribute.

    Attributes
    ----------
    slope
        By how much the share rises with each unit of the scores: the least-squares line.
    test
        Whether there is no trend: the test of Cochran and Armitage.
    scores
        The number that stands for each value of the attribute.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> rooms = [1, 2, 3, 4] * 500
    >>> owner = ["yes" if i * 7 % 10 < 2 * number else "no" for i, number in enumerate(rooms)]
    >>> people = pl.DataFrame({"rooms": rooms, "owner": owner})
    >>> schema = pk.Schema([pk.Attribute.ranged("rooms", 1, 4), pk.Attribute("owner", ["no", "yes"])])
    >>> release = pk.release(people, pk.plan(schema, records=2_000, k=5), randomness=pk.Seeded(7))
    >>> print(release.crosstab("rooms", "owner").trend({"owner": "yes"}, over="rooms"))
    Slope 0.2102 ± 0.00939 per unit (95%: 0.1917 to 0.2286), chi-square 511.6, p < 1e-15.
    """

    slope: Quantity
    test: Test
    scores: Mapping[Any, float]

    def __str__(self) -> str:
        low, high = self.slope.interval()
        return (
            f"Slope {self.slope} per unit (95%: {short(low)} to {short(high)}), chi-square {self.test.statistic:.4g}, "
            f"{p_text(self.test.p_value)}."
        )

    def _repr_html_(self) -> str:
        """The sentence, as a notebook shows it."""
        return f"<p>{self}</p>"


def standardised(
    table: Reconstruction, where: Where, over: str | Sequence[str], given: Where, to: Where | Standard
) -> Quantity:
    """The share that meets ``where`` among ``given``, in each stratum of ``over``, weighted by the strata of a standard."""
    strata = _strata(table, over, {"where": where, "given": given})
    condition = to if to is not None and len(to) > 0 and all(name in table.names for name in to) else {}
    table = _ordered(table, [*strata, *where, *given, *condition])
    group = cells_where(table.attributes, given)
    both = group & cells_where(table.attributes, where)
    known = _known_standard(table, strata, to) if to is not None and not condition else None
    people = cells_where(table.attributes, condition)
    counted = known > 0 if known is not None else _told_from_zero(table, len(strata), people)
    missing = counted & ~_told_from_zero(table, len(strata), group)
    if missing.any():
        names = ", ".join(str(label) for label, gone in zip(_labels(table, strata), missing) if gone)
        raise InputError(
            f"The group is too small to have a share in {' x '.join(strata)} = {names}: its size cannot be told from zero. "
            "Standardise over fewer or larger strata."
        )
    top: Any = 0.0
    bottom: Any = 0.0
    for number in np.flatnonzero(counted).tolist():
        place = _stratum(table, len(strata), number)
        weight = table.linear((people & place).astype(float)) if known is None else float(known[number])
        share = table.linear((both & place).astype(float)) / table.linear((group & place).astype(float))
        top, bottom = share * weight + top, bottom + weight
    if not counted.any():
        raise InputError("No stratum of the standard population is large enough to be told from an empty one.")
    result: Quantity = top / bottom
    return result


def _known_standard(table: Reconstruction, strata: Sequence[str], to: Mapping[Any, float]) -> Counts:
    """The weight of each stratum in a population that is known from elsewhere."""
    attributes = table.attributes[: len(strata)]
    weights = np.zeros([attribute.size for attribute in attributes])
    for key, weight in to.items():
        labels = key if len(strata) > 1 and isinstance(key, tuple) else (key,)
        if len(labels) != len(strata):
            raise InputError(f"A stratum of the standard has one value of each of {', '.join(strata)}, in a tuple.")
        try:
            number = float(weight)
        except (TypeError, ValueError):
            raise InputError(
                "The standard is a group of people, such as {'sex': 'F'}, or a number for each stratum, such as {'0-17': 0.2}."
            ) from None
        weights[tuple(code_of(attribute, label) for attribute, label in zip(attributes, labels))] = number
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InputError("The weights of a standard population are numbers, zero or more, and not all zero.")
    return weights.ravel()


def mantel_haenszel(table: Reconstruction, first: Where, second: Where, within: str | Sequence[str]) -> MantelHaenszel:
    """The odds ratio of ``first`` and ``second`` that is common to the strata of ``within``."""
    strata = _strata(table, within, {"first": first, "second": second})
    if not first or not second or set(first) & set(second):
        raise InputError("An odds ratio is between two conditions on different attributes.")
    table = _ordered(table, [*strata, *first, *second])
    a, b = (cells_where(table.attributes, where) for where in (first, second))
    kinds = [kind.astype(float) for kind in (a & b, ~a & ~b, a & ~b, ~a & b)]
    shown = _told_from_zero(table, len(strata), np.ones(table.counts.shape, bool))
    if not shown.any():
        raise InputError("No stratum is large enough to be told from an empty one; ask for fewer strata.")
    noise = _noise(table, len(strata), kinds)
    top: Any = 0.0
    bottom: Any = 0.0
    for number in np.flatnonzero(shown).tolist():
        place = _stratum(table, len(strata), number)
        both, neither, only_a, only_b = (table.linear(kind * place) for kind in kinds)
        size = table.linear(place.astype(float))
        top = _corrected(both * neither, noise[number, 0, 1], table.confined) / size + top
        bottom = _corrected(only_a * only_b, noise[number, 2, 3], table.confined) / size + bottom
    ratio: Quantity = (top / bottom).on("log")
    left_out = tuple(label for label, used in zip(_labels(table, strata), shown) if not used)
    if table.weighted:
        return MantelHaenszel(ratio, ratio.test(1.0), int(shown.sum()), left_out)
    variance = _independent_variance(table, len(strata), len(first), a, b, shown)
    return MantelHaenszel(ratio, _chi_square(ratio, 1.0, (top - bottom).unbiased, variance), int(shown.sum()), left_out)


def _corrected(product: Quantity, covariance: float, confined: bool) -> Quantity:
    """A product of two counts less what their noise adds to it on average; only unbiased counts have all of that noise."""
    number = product._number
    value = number.value if confined else number.value - covariance
    return replace(product, _number=Derived(value, number.unbiased - covariance, number.slopes))


def _noise(table: Reconstruction, strata: int, kinds: Sequence[Counts]) -> Counts:
    """The covariance of the noise of different kinds of people in every stratum: shape (strata, kinds, kinds).

    Nobody is of two kinds, so nothing is taken off the sums of products (variance.py).
    """
    groups = math.prod(table.counts.shape[:strata])
    if table.grouping is not None:
        return _grouped_noise(table, strata, kinds)
    grouped = Grouped(table.channel, table.names[:strata], np.arange(groups), tuple(kinds))
    if table.weighing is not None:
        return table.weighing.grouped(grouped).pair_products(table.weighing.table.squares)
    return grouped.pair_products(table.squares)


def _grouped_noise(table: Reconstruction, strata: int, kinds: Sequence[Counts]) -> Counts:
    """The same where values are merged or left out: every stratum by itself, on the whole table."""
    assert table.grouping is not None
    weighing = table.whole.weighing
    counted = table.whole if weighing is None else weighing.table
    found = []
    for number in range(math.prod(table.counts.shape[:strata])):
        weights = table.grouping.spread(np.stack(kinds) * _stratum(table, strata, number))
        carried = counted.channel.inverse_transpose(weights if weighing is None else weighing.weights(weights))
        flat = carried.reshape(len(kinds), -1)
        found.append((flat * counted.squares.ravel()) @ flat.T)
    return np.stack(found)


def _independent_variance(
    table: Reconstruction,
    strata: int,
    firsts: int,
    a: NDArray[np.bool_],
    b: NDArray[np.bool_],
    shown: NDArray[np.bool_],
) -> float:
    """The variance of the sum of Cochran, Mantel and Haenszel if both conditions were independent in every stratum.

    The axes of the table are the strata, the attributes of the first condition and those of the second.
    """
    shape = table.counts.shape
    sizes = [math.prod(part) for part in (shape[:strata], shape[strata : strata + firsts], shape[strata + firsts :])]
    people = nearest(table.unbiased, table.total, table.possible).reshape(sizes)
    a, b = a.reshape(sizes), b.reshape(sizes)
    whole = people.sum((1, 2), keepdims=True)
    size = np.maximum(whole, 1e-300)
    null = people.sum(2, keepdims=True) * people.sum(1, keepdims=True) / size
    share_a, share_b = ((people * each).sum((1, 2), keepdims=True) / size for each in (a, b))
    factor = np.sqrt(np.divide(whole, whole - 1, out=np.zeros_like(whole), where=whole > 1))
    weights = (a - share_a) * (b - share_b) * factor * shown[:, None, None]
    return _null_variance(table, weights.reshape(shape), null.reshape(shape))


def trend(table: Reconstruction, where: Where, over: str, given: Where, scores: Values | None) -> Trend:
    """How the share that meets ``where`` among ``given`` changes along the attribute ``over``."""
    _strata(table, over, {"where": where})
    table = _ordered(table, [over, *where, *given])
    numbers, group, rest = _scores(table, scores)
    group = group & cells_where(table.attributes, given)
    outcome = cells_where(table.attributes, where)
    size = table.linear(group.astype(float))
    if not float((table.counts * group).sum()) > 0:
        raise InputError("Nobody who could have a score is estimated to be there, so there is no trend.")
    centre = (table.linear(group * numbers) / size).value  # a shift changes nothing but the rounding
    shifted = numbers - centre
    scored, squared = table.linear(group * shifted), table.linear(group * shifted**2)
    met, both = table.linear(1.0 * (group & outcome)), table.linear((group & outcome) * shifted)
    found = both - scored * met / size
    slope = found / (squared - scored * scored / size)
    if table.weighted:
        return Trend(slope, slope.test(0.0), rest)
    people = nearest(table.unbiased, table.total, table.possible)
    inside = np.where(group, people, 0.0)
    present = float(inside.sum())
    if present <= 1:
        raise InputError("A trend needs at least two people.")
    others = tuple(range(1, people.ndim))
    null = np.where(group, inside.sum(others, keepdims=True) * inside.sum(0, keepdims=True) / present, people)
    score = float((inside * numbers).sum()) / present
    share = float((inside * outcome).sum()) / present
    weights = group * (numbers - score) * (outcome - share) * math.sqrt(present / (present - 1))
    variance = _null_variance(table, weights, null)
    return Trend(slope, _chi_square(slope, 0.0, found.unbiased, variance), rest)


def _scores(table: Reconstruction, scores: Values | None) -> tuple[Counts, NDArray[np.bool_], dict[Any, float]]:
    """The score of each value of the first attribute, along its axis; who has one; and the same by label."""
    attribute = table.attributes[0]
    if scores is None and not is_numeric(
        attribute
    ):  # in the order of the schema; unlisted and missing values have none
        listed = len(attribute.domain) if attribute.domain is not None else 0
        found = np.where(np.arange(attribute.size) < listed, np.arange(attribute.size, dtype=float), np.nan)
    else:
        found = representative(attribute, scores)
    by_label = {label: float(score) for label, score in zip(attribute.labels(), found) if not math.isnan(score)}
    if len(set(by_label.values())) < 2:
        raise InputError(f"A trend over '{attribute.name}' needs at least two different scores.")
    along = found.reshape(-1, *[1] * (len(table.names) - 1))
    has = np.broadcast_to(~np.isnan(along), table.counts.shape)
    return np.nan_to_num(along), has, by_label


def _null_variance(table: Reconstruction, weights: Counts, people: Counts) -> float:
    """The variance of a sum if ``people`` were the truth; its weights hold their own n/(n - 1)."""
    if table.grouping is not None:
        weights, people = table.grouping.spread(weights), table.grouping.shared_out(people)
    whole = spread_whole(table.channel, np.where(table.channel.possible, people, 0.0))
    variance = float(variance_if(table, Listed(table.channel, weights[None]), whole)[0])
    return variance / (table.sample_factor if table.about == "population" else 1.0)


def _chi_square(number: Quantity, null: float, found: float, variance: float) -> Test:
    """The test by a sum that is zero on average if ``number`` is ``null``."""
    z = found / math.sqrt(variance) if variance > 0 else (0.0 if abs(found) < 1e-9 else math.inf)
    return Test(null, number.value, number.standard_error, z * z, two_sided(z), "chi-square", number.flag())


def _strata(table: Reconstruction, names: str | Sequence[str], conditions: Mapping[str, Where]) -> tuple[str, ...]:
    """The attributes that form strata: of the table, and in no condition."""
    strata = as_names(names)
    if not strata:
        raise InputError("Name the attribute whose values are the strata.")
    for name in strata:
        if name not in table.names:
            raise InputError(f"The table has no attribute '{name}'. {did_you_mean(str(name), table.names)}")
    for condition in conditions.values():
        cells_where(table.attributes, condition)  # refuses what is no condition of this table
        for name in condition:
            if name in strata:
                raise InputError(f"'{name}' cannot be in a condition and form the strata too.")
    return strata


def _ordered(table: Reconstruction, names: Sequence[str]) -> Reconstruction:
    """The table of these attributes, in this order."""
    wanted = tuple(dict.fromkeys(names))
    return table if wanted == table.names else table.marginal(*wanted)


def _told_from_zero(table: Reconstruction, strata: int, people: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """In which strata there are such people for certain: more than the noise alone may show."""
    groups = math.prod(table.counts.shape[:strata])
    if table.grouping is not None:
        weights = table.grouping.spread(
            np.stack([people & _stratum(table, strata, i) for i in range(groups)]).astype(float)
        )
        whole = replace(table.whole, about="table")
        sizes = (weights * whole.unbiased).reshape(groups, -1).sum(1)
        errors = np.sqrt(whole.variances_of(weights))
        return np.asarray(sizes > np.maximum(normal_quantile(0.95) * errors, 1e-9))
    counted = replace(table, about="table")
    functions = Grouped(table.channel, table.names[:strata], np.arange(groups), (people.astype(float),))
    sizes = functions.values(counted.unbiased)
    errors = np.sqrt(variances(counted, functions)[0])
    return np.asarray(sizes > np.maximum(normal_quantile(0.95) * errors, 1e-9))


def _stratum(table: Reconstruction, strata: int, number: int) -> NDArray[np.bool_]:
    """The cells of one stratum."""
    shape = table.counts.shape
    cells = np.zeros((math.prod(shape[:strata]), math.prod(shape[strata:])), bool)
    cells[number] = True
    return cells.reshape(shape)


def _labels(table: Reconstruction, strata: Sequence[str]) -> list[Any]:
    """The strata by their values; a tuple if there are several attributes."""
    values = [list(attribute.labels()) for attribute in table.attributes[: len(strata)]]
    return values[0] if len(values) == 1 else list(itertools.product(*values))
