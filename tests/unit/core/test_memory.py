"""Freed memory stays with the process once it has been asked to keep it, in large pages where the system has them."""

import platform
import subprocess
import sys
from pathlib import Path

FAULTS = """
import resource, sys
import numpy as np
from pkanon._sample import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
if sys.argv[2] == "come and go":
    for size in range(20, 100):
        a, b, c = (np.ones(size * 2**13) for _ in range(3))  # 1.3 to 6.5 MB
        del a, b, c
else:
    stay = [np.ones(2**17) for _ in range(20)]  # 1 MB
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(way, arrays):
    """How many times the system handed out memory."""
    command = [sys.executable, "-c", FAULTS, way, arrays]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_arrays_that_come_and_go_take_the_same_memory_again():
    if platform.libc_ver()[0] == "glibc":  # others do as they like
        assert 4 * faults("kept", "come and go") < faults("not", "come and go")


def test_small_arrays_take_large_pages():
    large = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if platform.libc_ver()[0] == "glibc" and large.is_file() and "[never]" not in large.read_text():
        assert faults("kept", "stay") < faults("not", "stay") - 1_000  # of 5,120 small pages
