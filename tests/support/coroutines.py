"""Coroutines in a thread of their own.

The browser's driver keeps an event loop running in the main thread for as long as its fixture lives, and a thread has one
running loop at most: which tests share a process is chance.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What ``coroutine`` returns or raises."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
