"""What a plan may promise, what the promise rests on, what is outside of it, and what takes it away: every sentence of it.

A certificate, ``plan.explain()`` and the pages made of them say these sentences and no others. Numbers that are claims
are rounded to the safe side: bounds up, k down.
"""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from .privacy import round_down, round_up

if TYPE_CHECKING:
    from .central import Central
    from .collection import Collection
    from .plan import Plan


WEAK_K = Fraction(3, 2)
"""Below it a row is more likely than not a known person's, by a wide margin."""


MADE_UP = "The answers were simulated, to try a survey: no row is about a person. What is said of k and epsilon would hold for people."


def void_reasons(plan: Plan) -> list[str]:
    """What in the plan itself takes the guarantee away, a sentence each."""
    reasons = []
    if plan.anonymity_ratio == 0:
        reasons.append("Some released values rule out some true values for certain: k is 1 and nothing bounds epsilon.")
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


def promises(plan: Plan, records: int | None = None, central: Central | None = None) -> list[str]:
    """The guarantee for ``records`` released rows (the planned number if None), a sentence each; of a plan that is not void.

    ``central`` is what holds for these rows as a whole, where it was computed.
    """
    rows = plan.records if records is None else records
    k = plan.k_for(rows)
    sentences = [
        f"Whatever an outsider knows about the people, nobody can link a released row to a person with more than "
        f"1/k = {percent_above(1 / k)} confidence: the release of {rows:,} rows is Pk-anonymous with k = {round_down(k)}."
    ]
    if k < WEAK_K:
        sentences.append(
            f"This k is weak: a row may be linked to its person with up to {percent_above(1 / k)} confidence. Ask for a k of 2 "
            "or more."
        )
    sentences.append(
        f"It is differentially private with epsilon = {round_up(plan.epsilon)}: whatever is seen of it is at most "
        f"{factor_above(plan)} times as likely with a person's record as with any other record in its place."
    )
    if plan.epsilon_unbounded is not None:
        sentences.append(
            f"Whether a person is in the table at all is protected too, with epsilon = {round_up(plan.epsilon_unbounded)}: "
            f"the number of rows is noisy (for tables of at least {plan.records:,} {_counted(plan)})."
        )
        if records is None:
            sentences.append(
                "If the noise leaves fewer rows than planned, k is a little lower; the certificate states it."
            )
    if central is not None:
        sentences.append(
            f"As a whole, with its rows in random order, it is differentially private with central epsilon = "
            f"{round_up(central.epsilon)} at delta = {delta_above(central.delta)}."
        )
    return sentences


def _counted(plan: Plan) -> str:
    """What a record of the plan is: a row of the table, or a person where one row of each is drawn."""
    return "rows" if plan.schema.repeating is None else "persons"


def assumptions(plan: Plan, rows: int, collection: Collection | None = None) -> list[str]:
    """What the promise for ``rows`` released rows rests on and the files cannot show, a sentence or two each.

    ``collection`` says how the rows were collected, if every person's device has randomised them.
    """
    if collection is not None:
        return _assumptions_of_devices(plan, rows, collection)
    return [
        "The adversary may know everything about the people and how they were randomised, but not which released row is "
        f"whose. To somebody who knows which rows belong to c other people, k is {_k_if_known(plan, rows)}.",
        "Nobody has kept the rows in their old order, or any note of which released row was whose.",
        *_one_row_per_person(plan),
        _public_domain(plan),
        "One key of 256 bits from the operating system decided every draw. It was used once, kept by nobody, and nobody can "
        "guess it or break the cipher (AES-256); whoever had it could undo the randomisation.",
        "The program that ran was the one named here, unchanged, on a machine that nobody listened to.",
    ]


def _assumptions_of_devices(plan: Plan, rows: int, collection: Collection) -> list[str]:
    if collection.simulated:
        return [MADE_UP]
    return [
        "Every row was randomised on a device of the person it is about, by the published plan, with randomness of that device "
        "that nobody else knew; nobody held the true answers. epsilon of a row needs nothing else.",
        "The adversary may know everything about the people and how they were randomised, but not which released row is whose. "
        "A row that the adversary knows to be somebody's, or has sent, hides nobody else: with c such rows, k for everybody else "
        f"is {_k_if_known(plan, rows)}, and central epsilon is that of {rows:,} - c rows.",
        "Nobody has noted when or from where a row arrived: no service, proxy, provider, log or backup. Whoever saw a row arrive "
        "knows whose it is, so that for that person k is 1; epsilon still holds.",
        "Nobody has both kept the results that were shown while the survey was open and noted when a person answered: for that "
        "person, k may count only the answers between two of these results; epsilon still holds.",
        _how_invited(collection),
        "Nobody looked at a draw and then drew again or withheld it.",
        f"The declared values of every question were public knowledge and were fixed before anybody answered. {_confirmed(plan)}",
        "The rows were put in a random order by a key of 256 bits from the operating system, used once and kept by nobody.",
        "The programs that ran on the devices and on the service were unchanged, on machines that nobody listened to.",
    ]


def _how_invited(collection: Collection) -> str:
    if not collection.invited:
        return (
            "Each person has sent one answer. The link was open, so nothing enforced it: a person with g rows has g times "
            "epsilon and no k, and rows sent in bad faith hide nobody."
        )
    link = (
        "Whoever ran the service could link an answer to its invitation, by the times or addresses of the two requests."
        if collection.linkable
        else "The tokens were signed blindly: not even both together can link an answer to its invitation, given that claims and "
        "answers were apart in time or place. The organiser has declared that they were; no program has checked it."
    )
    return f"Each person had one invitation, and an invitation was good for one answer. {link}"


