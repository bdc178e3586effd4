"""Why a task failed, as a word that survives Spark's own wording of errors, and what the user is told.

The text of an error of Spark may quote values of the table. It is searched for these words and never shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ..._errors import DataError, EnvironmentFailure, InputError, PkanonError

P = ParamSpec("P")
T = TypeVar("T")

CHANGED, TIED, ALONE, OTHER_VERSION, UNREADABLE, FORBIDDEN, FOREIGN = (
    f"pkanon-task-{word}"
    for word in ("changed", "tied", "alone", "other-version", "unreadable", "forbidden", "foreign")
)

_SENTENCES: dict[str, PkanonError] = {
    CHANGED: DataError(
        "The table had other rows, or rows in another order, when Spark read it again; write it to files first, "
        "and release what spark.read gives of them."
    ),
    ALONE: EnvironmentFailure(
        "An executor cannot reach the driver; open a port between them and name it (key_port=, --key-port)."
    ),
    OTHER_VERSION: EnvironmentFailure(
        "The executors have another version of pkanon than the driver; install the same one."
    ),
    UNREADABLE: DataError("The table cannot be converted to polars columns."),
    FORBIDDEN: DataError("Some rows hold a combination that the schema forbids; correct them or change 'forbid'."),
    FOREIGN: DataError(
        "Some rows hold a value that the schema does not list; this table was not released with this plan."
    ),
    "MALFORMED_": DataError(
        "Some lines of the file have too few or too many fields, or quotes out of their place; correct the file."
    ),
    "PATH_NOT_FOUND": InputError("There is no such file."),
    "No module named": EnvironmentFailure(
        "The executors lack a package; install pkanon with its extra 'spark' for the Python of the executors "
        "(PYSPARK_PYTHON)."
    ),
}


class Failure(RuntimeError):
    """A task gives up; the text is one of the marks."""


class Tied(Exception):
    """Rows have equal order words; they need one more."""


def watched(message: str, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``action`` returns; what Spark raises becomes an error of ours, unchained. ``message`` is for what is not known."""
    failure: Exception = EnvironmentFailure(message)
    try:
        return action(*args, **kwargs)
    except PkanonError:
        raise
    except Exception as error:
        failure = _translated(str(error)) or failure
    raise failure


def _translated(text: str) -> Exception | None:
    if TIED in text:
        return Tied()
    return next((type(told)(str(told)) for mark, told in _SENTENCES.items() if mark in text), None)


def classic(df: Any) -> Any:
    """The frame, if it is one of classic PySpark; else refused."""
    module = type(df).__module__
    if module.startswith("pyspark.sql.connect"):
        raise InputError(
            "The frame belongs to Spark Connect, which hides the driver; use a session with a master of its own."
        )
    if not module.startswith("pyspark.sql") or not hasattr(df, "mapInArrow"):
        raise InputError(f"A Spark DataFrame is needed, not an object of type {type(df).__name__}.")
    return df
