"""What a table or a release really gives away.

anonymity.py  the classical k-anonymity of a table, and how many rows are in its smallest groups
"""

from .anonymity import Groups, anonymity, groups

__all__ = ["Groups", "anonymity", "groups"]