def _k_if_known(plan: Plan, rows: int) -> str:
    ratio = Context(prec=3, rounding=ROUND_DOWN).divide(
        Decimal(plan.anonymity_ratio.numerator), Decimal(plan.anonymity_ratio.denominator)
    )
    return f"1 + ({max(rows - 1, 0):,} - c) x {str(ratio).lower()}"


def _one_row_per_person(plan: Plan) -> list[str]:
    """What was checked, and what was only declared."""
    ids = [attribute for attribute in plan.schema.attributes if attribute.role == "id"]
    drawn = plan.schema.repeating
    if drawn is None:
        once = "Nobody has more than one row. k and epsilon protect one row: a person with g rows has g times epsilon, and no k."
    else:
        once = (
            f"Nobody has more than one value of '{drawn.name}'. k and epsilon protect one released row: a person with g such "
            "values has g rows in the release, g times epsilon, and no k."
        )
    sentences = [once]
    checked = [
        f"The column '{attribute.name}' was different in every row; then it was dropped."
        for attribute in ids
        if attribute is not drawn
    ]
    if drawn is not None:
        checked.append(
            f"One row of each value of the column '{drawn.name}' was kept, drawn at random with the key of this release; then "
            "the column was dropped."
        )
    if ids:
        checked.append("That its values stand for persons, not for cases, visits or forms, no program can check.")
    else:
        checked.append("Whether somebody has more than one row was not checked: the schema names no id.")
    return [*sentences, " ".join([*checked, _declared_rows(plan)])]


def _declared_rows(plan: Plan) -> str:
    rows, by = plan.schema.rows_are, plan.schema.confirmed_by
    if rows is None:
        return "Nobody has declared what the rows are."
    if by is None:
        return f'The rows are declared to be "{rows}", without a name.'
    return f'The rows are declared to be "{rows}", by {by}.'


def _public_domain(plan: Plan) -> str:
    return (
        f"The declared values of every column were public knowledge. {_confirmed(plan)} Columns, values and targets would have "
        "been the same with other people in the private table."
    )


def _confirmed(plan: Plan) -> str:
    by, on = plan.schema.confirmed_by, plan.schema.confirmed_on
    date = f" ({on})" if on else ""
    return f"Confirmed by: {by}{date}." if by else "The schema names nobody who has confirmed it."


def outside(plan: Plan, rows: int, collection: Collection | None = None, *, claims: bool) -> list[str]:
    """What the promise for ``rows`` released rows does not cover, a sentence or two each; ``collection`` as above.

    Where nothing is claimed (``claims``), there is no k to speak of.
    """
    sentences = [
        "Other releases of the same people: every further release adds its epsilon.",
        "What is true of groups: statistics that hold for many people are meant to be learned, also where they let one guess "
        "about somebody. People who are alike, such as relatives, are such a group.",
        "The private table itself, and the messages and refusals of the program that read it: they are confidential."
        if collection is None
        else "That a person took part, and what people said outside of their answers.",
    ]
    if plan.schema.repeating is not None:
        sentences.append(f"Rows that were not drawn. {one_row_each(plan)}")
    if collection is not None and collection.batch is not None:
        sentences.append(
            f"Other batches of the same survey: this is batch {collection.batch}, no row is in two batches, and k is for the rows "
            "of this one."
        )
    if plan.schema.others == "drop":
        sentences.append(
            "Columns of the private table that the schema does not name: they were dropped unread, and neither their names nor "
            "their number are told here."
        )
    if rows < plan.records and plan.count_noise is None and claims:
        sentences.append(
            f"The plan was made for {plan.records:,} rows and fewer were released. k above is for the rows released. The paper "
            f"argues that the planned k = {round_down(plan.k_for(plan.records))} still holds while records are missing; that is "
            "so only if, to the adversary, every set of missing people was equally likely, whatever their values."
        )
    if plan.count_noise is not None:
        sentences.append(
            "Rows dropped and dummy rows added to hide the record count: estimates refer to the released rows."
        )
        if rows < plan.records and claims:
            sentences.append(
                "The noisy number of rows fell below the planned one, so k is a little lower than planned."
            )
    return sentences


def one_row_each(plan: Plan) -> str:
    """What the rows of a release are, where one row of each person was drawn."""
    declared = "" if plan.schema.rows_are is None else f' (rows are declared to be "{plan.schema.rows_are}")'
    return (
        f"The release holds one row of each person, drawn at random{declared}. Estimates are about persons, each with one of "
        "their rows; somebody with many rows counts once. They are not about all rows of the private table."
    )


def percent_above(share: Fraction) -> str:
    """A share above 0 in percent with at least three digits, rounded up."""
    digits = max(0, 2 - math.floor(math.log10(100 * float(share)))) if share < 1 else 0
    return f"{round_up(100 * share, digits)}%"


def share_above(share: Fraction) -> str:
    """A share in percent, rounded up; of a tiny one only that it is tiny."""
    if share < Fraction(1, 100_000):
        return "0%" if share == 0 else "less than 0.001%"
    return percent_above(share)


def factor_above(plan: Plan) -> str:
    """e^eps with at least three digits, rounded up."""
    ratio = plan.epsilon_ratio or Fraction(1)
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    text = round_up(ratio, digits)
    if len(text) <= 9:
        return text
    zeros = len(text) - 3
    leading = str(-(-math.ceil(ratio) // 10**zeros))  # three digits, or four where rounding up carried
    return f"{leading[0]}.{leading[1:3]}e{zeros + len(leading) - 1}"


def delta_above(value: float) -> str:
    """A delta with two digits, rounded up."""
    exponent = math.floor(math.log10(value))
    tenths = math.ceil(Fraction(repr(value)) * Fraction(10) ** (1 - exponent))
    return f"{tenths / 10:g}e{exponent}"
