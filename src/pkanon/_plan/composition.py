"""Several releases of the same table (docs/why/theory.md 9).

eps adds up. Rows of independent releases, each redrawn and reshuffled, cannot be joined: what the
others reveal is only more knowledge about the table, and k holds whatever is known about it. So
each release keeps its own k and the smallest counts. Releases whose rows can be joined (the same
order, an id) are one release of all their columns: AR multiplies. Where their public numbers of rows
differ, somebody is in one and not in another. That person's row has no partner there, and whoever
knows who is missing knows the row: k is 1.

A plan counts with the rows it was made for, a release with the rows it has, as its certificate does.
Being in the table at all is protected only if every release hides its record count: those eps add up
too, each with the public bound of its plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from .._errors import InputError
from .plan import Plan
from .privacy import exact_k, float_below, hidden_count_ratio, log_above, round_down, round_up


class _Claim(Protocol):
    @property
    def void(self) -> Sequence[str]: ...


class Released(Protocol):
    """What is asked of a release here."""

    @property
    def plan(self) -> Plan: ...

    @property
    def rows(self) -> int: ...

    @property
    def certificate(self) -> _Claim: ...


@dataclass(frozen=True)
class Composition:
    """What holds for all releases together: k rounded down, eps rounded up.

    A plan with a hidden record count has its k for the public lower bound on the rows, a release for the rows it has.

    Attributes
    ----------
    k, epsilon
        Of all releases together; None if something in ``void`` takes the guarantee away.
    linked
        Whether rows of different releases can be joined.
    void
        What takes the guarantee of a plan away, a sentence each; nothing is claimed then.
    epsilon_unbounded
        eps when neighbours differ by one record more or less; None unless every release hides its record count.
    uneven
        Whether rows can be joined and the public numbers of rows differ. k is 1 then: a row without a partner shows whose it is.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> pk.compose([plan, plan]).k_text, pk.compose([plan, plan], linked=True).k_text
    ('20', '1.3613')
    """

    k: float | None
    epsilon: float | None
    linked: bool
    void: tuple[str, ...] = ()
    epsilon_unbounded: float | None = None
    uneven: bool = False

    @property
    def k_text(self) -> str:
        """k as it may be printed: rounded down."""
        return "none" if self.k is None else round_down(Fraction(self.k))

    @property
    def epsilon_text(self) -> str:
        """eps as it may be printed: rounded up."""
        return "none" if self.epsilon is None else round_up(self.epsilon)

    @property
    def epsilon_unbounded_text(self) -> str:
        """eps for one record more or less as it may be printed: rounded up."""
        return "none" if self.epsilon_unbounded is None else round_up(self.epsilon_unbounded)


def compose(plans: Sequence[Plan | Released], *, linked: bool = False) -> Composition:
    """k and eps of releasing the same table once with each plan.

    eps adds up. Where rows cannot be joined, the smallest k counts.

    Parameters
    ----------
    plans
        The releases, or plans for them; a plan that is used twice is listed twice. A release counts with the rows it has.
    linked
        Whether rows of different releases can be joined, by their order or by an id; k is then far lower.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> twice = pk.compose([plan, plan])
    >>> twice.k_text, twice.epsilon_text
    ('20', '3.9624')
    """
    if not plans:
        raise InputError("Give at least one plan.")
    parts = [
        (item, item.records, item.void_reasons)
        if isinstance(item, Plan)
        else (item.plan, item.rows, item.certificate.void)
        for item in plans
    ]
    if void := tuple(dict.fromkeys(reason for _, _, reasons in parts for reason in reasons)):
        return Composition(None, None, linked, void)
    uneven = linked and _differ(plans)
    if uneven:
        k = Fraction(1)
    elif linked:
        joined = math.prod((plan.anonymity_ratio for plan, _, _ in parts), start=Fraction(1))
        k = exact_k(joined, min(rows for _, rows, _ in parts))
    else:
        k = min(plan.k_for(rows) for plan, rows, _ in parts)
    together = _product([plan.epsilon_ratio for plan, _, _ in parts])
    presence = _presence([plan for plan, _, _ in parts])
    return Composition(
        float_below(k),
        log_above(together),
        linked,
        epsilon_unbounded=None if presence is None else log_above(_product([together, presence])),
        uneven=uneven,
    )


def _differ(plans: Sequence[Plan | Released]) -> bool:
    """Whether releases of these cannot have the same people: their public numbers of rows differ.

    A plan says nothing yet about who will be in its release. A hidden count differs by chance: who was left out is secret.
    """
    public = {item.rows for item in plans if not isinstance(item, Plan) and item.plan.count_noise is None}
    return len(public) > 1


def _product(ratios: Sequence[Fraction | None]) -> Fraction | None:
    """e^eps of all together; None when one of them is unbounded."""
    bounded = [ratio for ratio in ratios if ratio is not None]
    return math.prod(bounded, start=Fraction(1)) if len(bounded) == len(ratios) else None


def _presence(plans: Sequence[Plan]) -> Fraction | None:
    """What hiding the counts adds to e^eps; None if a count is public, which shows that somebody came or went."""
    noises = [(plan.count_noise, plan.records) for plan in plans if plan.count_noise is not None]
    if len(noises) < len(plans):
        return None
    return math.prod((hidden_count_ratio(noise.p, records) for noise, records in noises), start=Fraction(1))
