"""The verification of a release by somebody who trusts nobody.

verify.py        which checks are made;  verdicts.py  checks and their verdicts;  case.py  the release, read piece by piece
files.py         files, hashes, formats, the data package;  claims.py  plan and certificate;  signature.py  who signed it
versions.py      which version of pkanon wrote it
rows.py          the released rows;  pieces.py  the same a piece at a time;  spooled.py  what is kept of a large file
order.py         evidence in the order of the rows;  suspicions.py  what is suspected of it
possible.py      evidence in their tables;  mixing.py  numbers that tell halves and kinds of rows apart
evidence.py      what evidence is, and why false alarms are rare
"""

from .verdicts import Check, Verification
from .verify import verify

__all__ = ["Check", "Verification", "verify"]
