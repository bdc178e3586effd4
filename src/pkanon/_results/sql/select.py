"""A SELECT statement: its clauses, one by one, with sqlglot as the parser.

This reader refuses every part of a clause that it does not know: an answer never ignores a word of the query.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from ..._errors import InputError, did_you_mean
from ..._schema import Schema
from .expressions import AGGREGATES, condition, expression, labels
from .language import Aggregate, Column, Condition, Expression, Key, Order, Query, aggregates, leaves
from .names import TABLE, Names
from .nodes import is_a
from .refusals import CLAUSES, STATEMENTS, as_sql, only, refuse, sql_text

if TYPE_CHECKING:
    from .nodes import Node

_CLAUSES = ("expressions", "from", "where", "group", "having", "order", "limit", "offset")
_ANSWERED = "Only SELECT is answered"


def parse(sql: str) -> exp.Select:
    """The tree of a single SELECT."""
    if not isinstance(sql, str) or not sql.strip(" \t\r\n;"):
        raise InputError("A query is a text such as SELECT COUNT(*) FROM release.")
    first = re.match(r"[\s(]*([A-Za-z]+)", sql)
    if first and first[1].upper() not in ("SELECT", "WITH", "FROM"):
        if difflib.get_close_matches(first[1].upper(), ["SELECT"], cutoff=0.8):  # DELETE is at 0.67
            raise InputError(f"{_ANSWERED}, not {first[1].upper()}. Did you mean SELECT?")
        raise InputError(f"{_ANSWERED}, not {first[1].upper()}: a query never changes a release.")
    try:
        statements = [statement for statement in sqlglot.parse(sql, dialect="duckdb") if statement is not None]
    except sqlglot.errors.SqlglotError as error:
        raise InputError(f"The query cannot be parsed as SQL{_place(error)}.") from None
    if len(statements) != 1:
        raise InputError("Ask one query at a time: there are several statements.")
    statement = statements[0]
    if type(statement) in STATEMENTS:
        raise InputError(STATEMENTS[type(statement)])
    if not is_a(statement, exp.Select):
        raise InputError(f"{_ANSWERED}: write SELECT ... FROM {TABLE}.")
    return statement


def _place(error: sqlglot.errors.SqlglotError) -> str:
    """Where the parser stopped; its own message has colours and class names in it."""
    details = ((error.errors if isinstance(error, sqlglot.errors.ParseError) else None) or [{}])[0]
    if not details.get("line"):
        return ": a quote or a comment is left open"
    return f": line {details['line']}, near '{details.get('highlight') or 'the end'}'"


@dataclass(frozen=True)
class Reader:
    """Reads the clauses of one SELECT in the order in which they can name each other.

    ``names`` are those of WHERE, GROUP BY and SELECT: the attributes.
    """

    select: exp.Select
    clauses: Mapping[str, Any]
    names: Names

    @classmethod
    def of(cls, select: exp.Select, schema: Schema) -> Reader:
        """The reader of a SELECT; refuses clauses that cannot be answered."""
        clauses = {key.rstrip("_"): value for key, value in select.args.items() if value}
        for key in clauses:
            if key not in _CLAUSES:
                raise InputError(CLAUSES.get(key, f"{key.upper()} is not answered. Leave it out."))
        return cls(select, clauses, Names(schema, _tables(clauses.get("from"))))

    def query(self) -> Query:
        """The whole SELECT."""
        where = self.clauses.get("where")
        rows = None if where is None else condition(where.this, self.names)
        groups = self._groups()
        columns = self._columns(groups)
        aliased = replace(self.names, aliases={column.name.lower(): column.item for column in columns})
        return Query(
            columns=columns,
            groups=groups,
            where=rows,
            having=self._having(groups, aliased),
            order=self._order(columns, groups, replace(aliased, alias_first=True)),
            limit=self._whole("limit"),
            offset=self._whole("offset") or 0,
        )

    def _having(self, groups: tuple[Key, ...], names: Names) -> Condition | None:
        clause = self.clauses.get("having")
        if clause is None:
            return None
        having = condition(clause.this, names, measured=True)
        for leaf in leaves(having):
            attribute = getattr(leaf, "attribute", None)
            if attribute is not None and attribute not in groups:
                raise InputError(f"HAVING chooses groups; '{attribute}' is not in GROUP BY. Put it in WHERE.")
        return having

    def _groups(self) -> tuple[Key, ...]:
        clause = self.clauses.get("group")
        if clause is None:
            return ()
        if any(value for key, value in clause.args.items() if key != "expressions"):
            raise InputError("GROUP BY takes attributes and CASE: name them. ALL, ROLLUP and CUBE are not answered.")
        groups: dict[Key, None] = {}
        for item in clause.expressions:
            place = _position(item)
            node = self._item(place, "GROUP BY") if place is not None else item
            if is_a(node, exp.Column):
                node = self._by_alias(node)
            if is_a(node, exp.Alias):
                node = node.this
            made = labels(node, self.names)
            if made is not None:
                groups[made] = None
                continue
            if not is_a(node, exp.Column):
                raise InputError(f"GROUP BY takes attributes as they are or CASE with labels, not {as_sql(node)}.")
            groups[self.names.attribute(node.name, node.table)] = None
        return tuple(groups)

    def _by_alias(self, node: exp.Column) -> Node:
        """The attribute that SELECT gives another name; attributes of that name come first."""
        lower = node.name.lower()
        if node.table or any(lower == name.lower() for name in self.names.schema.names):
            return node
        return next((item for item in self.select.expressions if item.alias.lower() == lower), node)

    def _item(self, place: int, clause: str) -> Node:
        items: list[Node] = self.select.expressions
        if not 1 <= place <= len(items):
            raise InputError(f"{clause} {place}: SELECT has {len(items)} columns.")
        return items[place - 1]

    def _columns(self, groups: tuple[Key, ...]) -> tuple[Column, ...]:
        columns: list[Column] = []
        for item in self.select.expressions:
            inner = item.this if is_a(item, exp.Alias) else item
            if is_a(inner.this if is_a(inner, exp.Column) else inner, exp.Star):  # r.* or *
                raise _rows()
            if is_a(inner, exp.Column):
                attribute = self.names.attribute(inner.name, inner.table)
                if attribute not in groups:
                    if not groups and not any(type(node) in AGGREGATES for node in self.select.walk()):
                        raise _rows()
                    raise InputError(
                        f"'{attribute}' is in SELECT but not in GROUP BY. Put it in GROUP BY, or aggregate it."
                    )
                columns.append(Column(item.alias or attribute, attribute))
                continue
            made = labels(inner, self.names) if not any(type(node) in AGGREGATES for node in inner.walk()) else None
            if made is not None:
                if made not in groups:
                    raise InputError(
                        f"{as_sql(inner)} is in SELECT but not in GROUP BY. Put it there too, or aggregate it."
                    )
                columns.append(Column(item.alias or _case_name(inner), made))
                continue
            number = expression(inner, self.names)
            if not any(aggregates(number)):
                raise InputError(f"{as_sql(inner)} has no aggregate in it. Select COUNT(*), SUM or AVG.")
            columns.append(Column(item.alias or _default_name(number, inner), number))
        if all(isinstance(column.item, Key) for column in columns):
            raise _rows()
        return tuple(columns)

    def _order(self, columns: tuple[Column, ...], groups: tuple[Key, ...], names: Names) -> tuple[Order, ...]:
        clause = self.clauses.get("order")
        if clause is None:
            return ()
        only(clause, "expressions")
        orders = []
        for ordered in clause.expressions:
            only(ordered, "this", "desc", "nulls_first")
            place = _position(ordered.this)
            item: Key | Expression
            if place is not None:
                self._item(place, "ORDER BY")
                item = columns[place - 1].item
            elif is_a(ordered.this, exp.Column):
                alias = names.alias(ordered.this.name, ordered.this.table)
                item = names.attribute(ordered.this.name, ordered.this.table) if alias is None else alias
            else:
                item = labels(ordered.this, names.of_rows()) or expression(ordered.this, names)
            if isinstance(item, str) and item not in groups:
                able = [key for key in groups if isinstance(key, str)]
                raise InputError(f"ORDER BY '{item}': it is not in GROUP BY. {did_you_mean(item, able)}")
            if isinstance(item, Key) and item not in groups:
                raise InputError(f"ORDER BY {as_sql(ordered.this)}: it is not in GROUP BY.")
            orders.append(Order(item, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))))
        return tuple(orders)

    def _whole(self, clause: str) -> int | None:
        node = self.clauses.get(clause)
        if node is None:
            return None
        only(node, "expression")
        number = _position(node.expression)
        if number is None:
            raise InputError(f"{clause.upper()} takes a whole number, not {as_sql(node.expression)}.")
        return number


def _tables(clause: exp.From | None) -> tuple[str, ...]:
    """The names that the one table can be called by."""
    if clause is None:
        raise InputError(f"The query names no table; write FROM {TABLE}.")
    table = clause.this
    if not is_a(table, exp.Table):
        raise refuse(table)
    if table.name.lower() != TABLE or table.args.get("db") is not None:
        raise InputError(f"There is no table {as_sql(table)} here. The table is called {TABLE}: write FROM {TABLE}.")
    renamed = table.args.get("alias") is not None and table.args["alias"].columns
    for key, value in table.args.items():
        if (value and key not in ("this", "alias")) or renamed:
            raise InputError(f"FROM {TABLE} takes nothing but an alias: {as_sql(table)} cannot be answered.")
    return tuple(name.lower() for name in (TABLE, table.alias) if name)


def _rows() -> InputError:
    return InputError(
        "The query asks for rows, and a single row may be true or not. Ask for groups: SELECT sex, COUNT(*) FROM release GROUP BY sex; "
        "the rows themselves are in data.parquet."
    )


def _position(node: Node) -> int | None:
    """A whole number as it is written."""
    if is_a(node, exp.Literal) and not node.is_string and str(node.this).isdecimal():
        return int(node.this)
    return None


def _case_name(node: Node) -> str:
    """The attribute that a CASE is about, if it is about one; else its text."""
    named = {column.name for column in node.find_all(exp.Column)}
    return named.pop() if len(named) == 1 else " ".join(sql_text(node).lower().split())


def _default_name(number: Expression, node: Node) -> str:
    if isinstance(number, Aggregate) and number.where is None:
        if number.argument is None:
            return "count"
        if isinstance(number.argument, str):
            return f"{number.function}_{number.argument}"
    return " ".join(sql_text(node).lower().split())
