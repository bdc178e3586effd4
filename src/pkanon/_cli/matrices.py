"""Options that fix the transition matrix of single attributes, and the files behind them."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable
from typing import Any

import click

import pkanon as pk


def matrix_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--matrix, --data-matrix and --invariant; the command gets them as ``matrices``, by attribute."""

    @functools.wraps(command)
    def with_matrices(*, matrix: Any, data_matrix: Any, invariant: Any, **arguments: Any) -> Any:
        return command(matrices=_read(matrix, data_matrix, invariant), **arguments)

    decorated: Callable[..., Any] = with_matrices
    for option in (
        click.option(
            "--invariant",
            type=(str, float, str),
            multiple=True,
            metavar="NAME RHO FILE",
            help="Invariant PRAM from counts (CSV).",
        ),
        click.option("--data-matrix", multiple=True, metavar="NAME=FILE", help="The same, computed from the table."),
        click.option("--matrix", multiple=True, metavar="NAME=FILE", help="An attribute's transition matrix (CSV)."),
    ):
        decorated = option(decorated)
    return decorated


def _read(
    public: tuple[str, ...], from_data: tuple[str, ...], invariant: tuple[tuple[str, float, str], ...]
) -> dict[str, pk.TransitionMatrix]:
    matrices = {}
    for option, items in (("--matrix", public), ("--data-matrix", from_data)):
        for item in items:
            name, equals, file = item.partition("=")
            if not equals:
                raise pk.InputError(f"{option} {item}: write NAME=FILE.")
            matrices[name] = pk.TransitionMatrix(_numbers(file), data_dependent=option == "--data-matrix")
    for name, rho, file in invariant:
        matrices[name] = pk.TransitionMatrix.invariant([x for row in _numbers(file) for x in row], rho)
    return matrices


def _numbers(file: str) -> list[list[float]]:
    try:
        with open(file, encoding="utf-8-sig", newline="") as handle:
            return [[float(cell) for cell in row] for row in csv.reader(handle) if row]
    except OSError as error:
        raise pk.InputError(f"Cannot read {file}: {error.strerror}.") from None
    except ValueError:
        raise pk.InputError(f"{file} must hold numbers separated by commas, without a header.") from None
