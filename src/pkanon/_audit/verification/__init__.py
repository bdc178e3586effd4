"""The verification of a release by somebody who trusts nobody.

verify.py        which checks are made;  verdicts.py  checks and their verdicts;  case.py  the release, read piece by piece
files.py         files, hashes, formats, the data package;  claims.py  plan and certificate;  signature.py  who signed it
versions.py      which version of pkanon wrote it
rows.py          the released rows;  order.py  evidence in their order;  possible.py  evidence in their tables
evidence.py      what evidence is, and why false alarms are rare
"""

from .verdicts import Check, Verification
from .verify import verify

__all__ = ["Check", "Verification", "verify"]
