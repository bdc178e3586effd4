"""A chart as a file.

An HTML file holds all it needs; it loads nothing, and its menu offers nothing that would send the chart elsewhere.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import altair as alt

from ..._errors import InputError, missing_package
from ..._files import check_free, write_new

ENDINGS = (".png", ".svg", ".pdf", ".html", ".json")
_MENU = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write a chart to a file that does not exist yet.

    Parameters
    ----------
    chart
        An Altair chart, such as those of ``estimate.chart()`` and ``costs.chart()``.
    path
        Where to write it. Its ending, .png, .svg, .pdf, .html or .json, says what is written; an HTML file loads nothing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    >>> costs = pk.tradeoff(schema, records=1_000, k=20, designs=["equal-rho"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pk.save_chart(costs.chart(), Path(folder, "costs.png"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['costs.png']
    """
    place = Path(path)
    check_chart_file(place)  # before the chart is drawn, which takes a while
    write_new(place, _content(chart, place.suffix.lower()))


def check_chart_file(path: str | Path) -> None:
    """Refuse a file that a chart cannot be written to: its ending is unknown, it exists, or its folder does not."""
    place = Path(path)
    if place.suffix.lower() not in ENDINGS:
        raise InputError(f"A chart cannot be written to {path}: its name must end in {', '.join(ENDINGS)}.")
    check_free(place)


def _content(chart: alt.TopLevelMixin, ending: str) -> bytes:
    if ending == ".json":
        return (chart.to_json(indent=1) + "\n").encode()
    try:
        import vl_convert  # noqa: F401  altair's own message would name packages, not what to install
    except ImportError:
        raise missing_package(f"A chart as {ending} needs the package vl-convert-python", "charts") from None
    if ending == ".html":
        text = io.StringIO()
        chart.save(text, format="html", inline=True, embed_options=_MENU, json_kwds={"cls": _ForScripts})
        return text.getvalue().encode()
    if ending == ".svg":
        text = io.StringIO()
        chart.save(text, format="svg")
        return text.getvalue().encode()
    picture = io.BytesIO()
    if ending == ".pdf":
        chart.save(picture, format="pdf")
    else:
        chart.save(picture, format="png", scale_factor=2)
    return picture.getvalue()


class _ForScripts(json.JSONEncoder):
    """JSON inside a script element, where a label such as "</script>" would end the script."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c")
