"""survey.toml: a schema, and the words in which people are asked.

    [survey]
    title = "Smoking at work"                  # or one text per language: { en = "...", de = "..." }
    organiser = "Institute of Health"
    contact = "survey@example.org"
    intro = "..."                              # optional
    languages = ["en"]                         # the default
    [attributes.smokes]
    values = ["no", "yes"]
    question = "Do you smoke?"
    help = "..."                               # optional
    labels = { no = "No", yes = "Yes" }        # optional; a value stands for itself
    ask = "choice"                             # optional: choice or number

Everything else is a schema (``_schema/toml.py``). Every attribute is randomised and has a question. A question can be
left open only where ``missing = "value"`` makes no answer a value like the others; ``labels.""`` is its label. What
depends on another answer is a bundle whose impossible combinations are forbidden, so that every record has every
attribute and its shape says nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._errors import InputError, SchemaError, did_you_mean
from .._schema import PLAIN_NOTATION, Attribute, Bins, Points, Range, Schema, schema_of, value_to_text

Text = Mapping[str, str]
"""A text in every language of the survey."""

MOST_CHOICES = 200
LARGEST_NUMBER = 2**53 - 1
"""Numbers a browser reads exactly."""
LONGEST_TEXT = 4_000
NOT_SAID = {"en": "I prefer not to say", "de": "Möchte ich nicht sagen"}
"""The label of an open answer, in languages that have one here."""
_SURVEY = ("title", "intro", "organiser", "contact", "languages")
_WORDS = ("question", "help", "labels", "ask")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class Question:
    """How people are asked for one attribute.

    Parameters
    ----------
    attribute
        Its name.
    question, help
        The texts, by language.
    type
        ``choice`` from a list, or ``number``.
    labels
        What is shown for each code, by language; None for a number.
    range
        The smallest and the largest number of a number without bins.
    edges, open
        The edges of the bins that a number falls into, and the end that is open.
    optional
        Whether the question can be left open.
    """

    attribute: str
    question: Text
    help: Text | None
    type: str
    labels: tuple[Text, ...] | None
    range: tuple[int, int] | None
    edges: tuple[str, ...] | None
    open: str | None
    optional: bool


@dataclass(frozen=True)
class Questionnaire:
    """A schema and its words."""

    schema: Schema
    title: Text
    intro: Text | None
    organiser: str
    contact: str
    languages: tuple[str, ...]
    questions: tuple[Question, ...]


def read_questionnaire(path: str | Path) -> Questionnaire:
    """The questionnaire in a survey.toml."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read the survey {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SchemaError(f"The survey {path} is not UTF-8 text.") from None
    return parse_questionnaire(text, str(path))


