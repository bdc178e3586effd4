"""Options that several verbs share: each is declared once, with one meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

import pkanon as pk

from . import private

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
level_option = click.option(
    "--level", type=float, default=0.95, show_default=True, metavar="L", help="Confidence level of intervals."
)
table_option = click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="A,B",
    callback=lambda context, option, texts: read_tables(texts),
    help="A cross-tabulation whose error is predicted; repeatable.",
)


def seed_option(default: int | None, *, needs: str = "") -> Callable[[Command], Command]:
    """--seed, with one meaning in every verb; ``needs`` names the option that must go with it."""
    text = "Equal seeds give equal results; seeded rows protect nobody" + (f" (needs {needs})." if needs else ".")
    return click.option(
        "--seed", type=click.IntRange(min=0), metavar="N", default=default, show_default=default is not None, help=text
    )


def output_option(what: str, *, default: str = "") -> Callable[[Command], Command]:
    """-o for a file or a folder, which must not exist."""
    text = f"Write {what}, which must not exist" + (f" [default: {default}]." if default else ".")
    return click.option("-o", "--output", type=click.Path(), help=text)


def chart_option(what: str, *, name: str = "--chart") -> Callable[[Command], Command]:
    """--chart: a picture beside the result. A file that cannot be written is refused before anything is computed."""

    def check(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
        if path is not None:
            private.check_chart_file(path)
        return path

    text = f"Draw {what} to this file, which must not exist: .png, .svg, .pdf, .html or .json."
    return click.option(name, type=click.Path(), callback=check, help=text)


def moved_option(name: str, sentence: str) -> Callable[[Command], Command]:
    """A hidden option under a wrong name: it is refused with a sentence that names the right one."""

    def refuse(context: click.Context, option: click.Parameter, value: object) -> None:
        if value is not None:
            raise pk.InputError(sentence)

    # a flag value, so that the option is also refused where nothing follows it
    return click.option(name, hidden=True, expose_value=False, is_flag=False, flag_value="", callback=refuse)


_PLACES = {
    "sheet": ("NAME", "Sheet of a spreadsheet; needed if there are several."),
    "query": ("SQL", "What to read from a database: a table's name, or a SELECT."),
    "member": ("NAME", "File in a zip archive; needed if there are several."),
}


def table_at(path: str) -> str | pk.TableFile:
    """The table that was typed: its path alone, or with --sheet, --query or --member."""
    given = {name: click.get_current_context().meta.get(f"pkanon.{name}") for name in _PLACES}
    if path != "-" and not any(given.values()):
        return path
    return pk.TableFile(path, **given)


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    context.meta[f"pkanon.{option.name}"] = value


def text_options(command: Command) -> Command:
    """--delimiter, --encoding, --sheet, --query and --member, for verbs that read a table; see :func:`table_at`."""
    for name, (kind, text) in reversed(_PLACES.items()):
        command = click.option(f"--{name}", metavar=kind, help=text, expose_value=False, callback=_keep)(command)
    encoding = click.option("--encoding", metavar="NAME", help="Encoding of a text file [default: utf-8].")
    delimiter = click.option(
        "--delimiter", metavar="CHAR", help="Delimiter of a text file [default: comma; tab for .tsv]."
    )
    return delimiter(encoding(command))


def text_format(delimiter: str | None, encoding: str | None) -> pk.TextFormat:
    """How to read a text file."""
    return pk.TextFormat(delimiter={"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter), encoding=encoding)


caption_option = click.option("--caption", metavar="TEXT", help="In a paper: what is shown [default: said by itself].")


def paper_options(*, layout: bool = True) -> Callable[[Command], Command]:
    """--layout (if there are two), --interval and --caption: how a table for a paper is set."""

    def add(command: Command) -> Command:
        interval = click.option("--interval", is_flag=True, help="In a paper: intervals instead of standard errors.")
        command = interval(caption_option(command))
        if layout:
            text = "In a paper: rows and columns, or one row per number [default: what fits]."
            command = click.option("--layout", type=click.Choice(["cross", "long"]), help=text)(command)
        return command

    return add


def about_option(default: str) -> Callable[[Command], Command]:
    """--about, with what errors are about unless told otherwise."""
    return click.option(
        "--about",
        type=click.Choice(private.readings()),
        default=default,
        show_default=True,
        help="Errors about the people in the table, or about the population they were sampled from.",
    )


def estimate_options(command: Command) -> Command:
    """--method, --about and --level."""
    method = click.option(
        "--method",
        type=click.Choice(private.methods()),
        default="inverse",
        show_default=True,
        help="Unbiased; nearest without negative cells; most likely; or from a model of all attributes.",
    )
    return method(about_option("table")(level_option(command)))


model_file_option = click.option(
    "--model-file",
    metavar="FILE",
    type=click.Path(),
    help="Keep the model of all attributes in this file: read if it exists, written if not.",
)


def keep_model(
    opened: pk.Release,
    file: str | None,
    progress: Callable[[str, float], None],
    method: str = "model",
    weights: str | None = None,
) -> None:
    """Take the model of a release from --model-file, or fit it and keep it there."""
    if file is None:
        return
    if method != "model":
        raise pk.InputError("--model-file keeps the model of --method model; add that, or leave the file out.")
    if weights is not None:
        raise pk.InputError(
            "--model-file keeps a model in which every row counts once; leave out the file or --weights."
        )
    opened.model(file, progress=progress)


def group_options(command: Command) -> Command:
    """--merge and --missing."""
    merge = click.option(
        "--merge",
        multiple=True,
        metavar="FILE|SPEC",
        callback=lambda context, option, texts: _merged(texts),
        help="Count values together: a TOML or JSON file, or 'education:school=9th|10th,rest=*', 'age:0,15,65'; repeatable.",
    )
    missing = click.option(
        "--missing",
        type=click.Choice(["category", "exclude"]),
        default="category",
        show_default=True,
        help="Missing answers are a category, or people without an answer are left out.",
    )
    return merge(missing(command))


def _merged(texts: tuple[str, ...]) -> dict[str, Any]:
    """All merges that were typed; an attribute has one."""
    merge: dict[str, Any] = {}
    for text in texts:
        for name, rule in pk.read_merge(text).items():
            if name in merge:
                raise pk.InputError(f"--merge: '{name}' is merged twice; say it once.")
            merge[name] = rule
    return merge


missing_label_option = click.option(
    "--missing-label",
    metavar="TEXT",
    help="What stands for missing answers in CSV, JSON and Parquet [default: (missing)]; '' writes null.",
)


def label_of(typed: str | None) -> dict[str, str | None]:
    """The option for results: nothing if nothing was typed."""
    return {} if typed is None else {"missing_label": typed or None}


def read_tables(texts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Tables by the names of their attributes: 'sex,age' is one."""
    return [tuple(name.strip() for name in table.split(",")) for table in texts if table.strip()]


def is_number(text: str) -> bool:
    """Whether a text is a whole number, in the digits that people type."""
    return text.isascii() and text.isdecimal()


def typed_options() -> set[str]:
    """The parameters of this command that were typed, by their names in Python."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
