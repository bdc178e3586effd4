"""Freed memory stays with the process once it has been asked to keep it."""

import platform
import subprocess
import sys

FAULTS = """
import resource, sys
import numpy as np
from pkanon._sample import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for size in range(20, 100):
    a, b, c = (np.ones(size * 2**13) for _ in range(3))  # 1.3 to 6.5 MB
    del a, b, c
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(way):
    """How many pages of memory the system handed out."""
    command = [sys.executable, "-c", FAULTS, way]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_arrays_that_come_and_go_take_the_same_memory_again():
    if platform.libc_ver()[0] == "glibc":  # others do as they like
        assert 4 * faults("kept") < faults("not")
