"""Attackers who want the order in which answers came, from the files and tables of a database.

Each gets what somebody with the database gets, and gives a guess: pairs of answers, earlier first, or a set of answers that it
takes for recent ones. Answers are known by their keys, and the tests know the true order.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

PAGE = 4096
_LEAF = (0x0A, 0x0D)
"""Leaves of an index and of a table."""


def pages(image: bytes) -> Iterator[tuple[int, bytes]]:
    """(offset of the b-tree header, page) of each page of a database file."""
    for number, start in enumerate(range(0, len(image) - PAGE + 1, PAGE)):
        yield (100 if number == 0 else 0), image[start : start + PAGE]


def leaves(image: bytes) -> Iterator[tuple[int, bytes, list[int]]]:
    """(start of the cell content, page, cell offsets) of every leaf."""
    for header, page in pages(image):
        if page[header] in _LEAF:
            count = struct.unpack(">H", page[header + 3 : header + 5])[0]
            start = struct.unpack(">H", page[header + 5 : header + 7])[0] or 65536
            pointers = page[header + 8 : header + 8 + 2 * count]
            yield start, page, list(struct.unpack(f">{count}H", pointers))


def key_in(page: bytes, offset: int, keys: set[bytes]) -> bytes | None:
    """Which of the keys stands in the cell at an offset."""
    near = (page[start : start + 16] for start in range(offset, min(offset + 48, PAGE - 16)))
    return next((window for window in near if window in keys), None)


def by_cell_offsets(image: bytes, keys: Iterable[bytes]) -> list[list[bytes]]:
    """In every leaf, the keys from the highest offset to the lowest: new cells are put below old ones."""
    guesses, known = [], set(keys)
    for _, page, offsets in leaves(image):
        found = [key_in(page, offset, known) for offset in sorted(offsets, reverse=True)]
        guesses.append([key for key in found if key is not None])
    return [guess for guess in guesses if len(guess) > 1]


def beside_the_gap(image: bytes, keys: Iterable[bytes]) -> list[bytes]:
    """In every leaf, the key of the cell next to the unused space: the newest one."""
    found, known = [], set(keys)
    for _, page, offsets in leaves(image):
        if offsets:
            key = key_in(page, min(offsets), known)
            if key is not None:
                found.append(key)
    return found


def by_log_frames(log: bytes, keys: Iterable[bytes]) -> list[list[bytes]]:
    """The keys of a write-ahead log by the first frame in which each is seen."""
    first: dict[bytes, int] = {}
    keys, size = list(keys), 24 + PAGE
    for number, start in enumerate(range(32, len(log) - size + 1, size)):
        page = log[start + 24 : start + size]
        for key in keys:
            if key not in first and key in page:
                first[key] = number
    return [sorted(first, key=first.__getitem__)] if len(first) > 1 else []


def by_page_counters(image: bytes, keys: Iterable[bytes]) -> list[list[bytes]]:
    """Pages that hold more free blocks or fragments were changed more often: their keys are taken for later ones."""
    ranked, known = [], set(keys)
    for _, page, offsets in leaves(image):
        header = 100 if page[100:101] in (b"\x0a", b"\x0d") and page[:6] == b"SQLite" else 0
        changes = page[header + 7] + struct.unpack(">H", page[header + 1 : header + 3])[0]
        ranked += [(changes, key) for offset in offsets if (key := key_in(page, offset, known)) is not None]
    levels = {changes for changes, _ in ranked}
    return [[key for _, key in sorted(ranked, key=lambda pair: pair[0])]] if len(levels) > 1 else []


def pair_score(guesses: Iterable[Sequence[bytes]], order: dict[bytes, int], rng: random.Random) -> tuple[float, int]:
    """The share of guessed pairs that are in the true order, and of how many; one half is chance.

    Disjoint pairs at random places, so that they are independent where the guess knows nothing.
    """
    right = total = 0
    for guess in guesses:
        places = list(range(len(guess)))
        rng.shuffle(places)
        for a, b in zip(places[::2], places[1::2]):
            first, second = guess[min(a, b)], guess[max(a, b)]
            right += order[first] < order[second]
            total += 1
    return (right / total if total else 0.5), total


def recent_share(guess: Iterable[bytes], order: dict[bytes, int], last: float = 0.25) -> tuple[float, int]:
    """The share of guessed keys that are among the last ones, and of how many; ``last`` is chance."""
    found = list(guess)
    late = sum(order[key] >= (1 - last) * len(order) for key in found)
    return (late / len(found) if found else last), len(found)


def in_between(more: Sequence[Any], fewer: Sequence[Any]) -> list[list[int]]:
    """Answers that are in one state and not in an older one, by the counts of each attribute's values: the codes per attribute.

    One answer in between is a whole record: one code per attribute.
    """
    return [
        [code for code, (a, b) in enumerate(zip(now, then, strict=True)) for _ in range(int(a) - int(b))]
        for now, then in zip(more, fewer, strict=True)
    ]


def counts_shown(results: dict[str, Any], rho: dict[str, float]) -> list[list[int]]:
    """The counts that the estimates of independent attributes were made of: the transition matrix takes the inverse away."""
    shown = []
    for attribute in results["attributes"]:
        estimates = [value["estimate"] for value in attribute["values"]]
        kept, even = rho[attribute["attribute"]], sum(estimates) / len(estimates)
        shown.append([round(kept * estimate + (1 - kept) * even) for estimate in estimates])
    return shown


def read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def heap(connection: Any, table: str) -> dict[str, list[bytes]]:
    """The keys of a PostgreSQL table by ctid, by transaction number, and by command number."""
    rows = connection.execute(
        f"SELECT ctid::text, xmin::text::bigint, cmin::text::bigint, cell FROM {table}"
    ).fetchall()
    place = {bytes(cell)[:16]: tuple(map(int, ctid.strip("()").split(","))) for ctid, _, _, cell in rows}
    xmin = {bytes(cell)[:16]: number for _, number, _, cell in rows}
    cmin = {bytes(cell)[:16]: number for _, _, number, cell in rows}
    return {
        "ctid": sorted(place, key=place.__getitem__),
        "xmin": sorted(xmin, key=xmin.__getitem__) if len(set(xmin.values())) > 1 else [],
        "cmin": sorted(cmin, key=cmin.__getitem__) if len(set(cmin.values())) > 1 else [],
    }
