"""The method ``model``: the table that a model of all released rows gives, corrected by what the rows say beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..._blocks import Counts
from ..._progress import Progress, quiet
from ..channel import Channel
from ..method import Made, Method
from ..source import Source

if TYPE_CHECKING:
    from .choosing import ModelReport
    from .fitted import Fitted

NAME = "model"


def model_of(source: Source, progress: Progress = quiet) -> Fitted:
    """The model of all rows, fitted once for every weight."""
    from .fitted import fit_model

    kept = source.kept.setdefault(NAME, [])
    for weights, model in kept:
        if source.same_weights(Source(source.schema, source.blocks, source.codes, weights)):
            return model  # type: ignore[no-any-return]  # methods keep what they like
    fitted = fit_model(source.blocks, source.codes, weights=source.weights, progress=progress)
    kept.append((source.weights, fitted))
    return fitted


def _fit(channel: Channel, released: Counts, source: Source, progress: Progress) -> Made:
    model = model_of(source, progress)
    counts = float(released.sum()) * model.table(channel.names)
    return Made(counts, notes=tuple(_notes(model, channel)))


def _notes(model: Fitted, channel: Channel) -> Iterator[str]:
    """How the table was made, a sentence each."""
    report = model.report
    share = model.missed.get(model.in_order(channel.names), 0.0)
    if share == 1:
        yield "the rows show more than the model of all attributes can say: this table is the most likely one, as by em."
    elif share:
        yield (
            "the rows show more than the model of all attributes can say: the most likely table, as by em, is mixed in with a share "
            f"of {share:.0%}."
        )
    elif report.independent == 1:
        yield (
            "the model takes all attributes as independent: rows kept apart are predicted no better by any relation of them."
        )
    else:
        yield (
            f"the model is a mixture of {report.classes} classes in which attributes are independent, with {_ridges(report)}, chosen "
            "by rows kept apart; estimates by it are not unbiased."
        )
    if not report.explained:
        yield (
            f"noise does not explain how far the model is from the released rows (chi-squared {report.misfit:,.0f} with "
            f"{report.freedom:,} degrees of freedom)."
        )


def _ridges(report: ModelReport) -> str:
    """How it was fitted, in words."""
    finite = [f"{ridge:.3g}" for ridge, _ in sorted(report.ridges) if math.isfinite(ridge)]
    said = f"a ridge of {finite[0]}" if len(finite) == 1 else f"ridges of {', '.join(finite[:-1])} and {finite[-1]}"
    return f"{said} and {report.independent:.0%} of independence" if report.independent else said


MODEL: Method = Method(NAME, "from a model of all attributes, usually nearest to the truth", _fit)
