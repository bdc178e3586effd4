"""A model of all released rows, and the tables that it gives (docs/why/theory.md 12).

variables.py   what the rows show of each variable, and through which known noise
reading.py     the rows, a piece at a time
components.py  all tables of one and two variables, in coordinates of equal noise
mixture.py     a mixture of products: its tables, its distance from the rows, its fit;  descent.py  the way down
choosing.py    how many classes, how strong a ridge;  ModelReport  how the search ended
assisting.py   a model's table, raked and corrected by what the rows say beyond it
drawing.py     people drawn from a model, and models of rows drawn again
fitted.py      the model of one release and its tables;  keeping.py  it in a file;  method.py  the method ``model``
averages.py    intervals on average over cells;  critical.py  their critical values;  redrawing.py  what they need of the rows

``fit_model(blocks, codes, weights=, progress=)`` returns a ``Fitted``:

    .table(names)    shares of the cells, an axis per name: what ``crosstab(..., method="model")`` shows
    .mixture         the model itself, a ``Mixture``: ``weights`` (classes,), and ``of(i)`` (classes, V_i), the shares of variable i
    .variables       the ``Variable`` of each i: ``attributes``, ``size``; ``split(codes)`` gives the codes of its attributes, which
                     are never a forbidden combination
    .report          classes, ridge, misfit, convergence

``model_of(source)`` is the model that a release keeps for all its tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._doors import lazy

if TYPE_CHECKING:
    from .choosing import ModelReport
    from .drawing import draw as draw_people
    from .drawing import resampled
    from .fitted import Fitted, fit_model
    from .keeping import model_bytes, model_from_bytes
    from .method import MODEL, NAME, model_of
    from .mixture import Mixture
    from .variables import Variable

lazy(
    __name__,
    {
        "choosing": "ModelReport",
        "drawing": "draw as draw_people, resampled",
        "fitted": "Fitted, fit_model",
        "keeping": "model_bytes, model_from_bytes",
        "method": "MODEL, NAME, model_of",
        "mixture": "Mixture",
        "variables": "Variable",
    },
)

__all__ = [
    "MODEL",
    "NAME",
    "Fitted",
    "Mixture",
    "ModelReport",
    "Variable",
    "draw_people",
    "fit_model",
    "model_bytes",
    "model_from_bytes",
    "model_of",
    "resampled",
]
