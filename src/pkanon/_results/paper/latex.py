"""A table in LaTeX: a float with booktabs' rules, notes in a smaller size below."""

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
_PLAIN = re.compile("[" + re.escape("".join(_SPECIAL)) + "]|--+")


def escaped(text: str) -> str:
    """A text that LaTeX prints as it is; hyphens do not join to a dash."""
    return _PLAIN.sub(lambda found: _SPECIAL.get(found[0]) or "{}".join(found[0]), text)


def latex(table: PaperTable, label: str | None) -> str:
    """The whole float."""
    columns = "l" * len(table.stub) + "r" * len(table.header)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}[tb]",
        r"\centering",
        rf"\caption{{{escaped(table.caption)}}}",
        *([rf"\label{{{_label(label)}}}"] if label else []),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
    ]
    if table.span is not None:
        first, last = len(table.stub) + 1, len(table.stub) + table.spanned
        title = rf"\multicolumn{{{table.spanned}}}{{c}}{{{escaped(table.span)}}}"
        lines.append("& " * len(table.stub) + title + " &" * (len(columns) - last) + r" \\")
        lines.append(rf"\cmidrule(lr){{{first}-{last}}}")
    lines.append(" & ".join(map(_word, (*table.stub, *table.header))) + r" \\")
    lines.append(r"\midrule")
    labels = len(table.stub)
    for row in table.rows:
        cells = [*(_word(cell.text) for cell in row[:labels]), *map(_number, row[labels:])]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if table.all_notes:
        lines += ["", r"\smallskip", r"\begin{minipage}{\linewidth}\footnotesize"]
        lines += [_word(note) + r" \\" for note in table.all_notes]
        lines[-1] = lines[-1].removesuffix(r" \\")
        lines.append(r"\end{minipage}")
    return "\n".join([*lines, r"\end{table}"])


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
