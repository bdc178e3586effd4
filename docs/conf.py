"""How the site is built: ``make docs`` runs Sphinx with this file (docs/decisions/0007-sphinx.md says why Sphinx).

The pages are plain Markdown and read well without the site. So what only the site needs stands here, above all which
page belongs where. formulas.py draws the formulas, excerpts.py makes the search quote pages without a network.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pkanon

sys.path.insert(0, str(Path(__file__).parent))  # where the two modules below are

NAVIGATION = {
    "Start": ["start/install", "start/tutorial"],
    "For custodians": [
        "custodian/schema",
        "custodian/formats",
        "custodian/advise",
        "custodian/plan",
        "custodian/release",
        "custodian/scale",
        "custodian/spark",
        "custodian/weights",
        "custodian/verify",
        "custodian/report",
        "custodian/guarantee",
        "custodian/limits",
        "custodian/ledger",
        "custodian/audit",
        "custodian/attack",
        "custodian/law",
    ],
    "Collect": ["collect/start", "collect/page", "collect/service", "collect/invitations", "collect/privacy"],
    "For analysts": [
        "analyst/analysing",
        "analyst/cookbook",
        "analyst/comparing",
        "analyst/papers",
        "analyst/sql",
        "analyst/regression",
        "analyst/modelled",
        "analyst/r",
        "analyst/correct-it-yourself",
    ],
    "Reference": ["reference/cli", "reference/python", "reference/files", "reference/conversions"],
    "Why it is true": ["why/theory", "why/optimal", "decisions/index"],
    "Measured": [
        "results/compare",
        "results/trust",
        "results/modelled",
        "results/attack",
        "results/reproduce",
        "results/model",
        "results/benchmarks",
        "results/scale",
        "results/questions",
        "results/collect",
    ],
}
"""Every page but index.md, in the order of the sidebar. Pages in docs/decisions are listed by their own index."""

project = "pkanon"
version = release = pkanon.__version__
html_title = f"pkanon {version}"
language = "en"
smartquotes = False  # two hyphens begin an option
extensions = ["myst_parser", "formulas", "excerpts"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_allow_labels = False
myst_heading_anchors = 3

html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "drawn"
html_copy_source = False
html_show_copyright = False
html_use_index = False


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


def unbroken(title: str) -> str:
    """A title in which no line ends within k-anonymity and its like."""
    return re.sub(r"\b(P?k)-(?=\w)", "\\1\N{NON-BREAKING HYPHEN}", title)


def setup(app: Any) -> None:
    """Add the sidebar to its pages, and keep words in titles together."""
    from docutils import nodes  # here, so that the tests can read this file without Sphinx

    def add_sidebar(app: Any, docname: str, source: list[str]) -> None:
        source[0] += sidebar(docname)

    def keep_words(app: Any, doctree: Any) -> None:
        for title in doctree.findall(nodes.title):  # their anchors exist already
            for text in list(title.findall(nodes.Text)):
                text.parent.replace(text, nodes.Text(unbroken(text)))

    app.connect("source-read", add_sidebar)
    app.connect("doctree-read", keep_words, priority=100)  # before the menu is made from the titles
