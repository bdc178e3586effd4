"""A SELECT statement: its clauses, one by one, with sqlglot as the parser.

Whatever a clause says and this reader does not know is refused: an answer never ignores a word of the query.
"""

from __future__ import annotations

import re
from typing import Any

from ..._errors import EnvironmentFailure, InputError, did_you_mean
from ..._schema import Schema
from .expressions import condition, expression
from .language import Aggregate, Column, Expression, Order, Query, aggregates, leaves
from .names import TABLE, Names
from .refusals import CLAUSES, STATEMENTS, as_sql, only, refuse, written

_CLAUSES = ("expressions", "from", "where", "group", "having", "order", "limit", "offset")
_ANSWERED = "Only SELECT is answered"


def read(sql: str, schema: Schema) -> Query:
    """The query in a SQL text; names are those of ``schema``."""
    try:
        return _Reader(_parsed(sql), schema).query()
    except RecursionError:
        raise InputError("The query is nested too deeply.") from None


def _parsed(sql: str) -> Any:
    try:
        import sqlglot
    except ImportError:
        raise EnvironmentFailure("Queries need the package sqlglot; install pkanon[sql].") from None
    if not isinstance(sql, str) or not sql.strip(" \t\r\n;"):
        raise InputError("A query is a text such as SELECT COUNT(*) FROM release.")
    first = re.match(r"[\s(]*([A-Za-z]+)", sql)
    if first and first[1].upper() not in ("SELECT", "WITH", "FROM"):
        raise InputError(f"{_ANSWERED}, not {first[1].upper()}: a release is not changed by asking.")
    try:
        found = [statement for statement in sqlglot.parse(sql, dialect="duckdb") if statement is not None]
    except sqlglot.errors.SqlglotError as error:
        raise InputError(f"The query is not SQL that can be read{_place(error)}.") from None
    if len(found) != 1:
        raise InputError("Ask one query at a time: there are several statements.")
    statement = found[0]
    kind = type(statement).__name__
    if kind in STATEMENTS:
        raise InputError(STATEMENTS[kind])
    if kind != "Select":
        raise InputError(f"{_ANSWERED}: write SELECT ... FROM {TABLE}.")
    return statement


def _place(error: Any) -> str:
    """Where the parser stopped; its own message has colours and names of classes in it."""
    details = (getattr(error, "errors", None) or [{}])[0]
    if not details.get("line"):
        return ": a quote or a comment is left open"
    return f": line {details['line']}, near '{details.get('highlight') or 'the end'}'"


