"""The pipeline from a table to a release, and the release itself.

pipeline.py     encode, randomise, shuffle: a table and a plan in, a release out
refusals.py     what is refused;  steps.py  what every engine does to some rows, and the certificate
collected.py    rows that devices have randomised: shuffle and certify
released.py     the Release, and the questions an analyst can ask it;  stored.py  one whose rows are on a disk
certificate.py  the claims of a release;  certificate.schema.json  the form of its file
modelled.py     rows drawn from a model of a release
folder.py       the release on disk;  names.py  the names of its files;  readme.py  its README.txt
predicted.py    the errors to expect: predicted.csv, and a warning where most tables cannot be read
signature.py    who vouches for it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from .certificate import FORMAT as CERTIFICATE_FORMAT
    from .certificate import SENTENCES, Certificate, central_of, data_digest
    from .collected import collected
    from .folder import CERTIFICATE_KEY, HASHED, PLAN_KEY, carries_plan, datapackage, file_hash, fill_folder
    from .modelled import Modelled, check_destination
    from .names import CERTIFICATE, FORMATS, MODELLED_KEY, PACKAGE, PLAN, PREDICTED, README, REPORT, SIGNATURE
    from .pipeline import check, release
    from .predicted import disagreements, predicted, warn_of_unreadable
    from .readme import readme
    from .refusals import refuse_central, refuse_plan, refuse_rows
    from .released import Release
    from .signature import (
        is_signature,
        is_signed,
        is_signed_by,
        needs_password,
        read_private_key,
        read_public_key,
        sign,
    )
    from .steps import attribute_columns, certified, round_points, shares_of_others, shown, unit_columns
    from .stored import FileRows, Rows, StoredRelease, open_release

lazy(
    __name__,
    {
        "certificate": "FORMAT as CERTIFICATE_FORMAT, SENTENCES, Certificate, central_of, data_digest",
        "collected": "collected",
        "folder": "CERTIFICATE_KEY, HASHED, PLAN_KEY, carries_plan, datapackage, file_hash, fill_folder",
        "modelled": "Modelled, check_destination",
        "names": "CERTIFICATE, FORMATS, MODELLED_KEY, PACKAGE, PLAN, PREDICTED, README, REPORT, SIGNATURE",
        "pipeline": "check, release",
        "predicted": "disagreements, predicted, warn_of_unreadable",
        "readme": "readme",
        "refusals": "refuse_central, refuse_plan, refuse_rows",
        "released": "Release",
        "signature": "is_signature, is_signed, is_signed_by, needs_password, read_private_key, read_public_key, sign",
        "steps": "attribute_columns, certified, round_points, shares_of_others, shown, unit_columns",
        "stored": "FileRows, Rows, StoredRelease, open_release",
    },
)

__all__ = [
    "CERTIFICATE",
    "CERTIFICATE_FORMAT",
    "CERTIFICATE_KEY",
    "FORMATS",
    "HASHED",
    "MODELLED_KEY",
    "PACKAGE",
    "PLAN",
    "PLAN_KEY",
    "PREDICTED",
    "README",
    "REPORT",
    "SENTENCES",
    "SIGNATURE",
    "Certificate",
    "FileRows",
    "Modelled",
    "Release",
    "Rows",
    "StoredRelease",
    "attribute_columns",
    "carries_plan",
    "central_of",
    "certified",
    "check",
    "check_destination",
    "collected",
    "data_digest",
    "datapackage",
    "disagreements",
    "file_hash",
    "fill_folder",
    "is_signature",
    "is_signed",
    "is_signed_by",
    "needs_password",
    "open_release",
    "predicted",
    "read_private_key",
    "read_public_key",
    "readme",
    "refuse_central",
    "refuse_plan",
    "refuse_rows",
    "release",
    "round_points",
    "shares_of_others",
    "shown",
    "sign",
    "unit_columns",
    "warn_of_unreadable",
]
