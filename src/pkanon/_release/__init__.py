"""The pipeline from a table to a release, and the release itself.

pipeline.py     encode, randomise, shuffle: a table and a plan in, a release out
released.py     the Release, and what an analyst asks of it
certificate.py  what a release may claim
folder.py       the release on disk
"""

from .certificate import Certificate
from .pipeline import check, release
from .released import Release, open_release

__all__ = ["Certificate", "Release", "check", "open_release", "release"]
