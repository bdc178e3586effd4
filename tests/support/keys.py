"""Ed25519 key pairs in files, for releases that are signed."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)


def write_keys(
    folder: Path, *, name: str = "key", ssh: bool = False, password: bytes | None = None
) -> tuple[Path, Path]:
    """``name``.pem and ``name``.pub.pem in a folder, or the same pair as OpenSSH writes it."""
    key = Ed25519PrivateKey.generate()
    encryption: KeySerializationEncryption = NoEncryption() if password is None else BestAvailableEncryption(password)
    form = PrivateFormat.OpenSSH if ssh else PrivateFormat.PKCS8
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, form, encryption))
    public.write_bytes(
        key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        if ssh
        else key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public
