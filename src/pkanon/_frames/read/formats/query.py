"""What to ask a database: a table by its name, or a SELECT. Nothing else is sent to it.

A query may hold a person's value and is never repeated in a message. Names of tables are metadata and may be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...._errors import InputError, did_you_mean

_SELECT = re.compile(r"[\s(]*(select|with|values|table|from)\b", re.IGNORECASE)
_NAME = re.compile(r"[\w.$ -]{1,130}")

REFUSED = (
    "The database refuses the query: it must be one SELECT that names tables and columns of this database; try it in the "
    "database's own program."
)


def selection(query: str | None, tables: Sequence[tuple[str, ...]], where: str) -> str:
    """The SELECT for a query, or for the only table; ``tables`` are names, with the schema before them where it matters."""
    names = {".".join(parts): parts for parts in tables}
    if query is None:
        if len(names) == 1:
            return f"SELECT * FROM {identifier(*tables[0])}"
        if not names:
            raise InputError(f"{where} has no tables.")
        raise InputError(
            f"{where} has {len(names):,} tables; name one with query= (--query), or give a SELECT. "
            f"{did_you_mean('', names)}"
        )
    if query in names:
        return f"SELECT * FROM {identifier(*names[query])}"
    plain = query.strip().rstrip(";").rstrip()
    if _SELECT.match(plain):
        return plain
    if _NAME.fullmatch(plain) and len(plain.split()) == 1:
        raise InputError(f"{where} has no table '{plain}'. {did_you_mean(plain, names)}")
    raise InputError("A query is the name of a table, or one SELECT; nothing else is sent to a database.")


def within(select: str, columns: str = "*") -> str:
    """A SELECT of ``columns`` from another one; a comment at its end does no harm."""
    return f"SELECT {columns} FROM (\n{select}\n) AS pkanon_query"


def identifier(*parts: str) -> str:
    """A name, quoted."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
