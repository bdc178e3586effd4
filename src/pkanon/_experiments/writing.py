"""Folders of results: what they hold, and the checks before anything is computed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import missing_package
from .._files import check_writable
from .._progress import Progress

if TYPE_CHECKING:
    import altair


def check_folder(path: str | Path) -> None:
    """Refuse at once what would fail after minutes of computing."""
    from .._results.charts import save_chart  # noqa: F401  says what to install

    if importlib.util.find_spec("vl_convert") is None:
        raise missing_package("Figures need the package vl-convert-python", "charts")
    check_writable(path)


def draw(charts: Mapping[str, Callable[[], altair.TopLevelMixin]], folder: Path, progress: Progress) -> list[str]:
    """Write each chart as PNG and SVG under its name; the SVG texts are returned."""
    from .._results.charts import save_chart

    drawn = []
    for number, (name, chart) in enumerate(charts.items()):
        progress("drawing", number / len(charts))
        drawing = chart()
        for ending in ("png", "svg"):
            save_chart(drawing, folder / f"{name}.{ending}")
        drawn.append((folder / f"{name}.svg").read_text(encoding="utf-8"))
    progress("drawing", 1.0)
    return drawn
