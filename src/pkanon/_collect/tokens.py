"""Blind signatures: RSABSSA-SHA384-PSS-Randomized of RFC 9474.

A device makes a token of 32 random bytes, which is the randomised preparation of the empty message, and hides it behind
a random factor (:func:`blind`). The issuer signs what it cannot read (:meth:`PrivateKey.sign_blinded`); the device
takes the factor off again (:func:`finalize`). What remains is an ordinary RSA-PSS signature of the token. Whatever the
issuer has seen fits every token equally well: for each pair there is exactly one factor (tests/exact/test_tokens.py).

That needs two things of the key, and an issuer that wants to link people could choose another one.

- The e-th powers of units reach every unit. So a key comes with a proof (:func:`prove`): e-th roots of eight units that
  nobody chose, which a key of the other kind has with a probability below 2^-128.
- The token is a unit: a factor that it shares with n would show in the request. :func:`blind` sends no other token, and a
  key with a factor up to 65537 is refused, so that nearly every token is one. A modulus of at most 4096 bits has fewer
  than 256 larger factors, so a device has to stop with a probability below 256/65537, 1 in 256; what it sends is hidden.

``cryptography`` makes keys and verifies; it has no blind signing, so that is done with Python's integers. Their
operations take time that depends on the numbers, so the issuer hides its input behind a factor of its own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from pathlib import Path
from typing import Any

from .._errors import InputError

TOKEN_BYTES = 32
SALT_BYTES = 48
EXPONENT = 65537
BITS = 2048
"""Of a new key. It has to last for one survey, and what is hidden from the issuer does not rest on its size."""
ROOTS = 8
"""Each is there by chance with a probability of at most 1/65537; 65537^8 is more than 2^128."""


class TokenError(InputError):
    """A signature, a token or a blinded request that cannot be used."""


# --- numbers and texts ----------------------------------------------------------------------------------------------


def to_text(content: bytes) -> str:
    """Bytes in base64url, without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def from_text(text: Any, length: int | None = None) -> bytes:
    """The bytes in a base64url text without padding; refused unless written in just this way."""
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (TypeError, ValueError, binascii.Error):
        content = None
    if content is None or to_text(content) != text or (length is not None and len(content) != length):
        raise TokenError("A text that should hold bytes in base64url without padding does not, or has another length.")
    return content


