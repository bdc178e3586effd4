"""How the site is built: ``make docs`` runs Sphinx with this file (docs/decisions/0007-sphinx.md says why Sphinx).

The pages are plain Markdown and read well without the site. So what only the site needs stands here, above all which
page belongs where. formulas.py draws the formulas, excerpts.py makes the search quote pages without a network.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pkanon

sys.path.insert(0, str(Path(__file__).parent))  # where the two modules below are

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


def setup(app: Any) -> None:
    """Add the sidebar to its pages."""

    def add_sidebar(app: Any, docname: str, source: list[str]) -> None:
        source[0] += sidebar(docname)

    app.connect("source-read", add_sidebar)
