"""A plan in plain sentences, for the person who has to sign it.

Numbers that are claims are rounded to the safe side here too: bounds up, k down.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from .privacy import round_down, round_up

if TYPE_CHECKING:
    from .plan import Plan


WEAK_K = Fraction(3, 2)
"""Below it a row is more likely than not a known person's, by a wide margin."""


def explain(plan: Plan) -> str:
    """What is done and what is promised."""
    void = void_reasons(plan)
    promised = promises(plan)
    if void:
        promised = ["Nothing, as the plan stands:", *void, "Without that it would be:", *promised]
    lines = ["What is done", *(f"  {sentence}" for sentence in steps(plan)), "", "What is promised"]
    return "\n".join([*lines, *(f"  {sentence}" for sentence in promised)])


def steps(plan: Plan) -> list[str]:
    """What is done to the table, a sentence each."""
    return [*(block.describe() for block in plan.blocks), _order(plan)]


def void_reasons(plan: Plan) -> list[str]:
    """What in the plan itself takes the guarantee away, a sentence each."""
    reasons = []
    if plan.data_dependent:
        reasons.append("A transition matrix was computed from the private table.")
    if plan.schema.drafted:
        reasons.append(
            "The declared values were read off the private table and nobody has confirmed that they are public knowledge."
        )
    if plan.schema.passed:
        names = ", ".join(attribute.name for attribute in plan.schema.passed)
        reasons.append(f"Columns are released as they are: {names}. What links to them can be learned from them.")
    return reasons


def promises(plan: Plan, records: int | None = None) -> list[str]:
    """The guarantee for ``records`` released rows (the planned number if None), a sentence each."""
    rows = plan.records if records is None else records
    k, epsilon = plan.k_for(rows), plan.epsilon
    sentences = [
        f"Whatever an outsider already knows, nobody can link a released row to a person with more than "
        f"1/k = {_percent_above(1 / k)} confidence: the release of {rows:,} rows is Pk-anonymous with k = {round_down(k)}."
    ]
    if k < WEAK_K:
        sentences.append(
            "That is next to nothing: a row may be linked to its person almost for certain. Ask for a k of 2 or more."
        )
    if math.isinf(epsilon):
        sentences.append(
            "Differential privacy does not hold: some released values rule out some true values for certain."
        )
    else:
        sentences.append(
            f"It is differentially private with epsilon = {round_up(epsilon)}: whether a person's record says one thing or "
            f"another changes the probability of any outcome by a factor of at most {_factor_above(plan)}."
        )
    if plan.epsilon_unbounded is not None and not math.isinf(plan.epsilon):
        sentences.append(
            f"Whether a person is in the table at all is protected too, with epsilon = {round_up(plan.epsilon_unbounded)}: "
            f"the number of rows is noisy (for tables of at least {plan.records:,} rows)."
        )
    return sentences


def _order(plan: Plan) -> str:
    count = ""
    if plan.count_noise is not None:
        count = (
            f"The number of rows is changed by a random amount (p = {plan.count_noise.p}): rows are dropped or dummy rows "
            "added. "
        )
    return count + "Then the rows are put in a uniformly random order."


def _percent_above(share: Fraction) -> str:
    """A share in percent with at least three digits, rounded up."""
    digits = max(0, 2 - math.floor(math.log10(100 * float(share)))) if share < 1 else 0
    return f"{round_up(100 * share, digits)}%"


def _factor_above(plan: Plan) -> str:
    """e^eps with at least three digits, rounded up."""
    ratio = plan.epsilon_ratio or Fraction(1)
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    text = round_up(ratio, digits)
    if len(text) <= 9:
        return text
    zeros = len(text) - 3
    leading = str(-(-math.ceil(ratio) // 10**zeros))  # three digits, or four where rounding up carried
    return f"{leading[0]}.{leading[1:3]}e{zeros + len(leading) - 1}"
