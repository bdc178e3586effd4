"""Is it the right page? What a visitor gets, compared with the survey folder, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

from .survey import FILES, MANIFEST, Survey, sha256
from .web import get


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
    """

    name: str
    url: str
    served: str
    expected: str

    @property
    def same(self) -> bool:
        """Whether it is the file of the folder."""
        return self.served == self.expected


def check(url: str, survey: Survey) -> list[Checked]:
    """Every file of a survey as an ordinary visitor gets it from its address, beside what it should be.

    Parameters
    ----------
    url
        The address of the survey.
    survey
        The survey, read from its folder.

    Examples
    --------
    >>> import pkanon as pk
    >>> try:
    ...     pk.collect.check("file:///survey", pk.collect.Survey.read("no-such-folder"))
    ... except pk.InputError as error:
    ...     print(error)
    no-such-folder is not the folder of a survey; pkanon collect new makes one.
    """
    base = url.partition("#")[0].rstrip("/")
    checked = []
    for name in (*FILES, MANIFEST):
        address = f"{base}/{'' if name == 'index.html' else name}"
        checked.append(Checked(name, address, sha256(get(address)), sha256(survey.files[name])))
    return checked
