"""A plan, and everything that can be said about it before any data exist.

plan.py     schema, units, blocks, record count; plan.json in and out;  asked.py  what was asked for
privacy.py  k and epsilon, read from the integers of the blocks;  central/  the same for the shuffled release as a whole
numbers.py  numbers as people write them, read exactly
predict.py  the error of a cross-tabulation;  readable.py  how a table will read to a person;  readability.py  all of them
instead.py  what to ask instead of a table that cannot be read
promises.py every sentence of what is promised, assumed, outside and void;  explain.py  what is done
notebook.py  pieces of HTML for notebooks
transitions.py  what happens to one answer;  by_hand.py  one column corrected by hand
breach.py   how far a belief about a person can move, by two older measures
composition.py  several releases of one table;  collection.py  how rows came in that devices have randomised
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from . import notebook
    from .asked import Asked, Tables
    from .breach import Breach
    from .by_hand import ByHand, by_hand
    from .central import (
        Central,
        central_bound,
        central_delta,
        central_epsilon,
        check_units,
        checked_delta,
        default_delta,
        normal_noise,
    )
    from .collection import LINKABLE, OPEN_LINK, SIMULATED, UNLINKABLE, Collection
    from .composition import Composition, compose
    from .instead import unreadable
    from .numbers import Number, exact
    from .plan import FORMAT as PLAN_FORMAT
    from .plan import LARGEST_RECORDS, CountNoise, Plan, parse_plan, read_plan
    from .predict import Prediction
    from .privacy import (
        epsilon_of,
        exact_k,
        exp_below,
        float_below,
        hidden_count_ratio,
        k_of,
        log_above,
        round_down,
        round_up,
        total_anonymity_ratio,
        total_epsilon_ratio,
    )
    from .promises import (
        MADE_UP,
        assumptions,
        delta_above,
        one_row_each,
        outside,
        promises,
        share_above,
        void_reasons,
    )
    from .readability import Readability
    from .readable import LEVELS, MEANING, Reading, level_of
    from .transitions import Channel, Mixture, channels

lazy(
    __name__,
    {
        "": "notebook",
        "asked": "Asked, Tables",
        "breach": "Breach",
        "by_hand": "ByHand, by_hand",
        "central": "Central, central_bound, central_delta, central_epsilon, check_units, checked_delta, default_delta, normal_noise",
        "collection": "LINKABLE, OPEN_LINK, SIMULATED, UNLINKABLE, Collection",
        "composition": "Composition, compose",
        "instead": "unreadable",
        "numbers": "Number, exact",
        "plan": "FORMAT as PLAN_FORMAT, LARGEST_RECORDS, CountNoise, Plan, parse_plan, read_plan",
        "predict": "Prediction",
        "privacy": (
            "epsilon_of, exact_k, exp_below, float_below, hidden_count_ratio, k_of, log_above, round_down, "
            "round_up, total_anonymity_ratio, total_epsilon_ratio"
        ),
        "promises": "MADE_UP, assumptions, delta_above, one_row_each, outside, promises, share_above, void_reasons",
        "readability": "Readability",
        "readable": "LEVELS, MEANING, Reading, level_of",
        "transitions": "Channel, Mixture, channels",
    },
)

__all__ = [
    "LARGEST_RECORDS",
    "LEVELS",
    "LINKABLE",
    "MADE_UP",
    "MEANING",
    "OPEN_LINK",
    "PLAN_FORMAT",
    "SIMULATED",
    "UNLINKABLE",
    "Asked",
    "Breach",
    "ByHand",
    "Central",
    "Channel",
    "Collection",
    "Composition",
    "CountNoise",
    "Mixture",
    "Number",
    "Plan",
    "Prediction",
    "Readability",
    "Reading",
    "Tables",
    "assumptions",
    "by_hand",
    "central_bound",
    "central_delta",
    "central_epsilon",
    "channels",
    "check_units",
    "checked_delta",
    "compose",
    "default_delta",
    "delta_above",
    "epsilon_of",
    "exact",
    "exact_k",
    "exp_below",
    "float_below",
    "hidden_count_ratio",
    "k_of",
    "level_of",
    "log_above",
    "normal_noise",
    "notebook",
    "one_row_each",
    "outside",
    "parse_plan",
    "promises",
    "read_plan",
    "round_down",
    "round_up",
    "share_above",
    "total_anonymity_ratio",
    "total_epsilon_ratio",
    "unreadable",
    "void_reasons",
]
