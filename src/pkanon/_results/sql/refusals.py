"""Why some SQL is not answered, and the nearest thing that is. Keys are the parser's classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import ErrorLevel, exp

from ..._errors import InputError

if TYPE_CHECKING:
    from .nodes import Node

_ORDERED = "one randomised row can set it. Ask for a quantile: release.crosstab('{0}').quantile('{0}', {1})"
_QUANTILE = "it is no sum over people. Ask release.crosstab('{0}').quantile('{0}', 0.5), or pkanon describe"
_DEVIATION = "it is no sum over people. Ask release.crosstab('{0}').deviation('{0}'), or pkanon describe"
_QUERY = "only the table called release can be asked, in one SELECT. Ask two queries"
FUNCTIONS: dict[type[Node], str] = {
    exp.Min: _ORDERED.replace("{1}", "0.01"),
    exp.Max: _ORDERED.replace("{1}", "0.99"),
    exp.Median: _QUANTILE,
    exp.Quantile: _QUANTILE,
    exp.ApproxQuantile: _QUANTILE,
    exp.PercentileCont: _QUANTILE,
    exp.PercentileDisc: _QUANTILE,
    exp.WithinGroup: _QUANTILE,
    exp.Stddev: _DEVIATION,
    exp.StddevPop: _DEVIATION,
    exp.StddevSamp: _DEVIATION,
    exp.Variance: _DEVIATION,
    exp.VariancePop: _DEVIATION,
    exp.Corr: "it is no sum over people. Ask release.crosstab(first, second).correlation(first, second)",
    exp.Distinct: "every declared value can be released, so values seen say nothing. Ask COUNT(*) with GROUP BY {0}",
    exp.ApproxDistinct: "every declared value can be released, so values seen say nothing. Ask COUNT(*) with GROUP BY {0}",
    exp.Window: "window functions run over rows, and a single row may be true or not. Ask with GROUP BY",
    exp.Subquery: _QUERY,
    exp.Select: _QUERY,
    exp.Exists: _QUERY,
}
STATEMENTS: dict[type[Node], str] = {
    exp.Union: "UNION joins two queries; ask them one by one.",
    exp.Intersect: "INTERSECT joins two queries; ask them one by one.",
    exp.Except: "EXCEPT joins two queries; ask them one by one.",
}
CLAUSES = {
    "distinct": "DISTINCT is not answered: every declared value can be released. Ask COUNT(*) with GROUP BY.",
    "joins": "JOIN is not answered: released rows belong to nobody, so nothing can be joined to them. "
    "Ask one query FROM release.",
    "with": "WITH is not answered: only the table called release can be asked. Write one SELECT.",
    "windows": "Window functions run over rows, and a single row may be true or not. Ask with GROUP BY.",
    "qualify": "QUALIFY goes with window functions, which are not answered. Ask with GROUP BY and HAVING.",
    "into": "SELECT INTO writes a table; a query only reads. Save the answer with -o.",
}


def refuse(node: Node, where: str = "", *, whole: Node | None = None) -> InputError:
    """The error for a piece of SQL that is not answered; ``whole`` is what to quote if not the piece itself."""
    text = as_sql(node if whole is None else whole)
    if type(node) in FUNCTIONS:
        columns = [column.name for column in node.find_all(exp.Column)]
        reason = FUNCTIONS[type(node)].format(columns[0] if columns else "age")
        return InputError(f"{text} is not answered: {reason}.")
    place = f" {where}" if where else ""
    return InputError(
        f"{text} cannot be answered{place}: aggregates and conditions take attributes as they are. "
        "Use COUNT, SUM, AVG, CASE WHEN with numbers, comparisons with constants, and + - * / between aggregates."
    )


def only(node: Node, *allowed: str) -> None:
    """Refuse a node that says more than the parts that are read: what is not read must not be ignored."""
    for key, value in node.args.items():
        if value and key.rstrip("_") not in allowed:
            raise refuse(node)


def as_sql(node: Node) -> str:
    """The text of a piece of SQL, on one line."""
    text = " ".join(sql_text(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def sql_text(node: Node) -> str:
    """The text of a piece of SQL; without the warnings that writing it for some database would give."""
    return str(node.sql(dialect="duckdb", comments=False, unsupported_level=ErrorLevel.IGNORE))
