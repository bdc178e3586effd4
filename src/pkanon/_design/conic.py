"""A design by a general conic solver: quick for up to some 256 unknowns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .problem import Program

SOLVED, UNFINISHED = ("Solved", "AlmostSolved"), ("InsufficientProgress", "MaxIterations")
"""The solver's words for a solution, and for a point that may be near one."""
IMPOSSIBLE = "PrimalInfeasible"
"""Its word for floors that contradict each other."""


def work_of_step(program: Program) -> float:
    """Multiplications of one step of the solver."""
    terms, bounded = (program.costs > 0).sum(), np.isfinite(program.least).sum()
    return float(program.rows.shape[1] * (terms + bounded) ** 2)


def minimise(program: Program, steps: int) -> tuple[NDArray[np.float64] | None, str, int]:
    """(t, or None if the solver did not come near it; the solver's word for it; its steps)."""
    import clarabel
    from scipy import sparse

    count = program.rows.shape[1]
    terms, bounded = np.flatnonzero(program.costs > 0), np.flatnonzero(np.isfinite(program.least))
    unknowns = count + 1 + len(terms)  # v_S = lo t_S, lo (both times the number of values), and s_T >= 1 / lam_T^2
    each, term = np.arange(count), np.arange(len(terms))
    ones = np.ones(count)
    # one row that sums to 1; v_S >= 0; v_S <= lo
    entries = [
        (np.append(program.price, 1.0), np.zeros(count + 1, int), np.arange(count + 1)),
        (-ones, 1 + each, each),
        (ones, 1 + count + each, each),
        (-ones, 1 + count + each, np.full(count, count)),
    ]
    limits = [np.ones(1), np.zeros(2 * count)]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * count)]
    height = 1 + 2 * count
    if len(bounded):
        down, across = np.nonzero(program.rows[bounded])
        entries.append((-program.rows[bounded][down, across], height + down, across))
        limits.append(-program.least[bounded])
        cones.append(clarabel.NonnegativeConeT(len(bounded)))
        height += len(bounded)
    # s^(1/3) lam^(2/3) >= 1: three rows each
    entries.append((-np.ones(len(terms)), height + 3 * term, count + 1 + term))
    eigenvalues = -program.rows[terms].ravel()
    entries.append((eigenvalues, np.repeat(height + 3 * term + 1, count), np.tile(each, len(terms))))
    limits.append(np.tile([0.0, 0.0, 1.0], len(terms)))
    cones += [clarabel.PowerConeT(1 / 3)] * len(terms)
    values, down, across = (np.concatenate(parts) for parts in zip(*entries))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = steps
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((unknowns, unknowns)),
        np.concatenate([np.zeros(count + 1), program.costs[terms]]),
        sparse.csc_matrix((values, (down, across)), shape=(height + 3 * len(terms), unknowns)),
        np.concatenate(limits),
        cones,
        settings,
    ).solve()
    # a solver that could not finish may have come close; whether it did is checked by whoever uses t
    x, status = np.array(solution.x), str(solution.status)
    if status not in (*SOLVED, *UNFINISHED) or not np.isfinite(x).all() or x[count] <= 0:
        return None, status, solution.iterations
    return np.clip(x[:count] / x[count], 0.0, 1.0), status, solution.iterations
