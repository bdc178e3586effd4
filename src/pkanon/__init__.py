"""pkanon: release a table of people that anyone may have.

    import pkanon as pk

    schema = pk.read_schema("people.toml")
    plan = pk.plan(schema, records=100_000, k=100)
    release = pk.release("people.csv", plan)
    release.save("out/")

A name is loaded when it is first used, so importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import collect as collect
    from . import experiments as experiments
    from . import spark as spark
    from ._audit import Account as Account
    from ._audit import Anonymity as Anonymity
    from ._audit import Attack as Attack
    from ._audit import Audit as Audit
    from ._audit import Check as Check
    from ._audit import Ledger as Ledger
    from ._audit import Reservation as Reservation
    from ._audit import Verification as Verification
    from ._audit import anonymity as anonymity
    from ._audit import anonymity_of as anonymity_of
    from ._audit import attack as attack
    from ._audit import audit as audit
    from ._audit import verify as verify
    from ._blocks import Agreement as Agreement
    from ._blocks import Matrix as Matrix
    from ._blocks import Retention as Retention
    from ._blocks import TransitionMatrix as TransitionMatrix
    from ._demo import demo_schema as demo_schema
    from ._demo import demo_table as demo_table
    from ._design import Advice as Advice
    from ._design import OpenStep as OpenStep
    from ._design import Step as Step
    from ._design import advise as advise
    from ._design import plan as plan
    from ._design import plan_for_error as plan_for_error
    from ._design import records_needed as records_needed
    from ._design import rho_from_both as rho_from_both
    from ._design import rho_from_epsilon as rho_from_epsilon
    from ._design import rho_from_k as rho_from_k
    from ._engines import check as check
    from ._engines import release as release
    from ._errors import DataError as DataError
    from ._errors import EnvironmentFailure as EnvironmentFailure
    from ._errors import InputError as InputError
    from ._errors import PkanonError as PkanonError
    from ._errors import PlanError as PlanError
    from ._errors import ReadabilityWarning as ReadabilityWarning
    from ._errors import RefusedError as RefusedError
    from ._errors import SchemaError as SchemaError
    from ._errors import TargetError as TargetError
    from ._estimate import Combined as Combined
    from ._estimate import Convergence as Convergence
    from ._estimate import MantelHaenszel as MantelHaenszel
    from ._estimate import Measure as Measure
    from ._estimate import ModelReport as ModelReport
    from ._estimate import Quantile as Quantile
    from ._estimate import QuantileDifference as QuantileDifference
    from ._estimate import Quantity as Quantity
    from ._estimate import Test as Test
    from ._estimate import Trend as Trend
    from ._estimate import combine_draws as combine_draws
    from ._estimate import pool as pool
    from ._estimate import together as together
    from ._frames import Draft as Draft
    from ._frames import DraftedColumn as DraftedColumn
    from ._frames import TableFile as TableFile
    from ._frames import TextFormat as TextFormat
    from ._frames import draft_schema as draft_schema
    from ._plan import Breach as Breach
    from ._plan import Central as Central
    from ._plan import Composition as Composition
    from ._plan import CountNoise as CountNoise
    from ._plan import Plan as Plan
    from ._plan import Prediction as Prediction
    from ._plan import Readability as Readability
    from ._plan import Reading as Reading
    from ._plan import compose as compose
    from ._plan import epsilon_of as epsilon_of
    from ._plan import k_of as k_of
    from ._plan import read_plan as read_plan
    from ._release import Certificate as Certificate
    from ._release import Modelled as Modelled
    from ._release import Release as Release
    from ._release import open_release as open_release
    from ._release import sign as sign
    from ._report import Report as Report
    from ._report import report as report
    from ._results import Answer as Answer
    from ._results import Association as Association
    from ._results import Choice as Choice
    from ._results import Choices as Choices
    from ._results import Coefficient as Coefficient
    from ._results import Correlations as Correlations
    from ._results import Description as Description
    from ._results import Estimate as Estimate
    from ._results import Family as Family
    from ._results import FittedMean as FittedMean
    from ._results import PaperTable as PaperTable
    from ._results import Regression as Regression
    from ._results import Tradeoff as Tradeoff
    from ._results import WaldTest as WaldTest
    from ._results import choices as choices
    from ._results import family as family
    from ._results import tradeoff as tradeoff
    from ._results.charts import readability_chart as readability_chart
    from ._results.charts import save_chart as save_chart
    from ._sample import Seeded as Seeded
    from ._sample import System as System
    from ._schema import Attribute as Attribute
    from ._schema import Bundle as Bundle
    from ._schema import Hierarchy as Hierarchy
    from ._schema import Schema as Schema
    from ._schema import Unit as Unit
    from ._schema import code_list as code_list
    from ._schema import code_lists as code_lists
    from ._schema import read_hierarchy as read_hierarchy
    from ._schema import read_merge as read_merge
    from ._schema import read_schema as read_schema
    from ._schema import read_values as read_values

__version__ = "0.1.0"

# One explicit list: the public name and where it lives.
_HOMES = {
    "Account": "_audit",
    "Advice": "_design",
    "Agreement": "_blocks",
    "Anonymity": "_audit",
    "Answer": "_results",
    "Association": "_results",
    "Attack": "_audit",
    "Attribute": "_schema",
    "Audit": "_audit",
    "Breach": "_plan",
    "Bundle": "_schema",
    "Central": "_plan",
    "Certificate": "_release",
    "Check": "_audit",
    "Choice": "_results",
    "Choices": "_results",
    "Combined": "_estimate",
    "Composition": "_plan",
    "Coefficient": "_results",
    "Convergence": "_estimate",
    "Correlations": "_results",
    "CountNoise": "_plan",
    "DataError": "_errors",
    "Description": "_results",
    "Draft": "_frames",
    "DraftedColumn": "_frames",
    "EnvironmentFailure": "_errors",
    "Estimate": "_results",
    "Family": "_results",
    "FittedMean": "_results",
    "PaperTable": "_results",
    "Hierarchy": "_schema",
    "InputError": "_errors",
    "Ledger": "_audit",
    "MantelHaenszel": "_estimate",
    "Matrix": "_blocks",
    "Measure": "_estimate",
    "ModelReport": "_estimate",
    "Modelled": "_release",
    "PkanonError": "_errors",
    "OpenStep": "_design",
    "Plan": "_plan",
    "PlanError": "_errors",
    "Prediction": "_plan",
    "Quantile": "_estimate",
    "QuantileDifference": "_estimate",
    "Quantity": "_estimate",
    "Readability": "_plan",
    "ReadabilityWarning": "_errors",
    "Reading": "_plan",
    "RefusedError": "_errors",
    "Regression": "_results",
    "Release": "_release",
    "Report": "_report",
    "Reservation": "_audit",
    "Retention": "_blocks",
    "Schema": "_schema",
    "SchemaError": "_errors",
    "Seeded": "_sample",
    "Step": "_design",
    "System": "_sample",
    "TargetError": "_errors",
    "TableFile": "_frames",
    "Test": "_estimate",
    "TextFormat": "_frames",
    "Tradeoff": "_results",
    "TransitionMatrix": "_blocks",
    "Trend": "_estimate",
    "Unit": "_schema",
    "Verification": "_audit",
    "WaldTest": "_results",
    "advise": "_design",
    "anonymity": "_audit",
    "audit": "_audit",
    "anonymity_of": "_audit",
    "attack": "_audit",
    "check": "_engines",
    "choices": "_results",
    "code_list": "_schema",
    "code_lists": "_schema",
    "combine_draws": "_estimate",
    "compose": "_plan",
    "demo_schema": "_demo",
    "demo_table": "_demo",
    "draft_schema": "_frames",
    "epsilon_of": "_plan",
    "family": "_results",
    "k_of": "_plan",
    "open_release": "_release",
    "plan": "_design",
    "plan_for_error": "_design",
    "pool": "_estimate",
    "read_hierarchy": "_schema",
    "read_merge": "_schema",
    "read_values": "_schema",
    "read_plan": "_plan",
    "read_schema": "_schema",
    "readability_chart": "_results.charts",
    "records_needed": "_design",
    "release": "_engines",
    "report": "_report",
    "rho_from_both": "_design",
    "rho_from_epsilon": "_design",
    "rho_from_k": "_design",
    "save_chart": "_results.charts",
    "sign": "_release",
    "together": "_estimate",
    "tradeoff": "_results",
    "verify": "_audit",
}
# Public submodules: names that few people need.
_SUBMODULES = ("collect", "experiments", "spark")
__all__ = ["__version__", *sorted([*_HOMES, *_SUBMODULES])]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"pkanon.{name}")  # which makes it an attribute of the package
    if name not in _HOMES:
        raise AttributeError(f"module 'pkanon' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"pkanon.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
