"""From the text of a query to its answer: read it, make one table of all its attributes, evaluate, choose, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import InputError
from ..._estimate import intervals, normal_quantile, standard_errors
from ..._frames import decode
from ..._schema import Attribute, Schema
from ..columns import Columns
from ..estimate import Estimate
from .answer import Answer
from .evaluate import Evaluation, check_numeric
from .language import Aggregate, Case, Condition, Expression, Measured, NotMeasured, Query, aggregates, leaves
from .logic import is_binned, orders_unlisted, truth_of_codes
from .statement import read


def respond(
    sql: str,
    schema: Schema,
    crosstab: Callable[..., Estimate],
    *,
    weights: str | None = None,
    level: float = 0.95,
    remarks: Sequence[str] = (),
) -> Answer:
    """The answer to ``sql``; ``crosstab`` makes a reconstructed table of the attributes it is called with.

    ``weights``: the attribute that ``crosstab`` takes as the weight. ``remarks``: more notes for the reader of the answer.
    """
    normal_quantile(level)  # refuses a level that is none
    query = read(sql, schema)
    _check(query, schema, level)
    # a query without attributes counts everybody: any table has their number
    names = query.attributes() or _smallest(schema, weights)
    evaluation = Evaluation(query, crosstab(*names))
    chosen = _chosen(query, evaluation)
    columns: dict[str, Any] = {}
    groups = [schema.attribute(name) for name in query.groups]
    codes = {name: column[chosen].astype(np.uint32) for name, column in evaluation.codes.items()}
    labels = decode(Schema(groups), codes, None) if groups else pl.DataFrame()
    nulls = unknown = False
    for column in query.columns:
        if isinstance(column.item, str):
            columns[column.name] = labels[column.item]
            continue
        parts = _with_limits(evaluation, column.item, level)
        null, without_error = (np.isnan(part[chosen]) for part in parts[:2])
        nulls, unknown = nulls or bool(null.any()), unknown or bool((without_error & ~null).any())
        for name, numbers in zip(_names(column.name, level), parts):
            columns[name] = pl.Series(name, numbers[chosen]).fill_nan(None)
    frame = pl.DataFrame([pl.Series(series).alias(name) for name, series in columns.items()])
    return Answer(
        sql=sql,
        frame=frame,
        notes=(
            *_notes(query, evaluation.table, level, nulls=nulls, unknown=unknown),
            *(remark[:1].upper() + remark[1:] for remark in remarks),
        ),
        estimates=tuple(column.name for column in query.columns if not isinstance(column.item, str)),
        level=level,
    )


def _smallest(schema: Schema, weights: str | None) -> tuple[str, ...]:
    able = [attribute for attribute in schema.randomised if attribute.name != weights]
    if not able:
        raise InputError(f"'{weights}' is the only attribute of this release; there is nothing that it could weigh.")
    return (min(able, key=lambda attribute: attribute.size).name,)


def _names(name: str, level: float) -> list[str]:
    return list(Columns.named(name, level))


def _check(query: Query, schema: Schema, level: float) -> None:
    """Refuse whatever can be refused before the table is made, which can take long."""
    taken: set[str] = set()
    for column in query.columns:
        for name in [column.name] if isinstance(column.item, str) else _names(column.name, level):
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
    for aggregate in _aggregates(query):
        found.append(aggregate.where)
        if isinstance(aggregate.argument, Case):
            found += [condition for condition, _ in aggregate.argument.branches]
    return [condition for condition in found if condition is not None]


def _with_limits(evaluation: Evaluation, expression: Expression, level: float) -> list[NDArray[np.float64]]:
    """Value, standard error, low and high in every group shown."""
    basis, number = evaluation.basis, evaluation.measure(expression)
    errors = np.where(np.isnan(number.value), np.nan, standard_errors(basis, number))  # NULL has no error
    return [number.value, errors, *intervals(basis, number, errors, level)]


def _chosen(query: Query, evaluation: Evaluation) -> NDArray[np.intp]:
    """The groups of the answer, in its order."""
    rows = np.arange(len(evaluation.shown))
    if query.having is not None:
        rows = rows[evaluation.having(query.having)]
    for order in reversed(query.order):  # sorts are stable: the first item decides last
        if isinstance(order.item, str):
            keys = _sort_keys(evaluation.table.attributes[query.groups.index(order.item)])
            values = keys[evaluation.codes[order.item]][rows]
        else:
            values = evaluation.measure(order.item).value[rows]
        null = np.isnan(values)
        keyed = np.where(null, 0.0, -values if order.descending else values)
        rows = rows[np.lexsort((keyed, null != order.nulls_first))]
    return rows[query.offset :][: query.limit]


def _sort_keys(attribute: Attribute) -> NDArray[np.float64]:
    """Numbers, dates and truth values by their size, bins and texts as they are declared; NaN is NULL."""
    keys = np.arange(attribute.size, dtype=float)
    if attribute.released_type != "text":
        values = [label for label in attribute.labels() if label is not None]
        keys[: len(values)] = np.argsort(np.argsort(np.array(values, object), kind="stable"))
    if attribute.missing_code is not None:
        keys[attribute.missing_code] = np.nan
    return keys


def _notes(query: Query, table: Estimate, level: float, *, nulls: bool, unknown: bool) -> list[str]:
    """How the answer was made, in sentences."""
    by_name = {attribute.name: attribute for attribute in table.attributes}
    notes = [f"Estimated {table.caption(level)}."]
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
    if table.convergence is not None and table.convergence.remark is not None:
        notes.append(table.convergence.remark)
    if nulls:
        notes.append("A mean or ratio is null where its estimated denominator is not positive.")
    if unknown:
        notes.append(
            "An error is null where the unbiased estimate of a denominator is not positive: nothing bounds the number."
        )
    return notes


def _no_number(attribute: Attribute) -> str:
    reasons: Sequence[str] = [
        *(["unlisted values"] if attribute.other is not None else []),
        *(["missing values"] if attribute.missing_code is not None else []),
    ]
    return " and ".join(reasons)
