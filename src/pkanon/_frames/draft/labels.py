"""Labels that differ in capitals and blanks only: "yes", "Yes" and "yes ".

They are proposed to be merged into the most frequent spelling, without blanks around it. Whether they
mean the same is for a person to say.
"""

from __future__ import annotations

import polars as pl


def near_equal(values: pl.Series, counts: pl.Series) -> dict[str, tuple[str, ...]]:
    """For each group of near-equal texts its most frequent spelling, tidied, and the other spellings in the data."""
    table = pl.DataFrame({"value": values, "count": counts}).with_columns(_tidied(pl.col("value")).alias("label"))
    folded = pl.col("label").str.to_lowercase()
    # Of two spellings that are as frequent, the first in the alphabet: the draft must not depend on the order of rows.
    groups = (
        table.sort(["count", "value"], descending=[True, False])
        .group_by(folded.alias("folded"), maintain_order=True)
        .agg(pl.col("label").first(), pl.col("value"))
        .filter(pl.col("value").list.len() > 1)
        .sort("label")
    )
    return {
        label: tuple(sorted(spelling for spelling in spellings if spelling != label))
        for label, spellings in groups.select("label", "value").iter_rows()
    }


def _tidied(column: pl.Expr) -> pl.Expr:
    return column.str.strip_chars().str.replace_all(r"\s+", " ")
