"""Who signed a release folder."""

from __future__ import annotations

from pathlib import Path

from ..._errors import InputError
from ..._release import SIGNATURE, is_signature, is_signed, is_signed_by, read_public_key
from .case import Case
from .verdicts import Check, broken, judged, unchecked


def signature(case: Case, key: str | Path | None) -> Check:
    """The folder is signed with the private key that belongs to the public one in the file ``key``."""
    if key is None:
        signed = case.folder is not None and is_signed(case.folder)
        if case.folder is not None and signed and not is_signature(case.folder):
            return broken("signature", [f"{SIGNATURE} cannot be a signature: it does not have 64 bytes."])
        return unchecked(
            "signature",
            "There is a signature; the public key of whoever should have signed checks it (--key)."
            if signed
            else "There is no signature, and no key to check one with was given.",
        )
    public = read_public_key(key)
    if case.folder is None:
        raise InputError("A signature belongs to the folder of a release; give the folder to check it.")
    faults = []
    if not is_signed(case.folder):
        faults.append("The folder is not signed.")
    elif not is_signed_by(case.folder, public):
        faults.append("The signature is not that of this key, or datapackage.json was changed after signing.")
    return judged(
        "signature", faults, "datapackage.json is signed with this key, and by their hashes the files that it lists."
    )
