"""What a finished release may claim (docs/why/theory.md 9).

k is stated for the rows actually released. Whatever voids the guarantee is listed, and then nothing
is claimed. Numbers are written as texts, k rounded down and eps rounded up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from .. import __version__
from .._errors import PlanError
from .._plan import Asked, Plan, float_below, notebook, promises, round_down, round_up, void_reasons

FORMAT = "pkanon-certificate/1"
DIGITS = 6


@dataclass(frozen=True)
class Certificate:
    """The claim of one release.

    Attributes
    ----------
    plan_digest
        The digest of its plan.
    rows
        How many rows were released.
    asked
        The design and the targets as they were asked for.
    k, epsilon
        What is claimed; None when something in ``void`` takes the guarantee away.
    epsilon_unbounded
        eps when neighbours differ by one record more or less; None unless the count is hidden.
    statement
        The claim in sentences.
    void
        What takes the guarantee away, a sentence each; empty if nothing does.
    outside
        What is outside of any claim, a sentence each.
    date, software
        When and with what the release was made.
    without_passed
        What holds for somebody who ignores the passed columns, where those are the only reason in ``void``.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500})
    >>> pk.release(people, plan).certificate.summary
    'k = 20, epsilon = 1.9812'
    >>> pk.release(people, plan, randomness=pk.Seeded(7)).certificate.summary
    'void, it claims nothing'
    """

    plan_digest: str
    rows: int
    asked: Asked
    k: float | None
    epsilon: float | None
    epsilon_unbounded: float | None
    statement: tuple[str, ...]
    void: tuple[str, ...]
    outside: tuple[str, ...]
    date: str
    software: str
    without_passed: Mapping[str, str] = field(default_factory=dict)

    @property
    def claims(self) -> bool:
        """Whether the release claims anything."""
        return not self.void

    @classmethod
    def of(cls, plan: Plan, rows: int, *, private: bool) -> Certificate:
        """The certificate of ``rows`` rows released with ``plan``; ``private`` as the randomness says."""
        void = void_reasons(plan)
        if not private:
            void.append("The rows were randomised from a seed: anyone who has it can undo the randomisation.")
        only_passed = bool(plan.schema.passed) and len(void) == 1
        unbounded = plan.epsilon_unbounded
        return cls(
            plan_digest=plan.digest,
            rows=rows,
            asked=plan.asked,
            k=None if void else float_below(plan.k_for(rows)),
            epsilon=None if void else plan.epsilon,
            epsilon_unbounded=None if void else unbounded,
            statement=("This release claims nothing.",) if void else tuple(promises(plan, rows)),
            void=tuple(void),
            outside=tuple(_outside(plan, rows)),
            date=datetime.now(UTC).date().isoformat(),
            software=f"pkanon {__version__}",
            without_passed=_numbers(plan, rows) if only_passed else {},
        )

    def to_json(self) -> dict[str, Any]:
        """The certificate as ``certificate.json`` holds it."""
        return {
            "format": FORMAT,
            "plan_digest": self.plan_digest,
            "date": self.date,
            "software": self.software,
            "rows": self.rows,
            "asked": self.asked.to_json(),
            "k": None if self.k is None else _number(self.k, up=False),
            "epsilon": None if self.epsilon is None else _number(self.epsilon, up=True),
            "epsilon_unbounded": None if self.epsilon_unbounded is None else _number(self.epsilon_unbounded, up=True),
            "statement": list(self.statement),
            "void": list(self.void),
            "outside": list(self.outside),
            "without_passed": dict(self.without_passed),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], plan: Plan) -> Certificate:
        """The certificate in ``data``, which must belong to ``plan`` and claim exactly what the plan supports.

        Sentences are written anew from the plan, not taken from the file.
        """
        problem = "is damaged"
        try:
            if data["format"] != FORMAT:
                problem = f"has the format {data['format']!r}, not '{FORMAT}'"
            elif data["plan_digest"] != plan.digest:
                problem = "belongs to another plan"
            else:
                for private in (True, False):
                    supported = cls.of(plan, data["rows"], private=private)
                    if supported._claims() == _published_claims(data):
                        return replace(supported, date=str(data["date"]), software=str(data["software"]))
                problem = "claims something else than its plan supports"
        except (KeyError, TypeError, ValueError):
            pass
        raise PlanError(f"The certificate {problem}; do not rely on this release.")

    def _claims(self) -> dict[str, Any]:
        """All but the sentences, which may be worded otherwise by another version, and when and with what it was made."""
        return _published_claims(self.to_json())

    def __str__(self) -> str:
        lines = [*self.statement, *(f"Void: {reason}" for reason in self.void)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Certificate of {self.rows:,} rows: {self.summary}>"

    @property
    def summary(self) -> str:
        """The claim in a few words."""
        if self.k is None or self.epsilon is None:
            return "void, it claims nothing"
        return f"k = {round_down(Fraction(self.k))}, epsilon = {round_up(self.epsilon)}"

    def _repr_html_(self) -> str:
        """The claim, or first of all what makes it void; then what is outside of it."""
        if self.void:
            claim = [
                notebook.paragraph("Void: this release claims nothing.", strong=True),
                notebook.bullets(self.void),
            ]
        else:
            first, *others = self.statement
            claim = [notebook.paragraph(first, strong=True), *map(notebook.paragraph, others)]
        return "".join(
            [
                *claim,
                notebook.paragraph("Outside of any claim:"),
                notebook.bullets(self.outside),
                notebook.paragraph(
                    f"{self.rows:,} rows, {self.date}, {self.software}, plan {self.plan_digest[:12]}..."
                ),
            ]
        )


def _published_claims(data: Mapping[str, Any]) -> dict[str, Any]:
    if type(data["rows"]) is not int or not all(
        isinstance(data[key], list) for key in ("statement", "void", "outside")
    ):
        raise ValueError("not a certificate")
    claims = {
        key: value for key, value in data.items() if key not in ("statement", "void", "outside", "date", "software")
    }
    return claims | {"void": len(data["void"])}


def _number(value: float, *, up: bool) -> str:
    return round_up(value, DIGITS) if up else round_down(Fraction(value), DIGITS)


def _numbers(plan: Plan, rows: int) -> dict[str, str]:
    return {"k": round_down(plan.k_for(rows), DIGITS), "epsilon": round_up(plan.epsilon, DIGITS)}


def _outside(plan: Plan, rows: int) -> list[str]:
    ids = [attribute.name for attribute in plan.schema.attributes if attribute.role == "id"]
    if ids:
        notes = [f"One row per person: checked with the column '{ids[0]}', which was then dropped."]
    else:
        notes = ["One row per person: assumed, there was no id column to check it with."]
    notes.append("Other releases of the same people: every further release adds its epsilon.")
    notes.append("What is true of groups: statistics that hold for many people are meant to be learned.")
    if math.isinf(plan.epsilon):
        notes.append("Differential privacy: some released values rule out some true values for certain.")
    if rows < plan.records and plan.count_noise is None:
        notes.append(
            f"The plan was made for {plan.records:,} rows and fewer were released. k above is for the rows released. The paper "
            f"argues that the planned k = {round_down(plan.k_for(plan.records))} still holds while records are missing; that is "
            "so only if, to the adversary, every person was equally likely to be missing."
        )
    if plan.count_noise is not None:
        notes.append(
            "Rows dropped and dummy rows added to hide the record count: estimates refer to the released rows."
        )
        if rows < plan.records:
            notes.append("The noisy number of rows fell below the planned one, so k is a little lower than planned.")
    return notes


def parse_certificate(text: str, plan: Plan) -> Certificate:
    """The certificate in a JSON text."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise PlanError("The certificate is damaged; do not rely on this release.")
    return Certificate.from_json(data, plan)
