"""From the text of a query to its records.

sqlglot, which parses it, is optional. Only the modules that read its tree (select.py, expressions.py, refusals.py)
import it, and they are imported when the first query is read.
"""

from __future__ import annotations

from ..._errors import InputError, missing_package
from ..._schema import Schema
from .language import Query


def read(sql: str, schema: Schema) -> Query:
    """The query in a SQL text; names are those of ``schema``."""
    try:
        import sqlglot  # noqa: F401  imported here so that a missing package is reported with the extra to install
    except ImportError:
        raise missing_package("Queries need the package sqlglot", "sql") from None
    from .select import Reader, parse

    try:
        return Reader.of(parse(sql), schema).query()
    except RecursionError:
        raise InputError("The query is nested too deeply.") from None
