"""Does a column hold what is written about single people: names, remarks, addresses, numbers to call?

Its name may say so, or its values: an e-mail address or a title before a name in one of them is enough,
because one is enough to name somebody. Texts that few rows share are taken for free text, or for something
as personal, even if nothing else speaks for it. The values of such a column go nowhere: not into the
draft, not into a message.
"""

from __future__ import annotations

from dataclasses import replace

from ..._schema import SEVERAL_ROWS
from .finding import Finding
from .infer import Column
from .words import ADDRESSES, MAIL, NAMES, OF_NAMES, PERSONS, PHONES, REMARKS, words_in

FREE_TEXT, PEOPLE, ADDRESS = "free text", "names of people", "addresses"
MAILS, CALLS, ACCOUNTS = "e-mail addresses", "phone numbers", "account numbers"
RARE = 5
"""A value that fewer rows hold is rare."""
_TELLING = 100
"""In a table of so many rows it means something that a value is rare."""
_MOST_COMPARED = 10_000
_FEWEST_NAMES = 10
_FEWEST_WORDS = 3
_SENTENCE = 4
"""A value of so many words that few rows hold, with a capital inside, is a remark among answers and may name somebody."""

_MAIL = r"[\w.+-]+@[\w-]+\.[A-Za-z]{2,}"
_TITLE = r"\b(?:Mr|Mrs|Ms|Miss|Herr|Frau|Mme|Mlle|Monsieur|Madame|Señora?|Signora?|Dr|Prof)\b\.? \p{Lu}\p{Ll}+"
_NAME = r"^\p{Lu}[\p{L}'’.-]*,? \p{Lu}[\p{L}'’.-]*(?: \p{Lu}[\p{L}'’.-]*)?$"
_CALL = r"^(?:\+|\(|00?)[0-9][0-9 ()/.-]{6,}[0-9]$|^\(?[0-9]{2,4}\)?[ /.-][0-9]{2,4}[ /.-][0-9]{3,}$"
_CALL_INSIDE = r"\+[0-9][0-9 ()/-]{6,}[0-9]|\b0[1-9][0-9 ()/-]{6,}[0-9]|\([0-9]{2,4}\) ?[0-9][0-9 -]{4,}[0-9]"
_HEXADECIMAL = r"^[0-9A-Fa-f-]+$"
_NAME_INSIDE = r"\s\p{Lu}\p{Ll}"
_WORD = r"\p{L}{2}"
_YEAR = r"\b(?:19|20)[0-9]{2}\b"
_STREET = (
    r"(?i)\b(?:street|road|avenue|lane|boulevard|rue|via|calle|plaza|laan|st\.|rd\.|ave\.)(?:\b|\s|$)"
    r"|(?:(?:stra(?:ß|ss)e|weg|platz|gasse|straat)\b|str\.)"
)
_ACCOUNT = r"^[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7} ?[A-Z0-9]{1,4}$"


def personal(column: Column) -> Finding | None:
    """What somebody must look into if a column may say something about single people."""
    if column.type != "text" or not len(column.values):
        return None
    some, words = _sampled(column), words_in(column.name)
    return _finding(
        _contacts(some, words)
        or (FREE_TEXT if _remarks(some, words) else None)
        or _people(some, words)
        or (FREE_TEXT if _free_text(some) else None)
    )


def named_people(column: Column) -> Finding | None:
    """What somebody must look into if labels that a file has for its codes name people, or say where to find them."""
    words = words_in(column.name)
    return _finding(_contacts(column, words) or _people(column, words))


def _finding(what: str | None) -> Finding | None:
    if what is None:
        return None
    return Finding(
        f"looks like {what}",
        f"looks like {what}, which cannot be published: drop it, or declare values that are public.",
    )


