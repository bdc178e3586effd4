"""The command line: parsing and printing only, on top of the public interface.

One verb, one file; a verb's module is imported when it is used. Exit codes: 0 done; 1 a promise is
not kept; 2 wrong input; 3 the environment failed, or a bug; 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import click

import pkanon as pk

VERBS = {
    "anonymity": "k of a table as classical k-anonymity counts it.",
    "association": "Are two attributes related, and how strongly?",
    "completion": "The shell completion script.",
    "compare": "Randomisation against k-anonymisation at the same k.",
    "compose": "k and epsilon of several releases of the same table.",
    "correlations": "How all pairs of attributes are related.",
    "crosstab": "A corrected cross-tabulation, with errors.",
    "demo": "The embedded table to a release and back to a table.",
    "describe": "Means and quantiles of numeric attributes.",
    "plan": "What a target costs, before any data is touched.",
    "query": "Answer a SQL query from a release.",
    "release": "Randomise and shuffle a table.",
    "reproduce": "The experiments of the paper, run again.",
    "schema": "Draft a schema from a table.",
}


class _Verbs(click.Group):
    """Loads a verb when it is called, so that ``pkanon --help`` and completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"pkanon._cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(pk.__version__, prog_name="pkanon", message="%(prog)s %(version)s")
def cli() -> None:
    """Release a table of people that anyone may have.

    Every row is randomised with exact, published probabilities and the rows are shuffled. Nobody can
    link a row to a person with more than 1/k confidence, and analysts still get unbiased statistics.

    \b
    Try it:        pkanon demo
    Your own data: pkanon schema people.csv -o people.toml
                   pkanon plan people.toml --records 100000 --k 100 -o plan.json
                   pkanon release people.csv --plan plan.json -o out
    From a release: pkanon crosstab out sex age
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit code."""
    try:
        with _terminated_politely():
            result = cli.main(args=list(arguments), prog_name="pkanon", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except pk.PkanonError as error:
        _complain(f"error: {error}")
        return error.exit_code
    except click.ClickException as error:
        _complain(f"error: {error.format_message()} Try 'pkanon --help'.")
        return 2
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted: a release or a file is either complete or absent")
        return 130
    except _Terminated:
        return 143
    except (BrokenPipeError, SystemExit):  # click turns a closed pipe into an exit; the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that closing standard output stays quiet
        return 0
    except MemoryError:
        _complain("error: there is not enough memory for this table")
        return 3
    except OSError as error:
        # files are written under guard, so what fails here is printing
        _complain(
            f"error: the result could not be printed: {error.strerror or 'the environment failed'}; what was written is complete"
        )
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 3
    except Exception as error:
        # A bug. The message of a foreign exception may quote a person's value, so only the place is shown.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        _complain(f"error: a bug in pkanon ({type(error).__name__} at {where}); please report it")
        return 3


def _complain(line: str) -> None:
    with suppress(OSError, ValueError):
        click.echo(line, err=True)


class _Terminated(BaseException):
    """The process was asked to end: clean up like after Ctrl-C."""


@contextmanager
def _terminated_politely() -> Iterator[None]:
    """Turns SIGTERM into an exception, so that nothing half-written stays behind."""

    def stop(number: int, frame: object) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
