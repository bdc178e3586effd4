"""A schema proposed from a table, for somebody to confirm.

draft.py     the whole;  proposal.py  one column;  domains.py  its values;  rounding.py  round bins
infer.py     the types of the columns;  writing.py  how a file writes dates and numbers;  signs.py  signs for missing
labels.py    labels that are nearly equal;  labelled.py  columns whose values have labels in the file
words.py     what the name of a column says;  identity.py  whether it numbers persons;  personal.py  names, remarks, addresses
finding.py   what a person must look into
sniffing.py  delimiter and encoding that nobody gave;  header.py  whether the first line is a header
"""

from .draft import Draft, draft_schema
from .proposal import DraftedColumn

__all__ = ["Draft", "DraftedColumn", "draft_schema"]
