"""Two older measures of what a randomised record gives away, for any plan: how far a belief about a person can move.

**rho1-to-rho2 breach** (Evfimievski, Gehrke, Srikant 2003). A property of a person's record that had the probability rho1 before
her randomised record is seen has at most ``g rho1 / (1 + (g - 1) rho1)`` after, and at least ``rho1 / (g - (g - 1) rho1)``. g is
what they call amplification: the largest ratio of the chances of one released record from two true ones, which is e^epsilon
(docs/why/theory.md 3). Both bounds hold for every prior and every property, and both are reached: by a prior on the two true
records of the largest ratio. So a breach from rho1 to a larger rho2 is excluded from the bound on.

**(s, rho1, rho2) breach** (Agrawal, Srikant, Thomas 2005), for one attribute that is kept with probability p, else drawn from
w. For a set S of its values let P be the probability that the true value is in S and w(S) that a drawn one is. With
P <= rho1 and P / w(S) <= s, the probability that the true value is in S, given that the released value is in S, is at most
``(p s + (1 - p) rho1) / (p s + 1 - p)``; it is reached by P = rho1 and w(S) = rho1 / s. The question is narrower than the one
above: one attribute, one kind of evidence, and no knowledge about the person. On its own attribute every block is of this form
but a general matrix, and one with a negative eigenvalue, which makes the true value less likely than another one.

Neither knows that the rows are shuffled. They are about somebody who knows which randomised record is the person's, and about
that record alone: where people are alike, the records of others tell more (docs/why/theory.md 3). A plan that promises nothing
has neither, unless all that is wrong is that nothing bounds epsilon, which the first one says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .._errors import TargetError
from .numbers import Number, exact
from .privacy import float_below, round_up

if TYPE_CHECKING:
    from .plan import Plan


@dataclass(frozen=True)
class AttributeBreach:
    """How likely a set of values of an ``attribute`` becomes when the released value is in it, at most; None if unknown."""

    attribute: str
    rho: float | None
    posterior: float | None


@dataclass(frozen=True)
class Breach:
    """How far one randomised record can move a belief about the person it is known to come from.

    Attributes
    ----------
    prior
        The probability of a property of her record beforehand, rho1.
    amplification
        e^epsilon, the largest ratio of the chances of one released record from two true ones; None if nothing bounds it.
    posterior_above, posterior_below
        The highest and the lowest probability that the property can have afterwards.
    relative
        s, the highest ratio of the prior to the share that a set of values has of the replacements.
    attributes
        For each ``attribute`` kept with probability ``rho`` the ``posterior`` of a set of its values, given that the released
        value is in it.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=112, design="equal-rho")
    >>> found = plan.breach(0.05)
    >>> round(found.amplification, 3), round(found.posterior_above, 4)  # 3 * 0.05 / (1 + 2 * 0.05)
    (3.0, 0.1364)
    """

    prior: float
    amplification: float | None
    posterior_above: float
    posterior_below: float
    relative: float
    attributes: tuple[AttributeBreach, ...]

    @property
    def sentences(self) -> list[str]:
        """What it means, in plain sentences; bounds are rounded to the safe side."""
        if self.amplification is None:
            first = (
                "Whoever knows which record is a person's may become certain of a property of hers: some released values rule "
                "out some true ones."
            )
        else:
            low = max(0, int(self.posterior_below * 10**6)) / 10**6
            first = (
                f"Whoever knows which released record is a person's, and gave a property of hers {self.prior:g} before, gives it "
                f"between {low:g} and {round_up(self.posterior_above, 6)} after seeing that record alone (amplification "
                f"{round_up(self.amplification)}). Records of people who are alike can tell more."
            )
        rest = [
            f"A set of values of '{each.attribute}' with a prior of up to {self.prior:g}, at most {self.relative:g} times its share "
            f"of replacements, becomes at most {round_up(each.posterior, 6)} when the released value is in it."
            for each in self.attributes
            if each.posterior is not None
        ]
        return [first, *rest]


def breach(plan: Plan, prior: Number, relative: Number = 1) -> Breach:
    """The bounds of the module's docstring: those from above rounded up, the one from below down."""
    if plan.data_dependent or plan.schema.drafted or plan.schema.passed:
        raise TargetError(f"The plan promises nothing, so it bounds no breach. {plan.void_reasons[0]}")
    rho1, s = _probability(prior), exact(relative, "relative", up=True)
    if s <= 0:
        raise TargetError("The relative prior is above 0: 1 where a set is as likely as its share of the values.")
    ratio = plan.epsilon_ratio
    above, below = Fraction(1), Fraction(0)
    if ratio is not None:
        above = ratio * rho1 / (1 + (ratio - 1) * rho1)
        below = rho1 / (ratio - (ratio - 1) * rho1)
    return Breach(
        prior=float(rho1),
        amplification=None if ratio is None else _float_above(ratio),
        posterior_above=_float_above(above),
        posterior_below=float_below(below),
        relative=float(s),
        attributes=tuple(_of_attribute(plan, name, rho1, s) for name in plan.rho),
    )


def _of_attribute(plan: Plan, name: str, rho1: Fraction, s: Fraction) -> AttributeBreach:
    rho = plan.rho[name]
    if rho is None or rho < 0:
        return AttributeBreach(name, rho, None)
    kept = Fraction(min(1.0, math.nextafter(rho, 2)))  # it is rounded to a float, and the bound rises with it
    bound = (kept * s + (1 - kept) * rho1) / (kept * s + 1 - kept)
    return AttributeBreach(name, rho, _float_above(bound))


def _float_above(value: Fraction) -> float:
    """The smallest float that is not below ``value``."""
    return -float_below(-value)


def _probability(prior: Number) -> Fraction:
    value = exact(prior, "prior", up=True)
    if not 0 < value < 1:
        raise TargetError(f"prior = {prior}: a belief beforehand is between 0 and 1, without both.")
    return value
