"""Which columns there are, which values they can have, and what happens to an answer: sections 3 and 4."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from .._blocks import Matrix
from .._plan import Channel
from .._schema import Attribute, Bins, Points, Range, Unit
from .markup import Html, bullets, element, label, paragraph, plural, table, together
from .subject import Subject, percent, texts

MOST_VALUES = 60
"""Values of a column that are listed."""
MOST_ENTRIES = 14
"""Values of a matrix that is printed in full."""
MOST_RULES = 30


def columns(subject: Subject) -> Html:
    """Every released column with its values."""
    schema = subject.plan.schema
    released = [attribute for attribute in schema.attributes if attribute.role in ("randomise", "pass")]
    rows = [
        [label(attribute.name), _type(attribute), f"{attribute.size:,}" if attribute.domain else "", _values(attribute)]
        for attribute in released
    ]
    parts = [
        paragraph(
            f"The table has {plural(subject.release.rows, 'row')} and {plural(len(released), 'column')}. A released "
            "value of a randomised column is one of the values listed here, and nothing else."
        ),
        table(["column", "type", "values", "which"], rows, numbers=[2]),
    ]
    bundles = [unit for unit in subject.plan.units if len(unit.attributes) > 1]
    if bundles:
        parts.append(element("h3", "Columns that are randomised together"))
        parts.append(bullets(together(*_bundle(subject, unit)) for unit in bundles))
    return together(*parts)


def _type(attribute: Attribute) -> str:
    if attribute.role == "pass":
        return "as it is, outside every promise"
    if isinstance(attribute.domain, Points):
        return f"{attribute.type}, rounded at random to points"
    return f"{attribute.type}, in intervals" if isinstance(attribute.domain, Bins) else attribute.type


def _values(attribute: Attribute) -> Html:
    if attribute.domain is None:
        return Html("")
    if isinstance(attribute.domain, Range):
        parts: list[str] = [f"every whole number from {attribute.domain.low} to {attribute.domain.high}"]
        parts += [", other: ", label(str(attribute.other))] if attribute.other is not None else []
        parts += [", or missing"] if attribute.missing == "value" else []
        return element("span", *parts, cls="values")
    shown = texts(attribute) if attribute.size <= MOST_VALUES else _first_texts(attribute)
    words: list[str] = []
    for text in shown:
        words += [" | ", label(text)] if words else [label(text)]
    more = attribute.size - len(shown)
    if more:
        words.append(f" … and {more:,} more, listed in datapackage.json")
    return element("span", *words, cls="values")


def _first_texts(attribute: Attribute) -> list[str]:
    firsts = itertools.islice(attribute.labels(), MOST_VALUES - 20)
    return ["(missing)" if value is None else str(value) for value in firsts]


def _bundle(subject: Subject, unit: Unit) -> Iterator[str]:
    yield from _named(unit.attributes)
    yield f": {unit.size:,} combinations"
    if unit.forbid:
        yield f" are possible, {plural(len(unit.forbid), 'rule')} forbid the others: "
        for place, rule in enumerate(unit.forbid[:MOST_RULES]):
            yield "; " if place else ""
            yield from _rule(subject, unit, rule)
        if len(unit.forbid) > MOST_RULES:
            yield f"; … and {len(unit.forbid) - MOST_RULES:,} more in plan.json"
    yield "."


def _rule(subject: Subject, unit: Unit, rule: Sequence[Sequence[int]]) -> Iterator[str]:
    said = False
    for name, codes in zip(unit.attributes, rule):
        if not codes:
            continue
        attribute = subject.plan.schema.attribute(name)
        labels = [attribute.label(code) for code in codes[:6]]
        yield " with " if said else ""
        yield label(name)
        yield " = "
        for place, value in enumerate(labels):
            yield " or " if place else ""
            yield label("(missing)" if value is None else str(value))
        yield " or …" if len(codes) > 6 else ""
        said = True


def _named(names: Sequence[str]) -> list[str]:
    parts: list[str] = []
    for place, name in enumerate(names):
        parts += [" and " if place == len(names) - 1 else ", "] if place else []
        parts.append(label(name))
    return parts


def transitions(subject: Subject) -> Html:
    """What happens to an answer, with its probabilities."""
    plan = subject.plan
    rows = [_row(channel) for channel in subject.channels.values()]
    where = (
        ""
        if subject.certificate.collection is None
        else ", on that person's own device; the order was drawn at the end"
    )
    parts = [
        paragraph(f"This was done to every row, whoever it belongs to{where}:"),
        bullets(plan.steps),
        table(
            ["column", "released as it is", "released as one other value", "rho"],
            rows,
            numbers=[1, 2, 3],
        ),
        paragraph(
            "One column alone: the probability that an answer is released as it is, and that it is released as one "
            "given other value. rho: as if an answer were kept with this probability, and else replaced by a draw "
            "from all values.",
            cls="small",
        ),
    ]
    parts += [_matrix(subject, block) for block in plan.blocks if isinstance(block, Matrix)]
    return together(*parts)


def _row(channel: Channel) -> list[str]:
    name = label(channel.name)
    if channel.mixture is not None:
        mixture = channel.mixture
        return [name, _range(mixture.stays), _range(mixture.becomes), f"{mixture.rho:.4g}"]
    if channel.matrix is not None:
        entries = channel.matrix.as_matrix()
        others = entries[~np.eye(len(entries), dtype=bool)]
        return [name, _range(entries.diagonal()), _range(others), "matrix"]
    return [name, "depends on", "the other columns", "matrix"]


def _range(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    low, high = percent(float(values.min())), percent(float(values.max()))
    return low if low == high else f"{low} to {high}"


def _matrix(subject: Subject, block: Matrix) -> Html:
    unit = block.unit
    named = together("The matrix of ", *_named(unit.attributes))
    entries = block.as_matrix()
    if len(entries) > MOST_ENTRIES:
        return paragraph(named, f" has {len(entries):,} rows and columns; plan.json has its integers.")
    labels = _combinations(subject, unit)
    rows = [[label(name), *(percent(float(entry)) for entry in row)] for name, row in zip(labels, entries)]
    return table(
        ["given \\ released", *(label(name) for name in labels)],
        rows,
        numbers=range(1, len(entries) + 1),
        caption=together(named, ": the probability that an answer (row) is released as a value (column)."),
    )


def _combinations(subject: Subject, unit: Unit) -> list[str]:
    schema = subject.plan.schema
    columns = unit.split(np.arange(unit.size, dtype=np.uint32))
    labels = [texts(schema.attribute(name)) for name in unit.attributes]
    return [" + ".join(own[int(code)] for own, code in zip(labels, codes)) for codes in zip(*columns)]
