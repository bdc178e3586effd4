"""Where a release comes from, how to check it and whom to ask: the last section; and a line to sign on."""

from __future__ import annotations

import hashlib
import shlex

from .._release import PACKAGE, SIGNATURE, is_signed
from .markup import Html, element, paragraph, table, together
from .subject import Subject


def provenance(subject: Subject) -> Html:
    """Digests, version, contact and electronic signature."""
    certificate = subject.certificate
    rows: list[tuple[str, str]] = [("made on", certificate.date), ("made with", certificate.software)]
    rows += [(f"digest of the {name}", _digest(text)) for name, text in certificate.digests.items()]
    package = None if subject.folder is None else subject.folder / PACKAGE
    if package is not None and package.is_file():
        text = hashlib.sha256(package.read_bytes()).hexdigest()
        rows.append(("digest of datapackage.json, which has those of all other files of the release", _digest(text)))
    rows.append(("electronic signature", _signature(subject)))
    rows.append(("organisation", subject.organisation or "not stated"))
    rows.append(("questions to", subject.contact or "not stated"))
    return together(
        table(["", ""], rows, cls="plain"),
        paragraph(
            "Digests are SHA-256. Anybody can recompute the promise from the integers in plan.json, and check that "
            "the files are those that were released:"
        ),
        element("pre", element("code", f"pkanon verify {shlex.quote(subject.folder_name)}"), cls="code console"),
    )


def decision() -> Html:
    """Where whoever decides signs: on the first page, below what they decide about."""
    return element(
        "div",
        element("div", "Decided by (name and function)"),
        element("div", "Date and signature"),
        cls="sign",
    )


def _digest(text: str) -> Html:
    return element("span", text, cls="digest")


def _signature(subject: Subject) -> str:
    if subject.folder is None:
        return "unknown: the report was made from rows in memory"
    if not is_signed(subject.folder):
        return "none when this report was made"
    return f"{SIGNATURE} (Ed25519); this report has not checked it: pkanon verify --key does"
