"""Puts measured tables into docs/benchmarks.md, between the marks of their section."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def put(section: str, report: str) -> None:
    """Replace what stands between ``<!-- section -->`` and ``<!-- /section -->``."""
    text = DOCS.read_text(encoding="utf-8")
    pattern = re.compile(f"(<!-- {section} -->\n).*?(<!-- /{section} -->)", re.DOTALL)
    replaced, count = pattern.subn(lambda marks: f"{marks[1]}\n{report.strip()}\n\n{marks[2]}", text)
    if count != 1:
        raise SystemExit(f"{DOCS.name} has no section {section}")
    DOCS.write_text(replaced, encoding="utf-8")