class _Reader:
    """Reads the clauses of one SELECT in the order in which they can name each other."""

    def __init__(self, select: Any, schema: Schema) -> None:
        self.select = select
        self.clauses = {key.rstrip("_"): value for key, value in select.args.items() if value}
        self.names = Names(schema)

    def query(self) -> Query:
        for key in self.clauses:
            if key not in _CLAUSES:
                raise InputError(CLAUSES.get(key, f"{key.upper()} is not answered. Leave it out."))
        self._table()
        where = self.clauses.get("where")
        chosen = None if where is None else condition(where.this, self.names)
        groups = self._groups()
        columns = self._columns(groups)
        self.names.aliases = {column.name.lower(): column.item for column in columns}
        having = self.clauses.get("having")
        kept = None if having is None else condition(having.this, self.names, measured=True)
        for leaf in leaves(kept):
            attribute = getattr(leaf, "attribute", None)
            if attribute is not None and attribute not in groups:
                raise InputError(f"HAVING chooses groups; '{attribute}' is not in GROUP BY. Put it in WHERE.")
        self.names.alias_first = True
        return Query(
            columns=columns,
            groups=groups,
            where=chosen,
            having=kept,
            order=self._order(columns, groups),
            limit=self._whole("limit"),
            offset=self._whole("offset") or 0,
        )

    def _table(self) -> None:
        clause = self.clauses.get("from")
        if clause is None:
            raise InputError(f"Say what is asked: FROM {TABLE}.")
        table = clause.this
        if type(table).__name__ != "Table":
            raise refuse(table)
        if table.name.lower() != TABLE or table.args.get("db") is not None:
            raise InputError(
                f"There is no table {as_sql(table)} here. The table is called {TABLE}: write FROM {TABLE}."
            )
        renamed = table.args.get("alias") is not None and table.args["alias"].columns
        for key, value in table.args.items():
            if (value and key not in ("this", "alias")) or renamed:
                raise InputError(f"FROM {TABLE} takes nothing but an alias: {as_sql(table)} cannot be answered.")
        self.names.tables = tuple(name.lower() for name in (TABLE, table.alias) if name)

    def _groups(self) -> tuple[str, ...]:
        clause = self.clauses.get("group")
        if clause is None:
            return ()
        if any(value for key, value in clause.args.items() if key != "expressions"):
            raise InputError("GROUP BY takes attributes: name them. ALL, ROLLUP and CUBE are not answered.")
        found: dict[str, None] = {}
        for item in clause.expressions:
            place = _position(item)
            chosen = self._item(place, "GROUP BY") if place is not None else item
            if type(chosen).__name__ == "Column":
                chosen = self._by_alias(chosen)
            if type(chosen).__name__ == "Alias":
                chosen = chosen.this
            if type(chosen).__name__ != "Column":
                raise InputError(f"GROUP BY takes attributes as they are, not {as_sql(chosen)}.")
            found[self.names.attribute(chosen.name, chosen.table)] = None
        return tuple(found)

    def _by_alias(self, node: Any) -> Any:
        """The attribute that SELECT gives another name; attributes of that name come first."""
        lower = node.name.lower()
        if node.table or any(lower == name.lower() for name in self.names.schema.names):
            return node
        return next((item for item in self.select.expressions if item.alias.lower() == lower), node)

    def _item(self, place: int, clause: str) -> Any:
        items = self.select.expressions
        if not 1 <= place <= len(items):
            raise InputError(f"{clause} {place}: SELECT has {len(items)} columns.")
        return items[place - 1]

    def _columns(self, groups: tuple[str, ...]) -> tuple[Column, ...]:
        columns: list[Column] = []
        for item in self.select.expressions:
            inner = item.this if type(item).__name__ == "Alias" else item
            column = type(inner).__name__ == "Column"
            if type(inner.this if column else inner).__name__ == "Star":  # r.* or *
                raise _rows()
            if column:
                attribute = self.names.attribute(inner.name, inner.table)
                if attribute not in groups:
                    if not groups and not any(node.key in ("count", "sum", "avg") for node in self.select.walk()):
                        raise _rows()
                    raise InputError(
                        f"'{attribute}' is in SELECT but not in GROUP BY. Put it in GROUP BY, or aggregate it."
                    )
                columns.append(Column(item.alias or attribute, attribute))
                continue
            found = expression(inner, self.names)
            if not any(aggregates(found)):
                raise InputError(f"{as_sql(inner)} has no aggregate in it. Select COUNT(*), SUM or AVG.")
            columns.append(Column(item.alias or _default_name(found, inner), found))
        if all(isinstance(column.item, str) for column in columns):
            raise _rows()
        return tuple(columns)

    def _order(self, columns: tuple[Column, ...], groups: tuple[str, ...]) -> tuple[Order, ...]:
        clause = self.clauses.get("order")
        if clause is None:
            return ()
        only(clause, "expressions")
        found = []
        for ordered in clause.expressions:
            only(ordered, "this", "desc", "nulls_first")
            place = _position(ordered.this)
            item: str | Expression
            if place is not None:
                self._item(place, "ORDER BY")
                item = columns[place - 1].item
            elif type(ordered.this).__name__ == "Column":
                known = self.names.alias(ordered.this.name, ordered.this.table)
                item = self.names.attribute(ordered.this.name, ordered.this.table) if known is None else known
            else:
                item = expression(ordered.this, self.names)
            if isinstance(item, str) and item not in groups:
                raise InputError(f"ORDER BY '{item}': it is not in GROUP BY. {did_you_mean(item, groups)}")
            found.append(Order(item, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))))
        return tuple(found)

    def _whole(self, clause: str) -> int | None:
        node = self.clauses.get(clause)
        if node is None:
            return None
        only(node, "expression")
        number = _position(node.expression)
        if number is None:
            raise InputError(f"{clause.upper()} takes a whole number, not {as_sql(node.expression)}.")
        return number


def _rows() -> InputError:
    return InputError(
        "The query asks for rows, and single rows are noise. Ask for groups: SELECT sex, COUNT(*) FROM release GROUP BY sex; "
        "the rows themselves are in data.parquet."
    )


def _position(node: Any) -> int | None:
    """A whole number as it is written."""
    if type(node).__name__ == "Literal" and not node.is_string and str(node.this).isdecimal():
        return int(node.this)
    return None


def _default_name(found: Expression, node: Any) -> str:
    if isinstance(found, Aggregate) and found.where is None:
        if found.argument is None:
            return "count"
        if isinstance(found.argument, str):
            return f"{found.function}_{found.argument}"
    return " ".join(written(node).lower().split())
