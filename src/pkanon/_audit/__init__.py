"""What a table or a release really gives away.

anonymity.py  k of a table as classical k-anonymity counts it
"""

from .anonymity import anonymity

__all__ = ["anonymity"]
