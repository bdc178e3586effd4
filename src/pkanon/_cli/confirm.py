"""pkanon confirm: a person says, column by column, that a schema is public, complete and meant.

Questions go to standard error. Nothing is written before the last answer, and then the whole file at once.
"""

from __future__ import annotations

import datetime as dt
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

import pkanon as pk

from . import private
from .options import json_option
from .printing import note, print_json, say
from .reading import refuse_other_kinds

if TYPE_CHECKING:
    from .private import Confirmed, SchemaFile

MOST_LISTED = 200
"""A list of values is shown whole up to this length: any of them may be one that must not be published."""
FIRST, LAST = 6, 2
"""Of bins, ranges and longer lists only these are shown."""
NO_TERMINAL = (
    "pkanon confirm asks questions, and this is no terminal; answer them with --by, --rows-are and --yes, and --role for columns "
    "without a role."
)


@dataclass
class Answers:
    """What was decided: another role for a column, and the id of which one row per person is drawn."""

    roles: dict[str, str] = field(default_factory=dict)
    drawn: str | None = None


@click.command()
@click.argument("schema", type=click.Path())
@click.option("--by", metavar="NAME", help="Who confirms: a name, an office.")
@click.option("--on", metavar="DATE", help="When [default: today].")
@click.option("--rows-are", metavar="TEXT", help="What the rows are: persons, visits, households ...")
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="NAME=ROLE",
    help="Give a column another role: drop, id, pass or randomise; repeatable.",
)
@click.option("--one-at-random", "drawn", metavar="NAME", help="An id that repeats: draw one row of each person.")
@click.option("--one-row-each", is_flag=True, help="Nobody has several rows, although a draft found signs of it.")
@click.option("--yes", is_flag=True, help="Ask nothing: everything in the file is public, complete and meant.")
@json_option
def command(
    schema: str,
    by: str | None,
    on: str | None,
    rows_are: str | None,
    roles: tuple[str, ...],
    drawn: str | None,
    one_row_each: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Confirm SCHEMA: its values are public knowledge and complete, whoever is in the data.

    Asks about every column and what a row is, shows what will be published, and writes it into the file: [confirmed] with by,
    on and rows_are. This is a person's statement; certificates repeat it. Unless every question is answered, the file stays as
    it is.

    \b
    Examples: pkanon confirm people.toml
              pkanon confirm people.toml --by "J. Doe, data office" --rows-are persons --yes
    """
    refuse_other_kinds(schema)
    file = private.schema_file(schema)
    answers = _typed(file, roles, drawn)
    if yes:
        if by is None or rows_are is None:
            raise pk.InputError("--yes asks nothing, so say who confirms and what the rows are: --by and --rows-are.")
        open_columns = [column.name for column in file.schema.undecided if column.name not in answers.roles]
        if open_columns:
            raise pk.SchemaError(
                f"Nobody has given a role to {', '.join(open_columns)}; say --role NAME=drop (or id, pass, randomise) for each, or "
                "--one-at-random NAME for an id that repeats."
            )
        if not one_row_each:
            _refuse_forgotten_persons(file, answers)
        _refuse_rare_values(file, answers)
    elif sys.stdin is None or not sys.stdin.isatty():
        raise pk.InputError(NO_TERMINAL)
    try:
        if not yes:
            _ask_columns(file, answers)
            rows_are = rows_are or _ask_rows(file, answers)
            by = by or _ask("Who confirms this (a name, an office)")
        assert by is not None  # else it was asked for
        assert rows_are is not None
        confirmed = file.confirmed(by, rows_are, on or dt.date.today().isoformat(), answers.roles, answers.drawn)
        if not yes:
            for line in _published(confirmed.schema):
                _tell(line)
            if not _agreed(f"Write this confirmation into {schema}?"):
                raise _Unchanged("You did not agree to what will be published.")
        confirmed.write()
    except _Unchanged as error:
        raise pk.RefusedError(f"{error} Nothing was confirmed, and {schema} is unchanged.") from None
    except (click.Abort, KeyboardInterrupt):
        note(f"nothing was confirmed, and {schema} is unchanged.", kind="\nnote")
        raise
    _report(confirmed, schema, as_json)


class _Unchanged(Exception):
    """An answer that ends the questions; its sentence says which."""


def _typed(file: SchemaFile, roles: tuple[str, ...], drawn: str | None) -> Answers:
    """The roles that were typed as options."""
    answers = Answers(drawn=drawn)
    for text in roles:
        name, _, role = text.rpartition("=")
        if not name or role not in ("drop", "id", "pass", "randomise"):
            raise pk.InputError("Write --role NAME=ROLE, with the role drop, id, pass or randomise.")
        answers.roles[name] = role
    if drawn is not None:
        answers.roles[drawn] = "id"
    for name in answers.roles:
        file.schema.attribute(name)
    return answers


def _refuse_forgotten_persons(file: SchemaFile, answers: Answers) -> None:
    """Where a draft found persons with several rows, a script must say what became of them."""
    for sentence in file.forgotten(_ids(file, answers)):
        raise pk.SchemaError(
            f"The draft says: {sentence} No id answers for that now. Say --one-at-random NAME for the column that identifies persons, "
            "or --one-row-each if nobody has several rows, or answer the questions without --yes."
        )


def _refuse_rare_values(file: SchemaFile, answers: Answers) -> None:
    """Where a draft lists values of a few rows, a script must name the column: they may be a remark or point to a person."""
    unanswered = [name for name in file.rare_values if name not in answers.roles]
    if unanswered:
        raise pk.SchemaError(
            f"The draft lists values that few rows hold, for which --yes does not answer: {', '.join(unanswered)}. Say --role "
            "NAME=randomise if the list is public, or --role NAME=drop; or correct the list, and take out its line drafted = true."
        )


def _ids(file: SchemaFile, answers: Answers) -> list[str]:
    """The columns that identify persons."""
    return [a.name for a in file.schema.attributes if answers.roles.get(a.name, a.role) == "id"]


def _ask_columns(file: SchemaFile, answers: Answers) -> None:
    """Every column, in order, with what a draft found; what is dropped already is only told."""
    schema = file.schema
    for of, sentence in file.findings:
        if of is None:
            _tell(f"The draft says: {sentence}")
    asked = [attribute for attribute in schema.attributes if attribute.role != "drop"]
    for number, attribute in enumerate(asked, 1):
        if attribute.name in answers.roles:
            continue
        _tell("")
        _tell(f"{number} of {len(asked)}: {attribute.name}")
        for of, sentence in file.findings:
            if of == attribute.name:
                _tell(f"  The draft says: {sentence}")
        if attribute.role == "undecided":
            _ask_role(attribute, answers)
        role = answers.roles.get(attribute.name, attribute.role)
        {"randomise": _ask_values, "id": _ask_id, "pass": _ask_passed, "drop": _ask_nothing}[role](attribute, answers)
    if dropped := [attribute.name for attribute in schema.attributes if attribute.role == "drop"]:
        _tell("")
        _tell(f"Dropped, as the file says: {', '.join(dropped)}.")


def _ask_nothing(attribute: pk.Attribute, answers: Answers) -> None:
    """A dropped column leaves no question."""


def _ask_role(attribute: pk.Attribute, answers: Answers) -> None:
    _tell(
        "  Nobody has given it a role. drop: it is not released. id: it identifies the person; it is not released either."
    )
    _tell("  pass: it is released as it is, and nobody is protected.")
    choices = ["drop", "id", "pass"]
    if attribute.domain is not None:
        _tell("  randomise: it is released, randomised, with the values below.")
        choices.append("randomise")
    else:
        _tell("  To randomise it, write its values into the file first.")
    answers.roles[attribute.name] = click.prompt("  Its role", type=click.Choice(choices), default="drop", err=True)


def _ask_values(attribute: pk.Attribute, answers: Answers) -> None:
    _tell(f"  {_values(attribute)}")
    if attribute.drafted:
        _tell("  These values were read off the data by a draft.")
    if not _agreed("  Would you list these values without having seen this table: are they public knowledge?"):
        if not _agreed("  Then they must not be published. Drop the column?"):
            raise _Unchanged(
                f"The values of '{attribute.name}' are not public; correct them in the file, and start again."
            )
        answers.roles[attribute.name] = "drop"
        return
    if attribute.other is None and not _agreed("  Are they complete: is every value listed that anybody could have?"):
        raise _Unchanged(
            f"The values of '{attribute.name}' are not complete; add the others to the file, or other = \"...\" for all of them, "
            "and start again."
        )


def _ask_id(attribute: pk.Attribute, answers: Answers) -> None:
    _tell("  Identifies the person, and is not released.")
    if not _agreed("  Does each of its values stand for one person, not for a case, a visit or a form?"):
        if not _agreed("  Then it shows nothing about persons. Drop the column?"):
            raise _Unchanged(
                f"'{attribute.name}' is the id and does not identify persons; correct its role, and start again."
            )
        answers.roles[attribute.name] = "drop"
    elif answers.drawn is None and attribute.repeats == "refuse":
        _tell("  If a person has several rows, the table is refused, unless one row of each person is drawn at random.")
        if _agreed("  Can a person have several rows, and is one of them to be drawn at random?"):
            answers.roles[attribute.name] = "id"
            answers.drawn = attribute.name


def _ask_passed(attribute: pk.Attribute, answers: Answers) -> None:
    _tell("  Released as it is: the certificate will claim nothing.")
    if not _agreed("  Is that meant?"):
        if not _agreed("  Drop the column?"):
            raise _Unchanged(
                f"'{attribute.name}' is neither to be released as it is nor dropped; change its role in the file."
            )
        answers.roles[attribute.name] = "drop"


def _ask_rows(file: SchemaFile, answers: Answers) -> str:
    _tell("")
    rows_are = _ask("What is one row of the table? Rows are (persons, visits, households ...)", file.rows_are)
    ids = _ids(file, answers)
    forgotten = file.forgotten(ids)
    if not ids:
        _tell("  No column identifies persons, so nothing can check that a person has one row only.")
    for sentence in forgotten:
        _tell(f"  The draft says: {sentence}")
    if forgotten or not ids:
        _tell("  To somebody with g rows, epsilon is g times as large, and k promises nothing.")
        if not _agreed("  Are you sure that nobody has more than one row?"):
            raise _Unchanged(
                "Persons may have several rows; name the column that identifies them (role id) in the file, or make one row per "
                "person."
            )
    return rows_are


def _published(schema: pk.Schema) -> list[str]:
    """What everybody will see: names, numbers of values, first labels; and what the certificate will say."""
    lines = ["", "This will be published:"]
    for attribute in schema.attributes:
        if attribute.role == "randomise":
            lines.append(f"  {attribute.name}: {_values(attribute)}")
        elif attribute.role == "pass":
            lines.append(f"  {attribute.name}: every value as it is; the certificate will claim nothing")
    unseen = [attribute.name for attribute in schema.attributes if attribute.role in ("id", "drop")]
    if unseen:
        lines.append(f"Not published but for their names: {', '.join(unseen)}.")
    if schema.repeating is not None:
        lines.append(f"One row of each value of '{schema.repeating.name}', drawn at random.")
    lines.append(
        f"The certificate will say: confirmed by {schema.confirmed_by} ({schema.confirmed_on}); the rows are declared to be"
    )
    lines[-1] += f' "{schema.rows_are}".'
    return lines


def _values(attribute: pk.Attribute) -> str:
    text = f"{attribute.size:,} values: {_listing(attribute.labels(), attribute.size, whole=_is_list(attribute))}"
    raw = [value for members in attribute.merge.values() for value in members]
    if raw:
        text += f"; merged into them, and published in the plan: {_listing(iter(raw), len(raw), whole=True)}"
    return text


def _is_list(attribute: pk.Attribute) -> bool:
    """Whether every value was written down, and does not follow from a rule as bins and ranges do."""
    return "values" in attribute.to_json()


def _listing(labels: Iterator[object], size: int, *, whole: bool) -> str:
    """All labels, or the first and the last of them."""
    if size <= (MOST_LISTED if whole else FIRST + LAST):
        return ", ".join(map(_label, labels))
    first = [_label(label) for label in itertools.islice(labels, FIRST)]
    last = [_label(label) for label in itertools.islice(labels, size - FIRST - LAST, None)]
    return f"{', '.join(first)}, ... {size - FIRST - LAST:,} more ..., {', '.join(last)}"


def _label(label: object) -> str:
    return "(missing)" if label is None else str(label)


def _report(confirmed: Confirmed, path: str, as_json: bool) -> None:
    schema = confirmed.schema
    if as_json:
        print_json(
            {
                "file": path,
                "confirmed": {"by": schema.confirmed_by, "on": schema.confirmed_on, "rows_are": schema.rows_are},
                "columns": {attribute.name: attribute.role for attribute in schema.attributes},
                "one_at_random": None if schema.repeating is None else schema.repeating.name,
                "comments_kept": confirmed.kept,
            }
        )
    else:
        columns = len(schema.randomised)
        say(f"Confirmed {path}: {columns} column{'s' * (columns != 1)} to randomise, by {schema.confirmed_by}.")
    if not any(attribute.role == "id" for attribute in schema.attributes):
        note(
            "no column identifies persons, so nothing checks that nobody has several rows; the certificate will say so."
        )
    if schema.repeating is not None and (schema.rows_are or "").casefold() in ("persons", "people", "patients"):
        note(
            "one row of each person is drawn, so rows are hardly persons; certificates will repeat the word. --rows-are says what a "
            "row is, such as visits."
        )
    if not confirmed.kept:
        note(f"{path} was written anew: its comments are gone.")


def _ask(question: str, default: str | None = None) -> str:
    answer: str = click.prompt(question, default=default, err=True)
    return answer.strip()


def _agreed(question: str) -> bool:
    """Yes or no; there is no default, so that nobody agrees by leaning on a key."""
    return click.confirm(question, default=None, err=True)


def _tell(line: str) -> None:
    click.echo(line, err=True)