def points_to_persons(column: Column, finding: Finding) -> bool:
    """Whether a value of a column about which this was found may stand for one person: a contact, a full name, a rare text."""
    if column.type != "text" or SEVERAL_ROWS in finding.sentence:
        return False
    if finding.short == f"looks like {PEOPLE}":
        return bool(words_in(column.name) & PERSONS) or _share(column, r"\S\s+\S") > 0.5
    return finding.short not in (f"looks like {FREE_TEXT}", f"looks like {ADDRESS}")


def is_contact(finding: Finding) -> bool:
    """Whether a value is somebody's own, however often it comes: a diary has a row for each day."""
    return finding.short in [f"looks like {what}" for what in (MAILS, CALLS, ACCOUNTS)]


def _sampled(column: Column) -> Column:
    """Some of the values where there are very many: no such column can be listed, so it matters only what to call it."""
    step = len(column.values) // _MOST_COMPARED + 1
    return replace(column, values=column.values.gather_every(step), counts=column.counts.gather_every(step))


def _contacts(column: Column, words: frozenset[str]) -> str | None:
    if _mail(column, words):
        return MAILS
    if _call(column, words):
        return CALLS
    if _share(column, _ACCOUNT) > 0.5:
        return ACCOUNTS
    return ADDRESS if _address(column, words) else None


def _people(column: Column, words: frozenset[str]) -> str | None:
    named = words & NAMES and words <= NAMES | OF_NAMES | PERSONS
    return PEOPLE if named or _names(column) else None


def _remarks(column: Column, words: frozenset[str]) -> bool:
    """Whether the name says remarks; without a word in any value it says something else, as the German "Note" for a grade."""
    named = bool(words & REMARKS) or words in ({"text"}, {"free", "text"})
    return named and _share(column, _WORD) > 0


def seldom_shared(column: Column) -> Finding | None:
    """What somebody must look into if most texts of a column are rare, whatever they are."""
    if column.type == "text" and column.rows >= _TELLING and len(column.values) > 2 and _mostly_rare(column):
        return Finding(
            "mostly rare values",
            f"has texts that mostly fewer than {RARE} rows share, which may name people: drop it, or declare values that "
            "are public.",
        )
    return None


def rare(column: Column) -> int:
    """How many different values fewer than five rows hold."""
    return int((column.counts < RARE).sum())


def _mostly_rare(column: Column) -> bool:
    return 2 * rare(column) > len(column.values)


def _share(column: Column, pattern: str) -> float:
    """The share of the different values that match."""
    return float(column.values.str.contains(pattern).sum()) / len(column.values)


def _mail(column: Column, words: frozenset[str]) -> bool:
    return _share(column, _MAIL) > 0 or (bool(words & MAIL) and _mostly_rare(column))


def _call(column: Column, words: frozenset[str]) -> bool:
    named = bool(words & PHONES)
    return (named and _share(column, "[0-9]{3}") > 0.5) or _share(column, _CALL) > 0.5


def _address(column: Column, words: frozenset[str]) -> bool:
    streets = column.values.filter(column.values.str.contains(_STREET) & column.values.str.contains("[0-9]"))
    return (bool(words & ADDRESSES) and _mostly_rare(column)) or 2 * len(streets) > len(column.values)


def _names(column: Column) -> bool:
    if _share(column, _TITLE) > 0:
        return True
    return len(column.values) >= _FEWEST_NAMES and _mostly_rare(column) and _share(column, _NAME) > 0.8


def _free_text(column: Column) -> bool:
    texts = column.values.filter(~column.values.str.contains(_YEAR))  # a period is no number to call
    texts = texts.filter(~texts.str.contains(_HEXADECIMAL))
    if (texts.str.contains(_CALL_INSIDE) & texts.str.contains(r"\p{L}")).any():
        return True
    lengths = column.values.str.count_matches(r"\S+")
    wordy = float(str(lengths.mean())) >= _FEWEST_WORDS
    if wordy and len(column.values) > 2 and _mostly_rare(column):
        return True
    sentences = (lengths >= _SENTENCE) & (column.counts < RARE) & column.values.str.contains(_NAME_INSIDE)
    return column.rows >= _TELLING and bool(sentences.any())
