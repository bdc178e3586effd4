"""SQL on a release, answered by reconstruction: every number unbiased, with its standard error.

language.py     what a query can say, as records
statement.py    a SELECT to these records;  expressions.py  its parts;  names.py  its names;  refusals.py  why not
constants.py    an attribute against a constant;  conditions.py  three-valued logic
evaluate.py     weights, groups and numbers
respond.py      the whole way;  answer.py  what comes out

sqlglot is imported when a query is read, and nowhere else than in statement.py and refusals.py.
"""

from .answer import Answer
from .respond import respond

__all__ = ["Answer", "respond"]
