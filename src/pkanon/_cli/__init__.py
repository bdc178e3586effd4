"""The command line: parsing and printing only, on top of the public interface.

One verb, one file; a verb's module is imported when it is used. Beside the verbs:

options.py  options that several verbs share;  targets.py, matrices.py  options of verbs that make a plan
reading.py  schemas and plans;  destinations.py  files and folders
spending.py  a release beside its ledger
printing.py  lines and tables;  predictions.py  plans side by side;  progress.py  the bar
private.py  the only module that imports private names
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import click

import pkanon as pk

from . import private

GROUPS = {
    "Plan and release": {
        "schema": "Draft a schema from a table.",
        "confirm": "Confirm a schema, column by column.",
        "advise": "What to drop and merge so that tables can be read.",
        "plan": "Make a plan and show what it costs, before any data.",
        "plan-for-error": "Find the k or the sample size for a standard error.",
        "release": "Randomise and shuffle a table.",
        "explain": "Explain what a plan or a release does and promises.",
        "compose": "k and epsilon of several releases of the same table.",
        "ledger": "What releases of the same people have spent.",
    },
    "Ask people": {
        "collect": "Surveys that people's own devices randomise.",
    },
    "Analyse a release": {
        "crosstab": "A corrected cross-tabulation, with errors.",
        "describe": "Means and quantiles of numeric attributes.",
        "query": "Answer a SQL query.",
        "regress": "Linear, logistic and Poisson regression.",
        "association": "Test whether two attributes are related, and how strongly.",
        "test": "Compare shares between groups, adjusted or along a trend.",
        "correlations": "Correlations of all pairs of attributes.",
        "model": "Draw rows from a model of a release.",
    },
    "Prove and hand over": {
        "report": "Write a report on a release, for people.",
        "export": "Write the rows of a release for SPSS, Stata, Excel.",
        "sign": "Sign a release folder.",
        "audit": "Run the pipeline many times against its claim.",
        "verify": "Check all that a release says of itself.",
        "attack": "Attack a release with the private table in hand.",
    },
    "Try and compare": {
        "demo": "Release the embedded table and estimate a table from it.",
        "anonymity": "The classical anonymity of a table: k, l, t, alpha.",
        "reproduce": "Run the experiments of the paper again.",
        "compare": "Compare randomisation with k-anonymisation at the same k.",
        "completion": "The shell completion script.",
    },
}
VERBS = {verb: text for verbs in GROUPS.values() for verb, text in verbs.items()}

EXIT_CODES = {
    0: "done",
    1: "a promise is not kept",
    2: "wrong input, or refused",
    3: "the environment failed, a package is missing, or a bug",
    130: "interrupted",
    143: "terminated",
}


class _Verbs(click.Group):
    """Loads a verb when it is called, so that ``pkanon --help`` and completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"pkanon._cli.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise pk.InputError(f"pkanon has no command {args[0]}.{_nearest(args[0], VERBS)} See pkanon --help.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, VERBS))
        for title, verbs in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(verb.ljust(widest), text) for verb, text in verbs.items()])


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"Exit codes: {'; '.join(f'{code} {meaning}' for code, meaning in EXIT_CODES.items())}.",
)
@click.version_option(pk.__version__, prog_name="pkanon", message="%(prog)s %(version)s")
def cli() -> None:
    """Release a table of people that anyone may have.

    Every row is randomised with exact, published probabilities and the rows are shuffled. Nobody can
    link a row to a person with more than 1/k confidence, and analysts still get unbiased statistics.

    \b
    Try it:         pkanon demo
    Your own data:  pkanon schema people.csv -o people.toml
                    pkanon confirm people.toml
                    pkanon plan people.toml --records 100000 --k 100 -o plan.json
                    pkanon release people.csv --plan plan.json -o out
    From a release: pkanon crosstab out sex age
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command, or print the help if there is none; its exit code."""
    try:
        with _terminated_politely(), warnings.catch_warnings():
            warnings.simplefilter("ignore", pk.ReadabilityWarning)  # a verb says it in words of its own
            result = cli.main(args=list(arguments) or ["--help"], prog_name="pkanon", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except pk.PkanonError as error:
        _complain(f"error: {error}")
        return error.exit_code
    except click.ClickException as error:
        _complain(f"error: {_sentence(error, arguments)}")
        return 2
    except (click.Abort, KeyboardInterrupt, _Terminated) as error:
        return _stopped(error)
    except (BrokenPipeError, SystemExit):  # click turns a closed pipe into an exit; the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that closing standard output stays quiet
        return 0
    except MemoryError:
        _complain("error: there is not enough memory for this table")
        return 3
    except OSError as error:
        # writing files raises errors of our own, so printing failed
        _complain(
            f"error: the result could not be printed: {error.strerror or 'the environment failed'}; written files are complete"
        )
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 3
    except Exception as error:
        stopped = private.interruption(error)
        if isinstance(stopped, (KeyboardInterrupt, _Terminated)):
            return _stopped(stopped)
        # A bug. The message of a foreign exception may quote a person's value, so only the place is shown.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        _complain(f"error: a bug in pkanon ({type(error).__name__} at {where}); please report it")
        return 3


def _stopped(error: BaseException) -> int:
    """Say that the command was ended from outside; its exit code."""
    word, code = ("terminated", 143) if isinstance(error, _Terminated) else ("interrupted", 130)
    _complain(f"{word}: a release or a file is either complete or absent")
    return code


def _sentence(error: click.ClickException, arguments: Sequence[str]) -> str:
    """The error in the typed command, and where to find help."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    verb = f"pkanon {arguments[0]}" if arguments[0] in VERBS else "pkanon"
    text = error.format_message().rstrip()
    if isinstance(error, click.NoSuchOption):
        text = f"{verb} has no option {error.option_name}."
        text += _nearest(error.option_name, [name for option in _visible_options(context) for name in option.opts])
    if isinstance(error, click.BadParameter) and error.param is not None:
        text += _how_to_write(text, error.param)
    return f"{text if text.endswith(('.', '?')) else text + '.'} See {verb} --help."


def _how_to_write(text: str, parameter: click.Parameter) -> str:
    """How to write the number that could not be read, if it is clear; else an example of one."""
    found = re.search(r"'([^']*)' is not a valid (?:integer|float)", text)
    if found is None:
        return ""
    typed = found[1].strip()
    whole = isinstance(parameter.type, (click.types.IntParamType, click.IntRange))
    if re.fullmatch(r"[0-9]{1,3}([, ][0-9]{3})+", typed):
        return f" Write {re.sub('[^0-9]', '', typed)}."
    if not whole and re.fullmatch(r"[0-9]+([.][0-9]+)?\s*%", typed):
        return f" Write {float(typed.rstrip('% ')) / 100:g}."
    if not whole and re.fullmatch(r"[0-9]+,[0-9]+", typed):
        return f" Write {typed.replace(',', '.')}."
    return f" Write a number such as {'3000' if whole else '0.01'}."


def _nearest(typed: str, known: Iterable[str]) -> str:
    """A did-you-mean question, if a known word is similar to the typed one."""
    import difflib

    near = difflib.get_close_matches(typed.lower(), known, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def _visible_options(context: click.Context | None) -> list[click.Option]:
    parameters = [] if context is None else context.command.get_params(context)
    return [option for option in parameters if isinstance(option, click.Option) and not option.hidden]


def _complain(line: str) -> None:
    with suppress(OSError, ValueError):
        click.echo(line, err=True)


class _Terminated(BaseException):
    """The process was asked to end: clean up as after Ctrl-C."""


@contextmanager
def _terminated_politely() -> Iterator[None]:
    """Turns SIGTERM into an exception, so that no half-written file stays behind."""

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
