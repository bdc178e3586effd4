"""What a table or a release really gives away.

classical.py  the classical k-anonymity of a table, and how many rows are in its smallest groups
"""

from .classical import Groups, anonymity, groups

__all__ = ["Groups", "anonymity", "groups"]
