"""How the site is built: ``make docs`` runs Sphinx with this file (docs/decisions/0007-sphinx-and-mathml.md says why).

The pages are plain Markdown and read well without the site. So what only the site needs stands here: which page
belongs where, and how a formula, written in TeX between dollars, becomes MathML that a browser draws without scripts.
"""

from __future__ import annotations

from typing import Any

import pkanon

NAVIGATION = {
    "Start": ["start/install", "start/tutorial"],
    "For custodians": [
        "custodian/schema",
        "custodian/plan",
        "custodian/release",
        "custodian/guarantee",
        "custodian/limits",
    ],
    "For analysts": ["analyst/analysing", "analyst/sql", "analyst/correct-it-yourself"],
    "Reference": ["reference/cli", "reference/python", "reference/files", "reference/conversions"],
    "Why it is true": ["why/theory", "why/optimal", "decisions/index"],
    "Measured": ["results/compare", "results/trust", "results/reproduce", "results/benchmarks"],
}
"""Every page but index.md, in the order of the sidebar. Pages in docs/decisions are listed by their own index."""

project = "pkanon"
version = release = pkanon.__version__
html_title = f"pkanon {version}"
language = "en"
smartquotes = False  # two hyphens begin an option
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_allow_labels = False
myst_heading_anchors = 3
exclude_patterns = ["figures/*.py"]

html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_use_index = False

FROM_FILES = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
"""Excerpts below search results are fetched from the pages, which browsers forbid to pages opened as files."""


def sidebar(docname: str) -> str:
    """What a page adds to the sidebar, in MyST."""
    if docname == "decisions/index":
        return "\n:::{toctree}\n:hidden:\n:glob:\n\n0*\n:::\n"
    if docname != "index":
        return ""
    return "".join(
        f"\n:::{{toctree}}\n:hidden:\n:caption: {group}\n\n" + "\n".join(f"/{page}" for page in pages) + "\n:::\n"
        for group, pages in NAVIGATION.items()
    )


def setup(app: Any) -> None:
    """Hook the two things above into Sphinx."""
    from docutils.nodes import SkipNode
    from docutils.utils.math import latex2mathml

    def add_sidebar(app: Any, docname: str, source: list[str]) -> None:
        source[0] += sidebar(docname)

    def inline(writer: Any, node: Any) -> None:
        writer.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
        raise SkipNode

    def block(writer: Any, node: Any) -> None:
        writer.body.append('<div class="math">' + latex2mathml.tex2mathml(node.astext(), as_block=True) + "</div>\n")
        raise SkipNode

    app.connect("source-read", add_sidebar)
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    app.add_js_file(None, body=FROM_FILES, priority=900)
