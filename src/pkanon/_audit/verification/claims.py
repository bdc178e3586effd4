"""The plan and the certificate: every number computed anew from the integers, every sentence written anew.

Two things cannot be seen in the files: whether the rows were drawn with a private key or from a seed, and whether a custodian
or the people's own devices have randomised them. A release that claims nothing although its plan could is taken to be seeded,
and one that names a way of collection is taken to be collected, as they say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from fractions import Fraction
from typing import Any

from ..._design import DESIGNS
from ..._plan import Asked, Central, Collection, Plan, delta_above, exact, exp_below, hidden_count_ratio
from ..._progress import Progress
from ..._release import CERTIFICATE, PLAN, SENTENCES, Certificate, central_of, data_digest
from .case import Case, stated
from .files import differences
from .verdicts import Check, broken, judged, unchecked
from .versions import explained, is_version

LAST_DIGIT = Fraction(1, 10**20)
"""A plan keeps what was asked in 30 digits."""
SIXTH_DIGIT = Fraction(1, 10**6)
"""A certificate states a central epsilon in six, rounded up."""


def plan(case: Case) -> Check:
    """The plan can be read, and the decimals in it that are for people agree with its integers."""
    if case.plan is None:
        return broken("plan", [case.plan_fault or "The plan cannot be read."])
    right, found = case.plan.to_json()["blocks"], (case.value(PLAN) or {})["blocks"]
    faults = [
        f"Block {number} of the plan says 'approx' numbers that its integers do not give."
        for number, (ours, theirs) in enumerate(zip(right, found), start=1)
        if ours.get("approx") != theirs.get("approx")
    ]
    faults += _asked(case.plan)
    return judged("plan", faults, f"The plan says exactly what is done to {len(case.plan.schema.randomised)} columns.")


def _asked(plan: Plan) -> list[str]:
    """What the plan says was asked for and no planner can have been asked, or has not reached."""
    asked, missed = plan.asked, []
    known = {item.name for item in fields(Asked)}
    if any(key not in known for key in asked.unread) or asked.design not in (None, *DESIGNS):
        missed.append("The plan says that something was asked for that nobody can ask for.")
    if asked.k is not None and plan.k_for(plan.records) < exact(asked.k, "k", up=True) * (1 - LAST_DIGIT):
        missed.append("The plan does not reach the k that it says was asked for.")
    if asked.epsilon is not None:
        ratio, epsilon = plan.epsilon_ratio, exact(asked.epsilon, "epsilon", up=False)
        if ratio is not None and plan.count_noise is not None:
            ratio *= hidden_count_ratio(plan.count_noise.p, plan.records)
        if ratio is None or epsilon <= 0 or ratio > exp_below(epsilon * (1 + LAST_DIGIT)):
            missed.append("The plan does not reach the epsilon that it says was asked for.")
    return missed


def expected(case: Case, progress: Progress) -> Certificate | None:
    """The certificate that plan and rows give; None where plan, certificate or number of rows cannot be read.

    The digest of the rows is that of the rows there are, empty if they cannot be read.
    """
    data, plan, rows = case.value(CERTIFICATE), case.plan, case.rows
    if data is None or plan is None or rows is None:
        return None
    seeded = data.get("claims") is None and len(stated(data, "void")) > len(plan.void_reasons)
    central: Central | str | None = None
    if not seeded and not plan.void_reasons:
        progress("central", 0.0)
        central = central_of(plan, rows)
        progress("central", 1.0)
    digest = "" if case.table is None else data_digest(plan, case.table.codes)
    return Certificate.of(plan, rows, digest, central, private=not seeded, collection=_collection(data))


def _collection(data: Mapping[str, Any]) -> Collection | None:
    """How the rows came in, as the certificate says; None if it says nothing that makes sense, which then differs from it."""
    try:
        return Collection.from_json(data.get("collection"))
    except (TypeError, ValueError):
        return None


def claims(case: Case, right: Certificate | None) -> Check:
    """k, epsilon and everything else that is claimed, but for the central epsilon and the wording."""
    data = case.value(CERTIFICATE)
    if data is not None and case.plan is not None and case.rows is None:
        return broken("claims", ["The certificate does not say how many rows were released."])
    if data is None or right is None:
        return unchecked("claims", _reason(case))
    ours, theirs = right.to_json(), dict(data)
    for document in (ours, theirs):
        for key in ("digests", "date", "software", *SENTENCES):
            document.pop(key, None)
        if isinstance(document.get("claims"), dict):
            document["claims"] = {k: v for k, v in document["claims"].items() if not k.startswith("central")}
    faults = [
        f"The certificate says something else of {place} than its plan gives." for place in differences(ours, theirs)
    ]
    if len(right.void) != len(stated(data, "void")):
        faults.append("The certificate leaves out, or adds, a reason why it claims nothing.")
    if not _is_date(data.get("date")):
        faults.append("The certificate has no date.")
    if not is_version(data.get("software")):
        faults.append("The certificate does not say which version of pkanon wrote it.")
    fine = (
        "It claims nothing, and says why." if right.void else f"{right.summary}: as the integers of the plan give it."
    )
    return judged("claims", faults, fine)


def _is_date(text: Any) -> bool:
    try:
        return isinstance(text, str) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def central(case: Case, right: Certificate | None) -> Check:
    """The central epsilon, computed anew for the rows released."""
    name = "central epsilon"
    data = case.value(CERTIFICATE)
    if data is None or right is None:
        return unchecked(name, _reason(case))
    ours, theirs = right.to_json()["claims"], data.get("claims")
    if ours is None:
        return unchecked(name, "The release claims nothing.")
    theirs = theirs if isinstance(theirs, dict) else {}
    faults = []
    if ours["central"] != theirs.get("central"):
        faults.append("The central epsilon or its delta is another one for these rows.")
    if (ours["central_absent"] is None) != (theirs.get("central_absent") is None):
        faults.append(
            "The certificate says why it states no central epsilon where it states one, or the other way round."
        )
    one, asked = right.central, right.asked.central_epsilon
    if asked is not None and right.rows == right.planned:
        least = exact(asked, "central epsilon", up=False) + SIXTH_DIGIT
        if one is None or exact(one.epsilon, "central epsilon", up=False) > least:
            faults.append("The central epsilon that the plan says was asked for is not reached.")
    fine = (
        f"epsilon = {one.epsilon} at delta = {delta_above(one.delta)}: computed anew."
        if one
        else "None is stated, rightly."
    )
    return judged(name, faults, fine)


def sentences(case: Case, right: Certificate | None) -> Check:
    """The sentences of the certificate, word for word."""
    data = case.value(CERTIFICATE)
    if data is None or right is None:
        return unchecked("sentences", _reason(case))
    ours = right.to_json()
    changed = [key for key in SENTENCES if ours[key] != data.get(key)]
    ours_claims, claims = ours["claims"] or {}, data.get("claims")
    if isinstance(claims, dict) and ours_claims.get("central_absent") != claims.get("central_absent"):
        changed.append("central_absent")
    faults = [f"What the certificate says under '{key}' is not what its plan gives." for key in changed]
    faults = explained(faults, case, right.software)
    return judged("sentences", faults, "Every sentence of the certificate is the one that its plan gives.")


def digests(case: Case, right: Certificate | None) -> Check:
    """The digests of plan, schema and rows in the certificate."""
    data = case.value(CERTIFICATE)
    if data is None or right is None:
        return unchecked("digests", _reason(case))
    found = data.get("digests")
    found = found if isinstance(found, dict) else {}
    names = {"plan": "another plan", "schema": "another schema", "data": "other rows"}
    known = {key: digest for key, digest in right.digests.items() if digest}
    faults = [f"The certificate was written for {names[key]}." for key in known if found.get(key) != known[key]]
    if set(found) != set(names):
        faults.append("The certificate must have the digests of plan, schema and rows.")
    which = "plan, schema and rows" if "data" in known else "plan and schema; the rows cannot be read"
    return judged("digests", faults, f"The certificate was written for this {which}.")


def _reason(case: Case) -> str:
    if case.value(CERTIFICATE) is None:
        return f"{CERTIFICATE} cannot be read."
    return "The plan cannot be read." if case.plan is None else "The certificate does not say how many rows there are."
