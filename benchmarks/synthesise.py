"""A trusted curator's synthetic rows: MST or AIM, by dpmm, in an environment without pkanon. benchmarks/synthetic.py runs it.

    python benchmarks/synthesise.py JOB.npz ROWS.npz

The job holds ``codes`` (a line per attribute), ``sizes``, ``epsilon``, ``delta`` and ``way``. dpmm promises (epsilon, delta) about
a row that is added or removed. The promise here is about a row that is replaced, the number of rows being public: dpmm gets the
smaller epsilon at which that holds (noise.py, ``replacing``).
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.base.mechanisms.cdp2adp import cdp_eps, cdp_rho
from dpmm.models.mst import MSTGM

from noise import SELECTING, replacing

WAYS = {"MST": (MSTGM, {"n_iters": 1_000}), "AIM": (AIMGM, {"n_iters": 300})}
"""dpmm's own settings, but for the steps of a fit: 5,000 and 1,000 take minutes more and give the same tables."""


def main(job: str, rows: str) -> None:
    """Fit, draw as many rows as there are people, write their codes."""
    box = np.load(job)
    codes, delta, way = box["codes"], float(box["delta"]), str(box["way"])
    names = [f"a{place}" for place in range(len(codes))]
    model, settings = WAYS[way]
    epsilon = cdp_eps(cdp_rho(float(box["epsilon"]), delta) / replacing(SELECTING[way]), delta)
    domain = {name: int(size) for name, size in zip(names, box["sizes"])}
    made = model(epsilon=epsilon, delta=delta, domain=domain, n_jobs=1, **settings)
    made.set_random_state(np.random.RandomState())
    made.fit(pd.DataFrame(dict(zip(names, codes))))
    drawn = made.generate(n_records=codes.shape[1])
    np.savez_compressed(rows, codes=np.array([drawn[name].to_numpy(dtype=np.uint8) for name in names]))


if __name__ == "__main__":
    main(*sys.argv[1:])
