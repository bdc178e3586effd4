"""Options of verbs that make a plan: the privacy target, and how the budget is spent."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypedDict

import click

import pkanon as pk

from . import private
from .options import is_number, read_tables

DEFAULT_DESIGN = "optimal"
TARGET = {"k", "epsilon", "central_epsilon", "delta"}
DESIGN = {"design", "workload", "weighting", "floor", "hide_count"}
"""The parameters behind the options below."""


class Target(TypedDict):
    """The privacy target of :func:`pk.plan`."""

    k: str | None
    epsilon: str | None
    central_epsilon: str | None
    delta: float | None


class Options(TypedDict, total=False):
    """The options of a design; those that were not typed have the defaults of :func:`pk.plan` and its siblings."""

    workload: int | str | list[tuple[str, ...]] | dict[Any, float]
    weighting: str
    floor: int | str | None
    hide_count: str | None
    matrices: dict[str, pk.TransitionMatrix]


def k_and_epsilon_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--k and --epsilon."""
    epsilon = click.option("--epsilon", metavar="E", help="Differential privacy: at most this epsilon.")
    return click.option("--k", metavar="K", help="Pk-anonymity: at least this k.")(epsilon(command))


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--k, --epsilon, --central-epsilon and --delta; the command gets them as ``target``."""

    @functools.wraps(command)
    def with_target(
        *, k: str | None, epsilon: str | None, central_epsilon: str | None, delta: float | None, **arguments: Any
    ) -> Any:
        target = Target(k=k, epsilon=epsilon, central_epsilon=central_epsilon, delta=delta)
        return command(target=target, **arguments)

    delta = click.option("--delta", type=float, metavar="D", help="With --central-epsilon [default: 1/(10 N)].")
    central = click.option(
        "--central-epsilon", metavar="E", help="At most this epsilon for the shuffled release as a whole."
    )
    return k_and_epsilon_options(central(delta(with_target)))


def check_target(target: Target) -> None:
    """Refuse a plan without a target, by the names of the options."""
    if target["k"] is None and target["epsilon"] is None and target["central_epsilon"] is None:
        raise pk.TargetError(
            "Ask for k, for epsilon, or for a central epsilon, such as --k 20, --epsilon 2 or --central-epsilon 1; "
            "of several the tightest binds."
        )


def design_options(
    workload: str = "2", *, public_count: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--design and its options; the command gets them as ``design`` and ``options``.

    ``workload`` is the workload of an optimal design if none is typed. Where the record count is public anyway there is
    no option to hide it.
    """
    declared = (
        click.option("--hide-count", metavar="P", help="Hide the record count too, with a ratio such as 9/10."),
        click.option(
            "--floor",
            metavar="F",
            help="No table of up to F attributes worse than in the paper: a number, all or none [default: 3].",
        ),
        click.option(
            "--weighting",
            type=click.Choice(["relative", "absolute"]),
            help="How 'optimal' weighs its tables [default: relative].",
        ),
        click.option(
            "--workload",
            metavar="W",
            help=f"Tables that 'optimal' serves: up to W attributes, full, or 'a,b; c', also with weights: '2; a,b=30' "
            f"[default: {workload}].",
        ),
        click.option(
            "--design",
            type=click.Choice(private.designs()),
            help=f"How the budget is spent [default: {DEFAULT_DESIGN}].",
        ),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_design(
            *,
            design: str | None,
            workload: str | None,
            weighting: str | None,
            floor: str | None,
            hide_count: str | None = None,
            **arguments: Any,
        ) -> Any:
            chosen = design or DEFAULT_DESIGN
            options = _read(chosen, workload, weighting, floor, hide_count)
            return command(design=chosen, options=options, **arguments)

        decorated: Callable[..., Any] = with_design
        for option in declared[1:] if public_count else declared:
            decorated = option(decorated)
        return decorated

    return decorate


def _read(
    design: str, workload: str | None, weighting: str | None, floor: str | None, hide_count: str | None
) -> Options:
    """The options as :func:`pk.plan` takes them; those of an optimal design are refused for any other."""
    for name, value in (("workload", workload), ("weighting", weighting), ("floor", floor)):
        if design != "optimal" and value is not None:
            raise pk.InputError(f"--{name} is for the design 'optimal'; leave it out, or leave out --design {design}.")
    options = Options(hide_count=hide_count)
    if workload is not None:
        if is_number(workload):
            options["workload"] = int(workload)
        else:
            options["workload"] = "full" if workload == "full" else _workload(workload)
    if weighting is not None:
        options["weighting"] = weighting
    if floor is not None:
        if floor not in ("all", "none") and not is_number(floor):
            raise pk.InputError(f"--floor {floor}: write a number of attributes, all or none.")
        options["floor"] = None if floor == "none" else floor if floor == "all" else int(floor)
    return options


def _workload(text: str) -> list[tuple[str, ...]] | dict[Any, float]:
    """Tables, also with weights behind an equals sign; a number among them stands for every table of up to so many attributes.

    An attribute may hold an equals sign in its name: what follows one is a weight only if it is a number.
    """
    items = [item.strip() for item in text.split(";") if item.strip()]
    weights: dict[Any, float] = {}
    plain = True
    for item in items:
        names, equals, number = item.rpartition("=")
        try:
            weight = float(number) if equals else None
        except ValueError:
            weight = None
        key: Any = int(item) if is_number(item) else read_tables((item if weight is None else names,))[0]
        plain = plain and weight is None and not is_number(item)
        weights[key] = weights.get(key, 0.0) + (1.0 if weight is None else weight)
    return read_tables(tuple(items)) if plain else weights
