"""Several releases of the same table (docs/why/theory.md 9).

eps adds up. Rows of independent releases, each redrawn and reshuffled, cannot be joined: what the
others reveal is only more knowledge about the table, and k holds whatever the adversary knows. So
each release keeps its own k and the smallest counts. Releases whose rows can be joined (the same
order, an id) are one release of all their columns: AR multiplies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .._errors import InputError
from .plan import Plan
from .privacy import exact_k, float_below, log_above, round_down, round_up


@dataclass(frozen=True)
class Composition:
    """What holds for all releases together: k rounded down, eps rounded up.

    With a hidden record count k is for the public lower bound on the rows; each certificate states its own.

    Attributes
    ----------
    k, epsilon
        Of all releases together; None if something in ``void`` takes the guarantee away.
    linked
        Whether rows of different releases can be joined.
    void
        What takes the guarantee of a plan away, a sentence each; nothing is claimed then.

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

    @property
    def k_text(self) -> str:
        """k as it may be printed: rounded down."""
        return "none" if self.k is None else round_down(Fraction(self.k))

    @property
    def epsilon_text(self) -> str:
        """eps as it may be printed: rounded up."""
        return "none" if self.epsilon is None else round_up(self.epsilon)


def compose(plans: Sequence[Plan], *, linked: bool = False) -> Composition:
    """k and eps of releasing the same table once with each plan.

    eps adds up. Where rows cannot be joined, the smallest k counts.

    Parameters
    ----------
    plans
        The plans of the releases; a plan that is used twice is listed twice.
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
    if void := tuple(dict.fromkeys(reason for plan in plans for reason in plan.void_reasons)):
        return Composition(None, None, linked, void)
    ratios = [plan.epsilon_ratio for plan in plans]
    bounded = [ratio for ratio in ratios if ratio is not None]
    epsilon = log_above(math.prod(bounded, start=Fraction(1))) if len(bounded) == len(ratios) else math.inf
    if linked:
        joined = math.prod((plan.anonymity_ratio for plan in plans), start=Fraction(1))
        k = exact_k(joined, min(plan.records for plan in plans))
    else:
        k = min(plan.k_for(plan.records) for plan in plans)
    return Composition(float_below(k), epsilon, linked)
