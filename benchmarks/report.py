"""Puts measured tables into a page of docs/results/, between the marks of their section."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
FIGURES = DOCS / "figures"
PADDING = {"left": 60, "right": 60, "top": 5, "bottom": 5}
"""Beside a chart: whoever looks at it may have wider letters than whoever drew it."""


def put(section: str, report: str, *, page: str = "benchmarks.md") -> None:
    """Replace what stands between ``<!-- section -->`` and ``<!-- /section -->``."""
    path = DOCS / "results" / page
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(f"(<!-- {section} -->\n).*?(<!-- /{section} -->)", re.DOTALL)
    replaced, count = pattern.subn(lambda marks: f"{marks[1]}\n{report.strip()}\n\n{marks[2]}", text)
    if count != 1:
        raise SystemExit(f"{page} has no section {section}")
    path.write_text(replaced, encoding="utf-8")
