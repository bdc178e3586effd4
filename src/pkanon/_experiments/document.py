"""The parts that all pages of results share: style, notes, pictures and numbers. The pages load nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; overflow: visible; }
.note { background: #f3f3f3; border-left: 4px solid #666; padding: .6rem 1rem; }
table { border-collapse: collapse; font-size: .85rem; } .wide { overflow-x: auto; } .wide td, .wide th { white-space: nowrap; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }
thead th { border-bottom: 2px solid #666; } .n { text-align: right; font-variant-numeric: tabular-nums; }
.verdict { font-weight: 600; white-space: nowrap; }
.corrected { color: #a03c00; } .confirmed { color: #00573f; }
"""


def document(title: str, parts: Sequence[str]) -> str:
    """A whole page."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n<h1>{escape(title)}</h1>"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def data_line(source: str, *, synthetic: bool) -> str:
    """Which data these are."""
    drawn = " <strong>No row is a real person</strong>; the rows were drawn from a model fitted to a real sample."
    return f"<p>Data: {escape(source)}.{drawn * synthetic}</p>"


def seed_note(seed: int, *, quick: bool) -> str:
    """The note that nothing here protects anybody."""
    return (
        f'<p class="note">All releases were made from the seed {seed}, so that anyone gets the same numbers. Whoever has the '
        "seed can undo the randomisation: <strong>nothing here claims or gives privacy.</strong>"
        + (" This was a quick run: fewer points, fewer releases." * quick)
        + "</p>"
    )


def inline(svg: str, place: int) -> str:
    """A picture inside the page: ids of its own, as several of them share the document."""
    text = svg[svg.index("<svg") :]
    for mark in ('id="', "url(#", 'href="#'):
        text = text.replace(mark, f"{mark}figure{place}-")
    return text.replace("<svg", f'<svg role="img" aria-label="Figure {place}"', 1)


def cell(value: object, digits: int | None = None) -> str:
    """A cell of a table: a text, a number with ``digits`` decimals, or nothing."""
    if value is None:
        return "<td></td>"
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    assert isinstance(value, (int, float))
    text = f"{value:,}" if isinstance(value, int) else number(value) if digits is None else f"{value:.{digits}f}"
    return f'<td class="n">{text}</td>'


def number(value: float) -> str:
    """A number with three digits, and an exponent only if it needs one."""
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        return f"{float(f'{value:.3g}'):,.10g}"
    return f"{value:.2e}"
