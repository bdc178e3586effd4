"""What a table or a release really gives away.

anonymity.py  k of a table as classical k-anonymity counts it, and how many rows have no better
"""

from .anonymity import Groups, anonymity, groups

__all__ = ["Groups", "anonymity", "groups"]
