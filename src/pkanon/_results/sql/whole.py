"""From the text of a query to its answer: read it, make one table of all its attributes, evaluate, choose, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import InputError
from ..._estimate import flags, intervals, normal_quantile, standard_errors
from ..._schema import MISSING_LABEL, Attribute, Groups, Schema
from ..columns import Columns, merged_remark, sentence
from ..estimate import Estimate
from .answer import Answer
from .evaluate import Evaluation, check_numeric, is_merged
from .keys import with_groups
from .language import (
    Aggregate,
    Case,
    Condition,
    Expression,
    Key,
    Labels,
    Measured,
    NotMeasured,
    Query,
    aggregates,
    leaves,
)
from .logic import is_binned, orders_unlisted, truth_of_codes
from .statement import read


def respond(
    sql: str,
    schema: Schema,
    crosstab: Callable[..., Estimate],
    *,
    weights: str | None = None,
    groups: Mapping[str, Groups] | None = None,
    level: float = 0.95,
    remarks: Callable[[Sequence[str]], Sequence[str]] = lambda attributes: (),
) -> Answer:
    """The answer to ``sql``; ``crosstab`` makes a reconstructed table of the attributes it is called with.

    ``weights``: the attribute that ``crosstab`` takes as the weight. ``groups``: attributes whose values are merged or left
    out. ``remarks``: more notes for the reader of an answer from the
    table of some attributes.
    """
    normal_quantile(level)  # refuses a level that is none
    groups = groups or {}
    query = with_groups(read(sql, schema), groups, schema)
    _check(query, schema, level)
    # a query without attributes counts everybody: any table has their number
    names = query.attributes([name for name in groups if is_merged(groups, name)]) or _smallest(schema, weights)
    evaluation = Evaluation(query, crosstab(*names), groups)
    chosen = _chosen(query, evaluation)
    columns: dict[str, Any] = {}
    nulls = unknown = False
    for column in query.columns:
        if isinstance(column.item, Key):
            columns[column.name] = evaluation.labels(column.item, chosen)
            continue
        parts = _with_limits(evaluation, column.item, level)
        null, without_error = (np.isnan(part[chosen]) for part in parts[:2])
        nulls, unknown = nulls or bool(null.any()), unknown or bool((without_error & ~null).any())
        titles = Columns.named(column.name, level)
        for name, numbers in zip(titles, parts):
            columns[name] = pl.Series(name, numbers[chosen]).fill_nan(None)
        texts = _flags(evaluation, column.item, level)
        columns[titles.flag] = pl.Series(titles.flag, [texts[place] for place in chosen], dtype=pl.String)
    frame = pl.DataFrame([pl.Series(series).alias(name) for name, series in columns.items()])
    return Answer(
        sql=sql,
        frame=frame,
        notes=(
            *_notes(query, evaluation, level, nulls=nulls, unknown=unknown),
            *(remark[:1].upper() + remark[1:] for remark in remarks(names)),
        ),
        estimates=tuple(column.name for column in query.columns if not isinstance(column.item, Key)),
        level=level,
    )


def _smallest(schema: Schema, weights: str | None) -> tuple[str, ...]:
    able = [attribute for attribute in schema.randomised if attribute.name != weights]
    if not able:
        raise InputError(f"'{weights}' is the only attribute of this release; there is nothing that it could weigh.")
    return (min(able, key=lambda attribute: attribute.size).name,)


def _names(name: str, level: float) -> list[str]:
    columns = Columns.named(name, level)
    return [*columns, columns.flag]


def _check(query: Query, schema: Schema, level: float) -> None:
    """Refuse whatever can be refused before the table is made, which can take long."""
    taken: set[str] = set()
    for column in query.columns:
        for name in [column.name] if isinstance(column.item, Key) else _names(column.name, level):
            if name in taken:
                raise InputError(f"Two columns would be called '{name}'; give one another name with AS.")
            taken.add(name)
    for condition in _conditions(query):
        for leaf in leaves(condition):
            if not isinstance(leaf, (Measured, NotMeasured)):
                truth_of_codes(leaf, schema.attribute(leaf.attribute))
    for aggregate in _aggregates(query):
        if aggregate.function != "count" and isinstance(aggregate.argument, str):
            check_numeric(schema.attribute(aggregate.argument), aggregate.function)


def _aggregates(query: Query) -> list[Aggregate]:
    return [aggregate for expression in query.expressions() for aggregate in aggregates(expression)]


def _conditions(query: Query) -> list[Condition]:
    found = [query.where, query.having]
    found += [condition for key in query.groups if isinstance(key, Labels) for condition, _ in key.branches]
    for aggregate in _aggregates(query):
        found.append(aggregate.where)
        if isinstance(aggregate.argument, Case):
            found += [condition for condition, _ in aggregate.argument.branches]
    return [condition for condition in found if condition is not None]


def _with_limits(evaluation: Evaluation, expression: Expression, level: float) -> list[NDArray[np.float64]]:
    """Value, standard error, low and high in every group shown."""
    found = []
    for part in evaluation.parts:
        number = part.measure(expression)
        value, errors = part.value(expression), standard_errors(part.basis, number)
        limits = intervals(part.basis, number, errors, level)
        found.append([value, np.where(np.isnan(value), np.nan, errors), *limits])  # NULL has no error
    return [np.concatenate([np.zeros(0), *column])[evaluation.order] for column in zip(*found)] or [np.zeros(0)] * 4


def _flags(evaluation: Evaluation, expression: Expression, level: float) -> list[str | None]:
    """What must be said of the number in every group shown."""
    texts = [text for part in evaluation.parts for text in flags(part.basis, part.measure(expression), level).texts()]
    return [texts[place] for place in evaluation.order]


def _chosen(query: Query, evaluation: Evaluation) -> NDArray[np.intp]:
    """The groups of the answer, in its order."""
    rows = np.arange(len(evaluation.order))
    if query.having is not None:
        rows = rows[evaluation.having(query.having)]
    for order in reversed(query.order):  # sorts are stable: the first item decides last
        if isinstance(order.item, Key):
            values = evaluation.sort_keys(order.item)[evaluation.numbers[order.item]][rows]
        else:
            values = evaluation.value(order.item)[rows]
        null = np.isnan(values)
        keyed = np.where(null, 0.0, -values if order.descending else values)
        rows = rows[np.lexsort((keyed, null != order.nulls_first))]
    return rows[query.offset :][: query.limit]


def _notes(query: Query, evaluation: Evaluation, level: float, *, nulls: bool, unknown: bool) -> list[str]:
    """How the answer was made, in sentences."""
    table, by_name = evaluation.table, evaluation.attributes
    notes = [f"Estimated {table.plain_caption(level)}.", *_of_groups(query, evaluation)]
    summed = {
        a.argument: a.function for a in _aggregates(query) if a.function != "count" and isinstance(a.argument, str)
    }
    for name in summed:
        assert isinstance(name, str)
        if is_binned(by_name[name]):
            notes.append(f"A bin of '{name}' counts as its middle, an open one as wide as its neighbour.")
        left_out = _no_number(by_name[name])
        if left_out:
            notes.append(f"SUM and AVG of '{name}' leave out people with {left_out}.")
    unlisted = {
        leaf.attribute
        for condition in _conditions(query)
        for leaf in leaves(condition)
        if not isinstance(leaf, (Measured, NotMeasured)) and orders_unlisted(leaf, by_name[leaf.attribute])
    }
    for name in sorted(unlisted):
        notes.append(f"Unlisted values of '{name}' are neither above nor below a number: like missing ones.")
    if query.having is not None or query.order or query.limit is not None or query.offset:
        notes.append("HAVING, ORDER BY and LIMIT choose by noisy estimates.")
    notes += [note[:1].upper() + note[1:] for note in table.notes]
    if table.convergence is not None and table.convergence.remark is not None:
        notes.append(table.convergence.remark)
    if nulls:
        notes.append("A mean or ratio is null where its estimated denominator is not positive.")
    if unknown:
        notes.append(
            "An error is null where the unbiased estimate of a denominator is not positive: nothing bounds the number."
        )
    return notes


def _of_groups(query: Query, evaluation: Evaluation) -> list[str]:
    """What was done with merged values and missing answers."""
    groups, names = evaluation.groups, query.attributes()
    asked = {key for key in query.groups if isinstance(key, str)} | {
        leaf.attribute
        for condition in _conditions(query)
        for leaf in leaves(condition)
        if not isinstance(leaf, (Measured, NotMeasured))
    }
    asked |= {name for name, found in groups.items() if MISSING_LABEL in dict(found.merged)}
    found = {name: dict(groups[name].merged) for name in names if name in groups and name in asked}
    merged = {name: values for name, values in found.items() if values}
    excluded = [name for name in names if name in groups and not groups[name].complete]
    shown = {key: groups[key].attribute if key in groups else a for key, a in evaluation.attributes.items()}
    missing = [key for key in query.groups if isinstance(key, str) and shown[key].missing_code is not None]
    return [
        *([sentence(merged_remark(merged))] if merged else []),
        *([f"Missing answers left out: {', '.join(excluded)}."] if excluded else []),
        *([f"Missing answers are a group: {', '.join(missing)}."] if missing else []),
    ]


def _no_number(attribute: Attribute) -> str:
    reasons: Sequence[str] = [
        *(["unlisted values"] if attribute.other is not None else []),
        *(["missing values"] if attribute.missing_code is not None else []),
    ]
    return " and ".join(reasons)