def _digest(content: bytes) -> bytes:
    return hashlib.sha384(content).digest()


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 with SHA-384 (RFC 8017, B.2.1)."""
    rounds = -(-length // 48)
    return b"".join(_digest(seed + i.to_bytes(4, "big")) for i in range(rounds))[:length]


def encode(message: bytes, bits: int, salt: bytes) -> int:
    """EMSA-PSS-ENCODE (RFC 8017, 9.1.1) with SHA-384, as a number of at most ``bits`` bits."""
    length = -(-bits // 8)
    hashed = _digest(bytes(8) + _digest(message) + salt)
    room = length - len(hashed) - 1
    block = bytes(room - len(salt) - 1) + b"\x01" + salt
    masked = bytes(a ^ b for a, b in zip(block, _mask(hashed, room)))
    number = int.from_bytes(masked + hashed + b"\xbc", "big")
    return number & ((1 << bits) - 1)


# --- keys -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PublicKey:
    """The key that anybody can verify tokens with.

    Parameters
    ----------
    n
        The modulus.
    proof
        The roots that :func:`prove` makes; they show that the key hides what it should.
    """

    n: int
    proof: tuple[int, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not BITS <= self.n.bit_length() <= 4096 or self.n % 2 == 0:
            raise InputError(f"The key of the invitations is not an RSA key of {BITS} to 4096 bits.")
        if any(self.n % factor == 0 for factor in range(3, EXPONENT + 1, 2)):
            raise InputError(
                "The key of the invitations has a small factor, which can mark who was invited; do not use it."
            )
        if len(self.proof) != ROOTS or any(
            not 0 < root < self.n or gcd(root, self.n) != 1 or pow(root, EXPONENT, self.n) != _challenge(self.n, i)
            for i, root in enumerate(self.proof)
        ):
            raise InputError(
                "The key of the invitations comes without a proof that it hides who was invited; do not use it."
            )

    @property
    def size(self) -> int:
        """The length of a signature and of a blinded request, in bytes."""
        return (self.n.bit_length() + 7) // 8

    @cached_property
    def _verifier(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

        return RSAPublicNumbers(EXPONENT, self.n).public_key()

    def verify(self, token: bytes, signature: bytes) -> bool:
        """Whether ``signature`` is the issuer's, of ``token``."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        try:
            self._verifier.verify(
                signature, token, padding.PSS(padding.MGF1(hashes.SHA384()), SALT_BYTES), hashes.SHA384()
            )
        except InvalidSignature:
            return False
        return True

    def to_json(self) -> dict[str, Any]:
        """The key as survey.json holds it: numbers in base64url, as in a JSON Web Key."""
        return {
            "n": to_text(self.n.to_bytes(self.size, "big")),
            "e": to_text(EXPONENT.to_bytes(3, "big")),
            "proof": [to_text(root.to_bytes(self.size, "big")) for root in self.proof],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PublicKey:
        """The key in ``data``, the inverse of :meth:`to_json`; its proof is checked."""
        if set(data) != {"n", "e", "proof"} or from_text(data["e"]) != EXPONENT.to_bytes(3, "big"):
            raise InputError("The key of the invitations is not in the form that pkanon writes.")
        n, *roots = (int.from_bytes(from_text(text), "big") for text in (data["n"], *data["proof"]))
        return cls(n, tuple(roots))


@dataclass(frozen=True)
class PrivateKey:
    """The issuer's key."""

    p: int = field(repr=False)
    q: int = field(repr=False)

    @classmethod
    def generate(cls) -> PrivateKey:
        """A new key."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        numbers = rsa.generate_private_key(EXPONENT, BITS).private_numbers()
        return cls(numbers.p, numbers.q)

    @classmethod
    def read(cls, path: str | Path) -> PrivateKey:
        """The key in a PEM file."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"Cannot read the key of the issuer {path}: {error.strerror}.") from None
        return cls.from_pem(content, str(path))

    @classmethod
    def from_pem(cls, content: bytes, source: str = "the key of the issuer") -> PrivateKey:
        """The key in a PEM text; ``source`` is what errors call it."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(content, None)
        except (TypeError, ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, RSAPrivateKey) or key.public_key().public_numbers().e != EXPONENT:
            raise InputError(f"{source} is not an unencrypted RSA key that pkanon collect new made.")
        numbers = key.private_numbers()
        return cls(numbers.p, numbers.q)

    def to_pem(self) -> bytes:
        """The key as a PEM text, unencrypted."""
        from cryptography.hazmat.primitives.asymmetric import rsa
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        d = self._d
        numbers = rsa.RSAPrivateNumbers(
            self.p, self.q, d, d % (self.p - 1), d % (self.q - 1), self._at_p,
            rsa.RSAPublicNumbers(EXPONENT, self.n),
        )  # fmt: skip
        return numbers.private_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @cached_property
    def n(self) -> int:
        """The modulus."""
        return self.p * self.q

    @property
    def size(self) -> int:
        """The length of a signature and of a blinded request, in bytes."""
        return (self.n.bit_length() + 7) // 8

    @cached_property
    def _at_p(self) -> int:
        """The inverse of q modulo p."""
        return pow(self.q, -1, self.p)

    @cached_property
    def _d(self) -> int:
        return pow(EXPONENT, -1, (self.p - 1) * (self.q - 1) // gcd(self.p - 1, self.q - 1))

    @cached_property
    def public(self) -> PublicKey:
        """The key for everybody else, with its proof."""
        return PublicKey(self.n, prove(self))

    def root(self, number: int) -> int:
        """The e-th root, by the Chinese remainder theorem; the time it takes depends on the number."""
        at_p = pow(number, self._d % (self.p - 1), self.p)
        at_q = pow(number, self._d % (self.q - 1), self.q)
        return at_q + (at_p - at_q) * self._at_p % self.p * self.q

    def sign_blinded(self, blinded: bytes) -> bytes:
        """The blind signature; the same for the same request. Refused: a request that is no number below n."""
        number = int.from_bytes(blinded, "big")
        if len(blinded) != self.size or not 0 < number < self.n:
            raise TokenError("The blinded request is no number below the modulus.")
        factor = 0
        while gcd(factor, self.n) != 1:
            factor = secrets.randbelow(self.n)
        hidden = number * pow(factor, EXPONENT, self.n) % self.n
        root = self.root(hidden) * pow(factor, -1, self.n) % self.n
        if pow(root, EXPONENT, self.n) != number:  # a fault in a computation with p would reveal it
            raise RuntimeError("the signature was computed wrongly")
        return root.to_bytes(self.size, "big")


def _challenge(n: int, i: int) -> int:
    length = (n.bit_length() + 7) // 8
    seed = b"pkanon invitation key" + n.to_bytes(length, "big") + bytes([i])
    return int.from_bytes(_mask(seed, length + 16), "big") % n


def prove(key: PrivateKey) -> tuple[int, ...]:
    """The e-th roots of numbers that follow from n: a key without all e-th roots has them by chance only."""
    return tuple(key.root(_challenge(key.n, i)) for i in range(ROOTS))


# --- the device -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Blinded:
    """A request, and what turns the answer to it into a signature."""

    request: bytes
    inverse: bytes = field(repr=False)


def new_token() -> bytes:
    """A token: 32 random bytes."""
    return os.urandom(TOKEN_BYTES)


def blind(key: PublicKey, token: bytes, *, salt: bytes | None = None, inverse: int | None = None) -> Blinded:
    """The token, hidden; ``salt`` and ``inverse`` are random unless a test gives them."""
    encoded = encode(token, key.n.bit_length() - 1, os.urandom(SALT_BYTES) if salt is None else salt)
    if gcd(encoded, key.n) != 1:
        raise TokenError(
            "The token shares a factor with the key, which an honest key does not let happen; do not use this survey."
        )
    if inverse is None:
        inverse = 0
        while gcd(inverse, key.n) != 1:
            inverse = secrets.randbelow(key.n)
    factor = pow(inverse, -1, key.n)
    request = encoded * pow(factor, EXPONENT, key.n) % key.n
    return Blinded(request.to_bytes(key.size, "big"), inverse.to_bytes(key.size, "big"))


def finalize(key: PublicKey, token: bytes, inverse: bytes, blind_signature: bytes) -> bytes:
    """The signature of the token; refused if the issuer's answer does not give one."""
    if len(blind_signature) != key.size or len(inverse) != key.size:
        raise TokenError("The issuer's answer has the wrong length.")
    number = int.from_bytes(blind_signature, "big") * int.from_bytes(inverse, "big") % key.n
    signature = number.to_bytes(key.size, "big")
    if not key.verify(token, signature):
        raise TokenError("The issuer's answer is not a signature with the key of this survey.")
    return signature
