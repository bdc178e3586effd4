"""A detached signature of a release: who vouches for it.

Ed25519 over the bytes of ``datapackage.json``, which has the hashes of all other files of the release. A report in
the folder is not covered: it may be made after signing. The signature is 64 raw bytes in ``datapackage.json.sig``, so that
other programs can check it too:

    openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in datapackage.json -sigfile datapackage.json.sig

Keys are PEM files (``openssl genpkey -algorithm ed25519``) or those of OpenSSH (``ssh-keygen -t ed25519``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import InputError
from .._files import write_new
from .names import PACKAGE, SIGNATURE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


LENGTH = 64
"""Bytes of every Ed25519 signature."""


class EncryptedKeyError(InputError):
    """A key that only its password opens."""


def needs_password(path: str | Path) -> bool:
    """Whether a private key is encrypted; what is no usable key is refused."""
    try:
        read_private_key(path)
    except EncryptedKeyError:
        return True
    return False


def read_private_key(path: str | Path, password: bytes | None = None) -> Ed25519PrivateKey:
    """The Ed25519 key in a file that only its owner should read; ``password`` opens one that is encrypted."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    content = _content(path)
    ssh = b"BEGIN OPENSSH PRIVATE KEY" in content
    problem = "is not a private key in PEM or OpenSSH form"
    try:
        key = (load_ssh_private_key if ssh else load_pem_private_key)(content, password)
        if isinstance(key, Ed25519PrivateKey):
            return key
        problem = "is a private key, but not one for Ed25519; make one with 'openssl genpkey -algorithm ed25519'"
    except TypeError:  # it wants a password and got none, or the other way round
        if password is None:
            raise EncryptedKeyError(f"{path} is encrypted: its password is needed.") from None
        problem = "is not encrypted, and a password was given"
    except UnsupportedAlgorithm:
        problem = "is encrypted in a way that cannot be read here; write it as a PEM file"
    except ValueError:
        if password is not None:
            problem = "does not open with this password"
    raise InputError(f"{path} {problem}.")


def read_public_key(path: str | Path) -> Ed25519PublicKey:
    """The public Ed25519 key in a PEM file or in a line of OpenSSH."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    content = _content(path)
    problem = "is not a public key in PEM or OpenSSH form"
    if b"PRIVATE KEY" in content:
        problem = "is a private key; give the public one, which anybody may have"
    else:
        try:
            key = (load_ssh_public_key if content.startswith(b"ssh-") else load_pem_public_key)(content)
            if isinstance(key, Ed25519PublicKey):
                return key
            problem = "is a public key, but not one for Ed25519"
        except (ValueError, UnsupportedAlgorithm):
            pass
    raise InputError(f"{path} {problem}.")


def _content(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read the key {path}: {error.strerror}.") from None


def write_signature(folder: Path, key: Ed25519PrivateKey) -> None:
    """Sign the release in ``folder`` as it is; refused if it is signed already."""
    write_new(folder / SIGNATURE, key.sign((folder / PACKAGE).read_bytes()))


def is_signed(folder: Path) -> bool:
    """Whether there is a signature, be it right or wrong."""
    return (folder / SIGNATURE).is_file()


def is_signature(folder: Path) -> bool:
    """Whether what is there has the length of a signature; whose it is, only a key can tell."""
    return (folder / SIGNATURE).stat().st_size == LENGTH


def is_signed_by(folder: Path, key: Ed25519PublicKey) -> bool:
    """Whether the release in ``folder`` is signed with the private key that belongs to ``key``."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify((folder / SIGNATURE).read_bytes(), (folder / PACKAGE).read_bytes())
    except (InvalidSignature, OSError):
        return False
    return True


def sign(path: str | Path, key: str | Path, *, password: bytes | None = None) -> None:
    """Sign a release folder with an Ed25519 key: whoever has the public key can check that it is unchanged.

    The release is opened first, so nothing damaged is signed.

    Parameters
    ----------
    path
        The folder of the release.
    key
        The file of the private key: PEM, as ``openssl genpkey -algorithm ed25519`` writes it, or OpenSSH.
    password
        The password of the key, if it is encrypted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cryptography.hazmat.primitives import serialization
    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> import pkanon as pk
    >>> import polars as pl
    >>> key = Ed25519PrivateKey.generate().private_bytes(
    ...     serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ... )
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "key.pem").write_bytes(key)
    ...     pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan).save(Path(folder, "out"))
    ...     pk.sign(Path(folder, "out"), Path(folder, "key.pem"))
    ...     Path(folder, "out", "datapackage.json.sig").stat().st_size
    64
    """
    from .stored import open_release

    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{path} is not the folder of a release; a signature belongs to a folder.")
    private = read_private_key(key, password)
    if is_signed(folder):
        raise InputError(f"{folder} is signed already; remove {SIGNATURE} if it is to be signed anew.")
    open_release(folder)
    write_signature(folder, private)
