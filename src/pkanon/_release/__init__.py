"""The pipeline from a table to a release, and the release itself.

pipeline.py     encode, randomise, shuffle: a table and a plan in, a release out
collected.py    rows that devices have randomised: shuffle and certify
released.py     the Release, and the questions an analyst can ask it
certificate.py  the claims of a release;  certificate.schema.json  the form of its file
folder.py       the release on disk;  names.py  the names of its files;  readme.py  its README.txt
predicted.py    the errors to expect: predicted.csv, and a warning where most tables cannot be read
signature.py    who vouches for it
"""

from .certificate import FORMAT as CERTIFICATE_FORMAT
from .certificate import SENTENCES, Certificate, central_of, data_digest
from .collected import collected
from .folder import CERTIFICATE_KEY, HASHED, PLAN_KEY, carries_plan, datapackage, file_hash
from .names import CERTIFICATE, FORMATS, PACKAGE, PLAN, PREDICTED, README, REPORT, SIGNATURE
from .pipeline import check, release
from .predicted import disagreements, predicted
from .readme import readme
from .released import Release, open_release
from .signature import is_signed, is_signed_by, needs_password, read_private_key, read_public_key, sign

__all__ = [
    "CERTIFICATE",
    "CERTIFICATE_FORMAT",
    "CERTIFICATE_KEY",
    "FORMATS",
    "HASHED",
    "PACKAGE",
    "PLAN",
    "PLAN_KEY",
    "PREDICTED",
    "README",
    "REPORT",
    "SENTENCES",
    "SIGNATURE",
    "Certificate",
    "Release",
    "carries_plan",
    "central_of",
    "check",
    "collected",
    "data_digest",
    "datapackage",
    "disagreements",
    "file_hash",
    "is_signed",
    "is_signed_by",
    "needs_password",
    "open_release",
    "predicted",
    "read_private_key",
    "read_public_key",
    "readme",
    "release",
    "sign",
]
