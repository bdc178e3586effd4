"""``python -m pkanon`` and the ``pkanon`` command."""

from __future__ import annotations

import gc
import os
import sys

YOUNG = 100_000
"""Objects between two searches for unused ones. Loading makes as many, all of them in use, and each search would look at all."""


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(YOUNG)
    os.environ.setdefault(
        "OPENBLAS_THREAD_TIMEOUT", "4"
    )  # numpy's threads sleep until they are needed; else they spin first
    from ._cli import run

    _keep_standard_error()
    code = run(sys.argv[1:])
    gc.freeze()  # the process ends: nobody needs the memory back, object by object
    sys.exit(code)


def _keep_standard_error() -> None:
    """Leave standard error to Python alone.

    Libraries in other languages print there on their own: a panic of polars over a damaged file does so from its own
    threads, with a traceback, although the error itself is handled.
    """
    if sys.stderr is None:
        return
    try:
        own = os.dup(2)
        quiet = os.open(os.devnull, os.O_WRONLY)
    except OSError:  # there is no standard error
        return
    sys.stderr = open(own, "w", encoding=sys.stderr.encoding, errors="backslashreplace", buffering=1)  # noqa: SIM115 - as long as the process
    os.dup2(quiet, 2)
    os.close(quiet)


if __name__ == "__main__":
    main()
