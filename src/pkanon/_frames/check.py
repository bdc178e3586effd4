"""The names of the columns, before any value is looked at.

Every declared column must be there, nothing undeclared, nothing twice. Names in a header are public
and may be quoted, but the first line of a file without a header is a person's row: names that the
schema does not know are listed only when another one is a name that it does know.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from .._errors import DataError, did_you_mean
from .source import Source

_MOST_NAMED = 5


def check_columns(source: Source, declared: Sequence[str]) -> None:
    """Refuses a table whose columns are not exactly ``declared``, in any order."""
    check_header(source, declared)
    problems = absent_columns(source, declared)
    if _is_header(source, declared):
        undeclared = [name for name in source.names if name not in declared]
        problems += [
            f"Column '{name}' is not in the schema. {did_you_mean(name, declared)} "
            'Declare it; role = "drop" leaves it out.'
            for name in undeclared[:_MOST_NAMED]
        ]
        if len(undeclared) > _MOST_NAMED:
            problems.append(f"More columns are not in the schema: {len(undeclared) - _MOST_NAMED}.")
    if problems:
        raise DataError("\n".join(problems))


def absent_columns(source: Source, wanted: Sequence[str]) -> list[str]:
    """A sentence for each column of ``wanted`` that the table does not have."""
    absent = [name for name in wanted if name not in source.names]
    if _is_header(source, wanted):
        return [f"The table has no column '{name}'. {did_you_mean(name, source.names)}" for name in absent]
    near = {name: difflib.get_close_matches(name, source.names, n=1) for name in absent}
    problems = [
        f"The table has no column '{name}'. Did you mean '{found[0]}'?" for name, found in near.items() if found
    ]
    if unlike := [f"'{name}'" for name, found in near.items() if not found]:
        problems.append(
            f"The table has no column {', '.join(unlike)}. Does the first line of the file name the columns?"
        )
    return problems


def check_header(source: Source, wanted: Sequence[str]) -> None:
    """Refuses a header that seems to be split at the wrong character, or that repeats or lacks a name."""
    names, file = source.names, source.text
    # Somebody who names a delimiter and no columns may well want a column called "a;b".
    expected = not wanted and file is not None and file.delimiter_given
    if file is not None and file.likely_delimiter is not None and names[0] not in wanted and not expected:
        mark = "\\t" if file.likely_delimiter == "\t" else file.likely_delimiter
        raise DataError(
            f"The header of {file.path} has one field, and it contains '{mark}': "
            f"pass delimiter '{mark}' (--delimiter '{mark}')."
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        known = [name for name in repeated if name in wanted or file is None]
        which = ", ".join(f"'{name}'" for name in known) if known else "a name"
        raise DataError(f"The columns must have different names; {which} stands there more than once.")
    if "" in names:
        raise DataError("A column has no name; name it, or leave it out if it holds the row numbers of R or pandas.")


def _is_header(source: Source, wanted: Sequence[str]) -> bool:
    """Whether the names are surely names: in a frame always, in a text file if one of them is wanted."""
    folded = {name.strip().casefold() for name in source.names}
    return source.text is None or any(name.strip().casefold() in folded for name in wanted)
