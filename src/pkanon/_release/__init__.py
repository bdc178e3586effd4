"""The pipeline from a table to a release, and the release itself.

pipeline.py     encode, randomise, shuffle: a table and a plan in, a release out
released.py     the Release, and the questions an analyst can ask it
certificate.py  the claims of a release;  certificate.schema.json  the form of its file
folder.py       the release on disk;  readme.py  its README.txt
signature.py    who vouches for it
"""

from .certificate import FORMAT as CERTIFICATE_FORMAT
from .certificate import Certificate, central_of, data_digest
from .folder import CERTIFICATE_KEY, FORMATS, PLAN_KEY, README, carries_plan, datapackage
from .pipeline import check, release
from .readme import readme
from .released import Release, open_release
from .signature import is_signed, is_signed_by, needs_password, read_private_key, read_public_key, sign

__all__ = [
    "CERTIFICATE_FORMAT",
    "CERTIFICATE_KEY",
    "FORMATS",
    "PLAN_KEY",
    "README",
    "Certificate",
    "Release",
    "carries_plan",
    "central_of",
    "check",
    "data_digest",
    "datapackage",
    "is_signed",
    "is_signed_by",
    "needs_password",
    "open_release",
    "read_private_key",
    "read_public_key",
    "readme",
    "release",
    "sign",
]
