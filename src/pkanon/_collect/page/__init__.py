"""The page on which people answer: one file that holds everything it needs, and asks nobody else for anything.

pkanon.js   the module that randomises and sends: readable by itself, and inlined here byte for byte
page.js     what people see and do;  page.css  how it looks;  page.html  the frame

The policy of the page names its one script and its one style by their hashes. So nothing else runs, nothing is loaded
from another host, and no form can be sent. The survey and the plan stand in the page as data.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from ..._errors import InputError
from ..survey import address

_FOLDER = resources.files(__name__)
_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./pkanon\.js\";\n", re.MULTILINE)


def assemble_page(survey_json: bytes, plan_json: bytes) -> bytes:
    """The page of a survey: the same bytes for the same two files."""
    survey = json.loads(survey_json)
    language = survey["languages"][0]
    parts = {
        "style": _text("page.css"),
        "script": module().decode() + "\n" + _IMPORT.sub("", _text("page.js"), count=1),
        "survey": _inert(survey_json),
        "plan": _inert(plan_json),
    }
    for name in ("style", "script"):
        if re.search(r"</(script|style)|<!--", parts[name], re.IGNORECASE):
            raise InputError("The page's own script or style holds something that would end it early.")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(parts['script'])}",
            f"style-src {_hash(parts['style'])}",
            "img-src data:",  # an empty icon, so that the browser does not ask for one
            f"connect-src {' '.join(_addresses(survey))}",
            "form-action 'none'",
            "base-uri 'none'",
        ]
    )
    parts |= {"policy": policy, "language": html.escape(language), "title": html.escape(survey["title"][language])}
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _text("page.html"))
    return page.encode()


def module() -> bytes:
    """The module by itself: pkanon.js."""
    return _FOLDER.joinpath("pkanon.js").read_bytes()


def _text(name: str) -> str:
    return _FOLDER.joinpath(name).read_text(encoding="utf-8")


def _inert(content: bytes) -> str:
    """JSON that cannot end the element it stands in; undoing it gives the same bytes, so that the page can hash them."""
    text = content.decode()
    inert = text.replace("<", "\\u003c")
    undone = re.sub(r"\\(?:u003c|.)", lambda escape: "<" if escape[0] == "\\u003c" else escape[0], inert)
    if undone != text or "\r" in text or "\0" in text:
        raise InputError("The survey is not in the form that pkanon writes; make it with pkanon collect new.")
    return inert


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _addresses(survey: dict[str, Any]) -> list[str]:
    """Where the page may send to: where it came from, and what the survey names."""
    named = [urlsplit(address(url)) for key in ("service", "issuer") if (url := survey.get(key))]
    return ["'self'", *dict.fromkeys(f"{url.scheme}://{url.netloc}" for url in named)]
