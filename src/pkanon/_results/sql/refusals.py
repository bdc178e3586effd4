"""Why some SQL is not answered, and the nearest thing that is. Keys are the names of the parser's classes."""

from __future__ import annotations

from typing import Any

from ..._errors import InputError

_ORDERED = "one randomised row can set it. Ask for a quantile: release.crosstab('{0}').quantile('{0}', {1})"
_QUANTILE = "it is no sum over people. Ask release.crosstab('{0}').quantile('{0}', 0.5), or pkanon describe"
_DEVIATION = "it is no sum over people. Ask release.crosstab('{0}').deviation('{0}'), or pkanon describe"
_QUERY = "only the table called release can be asked, in one SELECT. Ask two queries"
FUNCTIONS = {
    "Min": _ORDERED.replace("{1}", "0.01"),
    "Max": _ORDERED.replace("{1}", "0.99"),
    "Median": _QUANTILE,
    "Quantile": _QUANTILE,
    "ApproxQuantile": _QUANTILE,
    "PercentileCont": _QUANTILE,
    "PercentileDisc": _QUANTILE,
    "WithinGroup": _QUANTILE,
    "Stddev": _DEVIATION,
    "StddevPop": _DEVIATION,
    "StddevSamp": _DEVIATION,
    "Variance": _DEVIATION,
    "VariancePop": _DEVIATION,
    "Corr": "it is no sum over people. Ask release.crosstab(first, second).correlation(first, second)",
    "Distinct": "every declared value can be released, so values seen say nothing. Ask COUNT(*) with GROUP BY {0}",
    "ApproxDistinct": "every declared value can be released, so values seen say nothing. Ask COUNT(*) with GROUP BY {0}",
    "Window": "window functions run over rows, and single rows are noise. Ask with GROUP BY",
    "Subquery": _QUERY,
    "Select": _QUERY,
    "Exists": _QUERY,
}
STATEMENTS = {
    "Union": "UNION joins two queries; ask them one by one.",
    "Intersect": "INTERSECT joins two queries; ask them one by one.",
    "Except": "EXCEPT joins two queries; ask them one by one.",
}
CLAUSES = {
    "distinct": "DISTINCT is not answered: every declared value can be released. Ask COUNT(*) with GROUP BY.",
    "joins": "JOIN is not answered: released rows belong to nobody, so nothing can be joined to them. "
    "Ask one query FROM release.",
    "with": "WITH is not answered: only the table called release can be asked. Write one SELECT.",
    "windows": "Window functions run over rows, and single rows are noise. Ask with GROUP BY.",
    "qualify": "QUALIFY goes with window functions, which are not answered. Ask with GROUP BY and HAVING.",
    "into": "SELECT INTO writes a table; a query only reads. Save the answer with -o.",
}


def refuse(node: Any, where: str = "", *, whole: Any = None) -> InputError:
    """The error for a piece of SQL that is not answered; ``whole`` is what to quote if not the piece itself."""
    kind = type(node).__name__
    text = as_sql(node if whole is None else whole)
    if kind in FUNCTIONS:
        columns = [column.name for column in node.find_all(_column_type())]
        reason = FUNCTIONS[kind].format(columns[0] if columns else "age")
        return InputError(f"{text} is not answered: {reason}.")
    place = f" {where}" if where else ""
    return InputError(
        f"{text} cannot be answered{place}: aggregates and conditions take attributes as they are. "
        "Use COUNT, SUM, AVG, CASE WHEN with numbers, comparisons with constants, and + - * / between aggregates."
    )


def only(node: Any, *allowed: str) -> None:
    """Refuse a node that says more than the parts that are read: what is not read must not be ignored."""
    for key, value in node.args.items():
        if value and key.rstrip("_") not in allowed:
            raise refuse(node)


def as_sql(node: Any) -> str:
    """The text of a piece of SQL, on one line."""
    text = " ".join(written(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def written(node: Any) -> str:
    """The text of a piece of SQL; without the warnings that writing it for some database would give."""
    from sqlglot import ErrorLevel

    return str(node.sql(dialect="duckdb", comments=False, unsupported_level=ErrorLevel.IGNORE))


def _column_type() -> Any:
    from sqlglot import exp

    return exp.Column
