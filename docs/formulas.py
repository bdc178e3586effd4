"""Formulas, written in TeX between dollars, become drawings when the site is built.

ziamath draws them with the font it brings along. So they need no script, no font and no network in the browser, and
look the same everywhere. A page holds the outline of each character once; a formula puts outlines in their places, in
units of the text around it. Screen readers get the TeX.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any
from xml.etree import ElementTree

import ziamath
from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util import logging

SIZE = 15.2
"""Of the drawing's units in one em of text: its letters are a little smaller than those of the text."""
HIGHEST = 8
"""In em. A formula that is higher is drawn wrongly: brackets made by \\left around a sum grow without end."""

log = logging.getLogger(__name__)
ziamath.config.svg2 = True  # outlines as symbols
ziamath.config.precision = 2
_outlines: dict[str, set[str]] = defaultdict(set)
"""Which outlines a page has already."""


def drawn(tex: str, page: str, *, block: bool) -> tuple[str, float]:
    """(the drawing of a formula, its height in em)."""
    svg = ziamath.Latex(tex, size=16, color="currentColor", inline=not block).svgxml()
    _, top, width, height = map(float, svg.attrib["viewBox"].split())
    for symbol in svg.findall("symbol"):
        if symbol.attrib["id"] in _outlines[page]:
            svg.remove(symbol)
        _outlines[page].add(symbol.attrib["id"])
    below = -(top + height)
    del svg.attrib["width"], svg.attrib["height"]
    svg.attrib["role"] = "img"
    svg.attrib["aria-label"] = " ".join(tex.split())
    svg.attrib["style"] = ";".join(
        f"{name}:{value / SIZE:.3f}em"
        for name, value in {"width": width, "height": height, "vertical-align": below}.items()
    )
    return ElementTree.tostring(svg, encoding="unicode"), height / SIZE


def render(writer: Any, node: Any, *, block: bool) -> None:
    """Put the drawing of a node into the page; whatever is wrong with it stops the build."""
    tex = node.astext().strip()
    wrong = re.search(r"\\ ", tex) or re.search(r"\\\w+", convert(tex))  # "\\ " would swallow what follows
    if wrong:
        log.warning("a formula cannot be drawn with '%s'", wrong[0], location=node)
        raise SkipNode
    drawing, height = drawn(tex, writer.builder.current_docname, block=block)
    if height > HIGHEST:
        log.warning("a formula is drawn %.0f em high; write \\Bigl( for \\left(", height, location=node)
    writer.body.append(
        f'<div class="formula">{drawing}</div>\n' if block else f'<span class="formula">{drawing}</span>'
    )
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer it to Sphinx under the name "drawn"."""

    def inline(writer: Any, node: Any) -> None:
        render(writer, node, block=False)

    def block(writer: Any, node: Any) -> None:
        render(writer, node, block=True)

    app.add_html_math_renderer("drawn", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": False}
