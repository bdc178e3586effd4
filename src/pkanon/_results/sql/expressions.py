"""Aggregates, arithmetic and conditions: from the parser's tree to our records, or a refusal."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from sqlglot import exp

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
    Key,
    Labels,
    Like,
    Measured,
    Not,
    NotMeasured,
    Number,
    OneOf,
    Operator,
    Sign,
    ValueOf,
)
from .names import Names
from .nodes import is_a
from .refusals import as_sql, only, refuse

if TYPE_CHECKING:
    from .nodes import Node

_SIGNS: dict[type[Node], Sign] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_OPERATORS: dict[type[Node], Operator] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_TURNED: dict[Operator, Operator] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LIKE = (exp.Like, exp.ILike)
AGGREGATES: dict[type[Node], Function] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg"}


def expression(node: Node, names: Names) -> Expression:
    """A number, an aggregate, or arithmetic of them."""
    if is_a(node, exp.Paren):
        return expression(node.this, names)
    if type(node) in _SIGNS:
        return Arithmetic(_SIGNS[type(node)], expression(node.this, names), expression(node.expression, names))
    if is_a(node, exp.Filter):
        inner = expression(node.this, names)
        if not isinstance(inner, Aggregate) or inner.where is not None or not is_a(node.expression, exp.Where):
            raise refuse(node)
        return Aggregate(inner.function, inner.argument, condition(node.expression.this, names.of_rows()))
    if type(node) in AGGREGATES:
        return _aggregate(node, names.of_rows())
    if is_a(node, exp.Column):
        item = names.alias(node.name, node.table)
        if isinstance(item, Labels):
            raise InputError(f"'{node.name}' is the label of a group, which is no number; aggregate an attribute.")
        if item is not None and not isinstance(item, str):
            return item
        attribute = item or names.attribute(node.name, node.table)
        raise InputError(
            f"'{attribute}' stands outside an aggregate. Put it in GROUP BY, or ask for COUNT({attribute}), SUM or AVG."
        )
    value = _number(node)
    if value is not None:
        return Number(value)
    if is_a(node, exp.Neg):
        return Arithmetic("*", Number(-1.0), expression(node.this, names))
    raise refuse(node)


def _aggregate(node: Node, names: Names) -> Aggregate:
    function = AGGREGATES[type(node)]
    inner = node.this
    if is_a(inner, exp.Distinct):
        raise refuse(inner, whole=node)
    only(node, "this", "big_int")
    if inner is None:
        raise InputError(f"{function.upper()} needs something to aggregate, such as COUNT(*) or AVG(age).")
    while is_a(inner, exp.Paren):
        inner = inner.this
    if is_a(inner, exp.Star):
        only(inner)
        if function != "count":
            raise InputError(f"{function.upper()}(*) means nothing; name an attribute with numbers.")
        return Aggregate(function, None)
    if is_a(inner, exp.Column):
        return Aggregate(function, names.attribute(inner.name, inner.table))
    if is_a(inner, exp.Case):
        return Aggregate(function, _case(inner, names))
    if is_a(inner, exp.If):
        only(inner, "this", "true", "false")
        branch = (condition(inner.this, names), _branch(inner.args["true"]))
        return Aggregate(function, Case((branch,), _branch(inner.args.get("false"))))
    value = _number(inner)
    if value is None:
        raise refuse(inner, f"inside {function.upper()}")
    return Aggregate(function, Case((), value))


def _case(node: Node, names: Names) -> Case:
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


def labels(node: Node, names: Names) -> Labels | None:
    """CASE as a group: conditions with a label each; None if the node is no CASE."""
    node = _bare(node)
    if is_a(node, exp.If):
        only(node, "this", "true", "false")
        branch = (condition(node.this, names), _label(node.args["true"], names))
        return Labels((branch,), _label(node.args.get("false"), names))
    if not is_a(node, exp.Case):
        return None
    only(node, "this", "ifs", "default")
    branches = []
    for item in node.args["ifs"]:
        only(item, "this", "true")
        if node.this is None:
            met = condition(item.this, names)
        else:
            met = _comparison(node.this, "=", item.this, names, measured=False)
        branches.append((met, _label(item.args["true"], names)))
    return Labels(tuple(branches), _label(node.args.get("default"), names))


def _label(node: Node | None, names: Names) -> Constant | ValueOf | None:
    """What a CASE that makes groups gives: a constant, an attribute, or NULL."""
    inner = None if node is None else _bare(node)
    if inner is None or is_a(inner, exp.Null):
        return None
    if is_a(inner, exp.Column):
        return ValueOf(names.attribute(inner.name, inner.table))
    if not _is_constant(inner):
        raise InputError(f"CASE that makes groups gives a text, a number or an attribute, not {as_sql(inner)}.")
    return _constant(inner)


def _branch(node: Node | None) -> float | None:
    """The number a CASE gives; None for NULL."""
    if node is None or is_a(node, exp.Null):
        return None
    value = _number(node)
    if value is None:
        raise InputError(f"CASE gives numbers: THEN and ELSE take one each, not {as_sql(node)}.")
    return value


def condition(node: Node, names: Names, *, measured: bool = False) -> Condition:
    """A WHERE, FILTER or CASE condition; ``measured`` (HAVING): on aggregates too."""
    if is_a(node, exp.Paren):
        return condition(node.this, names, measured=measured)
    if is_a(node, exp.And) or is_a(node, exp.Or):
        left, right = (condition(side, names, measured=measured) for side in (node.this, node.expression))
        return Both(left, right) if is_a(node, exp.And) else Either(left, right)
    if is_a(node, exp.Not):
        return Not(condition(node.this, names, measured=measured))
    if is_a(node, exp.Boolean):
        return Always(bool(node.this))
    if is_a(node, exp.Column):
        return Compare(_attribute(node, names), "=", True)
    if type(node) in _OPERATORS:
        only(node, "this", "expression")
        return _comparison(node.this, _OPERATORS[type(node)], node.expression, names, measured=measured)
    if is_a(node, exp.Between):
        only(node, "this", "low", "high")
        low, high = node.args["low"], node.args["high"]
        return Both(
            _comparison(node.this, ">=", low, names, measured=measured),
            _comparison(node.this, "<=", high, names, measured=measured),
        )
    if is_a(node, exp.Is):
        return _is(node, names, measured=measured)
    if is_a(node, exp.In):
        if node.args.get("query") is not None:
            raise refuse(node.args["query"])
        only(node, "this", "expressions")
        return OneOf(_attribute(node.this, names), tuple(_constant(value) for value in node.expressions))
    if is_a(node, exp.Escape) and type(node.this) in _LIKE:
        return _like(node.this, names, _text(node.expression))
    if type(node) in _LIKE:
        return _like(node, names)
    raise refuse(node, "as a condition")


def _like(node: Node, names: Names, escape: str = "") -> Condition:
    only(node, "this", "expression", "negate")  # newer parsers say NOT LIKE by 'negate', older ones by Not
    if len(escape) > 1:
        raise InputError("ESCAPE takes one character.")
    like = Like(_attribute(node.this, names), _text(node.expression), escape, is_a(node, exp.ILike))
    return Not(like) if node.args.get("negate") else like


def _is(node: Node, names: Names, *, measured: bool) -> Condition:
    only(node, "this", "expression")
    if is_a(node.expression, exp.Null):
        if measured and _is_measured(node.this, names):
            return NotMeasured(expression(node.this, names))
        return IsMissing(_attribute(node.this, names))
    if is_a(node.expression, exp.Boolean):
        attribute = _attribute(node.this, names)
        return Both(Not(IsMissing(attribute)), Compare(attribute, "=", bool(node.expression.this)))
    raise refuse(node, "as a condition")


def _comparison(left: Node, operator: Operator, right: Node, names: Names, *, measured: bool) -> Condition:
    if measured and (_is_measured(left, names) or _is_measured(right, names)):
        return Measured(operator, expression(left, names), expression(right, names))
    if _is_constant(left) and not _is_constant(right):
        left, right, operator = right, left, _TURNED[operator]
    attribute = _attribute(left, names)
    if is_a(_bare(right), exp.Column):
        raise InputError(
            f"{as_sql(left)} and {as_sql(right)} are two attributes; a condition compares one with a constant. "
            "Ask COUNT(*) with GROUP BY both."
        )
    return Compare(attribute, operator, _constant(right))


def _is_measured(node: Node, names: Names) -> bool:
    """Whether an expression has an aggregate in it, by itself or by an alias."""
    return any(
        type(inner) in AGGREGATES
        or (is_a(inner, exp.Column) and not isinstance(names.alias(inner.name, inner.table), (Key, type(None))))
        for inner in node.walk()
    )


def _attribute(node: Node, names: Names) -> str:
    inner = _bare(node)
    if not is_a(inner, exp.Column):
        if _is_constant(inner):
            raise InputError(f"A condition compares an attribute with a constant; {as_sql(node)} is a constant.")
        raise refuse(node, "as a condition")
    item = names.alias(inner.name, inner.table)
    if isinstance(item, Labels):
        raise InputError(f"'{inner.name}' is the label of a group; put its condition in WHERE, or into the CASE.")
    return item if isinstance(item, str) else names.attribute(inner.name, inner.table)


def _bare(node: Node) -> Node:
    while is_a(node, exp.Paren):
        node = node.this
    return node


def _is_constant(node: Node) -> bool:
    inner = _bare(node)
    if type(inner) in (exp.Neg, exp.Cast):
        inner = _bare(inner.this)
    return type(inner) in (exp.Literal, exp.Boolean, exp.Null)


def _constant(node: Node) -> Constant:
    inner = _bare(node)
    if is_a(inner, exp.Null):
        raise InputError("A comparison with NULL is never true; write IS NULL or IS NOT NULL.")
    if is_a(inner, exp.Boolean):
        return bool(inner.this)
    if is_a(inner, exp.Literal) and inner.is_string:
        return str(inner.this)
    if is_a(inner, exp.Cast) and is_a(inner.this, exp.Literal) and str(inner.to).upper() == "DATE":
        try:
            return dt.date.fromisoformat(inner.this.this)
        except ValueError:
            raise InputError(f"{as_sql(inner.this)} is not a date; write dates as 'YYYY-MM-DD'.") from None
    value = _number(inner)
    if value is None:
        raise refuse(node, "as a constant")
    return value


def _text(node: Node) -> str:
    if not is_a(node, exp.Literal) or not node.is_string:
        raise InputError(f"LIKE takes a text in quotes, not {as_sql(node)}.")
    return str(node.this)


def _number(node: Node) -> float | None:
    """A number as it is written; whole numbers stay whole."""
    inner = _bare(node)
    if is_a(inner, exp.Neg):
        value = _number(inner.this)
        return None if value is None else -value
    if not is_a(inner, exp.Literal) or inner.is_string:
        return None
    text = str(inner.this)
    number = int(text) if text.isdecimal() else float(text)
    if abs(number) > 1e300:
        raise InputError("A number in the query is too large.")
    return number
