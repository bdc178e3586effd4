"""Aggregates, arithmetic and conditions: from the parser's tree to our records, or a refusal."""

from __future__ import annotations

import datetime as dt
from typing import Any

from ..._errors import InputError
from .language import (
    Aggregate,
    Always,
    Arithmetic,
    Both,
    Case,
    Compare,
    Condition,
    Constant,
    Either,
    Expression,
    Function,
    IsMissing,
    Like,
    Measured,
    Not,
    NotMeasured,
    Number,
    OneOf,
    Operator,
    Sign,
)
from .names import Names
from .refusals import as_sql, only, refuse

_SIGNS: dict[str, Sign] = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}
_OPERATORS: dict[str, Operator] = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_TURNED: dict[Operator, Operator] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_AGGREGATES: dict[str, Function] = {"Count": "count", "Sum": "sum", "Avg": "avg"}


def expression(node: Any, names: Names) -> Expression:
    """A number, an aggregate, or arithmetic of them."""
    kind = _kind(node)
    if kind == "Paren":
        return expression(node.this, names)
    if kind in _SIGNS:
        return Arithmetic(_SIGNS[kind], expression(node.this, names), expression(node.expression, names))
    if kind == "Filter":
        inner = expression(node.this, names)
        if not isinstance(inner, Aggregate) or inner.where is not None or _kind(node.expression) != "Where":
            raise refuse(node)
        return Aggregate(inner.function, inner.argument, condition(node.expression.this, names.of_rows()))
    if kind in _AGGREGATES:
        return _aggregate(node, names.of_rows())
    if kind == "Column":
        known = names.alias(node.name, node.table)
        if known is not None and not isinstance(known, str):
            return known
        attribute = known or names.attribute(node.name, node.table)
        raise InputError(
            f"'{attribute}' stands outside an aggregate. Put it in GROUP BY, or ask for COUNT({attribute}), SUM or AVG."
        )
    value = _number(node)
    if value is not None:
        return Number(value)
    if kind == "Neg":
        return Arithmetic("*", Number(-1.0), expression(node.this, names))
    raise refuse(node)


def _aggregate(node: Any, names: Names) -> Aggregate:
    function = _AGGREGATES[_kind(node)]
    inner = node.this
    if _kind(inner) == "Distinct":
        raise refuse(inner, whole=node)
    only(node, "this", "big_int")
    if inner is None:
        raise InputError(f"{function.upper()} needs something to aggregate, such as COUNT(*) or AVG(age).")
    while _kind(inner) == "Paren":
        inner = inner.this
    if _kind(inner) == "Star":
        only(inner)
        if function != "count":
            raise InputError(f"{function.upper()}(*) means nothing; name an attribute with numbers.")
        return Aggregate(function, None)
    if _kind(inner) == "Column":
        return Aggregate(function, names.attribute(inner.name, inner.table))
    if _kind(inner) == "Case":
        return Aggregate(function, _case(inner, names))
    if _kind(inner) == "If":
        only(inner, "this", "true", "false")
        branch = (condition(inner.this, names), _branch(inner.args["true"]))
        return Aggregate(function, Case((branch,), _branch(inner.args.get("false"))))
    value = _number(inner)
    if value is None:
        raise refuse(inner, f"inside {function.upper()}")
    return Aggregate(function, Case((), value))


def _case(node: Any, names: Names) -> Case:
    only(node, "this", "ifs", "default")
    branches = []
    for item in node.args["ifs"]:
        only(item, "this", "true")
        if node.this is None:
            met = condition(item.this, names)
        else:
            met = _comparison(node.this, "=", item.this, names, measured=False)
        branches.append((met, _branch(item.args["true"])))
    return Case(tuple(branches), _branch(node.args.get("default")))


def _branch(node: Any) -> float | None:
    """The number a CASE gives; None for NULL."""
    if node is None or _kind(node) == "Null":
        return None
    value = _number(node)
    if value is None:
        raise InputError(f"CASE gives numbers: THEN and ELSE take one each, not {as_sql(node)}.")
    return value


def condition(node: Any, names: Names, *, measured: bool = False) -> Condition:
    """A WHERE, FILTER or CASE condition; ``measured`` (HAVING): on aggregates too."""
    kind = _kind(node)
    if kind == "Paren":
        return condition(node.this, names, measured=measured)
    if kind in ("And", "Or"):
        left, right = (condition(side, names, measured=measured) for side in (node.this, node.expression))
        return Both(left, right) if kind == "And" else Either(left, right)
    if kind == "Not":
        return Not(condition(node.this, names, measured=measured))
    if kind == "Boolean":
        return Always(bool(node.this))
    if kind == "Column":
        return Compare(_attribute(node, names), "=", True)
    if kind in _OPERATORS:
        only(node, "this", "expression")
        return _comparison(node.this, _OPERATORS[kind], node.expression, names, measured=measured)
    if kind == "Between":
        only(node, "this", "low", "high")
        low, high = node.args["low"], node.args["high"]
        return Both(
            _comparison(node.this, ">=", low, names, measured=measured),
            _comparison(node.this, "<=", high, names, measured=measured),
        )
    if kind == "Is":
        return _is(node, names, measured=measured)
    if kind == "In":
        if node.args.get("query") is not None:
            raise refuse(node.args["query"])
        only(node, "this", "expressions")
        return OneOf(_attribute(node.this, names), tuple(_constant(value) for value in node.expressions))
    if kind == "Escape" and _kind(node.this) in ("Like", "ILike"):
        return _like(node.this, names, _text(node.expression))
    if kind in ("Like", "ILike"):
        return _like(node, names)
    raise refuse(node, "as a condition")


