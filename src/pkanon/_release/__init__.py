"""The pipeline from a table to a release, and the release itself.

pipeline.py     encode, randomise, shuffle: a table and a plan in, a release out
released.py     the Release, and the questions an analyst can ask it
certificate.py  the claims of a release;  certificate.schema.json  the form of its file
folder.py       the release on disk;  readme.py  its README.txt
signature.py    who vouches for it
"""

from .certificate import Certificate
from .pipeline import check, release
from .released import Release, open_release
from .signature import is_signed, is_signed_by, needs_password, read_private_key, read_public_key, sign

__all__ = [
    "Certificate",
    "Release",
    "check",
    "is_signed",
    "is_signed_by",
    "needs_password",
    "open_release",
    "read_private_key",
    "read_public_key",
    "release",
    "sign",
]
