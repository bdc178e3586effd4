"""Every error pkanon raises on purpose, and the one warning.

    PkanonError
    ├── InputError              wrong input; nothing was written               exit code 2
    │   ├── SchemaError         a schema that cannot be used
    │   ├── TargetError         k, epsilon or a record count that cannot be met
    │   ├── PlanError           a plan file or a hand-made plan that cannot be used
    │   ├── DataError           a table that does not fit its schema
    │   └── RefusedError        possible, but it would weaken a promise: must be asked for by name
    └── EnvironmentFailure      disk, memory, connection or package fails      exit code 3

    ReadabilityWarning          a release that is sound, but of little use; never raised

Messages are one sentence or two: what is wrong, where, and how to mend it. They name columns and
rules. They never contain a value a person entered, nor a row number, and counts of rows only if asked for.
"""

from __future__ import annotations

from collections.abc import Iterable


class PkanonError(Exception):
    """Base of every error raised on purpose."""

    exit_code = 3


class InputError(PkanonError, ValueError):
    """The input is wrong; nothing was written."""

    exit_code = 2


class SchemaError(InputError):
    """The schema cannot be used."""


class TargetError(InputError):
    """The target (k, epsilon, record count) cannot be met."""


class PlanError(InputError):
    """The plan cannot be used."""


class DataError(InputError):
    """The table does not fit its schema."""


class RefusedError(InputError):
    """Possible, but it weakens a promise and must be asked for by name."""


class EnvironmentFailure(PkanonError):
    """The disk, the memory or a connection failed, or a package is missing."""

    exit_code = 3


class ReadabilityWarning(UserWarning):
    """Most of the tables that a release is made for cannot be read."""


def interruption(error: BaseException | None) -> BaseException | None:
    """What ended the work from outside, such as Ctrl-C, if that is why ``error`` was raised.

    Python makes a RuntimeError of an interrupt that comes while a class is made, and classes are made when modules are loaded.
    """
    seen: set[int] = set()  # a chain of causes may be a ring
    while isinstance(error, Exception) and id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__
    return None if isinstance(error, Exception) else error


def missing_package(need: str, extra: str) -> EnvironmentFailure:
    """The error for a package that is not installed; ``need`` says what needs it, ``extra`` brings it."""
    return EnvironmentFailure(f'{need}: install the extra "{extra}", in a clone with pip install ".[{extra}]".')


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """The end of a sentence that names what exists and what is nearest to ``name``.

    For names out of schemas and plans only: a name is public, a person's value is not.
    """
    import difflib

    names = list(available)
    listed = ", ".join(names) if len(names) <= 12 else ", ".join(names[:12]) + ", ..."
    near = [known for known in names if known.casefold() == name.casefold()] or difflib.get_close_matches(
        name, names, n=1
    )
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"Available: {listed or 'none'}.{hint}"
