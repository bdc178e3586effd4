"""A plan in plain sentences, for the person who has to sign it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ._blocks import Block, Retention
from ._privacy import round_down, round_up

if TYPE_CHECKING:
    from ._plan import Plan


def explain(plan: Plan) -> str:
    """What is done and what is promised."""
    done = [_done(block) for block in plan.blocks]
    lines = ["What is done", *done, _order(plan), "", "What is promised", *promises(plan)]
    return "\n".join(
        f"  {line}" if i and line and not line.startswith("What is") else line for i, line in enumerate(lines)
    )


def promises(plan: Plan, records: int | None = None) -> list[str]:
    """The guarantee for ``records`` released rows (the planned number if None), a sentence each."""
    rows = plan.records if records is None else records
    k, epsilon = plan.k_for(rows), plan.epsilon
    sentences = [
        f"Whatever an outsider already knows, nobody can link a released row to a person with more than "
        f"1/k = {_percent(1 / k)} confidence: the release of {rows:,} rows is Pk-anonymous with k = {round_down(k)}."
    ]
    if math.isinf(epsilon):
        sentences.append(
            "Differential privacy does not hold: some released values rule out some true values for certain."
        )
    else:
        sentences.append(
            f"It is differentially private with epsilon = {round_up(epsilon)}: whether a person's record says one thing or "
            f"another changes the probability of any outcome by a factor of at most {_factor(epsilon)}."
        )
    if plan.epsilon_unbounded is not None:
        sentences.append(
            f"Whether a person is in the table at all is protected too, with epsilon = {round_up(plan.epsilon_unbounded)}: "
            "the number of rows is noisy."
        )
    return sentences


def _done(block: Block) -> str:
    names = " and ".join(f"'{name}'" for name in block.attributes)
    if isinstance(block, Retention):
        together = " together" if len(block.attributes) > 1 else ""
        kept = _percent(block.exact_rho)
        size = block.unit.size
        what = "allowed combinations" if len(block.attributes) > 1 else "values"
        return (
            f"{names}: kept{together} in {kept} of the rows, else replaced by a uniform draw from its {size:,} {what}."
        )
    together = " together" if len(block.attributes) > 1 else ""
    return f"{names}: randomised{together} with the published probabilities of a block of the kind '{block.kind}'."


def _order(plan: Plan) -> str:
    count = ""
    if plan.count_noise is not None:
        count = f"The number of rows is changed by a random amount (p = {plan.count_noise.p}): rows are dropped or dummy rows added. "
    return count + "Then the rows are put in a uniformly random order."


def _percent(share: object) -> str:
    return f"{100 * float(share):.3g}%"  # type: ignore[arg-type]  # a Fraction or a float


def _factor(epsilon: float) -> str:
    factor = math.exp(epsilon) if epsilon < 700 else math.inf
    return f"{factor:,.3g}" if factor < 1e6 else f"{factor:.2g}"
