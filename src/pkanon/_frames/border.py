"""The border: what other libraries raise never gets further than here.

polars, pyarrow, duckdb, zlib and the codecs quote values of the data in their messages, and a chained
exception keeps the message even when ours does not repeat it. So every call that can meet a
person's value goes through :func:`guarded`. What comes out is an error of ours with no cause and no
context: it is raised *after* the ``except`` block has ended, not inside it.

The same holds for what we write ourselves: messages name columns and rules, never a value and never a
row number. They say "some rows": how many is a count of the private table, which whoever wrote the
schema may have asked for. The custodian gets the number with ``exact_counts``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

import polars as pl

from .._errors import DataError, EnvironmentFailure, PkanonError, interruption

P = ParamSpec("P")
T = TypeVar("T")

# A panic of polars is a BaseException; its text may quote a value like any other.
FOREIGN: tuple[type[BaseException], ...] = (Exception, pl.exceptions.PanicException)


class Unreadable(DataError):
    """A reader gave up. Raised and caught inside this package: who catches it finds out why."""


def guarded(message: str, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``action`` returns; whatever it raises becomes a :class:`DataError`, unchained."""
    return guarded_as(DataError, message, action, *args, **kwargs)


def guarded_as(kind: type[PkanonError], message: str, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``action`` returns; whatever it raises becomes ``kind(message)``, unchained.

    Errors of ours pass unchanged, and so does an interrupt. Memory and the operating system are not the table's fault and
    become an :class:`EnvironmentFailure`.
    """
    failure: BaseException = kind(message)
    try:
        return action(*args, **kwargs)
    except PkanonError:
        raise
    except MemoryError:
        failure = EnvironmentFailure("There is not enough memory for this table.")
    except OSError as error:
        # A number means the operating system; polars and gzip raise OSError without one for damaged content.
        if error.errno is not None and error.strerror:
            failure = EnvironmentFailure(f"The operating system failed: {error.strerror}.")
    except FOREIGN as error:
        stopped = interruption(error)
        if stopped is not None and not isinstance(stopped, FOREIGN):
            failure = stopped
    raise failure


def guarded_steps(kind: type[PkanonError], message: str, steps: Iterator[T]) -> Iterator[T]:
    """The items of ``steps``, each fetched under :func:`guarded_as`."""
    while (item := guarded_as(kind, message, _next, steps)) is not None:
        yield item


def _next(steps: Iterator[T]) -> T | None:
    return next(steps, None)


def rows(count: int, verb: str = "hold", *, exact: bool = False) -> str:
    """The start of a sentence: "some rows hold"; if ``exact``, "1 row holds" or "12 rows hold"."""
    if not exact:
        return f"some rows {verb}"
    if count == 1:
        return f"1 row {'has' if verb == 'have' else verb + 's'}"
    return f"{count:,} rows {verb}"
