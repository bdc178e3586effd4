"""A fitted model of all released rows, and the tables it gives.

One model serves every table of a release: it is fitted once (:func:`fit_model`), and tables are kept as they are asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Block, Counts
from ..._errors import InputError
from ..._progress import Progress, quiet
from ..._schema import Codes
from ..channel import Channel
from ..em import maximum_likelihood
from ..simplex import nearest
from ..stored import number_of_rows
from ..tabulate import tabulate_codes
from .assisting import along_all, rake, shrunk, squared
from .averages import FAR, SMALL, Cells
from .choosing import FOLDS, SEED, ModelReport, choose, firm
from .components import Components
from .mixture import Mixture, mean
from .reading import Reader
from .redrawing import cells_of, noise_of, tables_of
from .variables import Layout, Variable, eigenvalue, variables_of

FEWEST_ROWS = 100
FEWEST_PER_K = 100
"""Rows per k up to which intervals on average over cells are not given."""
FEWEST_AVERAGED = 10_000
"""Fewer rows have none either: in samples of 1,000 and 5,000 rows they missed large cells too often."""
LONGEST = 4_096
"""Values of all variables together; the matrix of all pairs has the square of it."""
MOST_CELLS = 4_000_000
"""Cells of a table that is raked and corrected; a larger one is the mixture's."""
MOST_CHECKED = 20_000
"""Cells of a table that is compared with the most likely one."""
NOTHING = 1e-9
"""An error factor this near to 1 is that of a table that was not randomised at all."""
MOST_AXES = 5
"""Axes of a table that is raked to all smaller ones."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model of all rows of a release.

    ``mixture`` is the model itself, the mean of ``starts``; :meth:`table` also takes from the rows what the model misses.
    """

    blocks: tuple[Block, ...]
    codes: Mapping[str, Codes] = field(repr=False)
    weights: NDArray[np.float64] | None = field(repr=False)
    seen: Components = field(repr=False)
    starts: tuple[Mixture, ...] = field(repr=False)
    report: ModelReport

    @cached_property
    def mixture(self) -> Mixture:
        """The model: shares of classes, and of each variable in each class."""
        return mean(self.starts)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the model."""
        return self.seen.layout.variables

    @cached_property
    def missed(self) -> dict[tuple[str, ...], float]:
        """Tables in which the rows show more than the model and its corrections, in the model's order; and the share of ``em`` in them."""
        return {}

    @cached_property
    def _tables(self) -> dict[tuple[str, ...], Counts]:
        """Tables that were asked for before, by names in the model's order."""
        return {}

    def in_order(self, names: Sequence[str]) -> tuple[str, ...]:
        """The same names in the model's order."""
        order = [name for v in self.variables for name in v.attributes if name in names]
        return (*order, *(name for name in names if name not in order))

    def table(self, names: Sequence[str]) -> Counts:
        """The shares of the cells of the table of ``names``, an axis each; none negative, and they sum to 1."""
        key = self.in_order(names)
        if key not in self._tables:
            self._tables[key] = self._table(key)
        return np.transpose(self._tables[key], [key.index(name) for name in names])

    @cached_property
    def _cells(self) -> dict[tuple[int, tuple[str, ...]], Cells]:
        """The cells of the tables of an order, alone and with one table more, the last that was asked for."""
        return {}

    @cached_property
    def _orders(self) -> dict[int, list[tuple[str, ...]]]:
        """Tables whose cells are looked at together, by their order."""
        return {}

    def without_average(self, names: Sequence[str]) -> str | None:
        """Why a table has no intervals on average over cells, in a few words; None if it has them."""
        rows = number_of_rows(self.codes)
        ratio = math.prod((block.anonymity_ratio for block in self.blocks), start=Fraction(1))
        if rows <= FEWEST_PER_K * (1 + (rows - 1) * ratio):  # they missed too often there
            return f"the release has no more than {FEWEST_PER_K} rows for each of its k"
        if rows < FEWEST_AVERAGED:
            return f"the release has fewer than {FEWEST_AVERAGED:,} rows"
        if not 2 <= len(names) <= 3 or len(variables_in(self, names)) < 2:
            return "they are for tables of two and three attributes that were randomised apart"
        if int(Channel(self.blocks, names).possible.sum()) < SMALL:
            return f"the table has fewer than {SMALL} cells"
        return None

    def average_limits(
        self, names: Sequence[str], level: float, progress: Progress = quiet
    ) -> tuple[Counts, Counts] | None:
        """(low, high) of the shares of the cells of a table, which hold on average over the cells of all tables of its order.

        None where there are none: see :meth:`without_average`.
        """
        key = self.in_order(names)
        if self.without_average(key) is not None:
            return None
        tables, cells = self._together(key, progress)
        own = cells.table == tables.index(key)
        possible = Channel(self.blocks, key).possible
        order = [key.index(name) for name in names]
        found = []
        for limit in cells.limits(level):
            whole = np.zeros(possible.shape)
            whole[possible] = limit[own]
            found.append(np.transpose(whole, order))
        return found[0], found[1]

    def _together(self, key: tuple[str, ...], progress: Progress) -> tuple[list[tuple[str, ...]], Cells]:
        """The tables of an order and their cells: always the same tables, and ``key`` if it is none of them."""
        order = len(key)
        if order not in self._orders:
            self._orders[order] = tables_of(self, order)
        more = () if key in self._orders[order] else key
        tables = [*self._orders[order], *([more] if more else [])]
        if (order, more) not in self._cells:
            for place in [place for place in self._cells if place[0] == order and place[1]]:
                del self._cells[place]
            self._cells[order, more] = cells_of(self, tables, progress)
        return tables, self._cells[order, more]

    def differs(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Where model and rows disagree beyond noise, cell by cell."""
        channel = Channel(self.blocks, names)
        apart = np.abs(self.inverse(names) - self.mixture.table(names))
        return np.asarray(channel.possible & (apart > FAR * np.sqrt(noise_of(self, channel))))

    def released(self, channel: Channel) -> Counts:
        """The released shares of a table, extra axes included."""
        counts = tabulate_codes(self.codes, channel.sizes, weights=self.weights)
        return counts / float(counts.sum())

    def inverse(self, names: Sequence[str]) -> Counts:
        """The unbiased shares of the cells of a table."""
        channel = Channel(self.blocks, names)
        return channel.inverse(self.released(channel))

    def _table(self, names: tuple[str, ...]) -> Counts:
        base = self.mixture.table(names)
        if base.size > MOST_CELLS:
            return base
        axes = [(v, tuple(name for name in v.attributes if name in names)) for v in variables_in(self, names)]
        channel = Channel(self.blocks, names)
        channel.check_invertible()
        released = self.released(channel)
        unbiased = channel.inverse(released)
        if channel.error_factor < 1 + NOTHING:
            return nearest(unbiased, 1.0, channel.possible)
        shape = [math.prod(v.shape(own)) for v, own in axes]
        places = [np.flatnonzero(v.marginal(np.ones(v.size), own) > 0) for v, own in axes]
        cut = np.ix_(*places)
        part, seen = base.reshape(shape)[cut], unbiased.reshape(shape)[cut]
        symmetric = all(v.matrix is None and own == v.attributes for v, own in axes)
        if symmetric:
            lam = eigenvalue(*(v for v, _ in axes))
            noise = (squared(released.reshape(shape)[cut]) / lam**2 - squared(part)) / self.seen.rows
        else:
            whole = channel.product_inverse(released, *[names] * 2).reshape(shape)[cut]
            noise = math.prod(1 - 1 / n for n in part.shape) * (whole - part) / self.seen.rows
        if len(axes) == 1:
            expected = channel.forward(self.mixture.table(list(channel.sizes)))
            trust = _trust(self.seen.rows, channel.collapse(released), channel.collapse(expected))
            corrected = part + trust * (seen - part)
        else:
            if len(axes) <= MOST_AXES:
                lower = [tuple(n for i, (_, own) in enumerate(axes) if i != j for n in own) for j in range(len(axes))]
                margins = []
                for j, own in enumerate(lower):
                    others = [size for i, size in enumerate(shape) if i != j]
                    margins.append(
                        self.table(own).reshape(others)[np.ix_(*(p for i, p in enumerate(places) if i != j))]
                    )
                part = rake(part + 1e-12, margins)
            residual = along_all(seen - part)
            corrected = part + shrunk(residual, part, noise)
        corrected = nearest(corrected, 1.0, np.ones(corrected.shape, bool))
        result = np.zeros(shape)
        result[cut] = corrected
        whole = result.reshape(base.shape)
        whole, share = self._likelier(channel, released, whole)
        if share:
            self.missed[names] = share
        return whole

    def _likelier(self, channel: Channel, released: Counts, table: Counts) -> tuple[Counts, float]:
        """``table`` mixed with the most likely one, and the share of that.

        The share is how far noise does not explain ``table`` (:func:`firm`); 0 if the most likely table does not predict other rows
        better by Akaike's criterion, which is what leaving out rows one by one comes to: a cell that is free costs one.
        """
        if channel.extra or table.size > MOST_CHECKED:
            return table, 0.0
        rows = self.seen.rows
        expected = channel.forward(table)
        possible = expected > 0
        square = float(rows * ((released - expected)[possible] ** 2 / expected[possible]).sum())
        free = int(channel.possible.sum()) - 1
        share = firm((square - free) / math.sqrt(2 * free)) if free else 0.0
        if not share:
            return table, 0.0
        people, found = maximum_likelihood(channel, rows * released)
        likelier = people / rows
        seen = released > 0
        own = float(rows * (released[seen] @ np.log(np.maximum(expected[seen], 1e-300))))
        free = int((likelier > 0.1 / rows).sum()) - 1
        if found.log_likelihood - own <= free:
            return table, 0.0
        return (1 - share) * table + share * likelier, share


def variables_in(model: Fitted, names: Sequence[str]) -> list[Variable]:
    """The variables that a table touches."""
    return [variable for variable in model.variables if not set(names).isdisjoint(variable.attributes)]


def _trust(rows: float, released: Counts, expected: Counts) -> float:
    """The weight of the unbiased shares of one attribute beside the model's: James and Stein's.

    The part of chi^2, the distance of the released shares from those that the model expects, that noise does not explain.
    """
    possible = expected > 0
    square = float(rows * ((released - expected)[possible] ** 2 / expected[possible]).sum())
    return max(0.0, 1 - (int(possible.sum()) - 1) / square) if square > 0 else 0.0


def fit_model(
    blocks: Sequence[Block],
    codes: Mapping[str, Codes],
    *,
    weights: NDArray[np.float64] | None = None,
    progress: Progress = quiet,
) -> Fitted:
    """The model of released rows; equal rows give equal models on one kind of processor.

    Parameters
    ----------
    blocks
        Those of the plan.
    codes
        One array per randomised attribute.
    weights
        A survey weight per row; None if every row counts once.
    progress
        Called with the name of a step and the share of it that is done.
    """
    reader, counts, seen = _look(blocks, codes, weights, progress)
    layout = seen.layout

    def folds() -> list[tuple[Components, Components]]:
        parts = reader.kept_apart(FOLDS, SEED)
        apart = reader.pairs(layout.variables, parts=parts)
        squares = [None if weights is None else float((weights[parts == i] ** 2).sum()) for i in range(FOLDS)]
        whole = reader.squares()
        return [
            (
                Components.of(layout, counts - apart[i], None if whole is None else whole - (squares[i] or 0.0)),
                Components.of(layout, apart[i], squares[i]),
            )
            for i in range(FOLDS)
        ]

    models, report = choose(seen, folds, progress)
    return Fitted(tuple(blocks), codes, weights, seen, tuple(models), report)


def kept_model(
    blocks: Sequence[Block],
    codes: Mapping[str, Codes],
    starts: Sequence[tuple[Counts, Counts, float, float]],
    report: ModelReport,
) -> Fitted:
    """A model that was fitted before: weights, tables, ridge and share of its ``starts``, and its report. Rows count once each."""
    _, _, seen = _look(blocks, codes, None, quiet)
    models = tuple(
        Mixture(seen.layout, weights, tables, ridge=float(ridge), share=float(share))
        for weights, tables, ridge, share in starts
    )
    return Fitted(tuple(blocks), codes, None, seen, models, report)


def _look(
    blocks: Sequence[Block], codes: Mapping[str, Codes], weights: NDArray[np.float64] | None, progress: Progress
) -> tuple[Reader, Counts, Components]:
    """The reader of the rows, the counts of all pairs, and the same in coordinates of equal noise."""
    variables = variables_of(blocks)
    rows = number_of_rows(codes)
    if len(variables) < 2:
        raise InputError(
            "The method 'model' learns from how attributes go together, and this release has only one; use 'em' or 'inverse'."
        )
    if rows < FEWEST_ROWS:
        raise InputError(
            f"The method 'model' needs at least {FEWEST_ROWS} released rows; this release has {rows:,}. Use 'em' or 'inverse'."
        )
    sizes = [variable.size for variable in variables]
    if sum(sizes) > LONGEST:
        raise InputError(
            f"The method 'model' takes attributes of up to {LONGEST:,} values together; those of this release have "
            f"{sum(sizes):,}. Use 'em' or 'inverse', or release with fewer values."
        )
    progress("counting", 0.0)
    reader = Reader(codes, weights)
    counts = reader.pairs(variables)
    diagonal = np.diagonal(counts)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    released = [diagonal[a:b] / diagonal[a:b].sum() for a, b in itertools.pairwise(starts)]
    return reader, counts, Components.of(Layout(variables, released), counts, reader.squares())
