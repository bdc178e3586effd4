"""README.txt of a release folder: for a recipient who has nothing installed. Plain text of 72 columns.

It says no more than the certificate: its sentences are taken from there, and a void release gets no numbers.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence

from .._plan import ByHand, Plan, by_hand, one_row_each
from .._schema import MISSING_LABEL, Attribute, Bins, Points, Range, value_to_text
from .certificate import Certificate
from .names import PREDICTED

WIDTH = 72
MOST_VALUES = 40
"""Values of a column that are listed; datapackage.json has all."""
FILES = {
    "data.parquet": "the rows, for programs; it carries plan and certificate inside",
    "data.csv": "the rows as text: UTF-8, commas, an empty field is a missing value",
    "plan.json": "what was done: columns, values and exact probabilities",
    "certificate.json": "what the release claims, and what it does not",
    PREDICTED: "the error to expect of every table of one and two columns",
    "datapackage.json": "which files there are, with their hashes (Data Package)",
    "README.txt": "this text",
}


def readme(
    plan: Plan, certificate: Certificate, data: Sequence[str] = ("data.parquet",), *, with_errors: bool = True
) -> str:
    """The text; ``data`` are the names of the files with the rows, ``with_errors`` whether predicted.csv is there."""
    sections = [
        ("", _opening(plan, certificate)),
        ("Files", _files(data, with_errors=with_errors)),
        ("Columns", _columns(plan)),
        ("How to get right numbers", _numbers(plan, certificate)),
        ("What is promised", _promise(certificate)),
        ("What is outside the promise", _bullets(certificate.outside)),
        ("Where it comes from", _origin(certificate)),
    ]
    lines = ["READ ME FIRST", "============="]
    for title, content in sections:
        lines += ["", title, "-" * len(title)] if title else [""]
        lines += content
    return "\n".join(lines) + "\n"


def _opening(plan: Plan, certificate: Certificate) -> Iterator[str]:
    if certificate.void:
        yield from _wrapped("THIS RELEASE CLAIMS NOTHING. Do not publish it as anonymous.")
        yield ""
    table = f"A table of {certificate.rows:,} row{'s' * (certificate.rows != 1)}"
    if certificate.collection is not None and certificate.collection.simulated:
        yield from _wrapped(
            f"SIMULATED. {table}, which a program made up to try a survey: no row is about a person. It was randomised "
            "as answers of people will be, with the probabilities published in plan.json."
        )
    elif certificate.collection is None:
        yield from _wrapped(
            f"{table}. Before it was published, answers in the private table were replaced by chance, with the "
            "probabilities published in plan.json, and the rows were put in a random order."
        )
    else:
        yield from _wrapped(
            f"{table}, the answers to a survey. Every person's own device replaced answers by chance before it sent "
            "them, with the probabilities published in plan.json. Then the rows were put in a random order. Nobody "
            "ever had a table of the true answers."
        )
    yield ""
    yield from _bullets(
        [
            "Do not read single rows. Any answer in them may have been replaced by chance.",
            "A row that fits somebody is no proof that it is that person's, nor that the person is in the table.",
            "Counts of this file are biased. Correct them first, as shown below.",
        ]
    )
    if plan.schema.repeating is not None:
        yield from _bullets([one_row_each(plan)])
    if plan.count_noise is not None:
        yield from _bullets(["The number of rows is noisy: some rows are dummies, and some people were left out."])


def _files(data: Sequence[str], *, with_errors: bool) -> Iterator[str]:
    for name, text in FILES.items():
        if name in data or (not name.startswith("data.") and (with_errors or name != PREDICTED)):
            yield from _wrapped(f"{name:<18}{text}", "  ", " " * 20)


def _columns(plan: Plan) -> Iterator[str]:
    for attribute in plan.schema.attributes:
        if attribute.role == "pass":
            yield from _wrapped(f"{attribute.name}: released as it is, outside every promise", "  ", "      ")
        elif attribute.role == "randomise":
            yield from _wrapped(f"{attribute.name}: {_values(attribute)}", "  ", "      ")
    for unit in plan.units:
        if unit.forbid:
            names = ", ".join(unit.attributes)
            yield from _wrapped(f"Combinations of {names} that cannot be true do not occur.", "  ", "      ")


def _values(attribute: Attribute) -> str:
    if isinstance(attribute.domain, Range):
        extra = f", other: {attribute.other}" if attribute.other is not None else ""
        missing = ", or missing" if attribute.missing == "value" else ""
        return f"every whole number from {attribute.domain.low} to {attribute.domain.high}{extra}{missing}"
    shown = [_label(value) for value in itertools.islice(attribute.labels(), MOST_VALUES)]
    more = attribute.size - len(shown)
    end = f", and {more:,} more, listed in datapackage.json" if more else ""
    intervals = (
        " (intervals)"
        if isinstance(attribute.domain, Bins)
        else f" ({_rounded(attribute.domain)})"
        if isinstance(attribute.domain, Points)
        else ""
    )
    return f"{' | '.join(shown)}{end}{intervals}"


def _rounded(points: Points) -> str:
    rounded = "numbers between two of them were rounded at random to one"
    if points.open == "none":
        return f"{rounded}, so that sums and means stay right"
    beyond = {"low": "below the first", "high": "above the last", "both": "beyond the first and the last"}[points.open]
    return f"{rounded}; numbers {beyond} were moved onto it, which biases sums and means"


def _label(value: object) -> str:
    return MISSING_LABEL if value is None else value_to_text(value)  # type: ignore[arg-type]  # a label is a Value


def _numbers(plan: Plan, certificate: Certificate) -> Iterator[str]:
    names = [attribute.name for attribute in plan.schema.randomised]
    yield from _wrapped(
        "With the program pkanon for Python (whoever published this folder knows where to get it), in this folder:"
    )
    yield ""
    yield from _wrapped(f"pkanon crosstab . {' '.join(_quoted(name) for name in names[:2])}", "  ", "      ")
    yield ""
    yield from _wrapped("With its package for R, which has the same numbers, errors and intervals:")
    yield ""
    yield from _wrapped(
        f'library(pkanon); crosstab(read_release("."), {", ".join(_r(name) for name in names[:2])})', "  ", "      "
    )
    yield ""
    example = by_hand(plan)
    if example is None:
        yield from _wrapped(
            "No column of this release has a simple formula for a pocket calculator or a few lines of R."
        )
        return
    yield from _formula(example, certificate, plan)


def _formula(example: ByHand, certificate: Certificate, plan: Plan) -> Iterator[str]:
    attribute, mixture = example.attribute, example.mixture
    collected = certificate.collection is not None
    if collected:
        where = "of the people who answered"
    elif plan.count_noise is not None:
        where = "of the released rows, dummies included and before they were randomised"
    else:
        where = "in the private table" if plan.schema.repeating is None else "among the rows drawn"
    had = "gave this answer" if collected else "had it"
    if isinstance(attribute.domain, Points):
        had += ", or were rounded to it"
    yield from _wrapped(
        f"By hand, for one column alone: {attribute.name}. Count the rows with one value in the file, y, of all rows, "
        f"n. Then, {where}, about"
    )
    yield ""
    yield f"  estimate = (y - q n) / rho     n   = {certificate.rows}"
    yield f"                                 rho = {mixture.rho:.10g}"
    if mixture.uniform:
        yield f"                                 q   = {example.q(0):.10g}"
    yield ""
    yield from _wrapped(
        f"{had}. In tables of at least some hundred rows, about 95 of 100 such estimates are within two errors of the truth:"
    )
    yield ""
    yield "  error = square root of"
    yield "          ((y (1 - q)^2 + (n - y) q^2) / rho^2 - estimate)"
    yield ""
    if not mixture.uniform:
        yield from _wrapped("Each value has a q of its own:")
        for code, value in enumerate(attribute.labels()):
            yield from _wrapped(f"{example.q(code):.10g} for {_label(value)}", "  ", "      ")
        yield ""
    else:
        yield from _script(example)
    yield from _wrapped(
        "A value that does not occur in the file has y = 0. This is right for one column at a time. Tables of "
        "several columns, sums and means need pkanon."
    )


def _script(example: ByHand) -> Iterator[str]:
    yield from _wrapped("The same in R, for all values of the column at once:")
    yield ""
    yield '  # rows <- arrow::read_parquet("data.parquet"), or:'
    yield '  # rows <- read.csv("data.csv", colClasses = "character",'
    yield '  #           na.strings = "", blank.lines.skip = FALSE,'
    yield '  #           check.names = FALSE, encoding = "UTF-8")'
    yield from _wrapped(f'y <- table(rows[[{_r(example.attribute.name)}]], useNA = "ifany")', "  ", "      ")
    yield f"  n <- sum(y); rho <- {example.mixture.rho:.10g}; q <- {example.q(0):.10g}"
    yield "  (y - q * n) / rho"
    yield ""


def _promise(certificate: Certificate) -> Iterator[str]:
    if certificate.void:
        yield from _wrapped("Nothing. The release claims nothing, because:")
        yield from _bullets(certificate.void)
        return
    for sentence in certificate.statement:
        yield from _wrapped(sentence)
    yield ""
    yield from _wrapped("It rests on what the files cannot show:")
    yield from _bullets(certificate.assumptions)


def _origin(certificate: Certificate) -> Iterator[str]:
    yield from _wrapped(f"Made on {certificate.date} with {certificate.software}. SHA-256 of the plan:")
    yield f"  {certificate.digests['plan']}"
    yield from _wrapped("pkanon verify . recomputes every claim and checks the files.")


def _bullets(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        yield from _wrapped(sentence, "* ", "  ")


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Lines that fit, whatever a label holds: line breaks and control characters become spaces."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return textwrap.wrap(
        plain, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=True, break_on_hyphens=False
    )


def _quoted(name: str) -> str:
    return name if name.isidentifier() else "'" + name.replace("'", "'\\''") + "'"


def _r(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
