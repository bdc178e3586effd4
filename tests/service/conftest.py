"""A folder for databases, in memory where the system has one: a test of what is stored need not wait for a disk."""

import tempfile
from pathlib import Path

import pytest
from postgres import cluster

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="pkanon-", dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def server():
    """A PostgreSQL server for the tests of one file."""
    with cluster() as running:
        yield running
