"""The issuer: one token for each invitation, signed blind.

    survey.issuer/key.pem    the private key, from pkanon collect new to pkanon collect invite --close
    survey.issuer/codes.db   of each invitation the SHA-256 of its code, whether it was used, and the request it was used
                             with, so that a device that lost the answer gets the same one again

A code is 128 random bits in the fragment of a link, which browsers do not send. It is shown once, when it is made. No time
and no address is kept. Invitations stand in the order of their hashes, and using one overwrites as many bytes in place:
the file shows who used an invitation, and not in which order.

The issuer knows whom it invited and sees who uses an invitation. It does not see the token that it signs, and the service
sees only the token. What could join the two is a person who watches both at the same time; ``strict`` surveys keep them
apart (docs/collect/invitations.md).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from .. import _files
from .._errors import EnvironmentFailure, InputError, PkanonError
from .private_file import destroy, write_private
from .survey import Survey, address
from .tokens import PrivateKey, PublicKey, TokenError, from_text, to_text

CODE_BYTES = 16
KEY = "key.pem"
CODES = "codes.db"
MOST_PEOPLE = 10_000_000


class ClaimRefusedError(PkanonError):
    """An invitation that is not accepted; ``code`` and ``status`` are what a device is told."""

    exit_code = 2

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code, self.status = code, status


def new_issuer(folder: str | Path) -> PublicKey:
    """A new issuer: its private key in a folder that nobody else may read; the key for everybody else is returned.

    Parameters
    ----------
    folder
        The folder, which must not exist. Keep it away from the survey's own, which is public.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = pk.collect.new_issuer(Path(folder, "survey.issuer"))
    >>> key.size  # bytes of a signature
    256
    """
    key = PrivateKey.generate()

    def fill(path: Path) -> None:
        path.chmod(0o700)
        write_private(path / KEY, key.to_pem(), replace=False)
        with closing(_connect(path / CODES, new=True)) as database:
            # id first and every row of one length, so that an update stays in its place
            database.execute(
                "CREATE TABLE invitation (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, used INTEGER NOT NULL, "
                "request BLOB NOT NULL)"
            )
            database.execute("CREATE UNIQUE INDEX by_hash ON invitation (hash)")

    _files.write_folder(folder, fill)
    return key.public


class Issuer:
    """The issuer of one survey's invitations.

    Parameters
    ----------
    folder
        The folder that :func:`collect.new_issuer` made.
    survey
        The survey; refused if its key is another one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Smoking at work"
    ... organiser = "Institute of Health"
    ... contact = "survey@example.org"
    ... [attributes.smokes]
    ... values = ["no", "yes"]
    ... question = "Do you smoke?"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     key = pk.collect.new_issuer(Path(folder, "survey.issuer"))
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=500, k=20, invitation_key=key)
    ...     issuer = pk.collect.Issuer(Path(folder, "survey.issuer"), survey)
    ...     len(issuer.invite(3)), issuer.counts
    (3, (3, 0))
    """

    def __init__(self, folder: str | Path, survey: Survey) -> None:
        self._folder = Path(folder)
        if not (self._folder / CODES).is_file():
            raise InputError(f"{folder} is not the folder of an issuer; pkanon collect new --invitations makes one.")
        if survey.public_key is None:
            raise InputError("The survey is open to everybody; it has no invitations.")
        self._survey = survey
        self._size, self._n = survey.public_key.size, survey.public_key.n
        if not self.closed and PrivateKey.read(self.key_file).n != survey.public_key.n:
            raise InputError(f"The key in {folder} belongs to another survey.")

    @property
    def key_file(self) -> Path:
        """Where the private key is, until invitations end."""
        return self._folder / KEY

    @property
    def closed(self) -> bool:
        """Whether invitations have ended: the private key is gone."""
        return not self.key_file.exists()

    def invite(self, people: int) -> list[bytes]:
        """Codes for ``people`` more invitations, which are shown just this once."""
        if not 1 <= people <= MOST_PEOPLE:
            raise InputError(f"Invite 1 to {MOST_PEOPLE:,} people.")
        self._check_open()
        codes = [os.urandom(CODE_BYTES) for _ in range(people)]
        rows = [
            (hash, bytes(self._size)) for hash in sorted(map(_hash, codes))
        ]  # sorted: in no order that means anything
        with self._transaction() as database:
            database.executemany("INSERT INTO invitation (hash, used, request) VALUES (?, 0, ?)", rows)
        return codes

    def admit(self, code: bytes, request: bytes) -> None:
        """Use the invitation of ``code`` for a blinded ``request``: once, or again for the same; on the disk on return.

        Refused: an unknown code, a code that was used for another request, and everything after the end.
        """
        if self.closed:
            raise ClaimRefusedError("closed", 410, "Invitations have ended.")
        if len(request) != self._size or not 0 < int.from_bytes(request, "big") < self._n:
            raise ClaimRefusedError("malformed", 400, "The blinded request is no number below the modulus.")
        with self._transaction() as database:
            row = database.execute("SELECT id, used, request FROM invitation WHERE hash = ?", (_hash(code),)).fetchone()
            if row is None:
                raise ClaimRefusedError("code", 403, "The invitation is unknown; copy the whole link.")
            place, used, before = row
            if used and not hmac.compare_digest(before, request):
                raise ClaimRefusedError("conflict", 409, "The invitation was used already, on another device or page.")
            if not used:
                database.execute("UPDATE invitation SET used = 1, request = ? WHERE id = ?", (request, place))

    def claim(self, code: bytes, request: bytes, sign: Callable[[bytes], bytes] | None = None) -> bytes:
        """The blind signature of ``request`` for the invitation of ``code``; ``sign`` replaces the private key's own."""
        self.admit(code, request)
        signer = sign or PrivateKey.read(self.key_file).sign_blinded
        try:
            return signer(request)
        except TokenError as error:
            raise ClaimRefusedError("malformed", 400, str(error)) from None

    @property
    def counts(self) -> tuple[int, int]:
        """How many invitations were made, and how many were used."""
        with closing(_connect(self._folder / CODES)) as database:
            made, used = database.execute("SELECT COUNT(*), COALESCE(SUM(used), 0) FROM invitation").fetchone()
        return int(made), int(used)

    def unused(self, codes: Iterable[bytes]) -> list[bytes]:
        """Those of some ``codes`` that were not used yet: whom to remind. Who used one need not have answered."""
        with closing(_connect(self._folder / CODES)) as database:
            fresh = {hash for (hash,) in database.execute("SELECT hash FROM invitation WHERE used = 0")}
        return [code for code in codes if _hash(code) in fresh]

    def close(self) -> None:
        """End invitations for good: the private key and all requests are destroyed. Counts remain."""
        destroy(self.key_file)
        with self._transaction() as database:
            database.execute("UPDATE invitation SET request = ?", (bytes(self._size),))
        with closing(_connect(self._folder / CODES)) as database:
            database.execute("VACUUM")

    def _check_open(self) -> None:
        if self.closed:
            raise InputError("Invitations have ended: the private key was destroyed.")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(_connect(self._folder / CODES)) as database:
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield database
                except BaseException:
                    database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
        except sqlite3.Error:
            raise EnvironmentFailure(f"The database of the issuer in {self._folder} cannot be used.") from None


