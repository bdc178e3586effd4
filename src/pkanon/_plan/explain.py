"""A plan in plain sentences, for the person who has to sign it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .promises import promises, share_above, void_reasons

if TYPE_CHECKING:
    from .plan import Plan


def explain(plan: Plan) -> str:
    """What is done and what is promised."""
    void = void_reasons(plan)
    promised = ["Nothing, as the plan stands:", *void] if void else promises(plan)
    lines = ["What is done", *(f"  {sentence}" for sentence in steps(plan)), "", "What is promised"]
    return "\n".join([*lines, *(f"  {sentence}" for sentence in promised)])


def steps(plan: Plan) -> list[str]:
    """What is done to the table, a sentence each."""
    below = below_chance(plan)
    done = [*_reading(plan), *_one_each(plan), *(block.describe() for block in plan.blocks)]
    return [*done, *([below] if below else []), _as_given(plan), _order(plan)]


def _reading(plan: Plan) -> list[str]:
    """What happens before anything is drawn; nothing to say where a table is read as it is."""
    sentences = []
    if plan.schema.others == "drop":
        sentences.append("Columns of the table that the schema does not name are dropped unread.")
    if merging := [attribute.name for attribute in plan.schema.randomised if attribute.merged]:
        sentences.append(f"Raw values are first merged into the declared ones: {', '.join(merging)}.")
    if pointed := plan.schema.pointed:
        names = ", ".join(attribute.name for attribute in pointed)
        sentences.append(f"Numbers between two points are first rounded at random to one of them: {names}.")
    return sentences


def _one_each(plan: Plan) -> list[str]:
    drawn = plan.schema.repeating
    return [] if drawn is None else [f"Of the rows with one value of '{drawn.name}', one is kept, drawn at random."]


def below_chance(plan: Plan) -> str:
    """A sentence on values that are kept less often than a blind draw would keep them; empty if there are none.

    An optimal design can be of that kind where k or epsilon asks for much: its rho is negative.
    """
    names = [name for name, rho in plan.rho.items() if rho is not None and rho < 0]
    if not names:
        return ""
    return (
        f"{', '.join(names)}: a person's own value is released less often than chance alone would release it. That is meant, and "
        "estimates correct for it."
    )


def _as_given(plan: Plan) -> str:
    low, high = plan.unchanged
    share = share_above(high) if low == high else f"{share_above(low)} to {share_above(high)}, depending on the row,"
    given = "a person's record as given"
    if plan.schema.pointed:
        return f"In all, {share} of the rows stay true in every answer but for the rounding: each of them is {given}, rounded."
    return f"In all, {share} of the rows stay true in every answer: each of them is {given}."


def _order(plan: Plan) -> str:
    count = ""
    if plan.count_noise is not None:
        count = (
            f"The number of rows is changed by a random amount (p = {plan.count_noise.p}): rows are dropped or dummy rows "
            "added. "
        )
    return count + "Then the rows are put in a uniformly random order."
