"""A private line between an executor and the driver, for what must not lie on a disk.

Spark writes what it ships to executors (closures, broadcasts, configuration) to disks, logs and web pages. So the key is asked
for on this line instead. Both ends make a key pair that lives as long as the line, and derive the keys of the line from
it and from the token of the release (X25519, HKDF-SHA256, then AES-256-GCM for every message). Who does not know the token
can neither ask nor answer. Who finds the token later, in a file that Spark left, cannot read a line that was recorded.

A message is its length (4 bytes, big-endian) and its ciphertext; the nonce is the number of the message in its direction.
"""

from __future__ import annotations

import socket

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

TOKEN_BYTES = 32
LARGEST = 2**26
"""Bytes in one message."""
PATIENCE = 60.0
"""Seconds that one end waits for the other."""
_NAME = b"pkanon spark line 1"
_PUBLIC = 32
_TAG = 16


class Refused(Exception):
    """The other end is not the one it should be, or went away."""


class Channel:
    """One end of a line that is set up; use :func:`call` or :func:`answer`."""

    def __init__(self, connection: socket.socket, sending: bytes, receiving: bytes) -> None:
        self._connection = connection
        self._sending, self._receiving = AESGCM(sending), AESGCM(receiving)
        self._sent = self._received = 0

    def send(self, message: bytes | memoryview) -> None:
        """Send up to ``LARGEST`` bytes."""
        sealed = self._sending.encrypt(self._sent.to_bytes(12, "big"), bytes(message), None)
        self._sent += 1
        self._connection.sendall(len(sealed).to_bytes(4, "big"))
        self._connection.sendall(sealed)

    def receive(self) -> bytes:
        """The next message."""
        size = int.from_bytes(_exactly(self._connection, 4), "big")
        if size > LARGEST + _TAG:
            raise Refused
        sealed = _exactly(self._connection, size)
        try:
            message = self._receiving.decrypt(self._received.to_bytes(12, "big"), sealed, None)
        except InvalidTag:
            raise Refused from None
        self._received += 1
        return message

    def close(self) -> None:
        self._connection.close()


def call(address: tuple[str, int], token: bytes) -> Channel:
    """The line to whoever answers at ``address`` with the same ``token``."""
    connection = socket.create_connection(address, PATIENCE)
    own = X25519PrivateKey.generate()
    public = own.public_key().public_bytes_raw()
    connection.sendall(public)
    other = _exactly(connection, _PUBLIC)
    keys = _keys(own, other, token, public + other)
    return Channel(connection, keys[:32], keys[32:])


def answer(connection: socket.socket, token: bytes) -> Channel:
    """The line to whoever called; that the token is the same shows with the first message."""
    connection.settimeout(PATIENCE)
    other = _exactly(connection, _PUBLIC)
    own = X25519PrivateKey.generate()
    public = own.public_key().public_bytes_raw()
    connection.sendall(public)
    keys = _keys(own, other, token, other + public)
    return Channel(connection, keys[32:], keys[:32])


def _keys(own: X25519PrivateKey, other: bytes, token: bytes, both: bytes) -> bytes:
    shared = own.exchange(X25519PublicKey.from_public_bytes(other))
    return HKDF(SHA256(), 64, salt=token, info=_NAME + both).derive(shared)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        got = connection.recv_into(view[done:])
        if got == 0:
            raise Refused
        done += got
    return bytes(data)
