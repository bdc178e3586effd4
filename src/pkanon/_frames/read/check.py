"""The names of the columns, before any value is looked at.

Every declared column must be there, nothing undeclared (unless the schema drops it), nothing twice. Names in a header are public
and may be quoted, but the first line of a file without a header is a person's row: names that the
schema does not know are repeated only when it knows most of the others, or when the caller is sure of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..._errors import DataError, did_you_mean
from .source import Source

_MOST_NAMED = 5
_VALUE = r"[+-]?[0-9]+([.,:/-][0-9]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}.*"


def check_columns(source: Source, declared: Sequence[str], *, others: str = "refuse") -> None:
    """Refuses a table whose columns are not exactly ``declared``, in any order; more are allowed if ``others`` are dropped."""
    if sorted(source.names) == sorted(declared):
        return
    check_header(source, declared)
    _refuse_other_spelling(source, declared)
    problems = absent_columns(source, declared)
    if others == "refuse" and _is_header(source, declared):
        undeclared = [name for name in source.names if name not in declared]
        problems += [
            f"Column '{name}' is not in the schema. {did_you_mean(name, declared)} "
            'Declare it; role = "drop" leaves it out, and others = "drop" all such columns.'
            for name in undeclared[:_MOST_NAMED]
        ]
        if len(undeclared) > _MOST_NAMED:
            problems.append(f"More columns are not in the schema: {len(undeclared) - _MOST_NAMED}.")
    if problems:
        raise DataError("\n".join(problems))


def _refuse_other_spelling(source: Source, declared: Sequence[str]) -> None:
    """One sentence instead of many where all names differ in capitals or blanks only."""
    if set(source.names) != set(declared) and sorted(map(_folded, source.names)) == sorted(map(_folded, declared)):
        raise DataError(
            "The names of the columns differ from the schema in capitals or blanks only; write them alike: "
            f"{', '.join(declared)}."
        )


def _folded(name: str) -> str:
    return name.strip().casefold()


def absent_columns(source: Source, columns: Sequence[str], *, header: bool = False) -> list[str]:
    """A sentence for each of ``columns`` that the table does not have; ``header`` says that its names are surely names."""
    absent = [name for name in columns if name not in source.names]
    if header or _is_header(source, columns):
        return [f"The table has no column '{name}'. {did_you_mean(name, source.names)}" for name in absent]
    if not absent:
        return []
    names = ", ".join(f"'{name}'" for name in absent)
    return [f"The table has no column {names}. Does the first line of the file name the columns?"]


def check_header(source: Source, columns: Sequence[str]) -> None:
    """Refuses a header that seems to be split at the wrong character, or that repeats or lacks a name."""
    names, file = source.names, source.text
    # Somebody who names a delimiter and no columns may well want a column called "a;b".
    expected = not columns and file is not None and file.delimiter_given
    if file is not None and file.likely_delimiter is not None and names[0] not in columns and not expected:
        mark = "\\t" if file.likely_delimiter == "\t" else file.likely_delimiter
        raise DataError(
            f"The header of {file.path} has one field, and it contains '{mark}': "
            f"pass delimiter '{mark}' (--delimiter '{mark}')."
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        known = [name for name in repeated if name in columns or source.headed is None]
        which = ", ".join(f"'{name}'" for name in known) if known else "a name"
        raise DataError(f"The columns must have different names; {which} occurs more than once.")
    if "" in names:
        raise DataError("A column has no name; name it, or leave it out if it holds the row numbers of R or pandas.")


def are_names(fields: Sequence[str]) -> bool:
    """Whether a first line may be a header: it has no number and no date, while a person's row nearly always has one."""
    return not any(re.fullmatch(_VALUE, field.strip()) for field in fields)


def _is_header(source: Source, columns: Sequence[str]) -> bool:
    """Whether the names are surely names: always in a frame, after a first line if it has most of the declared ones."""
    return source.headed is None or 2 * len(set(source.names) & set(columns)) > len(set(columns))
