"""The verification of a release: which checks are made, in which order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..._errors import EnvironmentFailure
from ..._progress import Progress, quiet
from . import claims, files, rows
from .case import Case
from .signature import signature
from .verdicts import Verification

if TYPE_CHECKING:
    from ..._release import Release


def verify(
    release: str | Path | Release, *, key: str | Path | None = None, progress: Progress | None = None
) -> Verification:
    """Check everything that a release says of itself, as somebody who trusts nobody.

    Every claim is computed anew from the integers of the plan. The files must agree with their hashes and with each
    other, and the rows with the plan. Two checks are statistical: whether the order of the rows is that of a shuffle, and whether
    the released tables are such as the plan can produce. Each calls at most one in a million honest releases
    broken.

    Parameters
    ----------
    release
        The folder of a release, a Parquet file taken out of one, or a release in memory.
    key
        The file of the public key that the folder must be signed with; the signature is not checked without it.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    Verification
        Every check with its verdict; ``ok`` if nothing is broken.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan)
    >>> pk.verify(release)
    <Verification of The release: ok>
    """
    progress = progress or quiet
    case = Case.of(release, progress)
    before, found = case.marks(), None
    try:
        found = _verified(case, key, progress)
    except Exception:
        if case.marks() == before:
            raise
    if found is None or case.marks() != before:
        raise EnvironmentFailure(f"{case.subject} changed while it was verified; run it again, undisturbed.")
    return found


def _verified(case: Case, key: str | Path | None, progress: Progress) -> Verification:
    progress("opening", 0.0)
    signed = signature(case, key)  # a key that cannot be read is refused before anything is computed
    right = claims.expected(case, progress)
    values, combinations = rows.values(case), rows.combinations(case)
    progress("opening", 1.0)
    sound = values.verdict == combinations.verdict == "kept"
    checks = (
        files.files(case),
        files.hashes(case),
        files.forms(case),
        claims.plan(case),
        claims.claims(case, right),
        claims.central(case, right),
        claims.sentences(case, right),
        claims.digests(case, right),
        files.data_package(case, right),
        files.read_me(case, right),
        files.predicted_errors(case),
        files.copies(case),
        values,
        combinations,
        rows.rows(case),
        rows.order(case, progress),
        rows.tables(case, progress, sound=sound),
        signed,
        *files.report(case),
        *files.strangers(case),
    )
    return Verification(case.subject, checks)
