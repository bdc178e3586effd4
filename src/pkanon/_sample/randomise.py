"""Feeds random words to blocks, in cache-sized pieces, on several threads where that helps.

A piece is some rows of one block. Words are fetched by the record's number, so neither the piece
size nor the number of threads can change the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray

from .._blocks import Block
from .._progress import Progress, quiet
from .._schema import Codes
from .keystream import WordSource, block_stream
from .threads import thread_count

PIECE = 2**17
"""Rows per piece on one thread: a piece and its words stay in the second-level cache."""
THREADED_PIECE = 2**18
"""Longer pieces for several threads: short ones spend their time passing the interpreter lock."""


def randomise(
    blocks: Sequence[Block],
    columns: Sequence[Codes],
    source: WordSource,
    *,
    out: Sequence[Codes],
    first_record: int = 0,
    piece: int | None = None,
    threads: int | None = None,
    progress: Progress = quiet,
) -> None:
    """Randomise ``columns`` (one per unit, in the order of the blocks) into ``out``, which may be the same arrays.

    ``first_record`` is the number of the first row in the whole table, for engines that see the rows a part at a time:
    the parts come out as the whole would.
    """
    rows = len(columns[0])
    workers = thread_count(rows, threads)
    size = piece or (PIECE if workers == 1 else THREADED_PIECE)
    jobs = [(*job, start, min(start + size, rows)) for job in _blocks(blocks) for start in range(0, rows, size)]
    done = 0

    def run(job: tuple[int, Block, int, int, int]) -> None:
        number, block, unit, start, stop = job

        def words(draw: int, round: int = 0) -> NDArray[Any]:
            stream = block_stream(number, draw, round)
            return source.words(stream, first_record + start, stop - start, block.draws[draw])

        units = range(unit, unit + len(block.units))
        for i, codes in zip(units, block.apply([columns[i][start:stop] for i in units], words)):
            out[i][start:stop] = codes

    if workers == 1:
        for job in jobs:
            run(job)
            done += 1
            progress("randomising", done / len(jobs))
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(run, jobs):
            done += 1
            progress("randomising", done / len(jobs))


def _blocks(blocks: Sequence[Block]) -> Iterator[tuple[int, Block, int]]:
    """Each block with its number and the position of its first unit."""
    unit = 0
    for number, block in enumerate(blocks):
        yield number, block, unit
        unit += len(block.units)
