"""The pipeline from a table to a release, and the release itself.

pipeline.py     encode, randomise, shuffle: a table and a plan in, a release out
released.py     the Release, and the questions an analyst can ask it
certificate.py  the claims of a release
folder.py       the release on disk
"""

from .certificate import Certificate
from .pipeline import check, release
from .released import Release, open_release

__all__ = ["Certificate", "Release", "check", "open_release", "release"]
