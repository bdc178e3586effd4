"""From the answers of a survey to a release folder.

A closed survey is released once. A running one can be released in batches while its service is stopped: every batch holds all
answers that no batch before it held, with its own number of rows (docs/why/theory.md 9). Its rows are marked in the database before
its folder is written. If the machine fails in between, the next batch holds just these rows again, perhaps in another order,
which tells nothing new; so no two batches overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._errors import InputError, RefusedError
from .._files import check_free
from .._plan import LINKABLE, OPEN_LINK, UNLINKABLE, Collection
from .._plan import SIMULATED as MADE_UP
from .._progress import Progress
from .._release import Release, collected
from .standing import forged_row_moves, status_of
from .store import Contents, Layout, Store, next_batch, open_store
from .survey import INVITED, OPEN, SIMULATED, Survey
from .tally import answers_shown


@contextmanager
def opened(survey: Survey, database: str, *, create: bool = False, accept: Sequence[str] = ()) -> Iterator[Store]:
    """The store of a survey, as its only writer."""
    store = open_store(database, survey.plan, survey.digest, expected=survey.expected, create=create, accept=accept)
    try:
        yield store
    finally:
        store.close()


def collection_of(survey: Survey, batch: int | None) -> Collection:
    """How a survey was collected. Only a strict one keeps claims and answers apart, so only that is called unlinkable."""
    invited = UNLINKABLE if survey.strict else LINKABLE
    return Collection({OPEN: OPEN_LINK, INVITED: invited, SIMULATED: MADE_UP}[survey.mode], batch)


def release(
    survey: Survey,
    database: str,
    folder: str | Path,
    *,
    batch: bool = False,
    allow_fewer: bool = False,
    accept: Sequence[str] = (),
    format: str = "parquet",
    progress: Progress | None = None,
) -> Release:
    """Release the answers to a survey as a folder: all of a closed one, or a batch of one whose service is stopped.

    Refused: a survey that is not closed, unless a batch is asked for; a second release; fewer answers than people were promised.

    Parameters
    ----------
    survey
        The survey.
    database
        Where its answers are: ``sqlite:///answers.db`` or ``postgresql://user@host/name``.
    folder
        The folder to write, which must not exist.
    batch
        Release the answers that no batch held before, and let the survey go on.
    allow_fewer
        Accept fewer answers than expected; k is then lower than promised.
    accept
        PostgreSQL settings that give the order or the times of answers away, and are meant.
    format
        parquet, csv or both.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Smoking at work"
    ... organiser = "Institute of Health"
    ... contact = "survey@example.org"
    ... [attributes.smokes]
    ... values = ["no", "yes"]
    ... question = "Do you smoke?"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=500, k=20)
    ...     pk.collect.release(survey, "sqlite:///no-such-folder/answers.db", Path(folder, "out"))
    Traceback (most recent call last):
        ...
    pkanon._errors.InputError: The folder of no-such-folder/answers.db does not exist; create it first.
    """
    check_free(folder)
    with opened(survey, database, accept=accept) as store:
        contents = store.contents()
        final = contents.state == "closed"
        if contents.state == "released":
            raise RefusedError(
                "The answers to this survey were released already; they are randomised once and released once."
            )
        if not final and not batch:
            raise RefusedError(
                "The survey is not closed. Close it first (pkanon collect close), or release the answers so far as a batch of their "
                "own (--batch)."
            )
        if final and batch and contents.batches == 0:
            raise InputError("The survey is closed, so all of it is released; leave out --batch.")
        if not final:
            next_batch(contents.batches)
            _refuse_near(contents, survey.results_every)
        number = contents.batches + 1 if batch or contents.batches else None
        layout = Layout.of(survey.plan)
        names = [attribute.name for attribute in survey.plan.schema.randomised]
        codes = dict(zip(names, layout.columns(store.records())))
        released = collected(
            survey.plan, codes, collection=collection_of(survey, number), allow_fewer=allow_fewer, progress=progress
        )
        if not final:
            store.begin_batch()
        released.save(folder, format=format, progress=progress)
        if final:
            store.mark_released()
        else:
            store.end_batch()
        return released


def _refuse_near(contents: Contents, every: int) -> None:
    """Refuse a batch that could be compared with the results that were shown: they would differ by a few answers."""
    shown, held = answers_shown(contents.snapshot), contents.released if contents.begun else contents.count
    if shown and abs(held - shown) < every:
        raise RefusedError(
            f"Results of {shown:,} answers were shown, and there are {held:,}: whoever has both knows the answers in between. "
            f"Release a batch when they are {every} or more."
        )


def set_stored_state(
    survey: Survey,
    database: str,
    state: str,
    *,
    accept: Sequence[str] = (),
    check: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Open, pause or close a survey whose service does not run; how it stands then.

    ``check`` sees how it stands before, and may refuse.
    """
    with opened(survey, database, accept=accept) as store:
        if check is not None:
            check(_status(survey, store))
        now = store.contents().state
        if now in ("closed", "released") and state != "closed":
            raise RefusedError("The survey is closed for ever: its submission keys are erased.")
        if state == "closed" and now not in ("closed", "released"):
            store.finish()
        elif state != "closed":
            store.set_state(state)
        return _status(survey, store)


def stored_status(survey: Survey, database: str, *, accept: Sequence[str] = ()) -> dict[str, Any]:
    """How a survey stands whose service does not run."""
    with opened(survey, database, accept=accept) as store:
        return _status(survey, store)


def _status(survey: Survey, store: Store) -> dict[str, Any]:
    contents = store.contents()
    return status_of(
        survey,
        contents.state,
        accepted=contents.count,
        in_batches=contents.released,
        forged=forged_row_moves(survey.plan),
        refused={},
    )
