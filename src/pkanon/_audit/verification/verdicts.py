"""What a verification found: a list of checks, each with a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from .evidence import FALSE_ALARMS, WHOLE_ROWS, Evidence, Names

Verdict = Literal["kept", "broken", "not checked"]


@dataclass(frozen=True)
class Check:
    """One thing that a release must keep, and whether it does.

    Attributes
    ----------
    name
        What was checked.
    verdict
        kept, broken, or not checked.
    sentence
        What was found, or why it was not checked.
    evidence
        Of a statistical check: at most 1 on average over honest releases; broken from 1/``false_alarms`` on.
    p_value
        Honest releases show as much evidence with at most this probability.
    false_alarms
        Honest releases are called broken with at most this probability.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.Check("rows", "kept", "There are 1,000 rows, as the certificate says.")
    <Check rows: kept>
    """

    name: str
    verdict: Verdict
    sentence: str
    evidence: float | None = None
    p_value: float | None = None
    false_alarms: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The check as ``pkanon verify --json`` prints it; the statistical entries are null where there are none."""
        evidence = self.evidence
        return {
            "name": self.name,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "evidence": "infinite" if evidence is not None and math.isinf(evidence) else evidence,
            "p_value": self.p_value,
            "false_alarms": self.false_alarms,
        }

    def __repr__(self) -> str:
        return f"<Check {self.name}: {self.verdict}>"


@dataclass(frozen=True)
class Verification:
    """What a verification found.

    Attributes
    ----------
    subject
        What was verified.
    checks
        Every check, with its verdict.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> verification = pk.verify(pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan))
    >>> verification.ok, verification["claims"].verdict
    (True, 'kept')
    """

    subject: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the checks that are broken."""
        return tuple(check.name for check in self.checks if check.verdict == "broken")

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        kept = sum(check.verdict == "kept" for check in self.checks)
        left = len(self.checks) - kept - len(self.broken)
        more = f", {left} not made" if left else ""
        if self.ok:
            return f"{self.subject}: nothing is broken ({kept} checks kept{more})."
        return f"{self.subject} is broken: {', '.join(self.broken)} ({kept} checks kept{more})."

    def to_json(self) -> dict[str, Any]:
        """The verification as ``pkanon verify --json`` prints it."""
        return {"subject": self.subject, "ok": self.ok, "checks": [check.to_json() for check in self.checks]}

    def __getitem__(self, name: str) -> Check:
        return next(check for check in self.checks if check.name == name)

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = [f"{check.name:<{width}}  {check.verdict:<11}  {check.sentence}" for check in self.checks]
        return "\n".join([*lines, "", self.summary])

    def __repr__(self) -> str:
        return f"<Verification of {self.subject}: {'broken: ' + ', '.join(self.broken) if self.broken else 'ok'}>"


def kept(name: str, sentence: str) -> Check:
    """A check that found nothing wrong."""
    return Check(name, "kept", _one_line(sentence))


def _one_line(sentence: str) -> str:
    """Names in a folder are anybody's: none of them may break a line and look like another verdict."""
    return "".join(letter if letter.isprintable() else "?" for letter in sentence)


def broken(name: str, faults: list[str]) -> Check:
    """A check that found something wrong, a sentence for each fault."""
    shown = faults[:3]
    more = [f"And {len(faults) - len(shown)} more of the kind."] if len(faults) > len(shown) else []
    return Check(name, "broken", _one_line(" ".join([*shown, *more])))


def judged(name: str, faults: list[str], fine: str) -> Check:
    """Broken if there are ``faults``, else kept because of ``fine``."""
    return broken(name, faults) if faults else kept(name, fine)


def unchecked(name: str, reason: str) -> Check:
    """A check that could not be made."""
    return Check(name, "not checked", _one_line(reason))


def weighed(name: str, found: Evidence, fine: str, wrong: str) -> Check:
    """The verdict of a statistical check; ``wrong`` begins the sentence that names what raised the alarm."""
    rate = f"an honest release shows as much with probability at most {_power(-found.total)}"
    sentence = f"{wrong}: {', '.join(map(_text, found.culprits[:3]))}; {rate}." if found.alarming else fine
    evidence = math.exp(found.total) if found.total < 700 else math.inf
    return Check(
        name, "broken" if found.alarming else "kept", _one_line(sentence), evidence, found.p_value, FALSE_ALARMS
    )


def _power(log: float) -> str:
    """e^log as a power of ten, rounded up."""
    return "0" if math.isinf(log) else f"1e{math.ceil(log / math.log(10))}"


def _text(names: Names) -> str:
    """A test by the columns that it looks at."""
    return "whole rows" if names == WHOLE_ROWS else " x ".join(names)
