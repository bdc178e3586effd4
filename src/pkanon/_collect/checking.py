"""Is it the right page? What a visitor gets, compared with the survey folder, byte for byte."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._errors import InputError
from .survey import FILES, MANIFEST, Survey, listed_hashes, sha256
from .web import base_address, get


@dataclass(frozen=True)
class Checked:
    """One file as it was served.

    Parameters
    ----------
    name
        Its name in the survey folder; the page is index.html.
    url
        Where it was read.
    served, expected
        The SHA-256 of the bytes that came, and of those in the folder.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.collect.Checked("index.html", "https://survey.example.org/", served="9f86...", expected="2c26...").same
    False
    """

    name: str
    url: str
    served: str
    expected: str

    @property
    def same(self) -> bool:
        """Whether it is the file of the folder."""
        return self.served == self.expected


def check(url: str, survey: Survey | None = None, *, digest: str | None = None) -> list[Checked]:
    """Every file of a survey as an ordinary visitor gets it from its address, beside what it should be.

    Parameters
    ----------
    url
        The address of the survey.
    survey
        The survey, read from its folder.
    digest
        The survey digest, for those who have only that: files are then compared with the manifest, and the manifest with
        the digest.

    Examples
    --------
    >>> import pkanon as pk
    >>> try:
    ...     pk.collect.check("https://survey.example.org")
    ... except pk.InputError as error:
    ...     print(error)
    Say what the address should serve: the survey folder, or the survey digest.
    """
    if survey is None and digest is None:
        raise InputError("Say what the address should serve: the survey folder, or the survey digest.")
    if survey is not None and digest is not None and survey.digest != digest.lower():
        raise InputError("The survey in the folder has another digest.")
    if digest is not None and re.fullmatch("[0-9a-fA-F]{64}", digest) is None:
        raise InputError("A survey digest has 64 hexadecimal digits; give all of them.")
    base = base_address(url)
    addresses = {name: f"{base}/{'' if name == 'index.html' else name}" for name in (*FILES, MANIFEST)}
    served = {name: get(address) for name, address in addresses.items()}
    if survey is not None:
        expected = {name: sha256(content) for name, content in survey.files.items()}
    else:
        expected = {**listed_hashes(served[MANIFEST]), MANIFEST: str(digest).lower()}
    return [Checked(name, addresses[name], sha256(served[name]), expected.get(name, "")) for name in addresses]
