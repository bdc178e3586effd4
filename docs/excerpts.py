"""Search results show an excerpt of each page, also in a site that is opened as files.

Sphinx fetches the page to quote from it, and browsers forbid that to a page opened as a file. So the text of all pages
is written into one script, which the search page loads, and which answers instead of the network where there is none.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from docutils import nodes

SCRIPT = "texts.js"
ANSWER = """
if (location.protocol === "file:") {
  const here = location.href.replace(/[^/]*$/, "");
  window.fetch = async (address) => {
    const page = new URL(address, here).href.replace(here, "").replace(/[?#].*$/, "");
    return new Response(`<div role="main">${TEXTS[page] ?? ""}</div>`);
  };
}
"""


def text_of(doctree: Any) -> str:
    """What a page says, without the marks around its generated parts."""
    for mark in list(doctree.findall(nodes.raw)):
        mark.parent.remove(mark)
    return html.escape(doctree.astext())


def write(app: Any, exception: Exception | None) -> None:
    """The script with the text of all pages."""
    if exception is None:
        texts = {f"{name}.html": text_of(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        script = f"const TEXTS = {json.dumps(texts, ensure_ascii=False)};\n{ANSWER}"
        Path(app.outdir, "_static", SCRIPT).write_text(script, encoding="utf-8")


def setup(app: Any) -> None:
    """Hook it into Sphinx."""

    def load(app: Any, page: str, template: str, context: Any, doctree: Any) -> None:
        if page == "search":
            app.add_js_file(SCRIPT)

    app.connect("html-page-context", load)
    app.connect("build-finished", write)
