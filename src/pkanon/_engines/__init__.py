"""The engines: who reads, randomises and shuffles a table. The same plan and key give the same rows in the same order.

choosing.py  release and check: in memory, or streaming for a table that is larger than the memory it may take
streaming/   tables larger than memory
spark/       tables larger than a machine; a door of its own, because it needs PySpark
"""

from .choosing import check, release

__all__ = ["check", "release"]