def parse_questionnaire(text: str, source: str = "the survey") -> Questionnaire:
    """The questionnaire in a TOML text; ``source`` is what errors call it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{source} is not valid TOML: {error}.") from None
    survey = data.pop("survey", None)
    if not isinstance(survey, Mapping):
        raise SchemaError(f"{source} has no table [survey]; write one with title, organiser and contact.")
    _known(survey, _SURVEY, f"{source}, [survey]")
    languages = _languages(survey.get("languages", ["en"]))
    schema, words = _schema(data, source)
    plain = languages if len(languages) == 1 else ()
    title = _text(_needed(survey, "title"), languages, plain, "title")
    intro = None if "intro" not in survey else _text(survey["intro"], languages, plain, "intro", lines=True)
    return Questionnaire(
        schema=schema,
        title=title,
        intro=intro,
        organiser=_line(_needed(survey, "organiser"), "organiser"),
        contact=_line(_needed(survey, "contact"), "contact"),
        languages=languages,
        questions=tuple(_question(attribute, words[attribute.name], languages) for attribute in schema.attributes),
    )


def _schema(data: dict[str, Any], source: str) -> tuple[Schema, dict[str, dict[str, Any]]]:
    """The schema, and the words of each attribute."""
    tables = data.get("attributes")
    words: dict[str, dict[str, Any]] = {}
    if isinstance(tables, Mapping):
        kept: dict[str, Any] = {}
        for name, table in tables.items():
            if isinstance(table, Mapping):
                if "hierarchy" in table:
                    raise SchemaError(
                        f"attribute '{name}': a survey shows every value; write them instead of a hierarchy."
                    )
                words[name] = {key: table[key] for key in _WORDS if key in table}
                table = {key: value for key, value in table.items() if key not in _WORDS}
            kept[name] = table
        data = {**data, "attributes": kept}
    schema = schema_of(data, source)
    if rounded := [a.name for a in schema.randomised if isinstance(a.domain, Points)]:
        raise SchemaError(f"{source}: '{rounded[0]}' has points, which a questionnaire cannot ask for; declare bins.")
    if schema.drafted:
        raise SchemaError(
            f'{source} is drafted from data; a survey has no data yet. Remove drafted = true (domains = "drafted").'
        )
    if schema.others != "refuse":
        raise SchemaError(f"{source}: a survey has no columns but its questions; leave out others.")
    for attribute in schema.attributes:
        if attribute.notation != PLAIN_NOTATION:
            raise SchemaError(
                f"attribute '{attribute.name}': no text file is read, so leave out date_format, decimal and thousands."
            )
        if attribute.merged:
            raise SchemaError(
                f"attribute '{attribute.name}': people choose from the values as they are declared, so nothing is merged; leave "
                "out merge."
            )
        if attribute.role != "randomise":
            raise SchemaError(
                f"attribute '{attribute.name}': its role is '{attribute.role}', but a survey asks for nothing that is "
                "not randomised; leave it out."
            )
    return schema, words


def _question(attribute: Attribute, words: Mapping[str, Any], languages: tuple[str, ...]) -> Question:
    where = f"attribute '{attribute.name}'"
    plain = languages if len(languages) == 1 else ()
    if "question" not in words:
        raise SchemaError(f'{where}: say what people are asked, question = "...".')
    type = _type(attribute, words, where)
    help = None if "help" not in words else _text(words["help"], languages, plain, f"{where}, help", lines=True)
    return Question(
        attribute=attribute.name,
        question=_text(words["question"], languages, plain, f"{where}, question"),
        help=help,
        type=type,
        labels=_labels(attribute, words.get("labels", {}), languages, where) if type == "choice" else None,
        range=_range(attribute, where) if type == "number" else None,
        edges=_edges(attribute) if type == "number" else None,
        open=attribute.domain.open if type == "number" and isinstance(attribute.domain, Bins) else None,
        optional=attribute.missing == "value",
    )


def _type(attribute: Attribute, words: Mapping[str, Any], where: str) -> str:
    """How it is asked: as declared, else a range as a number and everything else as a list."""
    ask = words.get("ask", "choice" if "labels" in words or not isinstance(attribute.domain, Range) else "number")
    if ask not in ("choice", "number"):
        raise SchemaError(f"{where}: ask = {ask!r} is unknown; write choice or number.")
    if ask == "choice" and attribute.size > MOST_CHOICES:
        raise SchemaError(
            f"{where} has {attribute.size:,} values; at most {MOST_CHOICES} can be shown in a list. "
            'Merge values, declare bins, or write ask = "number" for numbers.'
        )
    if ask == "number":
        if not isinstance(attribute.domain, Range | Bins) or attribute.type not in ("integer", "number"):
            raise SchemaError(f'{where}: ask = "number" is for ranges and for bins of numbers.')
        if "labels" in words:
            raise SchemaError(f'{where}: labels belong to a list; write ask = "choice", or leave them out.')
        if attribute.other is not None:
            raise SchemaError(f"{where}: a number has no label for other values; leave out other, or open the bins.")
    return str(ask)


def _labels(attribute: Attribute, given: Any, languages: tuple[str, ...], where: str) -> tuple[Text, ...]:
    if not isinstance(given, Mapping):
        raise SchemaError(f'{where}: write labels = {{ value = "what is shown" }}.')
    values = ["" if label is None else value_to_text(label) for label in attribute.labels()]
    if "" in given and "" not in values:
        raise SchemaError(
            f'{where}: labels."" is how no answer is shown; write missing = "value" beside it, or leave it out.'
        )
    _known(given, values, f"{where}, labels")
    labels = []
    for value in values:
        if value in given:
            labels.append(_text(given[value], languages, languages, f"{where}, labels"))
        elif value:
            labels.append(dict.fromkeys(languages, value))
        else:
            absent = [language for language in languages if language.partition("-")[0] not in NOT_SAID]
            if absent:
                raise SchemaError(f'{where}: say how no answer is shown in the language {absent[0]}, labels."" = ...')
            labels.append({language: NOT_SAID[language.partition("-")[0]] for language in languages})
    for language in languages:
        shown = [label[language] for label in labels]
        if len(set(shown)) != len(shown):
            raise SchemaError(f"{where}: two values have the same label in the language {language}.")
    return tuple(labels)


def _range(attribute: Attribute, where: str) -> tuple[int, int] | None:
    if not isinstance(attribute.domain, Range):
        return None
    low, high = attribute.domain.low, attribute.domain.high
    if max(abs(low), abs(high)) > LARGEST_NUMBER:
        raise SchemaError(f"{where}: numbers beyond 2^53 are not exact in a browser; choose a smaller range.")
    return low, high


def _edges(attribute: Attribute) -> tuple[str, ...] | None:
    if not isinstance(attribute.domain, Bins):
        return None
    return tuple(value_to_text(edge) for edge in attribute.domain.edges)


def _languages(given: Any) -> tuple[str, ...]:
    known = isinstance(given, list) and all(isinstance(name, str) and _LANGUAGE.fullmatch(name) for name in given)
    if not known or not given or len(set(given)) != len(given):
        raise SchemaError('[survey]: languages is a list of different language tags, such as ["en", "de"].')
    return tuple(given)


def _text(
    given: Any, languages: Sequence[str], plain: Sequence[str], where: str, *, lines: bool = False
) -> dict[str, str]:
    """A text in every language; one text alone stands for the languages ``plain``."""
    if not isinstance(given, Mapping):
        if not plain:
            raise SchemaError(f"{where}: the survey has several languages; write {{ {languages[0]} = ..., ... }}.")
        return {language: _line(given, where, lines=lines) for language in plain}
    for language in given:
        if language not in languages and _LANGUAGE.fullmatch(language):
            listed = ", ".join(f'"{name}"' for name in (*languages, language))
            raise SchemaError(
                f"{where}: the language {language} is not one of the survey's; write languages = [{listed}] in [survey], or leave "
                "its text out."
            )
    _known(given, languages, where)
    for language in languages:
        if language not in given:
            raise SchemaError(f"{where}: the text in the language {language} is absent.")
    return {language: _line(given[language], where, lines=lines) for language in languages}


def _needed(survey: Mapping[str, Any], key: str) -> Any:
    if key not in survey:
        raise SchemaError(f'[survey] has no {key}; people are told it: write {key} = "...".')
    return survey[key]


def _line(given: Any, where: str, *, lines: bool = False) -> str:
    text = given.strip() if isinstance(given, str) else ""
    shown = text.replace("\n", "") if lines else text
    if not text or not shown.isprintable() or len(text) > LONGEST_TEXT:
        kind = "a text" if lines else "a text on one line"
        raise SchemaError(f"{where}: write {kind} of 1 to {LONGEST_TEXT:,} characters.")
    return text


def _known(table: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise SchemaError(f"{where}: '{key}' is unknown. {did_you_mean(key, keys)}")
