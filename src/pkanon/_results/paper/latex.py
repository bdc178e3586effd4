"""A table in LaTeX: a float with booktabs' rules, notes in a smaller size below.

A float cannot be broken between pages, so a table of more than MOST_ROWS rows is a longtable. A float that may be wider than a page
is made smaller to fit, if it has to be; a longtable is then set smaller, and long labels on several lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .table import Cell, PaperTable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # an active character in some languages
    "±": r"$\pm$",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "§": r"\textsection{}",
    "¶": r"\textparagraph{}",
    "–": r"\textendash{}",
    "×": r"$\times$",
    "\n": " ",
    "\r": " ",
    "\t": " ",
}
MOST_ROWS = 45
"""Rows that a page holds, with caption and notes, in 10 points."""
MOST_CHARACTERS = 80
"""Characters of a row that fit into the lines of a narrow page, about."""
LONG_LABEL = 25
"""Characters of a label that is set on several lines if the table is wide and long."""
LABEL_WIDTH = 0.35
"""The share of a line that such labels have together."""
_PLAIN = re.compile("[" + re.escape("".join(_SPECIAL)) + "]|--+")


def escaped(text: str) -> str:
    """A text that LaTeX prints as it is; hyphens do not join to a dash."""
    return _PLAIN.sub(lambda found: _SPECIAL.get(found[0]) or "{}".join(found[0]), text)


def latex(table: PaperTable, label: str | None) -> str:
    """The whole table: a float, or a longtable."""
    columns = "l" * len(table.stub) + "r" * len(table.header)
    caption = rf"\caption{{{escaped(table.caption)}}}" + (rf"\label{{{_label(label)}}}" if label else "")
    if len(table.rows) > MOST_ROWS:
        return "\n".join(_long(table, columns, caption))
    wide = _characters(table) > MOST_CHARACTERS
    body = [
        rf"\begin{{tabular}}{{{columns}}}",
        *_head(table),
        *_rows(table, repeated=False),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if wide:
        body = [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%", *body[:-1], body[-1] + "}"]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs" + (",graphicx}" if wide else "}"),
            r"\begin{table}[tb]",
            r"\centering",
            r"\setlength{\belowcaptionskip}{6pt}",
            caption,
            *body,
            *_notes(table, r"\smallskip"),
            r"\end{table}",
        ]
    )


def _long(table: PaperTable, columns: str, caption: str) -> list[str]:
    head, small = _head(table), _characters(table) > MOST_CHARACTERS
    if small:
        widths = [max(len(row[place].text) for row in table.rows) for place in range(len(table.stub))]
        labels = [rf"p{{{LABEL_WIDTH / len(widths):.2g}\linewidth}}" if width > LONG_LABEL else "l" for width in widths]
        columns = "".join(labels) + "r" * len(table.header)
    return [
        r"% needs \usepackage{booktabs,longtable}",
        *([r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}\raggedright"] if small else []),
        rf"\begin{{longtable}}{{{columns}}}",
        rf"{caption} \\",
        *head,
        r"\endfirsthead",
        *head,
        r"\endhead",
        rf"\midrule \multicolumn{{{len(columns)}}}{{r}}{{\footnotesize continued}} \\",
        r"\endfoot",
        r"\bottomrule",
        r"\endlastfoot",
        *_rows(table, repeated=True),
        r"\end{longtable}",
        *([r"\endgroup"] if small else []),
        *_notes(table, r"\noindent"),
    ]


def _head(table: PaperTable) -> list[str]:
    lines = [r"\toprule"]
    if table.span is not None:
        first, last = len(table.stub) + 1, len(table.stub) + table.spanned
        title = rf"\multicolumn{{{table.spanned}}}{{c}}{{{escaped(table.span)}}}"
        lines.append("& " * len(table.stub) + title + " &" * (len(table.stub) + len(table.header) - last) + r" \\")
        lines.append(rf"\cmidrule(lr){{{first}-{last}}}")
    lines.append(" & ".join(map(_word, (*table.stub, *table.header))) + r" \\")
    return [*lines, r"\midrule"]


def _rows(table: PaperTable, *, repeated: bool) -> list[str]:
    """The rows; of several columns of labels the first is printed where it changes, or everywhere if ``repeated``."""
    labels, lines, above = len(table.stub), [], None
    for row in table.rows:
        words = [_word(cell.text) for cell in row[:labels]]
        if labels > 1:
            if above not in (None, words[0]):
                lines.append(r"\addlinespace")
            elif above is not None and not repeated:
                words[0] = ""
            above = _word(row[0].text)
        lines.append(" & ".join([*words, *map(_number, row[labels:])]) + r" \\")
    return lines


def _notes(table: PaperTable, space: str) -> list[str]:
    if not table.all_notes:
        return []
    notes = [_word(note) + r" \\" for note in table.all_notes]
    notes[-1] = notes[-1].removesuffix(r" \\")
    return ["", space, r"\begin{minipage}{\linewidth}\footnotesize", *notes, r"\end{minipage}"]


def _characters(table: PaperTable) -> int:
    """How wide the table is, in characters, with the space between columns."""
    rows = [(*table.stub, *table.header), *([cell.text for cell in row] for row in table.rows)]
    return sum(max(len(text) for text in column) + 2 for column in zip(*rows)) if table.rows else 0


def _word(text: str) -> str:
    r"""A label; one that begins with a bracket would be read as an argument of the \\ before it."""
    inner = escaped(text)
    return f"{{{inner}}}" if inner.startswith(("[", "*")) else inner


def _number(cell: Cell) -> str:
    """A number with its marks raised; a minus is a minus, not a hyphen."""
    text = re.sub(r"(?<![\w.])-(?=[\d.i])", "\0", cell.text)
    inner = _word(text).replace("\0", "$-$")
    return inner + (rf"\textsuperscript{{{escaped(cell.marks)}}}" if cell.marks else "")


def _label(label: str) -> str:
    """A label as LaTeX takes it: letters, digits, colons and hyphens."""
    return re.sub(r"[^A-Za-z0-9:.-]+", "-", label)
