"""The audit of a plan: all checks, and the verdict.

What is audited is the code, not the theory: the same ``release`` that makes every release is run with fresh keys of the
operating system, from texts to shuffled codes, on tables that were made up for the audit. Which tables, and which
events are counted, follows from the plan alone. The verdict is false with a probability of at most FALSE_ALARM: each of
the CHECKS checks fails wrongly with at most its equal share, however the checks depend on each other.

Two kinds of neighbours are compared. *One record*: tables in which one record is repeated, so that each row is a draw
of its own; this audits what happens to a single person's row, and a million draws take a second. *Whole releases*: two
tables of two rows that differ in one record, each released thousands of times; this audits the release as an outsider
gets it, shuffled. Epsilon is claimed for both. With more rows the shuffled table hides a person better than epsilon
says (that is what the central epsilon is about), so more rows would come less close to the claim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..._errors import InputError, PlanError
from ..._plan import Plan
from ..._progress import Progress, quiet
from .checking import Check, Errors, large_releases, row_epsilon, small_releases, whole_epsilon
from .law import Comparison, check_size, worst_pair
from .orders import large_order, patterned_marks, small_order, two_orders
from .repeats import repeated_releases
from .tables import Pipeline
from .transitions import transitions

FALSE_ALARM = 1e-6
"""How probable it is, at most, that a correct pipeline fails an audit."""
CHECKS = 7
BOUNDS = 2
"""Checks that bound epsilon; they share the error, so that both bounds hold together, and with them the higher one."""
LEAST_RUNS, LEAST_ROWS = 100, 1_000


@dataclass(frozen=True)
class Audit:
    """What came of running the real pipeline many times on neighbouring tables.

    Attributes
    ----------
    plan_digest
        The digest of the plan that was audited.
    epsilon
        The epsilon that the plan claims; for a plan that claims nothing, what its integers would give.
    confidence
        Of the lower bounds on epsilon, all together.
    checks
        One by one: name, claimed, measured, lower bound on epsilon, chance, passed, and what was compared.
    left_out
        What was not audited, and why the plan claims nothing where that is so, a sentence each.
    void
        What takes the guarantee of the plan away, a sentence each; nothing is claimed then.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> audit = pk.audit(plan, runs=100, rows=10_000)
    >>> [check.name for check in audit.checks][:2]
    ['epsilon of a row', 'epsilon of a release']
    """

    plan_digest: str
    epsilon: float
    confidence: float
    checks: tuple[Check, ...]
    left_out: tuple[str, ...] = ()
    void: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every check passed. A correct pipeline fails once in a million audits, at most."""
        return all(check.passed for check in self.checks)

    @property
    def lower(self) -> float:
        """The highest lower bound on epsilon. It holds with ``confidence``, for all of them do together."""
        return max(check.lower or 0.0 for check in self.checks)

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        epsilon = "unbounded" if math.isinf(self.epsilon) else f"{self.epsilon:.6g}"
        source = "by the plan's integers" if self.void else "claimed"
        bound = f"{math.floor(self.lower * 1e4) / 1e4} ({100 * self.confidence:g}% confidence)"
        return f"<Audit {verdict}: epsilon at least {bound}, {epsilon} {source}>"

    def to_json(self) -> dict[str, Any]:
        """The audit as its verb prints it with --json; null where there is no number, or an unbounded one."""
        return {
            "plan_digest": self.plan_digest,
            "passed": self.passed,
            "epsilon": _finite(self.epsilon),
            "lower": self.lower,
            "confidence": self.confidence,
            "false_alarm": FALSE_ALARM,
            "checks": [
                vars(check) | {name: _finite(getattr(check, name)) for name in ("claimed", "measured", "lower")}
                for check in self.checks
            ],
            "left_out": list(self.left_out),
            "void": list(self.void),
        }


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def audit(
    plan: Plan,
    *,
    runs: int = 4_000,
    rows: int = 1_000_000,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Audit:
    """Run the real pipeline many times on neighbouring tables, and compare what comes out with what the plan claims.

    The tables are made up; no data are needed.

    Parameters
    ----------
    plan
        The plan, of a small schema: the more values there are, the rarer the events that tell records apart.
    runs
        How many releases of two rows are made, and half as many of one table that no two releases may repeat; each takes
        some milliseconds.
    rows
        How many rows the large tables have.
    confidence
        Of the lower bounds on epsilon, both together. The verdict does not depend on it: it has a false-alarm rate of its own.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, epsilon=2)
    >>> audit = pk.audit(plan, runs=100)
    >>> audit.passed, audit.lower > 1.9
    (True, True)
    """
    if not isinstance(plan, Plan):
        raise PlanError(f"A plan is needed, not an object of type {type(plan).__name__}; read a file with read_plan.")
    if runs < LEAST_RUNS or rows < LEAST_ROWS:
        raise InputError(f"An audit takes at least {LEAST_RUNS:,} runs and {LEAST_ROWS:,} rows.")
    if not 0.5 <= confidence < 1:
        raise InputError(f"confidence = {confidence}: it is at least 0.5 and below 1, such as 0.95.")
    progress = progress or quiet
    check_size(plan)
    errors = Errors(bound=(1 - confidence) / BOUNDS, alarm=FALSE_ALARM / CHECKS)
    pipeline = Pipeline(plan)
    compared = Comparison(plan, *worst_pair(plan))
    progress("large tables", 0.0)
    large = large_releases(compared, pipeline, rows)
    small = small_releases(compared, pipeline, runs, errors, progress)
    patterned = patterned_marks(compared, pipeline, rows)
    checks = (
        row_epsilon(compared, large, plan.epsilon, errors),
        whole_epsilon(small, plan.epsilon, errors),
        transitions(plan, pipeline, compared, large, rows, errors, progress),
        large_order(compared, pipeline, patterned, rows, errors),
        two_orders(patterned, errors),
        small_order(compared, small, errors),
        repeated_releases(plan, compared, pipeline, runs // 2, errors, progress),
    )
    return Audit(plan.digest, plan.epsilon, confidence, checks, tuple(_left_out(plan)), tuple(plan.void_reasons))


def _left_out(plan: Plan) -> list[str]:
    sentences = []
    if plan.count_noise is not None:
        sentences.append("The noise on the hidden record count was not audited.")
    if plan.schema.passed:
        sentences.append("Passed columns are released as they are; only the others were audited.")
    return sentences + [f"The plan claims nothing: {reason[:1].lower()}{reason[1:]}" for reason in plan.void_reasons]
