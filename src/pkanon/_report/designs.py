"""Designs beside each other: what the same targets would have given otherwise. Made from the plan, without any data."""

from __future__ import annotations

from typing import Any

from .._blocks import Matrix
from .._design import DESIGNS, plan
from .._errors import PkanonError
from .._plan import LEVELS, Plan, round_down, round_up
from .._progress import Progress
from .._schema import Bundle, Schema, Unit, Value
from .claims import error_text
from .markup import Html, element, paragraph, table, together
from .subject import Subject


def designs(subject: Subject, progress: Progress) -> Html:
    """k, epsilon and predicted errors of the other designs for the same targets."""
    made, asked = subject.plan, subject.plan.asked
    targets = {
        name: value
        for name in ("k", "epsilon", "central_epsilon", "delta")
        if (value := getattr(asked, name)) is not None
    }
    if any(isinstance(block, Matrix) for block in made.blocks) or not {*targets} - {"delta"}:
        return paragraph("The plan has matrices that were given, or no target; other designs cannot be put beside it.")
    rows = []
    for place, design in enumerate(DESIGNS):
        progress("designing", place / len(DESIGNS))
        rows.append(_row(design, made if design == asked.design else _other(made, design, targets), subject))
    progress("designing", 1.0)
    header = [
        "design",
        "k",
        "epsilon",
        "single columns, mean error",
        "two columns, mean error",
        *(f"{level}" for level in LEVELS),
    ]
    return together(
        paragraph(
            "The same columns and targets under each design. Errors are predicted from the plan; the last columns "
            "count the tables of one and two columns that read so. The design of this release is marked with *."
        ),
        table(header, rows, numbers=range(1, len(header))),
    )


def _row(design: str, found: Plan | str, subject: Subject) -> list[str]:
    own = "*" if design == subject.plan.asked.design else ""
    if isinstance(found, str):
        return [together(design + own, element("br"), element("span", found, cls="small")), *[""] * (4 + len(LEVELS))]
    readable = found.readable(records=max(subject.release.rows, 1))
    means = []
    for size in (1, 2):
        errors = [one.l1 for one in readable.tables if len(one.attributes) == size]
        means.append(error_text(sum(errors) / len(errors)).removeprefix("error ") if errors else "")
    void = not subject.certificate.claims
    k = "" if void else round_down(found.k_for(subject.release.rows))
    epsilon = "" if void else round_up(found.epsilon)
    return [design + own, k, epsilon, *means, *(f"{count:,}" for count in readable.counts().values())]


def _other(made: Plan, design: str, targets: dict[str, Any]) -> Plan | str:
    """The plan of another design, or why there is none."""
    noise = None if made.count_noise is None else made.count_noise.p
    wanted = dict(targets)
    if "delta" in wanted:
        wanted["delta"] = float(wanted["delta"])
    try:
        return plan(declared(made), records=made.records, design=design, hide_count=noise, **wanted)
    except PkanonError:
        return "not possible here"


def declared(made: Plan) -> Schema:
    """The schema with its bundles, as far as the plan still shows them.

    A design that joins all columns shows no bundles, only the combinations they forbid; those are kept together.
    """
    joined = made.asked.design == "joint" or (made.asked.fallback is not None and len(made.units) == 1)
    bundles = []
    for unit in made.units:
        if len(unit.attributes) > 1:
            groups = _groups(unit) if joined else [unit.attributes]
            bundles += [_bundle(made.schema, unit, names) for names in groups]
    return Schema(made.schema.attributes, bundles, others=made.schema.others)


def _groups(unit: Unit) -> list[tuple[str, ...]]:
    """The attributes that rules of the unit name together."""
    groups: list[set[str]] = []
    for rule in unit.forbid:
        names = {name for name, codes in zip(unit.attributes, rule) if codes}
        touching = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names] + [names.union(*touching)]
    return [tuple(name for name in unit.attributes if name in group) for group in groups if len(group) > 1]


def _bundle(schema: Schema, unit: Unit, names: tuple[str, ...]) -> Bundle:
    def values(name: str, codes: tuple[int, ...]) -> list[Value]:
        labels = (schema.attribute(name).label(code) for code in codes)
        return ["" if value is None else value for value in labels]  # "" stands for the missing value in a rule

    rules = [{name: values(name, codes) for name, codes in zip(unit.attributes, rule) if codes} for rule in unit.forbid]
    return Bundle(names, forbid=[rule for rule in rules if set(rule) <= set(names)])
