"""A folder of results: complete or absent, and never overwritten."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .._bundle import UNFINISHED, check_free
from .._errors import EnvironmentFailure

if TYPE_CHECKING:
    import altair

Progress = Callable[[str, float], None]


def quiet(step: str, done: float) -> None:
    """Tell nobody how far it is."""


def check_folder(path: str | Path) -> None:
    """Refuse at once what would fail after minutes of computing."""
    check_free(path)
    from .._report.experiments import save_chart  # noqa: F401  says what to install

    if importlib.util.find_spec("vl_convert") is None:
        raise EnvironmentFailure("Figures need the package vl-convert-python; install pkanon[charts].")
    probe = _unfinished(Path(path))
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        problem = f"Cannot write {path}: {error.strerror or 'the disk failed'}."
    else:
        return
    raise EnvironmentFailure(problem)


def _unfinished(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.{secrets.token_hex(4)}{UNFINISHED}"


def write_results(path: str | Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a folder under another name, and rename it when it is complete."""
    folder = Path(path)
    check_folder(folder)
    unfinished = _unfinished(folder)
    failed: OSError | None = None
    try:
        unfinished.mkdir()
        write(unfinished)
        check_free(folder)  # drawing takes a while
        os.rename(unfinished, folder)
    except BaseException as error:
        with suppress(OSError):
            shutil.rmtree(unfinished)
        if not isinstance(error, OSError):
            raise
        failed = error
    if failed is not None:
        raise EnvironmentFailure(f"Cannot write {folder}: {failed.strerror or 'the disk failed'}.")


def draw(charts: Mapping[str, Callable[[], altair.TopLevelMixin]], folder: Path, told: Progress) -> list[str]:
    """Write each chart as PNG and SVG under its name; the SVG texts are returned."""
    from .._report.experiments import save_chart

    drawn = []
    for number, (name, chart) in enumerate(charts.items()):
        told("drawing", number / len(charts))
        made = chart()
        for ending in ("png", "svg"):
            save_chart(made, folder / f"{name}.{ending}")
        drawn.append((folder / f"{name}.svg").read_text(encoding="utf-8"))
    told("drawing", 1.0)
    return drawn