def _connect(path: Path, *, new: bool = False) -> sqlite3.Connection:
    if new:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    database = sqlite3.connect(path, isolation_level=None, timeout=30)
    for setting in ("journal_mode = TRUNCATE", "synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY"):
        database.execute(f"PRAGMA {setting}")
    return database


def _hash(code: bytes) -> bytes:
    return hashlib.sha256(code).digest()


def save_invitations(codes: Mapping[bytes, str], path: str | Path) -> None:
    """Write a CSV file of links from codes and their addresses, which only its owner may read: a link is as good as a person."""
    links = [f"{address(url)}/#{to_text(code)}" for code, url in codes.items()]
    write_private(path, "\n".join(["link", *links, ""]).encode(), replace=False)


def read_invitations(path: str | Path) -> dict[bytes, str]:
    """The codes in a file that :func:`save_invitations` wrote, each with the address of its link."""
    try:
        header, *links = Path(path).read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        header, links = "", []
    if header != "link":
        raise InputError(f"{path} is not a file of invitations that pkanon collect invite wrote.")
    try:
        return {from_text(link.rpartition("#")[2], CODE_BYTES): link.rpartition("#")[0].rstrip("/") for link in links}
    except TokenError:
        raise InputError(
            f"{path} holds a link that is not one of an invitation; each ends with # and its code."
        ) from None
