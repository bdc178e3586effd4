"""How to analyse a release correctly in Python, on the command line, in R and by hand: section 7.

Everything shown runs as it stands, with the names and the numbers of this release.
"""

from __future__ import annotations

import json
import math
import shlex

import numpy as np

from .._plan import ByHand, by_hand
from .._schema import value_to_text
from .markup import Html, code, element, label, paragraph, together
from .subject import Subject, texts


def recipes(subject: Subject) -> Html:
    """Python, the command line, R, and a pocket calculator."""
    names = subject.names[:2]
    called = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    typed = " ".join(shlex.quote(name) for name in names)
    folder = subject.folder_name
    parts: list[str] = [
        paragraph(
            "Counts of the released rows are biased, because answers were replaced by chance. Do not read single "
            "rows: any answer in them may have been changed. Ask for tables, corrected with the published "
            "probabilities. The file plan.json has them all. The program pkanon does it; whoever published the release "
            "knows where to get it."
        ),
        element("h3", "In Python"),
        code(
            "import pkanon as pk\n\nrelease = "
            f"pk.open_release({json.dumps(folder, ensure_ascii=False)})\ntable = "
            f"release.crosstab({called})\nprint(table.to_polars())  # counts, shares, standard errors, 95% intervals",
            "python",
        ),
        element("h3", "On the command line"),
        code(f"pkanon crosstab {shlex.quote(folder)} {typed}", "console"),
    ]
    example = by_hand(subject.plan)
    parts += [
        element("h3", "In R"),
        paragraph("The project has a package for R, pkanon, with the same numbers, errors and intervals:"),
        code(
            "library(pkanon)\n\nrelease <- "
            f"read_release({_r_text(folder)})\ncrosstab(release, {', '.join(map(_r_text, names))})",
            "r package",
        ),
    ]
    if example is None:
        parts.append(paragraph("No column of this release is short and simple enough for a script of a few lines."))
    else:
        parts += [
            paragraph("One column, with standard errors, without that package:"),
            code(r_script(subject, example), "r"),
        ]
    parts.append(paragraph(_pairs(subject)))
    parts.append(element("h3", "By hand"))
    parts.append(
        _worked(subject, example)
        if example is not None
        else paragraph("No column has a formula for a pocket calculator.")
    )
    return together(*parts)


def _pairs(subject: Subject) -> str:
    together_ = max(len(block.attributes) for block in subject.plan.blocks)
    if together_ == 1:
        return (
            "For a table of two columns correct every column of the table with the numbers of its row variable, then "
            "every row of the result with those of its column variable. Standard errors need a computer."
        )
    return (
        "Columns were randomised together in this release. So a table of two of them is not got by correcting one "
        "column after the other: use pkanon."
    )


def r_script(subject: Subject, example: ByHand) -> str:
    """A script that corrects one column; it reads the file that the folder has."""
    attribute, mixture = example.attribute, example.mixture
    labels = [None if value is None else value_to_text(value) for value in attribute.labels()]
    levels = ", ".join("NA" if text is None else _r_text(text) for text in labels)
    csv = subject.folder is not None and (subject.folder / "data.csv").is_file()
    read = (
        'rows <- read.csv("data.csv", colClasses = "character", na.strings = "", blank.lines.skip = FALSE,\n'
        '                 check.names = FALSE, encoding = "UTF-8")'
        if csv
        else 'rows <- arrow::read_parquet("data.parquet")'
    )
    if mixture.uniform:
        q = f"q <- (1 - rho) / {attribute.size}"
    else:
        q = f"q <- c({', '.join(f'{float(share):.12g}' for share in mixture.becomes)})"
    return "\n".join(
        [
            read,
            f"values <- c({levels})",
            f"given <- as.character(rows[[{_r_text(attribute.name)}]])",
            "y <- tabulate(match(given, values), length(values))",
            "n <- sum(y)",
            f"rho <- {mixture.rho:.12g}",
            f"{q}  # how often a value appears by replacement",
            "estimate <- (y - q * n) / rho",
            "variance <- (y * (1 - q)^2 + (n - y) * q^2) / rho^2 - estimate",
            "print(data.frame(value = values, estimate, error = sqrt(pmax(variance, 0))))",
        ]
    )


def _worked(subject: Subject, example: ByHand) -> Html:
    attribute, mixture = example.attribute, example.mixture
    rows = subject.release.rows
    if rows == 0:
        return paragraph("No rows were released.")
    counts = np.bincount(subject.release.codes[attribute.name], minlength=attribute.size)
    chosen = int(counts.argmax())
    y, q, rho = int(counts[chosen]), example.q(chosen), mixture.rho
    estimate, error = example.estimate(y, rows, chosen), example.error(y, rows, chosen)
    digits = max(5, math.ceil(math.log10(rows)) + 1)  # so that the result is right to a tenth of a person
    value = texts(attribute)[chosen]
    share = f"/ {attribute.size}" if mixture.uniform else f"* {mixture.shares[chosen]:.{digits}f}"
    counted = "people" if subject.plan.count_noise is None else "rows"  # some of which are nobody's
    after = f"{estimate:,.1f} ± {error:,.1f}" if math.isfinite(error) else f"{estimate:,.1f}"
    lines = [
        "q        = (1 - rho) * share of the value among all replacements",
        "estimate = (y - q n) / rho",
        "error    = square root of ((y (1 - q)^2 + (n - y) q^2) / rho^2 - estimate)",
        "",
        f"n = {rows} rows, y = {y} of them have this value, rho = {rho:.{digits}f}",
        f"q        = {1 - rho:.{digits}f} {share} = {q:.{digits}f}",
        f"estimate = ({y} - {q:.{digits}f} * {rows}) / {rho:.{digits}f} = {estimate:.1f}",
    ]
    if math.isfinite(error):
        own, others = f"{y} * {(1 - q) ** 2:.{digits}f}", f"{rows - y} * {q**2:.{digits}f}"
        lines.append(
            f"error    = square root of (({own} + {others}) / {rho**2:.{digits}f} - {estimate:.1f}) = {error:.1f}"
        )
    return together(
        paragraph(
            "The column ",
            label(attribute.name),
            " and its value ",
            label(value),
            f", {y:,} times in the file:",
        ),
        code("\n".join(lines), "formula"),
        paragraph(
            f"So {after} {counted}, where the raw count says {y:,}. About two errors to each side make a 95% interval. "
            "The other values have the same rho; rho of other columns is in section 4."
        ),
    )


def _r_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
