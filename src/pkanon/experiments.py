"""Experiments: those of the paper, run again, and a comparison with classical k-anonymisation.

    import pkanon as pk

    pk.experiments.reproduce(folder="paper")
    pk.experiments.compare(ks=[2, 10, 100], folder="compared")

Every release in an experiment is seeded and protects nobody: use data that may be seen.
"""

from ._experiments import Comparison, Reproduction, compare, reproduce

__all__ = ["Comparison", "Reproduction", "compare", "reproduce"]
