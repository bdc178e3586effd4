"""The table of tests/support/mixed.py, once for all tests of queries."""

from types import SimpleNamespace

import pytest
from mixed import make_database, make_release, make_table


@pytest.fixture(scope="session")
def truth():
    """``kept``: a release in which every answer is kept; ``database``: the table itself."""
    table = make_table()
    return SimpleNamespace(table=table, kept=make_release(table, lambda unit: 0), database=make_database(table))