def _like(node: Any, names: Names, escape: str = "") -> Condition:
    only(node, "this", "expression", "negate")  # newer parsers say NOT LIKE by 'negate', older ones by Not
    if len(escape) > 1:
        raise InputError("ESCAPE takes one character.")
    found = Like(_attribute(node.this, names), _text(node.expression), escape, _kind(node) == "ILike")
    return Not(found) if node.args.get("negate") else found


def _is(node: Any, names: Names, *, measured: bool) -> Condition:
    only(node, "this", "expression")
    if _kind(node.expression) == "Null":
        if measured and _is_measured(node.this, names):
            return NotMeasured(expression(node.this, names))
        return IsMissing(_attribute(node.this, names))
    if _kind(node.expression) == "Boolean":
        attribute = _attribute(node.this, names)
        return Both(Not(IsMissing(attribute)), Compare(attribute, "=", bool(node.expression.this)))
    raise refuse(node, "as a condition")


def _comparison(left: Any, operator: Operator, right: Any, names: Names, *, measured: bool) -> Condition:
    if measured and (_is_measured(left, names) or _is_measured(right, names)):
        return Measured(operator, expression(left, names), expression(right, names))
    if _is_constant(left) and not _is_constant(right):
        left, right, operator = right, left, _TURNED[operator]
    attribute = _attribute(left, names)
    if _kind(_bare(right)) == "Column":
        raise InputError(
            f"{as_sql(left)} and {as_sql(right)} are two attributes; a condition compares one with a constant. "
            "Ask COUNT(*) with GROUP BY both."
        )
    return Compare(attribute, operator, _constant(right))


def _is_measured(node: Any, names: Names) -> bool:
    """Whether an expression has an aggregate in it, by itself or by an alias."""
    return any(
        _kind(inner) in _AGGREGATES
        or (_kind(inner) == "Column" and not isinstance(names.alias(inner.name, inner.table), (str, type(None))))
        for inner in node.walk()
    )


def _attribute(node: Any, names: Names) -> str:
    inner = _bare(node)
    if _kind(inner) != "Column":
        if _is_constant(inner):
            raise InputError(f"A condition compares an attribute with a constant; {as_sql(node)} is a constant.")
        raise refuse(node, "as a condition")
    known = names.alias(inner.name, inner.table)
    return known if isinstance(known, str) else names.attribute(inner.name, inner.table)


def _bare(node: Any) -> Any:
    while _kind(node) == "Paren":
        node = node.this
    return node


def _is_constant(node: Any) -> bool:
    inner = _bare(node)
    if _kind(inner) in ("Neg", "Cast"):
        inner = _bare(inner.this)
    return _kind(inner) in ("Literal", "Boolean", "Null")


def _constant(node: Any) -> Constant:
    inner = _bare(node)
    kind = _kind(inner)
    if kind == "Null":
        raise InputError("A comparison with NULL is never true; write IS NULL or IS NOT NULL.")
    if kind == "Boolean":
        return bool(inner.this)
    if kind == "Literal" and inner.is_string:
        return str(inner.this)
    if kind == "Cast" and _kind(inner.this) == "Literal" and str(inner.to).upper() == "DATE":
        try:
            return dt.date.fromisoformat(inner.this.this)
        except ValueError:
            raise InputError(f"{as_sql(inner.this)} is no date; write dates as 'YYYY-MM-DD'.") from None
    value = _number(inner)
    if value is None:
        raise refuse(node, "as a constant")
    return value


def _text(node: Any) -> str:
    if _kind(node) != "Literal" or not node.is_string:
        raise InputError(f"LIKE takes a text in quotes, not {as_sql(node)}.")
    return str(node.this)


def _number(node: Any) -> float | None:
    """A number as it is written; whole numbers stay whole."""
    inner = _bare(node)
    if _kind(inner) == "Neg":
        value = _number(inner.this)
        return None if value is None else -value
    if _kind(inner) != "Literal" or inner.is_string:
        return None
    text = str(inner.this)
    number = int(text) if text.isdecimal() else float(text)
    if abs(number) > 1e300:
        raise InputError("A number in the query is too large.")
    return number


def _kind(node: Any) -> str:
    return type(node).__name__
