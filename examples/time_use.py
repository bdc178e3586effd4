"""26 questions of a statistics office to a survey of time use: invented people, eight attributes, k = 10.

python examples/time_use.py
"""

from __future__ import annotations

import numpy as np
import polars as pl

import pkanon as pk
from asking import Questions

QUESTIONS = Questions()

INCOMES = [
    "< 5000",
    "5000-7499",
    "7500-9999",
    "10000-12499",
    "12500-14999",
    "15000-19999",
    "20000-24999",
    "25000-29999",
]
INCOMES += [
    "30000-34999",
    "35000-39999",
    "40000-49999",
    "50000-59999",
    "60000-74999",
    "75000-99999",
    "100000-149999",
    "150000+",
]
SCHOOLING = ["< hs diploma", "hs diploma", "some college", "associate degree", "bachelor's degree", "master's degree"]
SCHOOLING += ["prof degree", "doctoral degree"]
LABOUR = ["employed-at work", "employed-absent", "unemployed-layoff", "unemployed-looking", "not_in_labor_force"]
SEXES = ["female", "male"]
SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", SEXES),
        pk.Attribute.binned("age", edges=[15, 25, 35, 45, 55, 65, 75], open="high", type="integer"),
        pk.Attribute("edu", SCHOOLING),
        pk.Attribute("labor_status", LABOUR),
        pk.Attribute("famincome", INCOMES, missing="value"),
        pk.Attribute("marital", ["married", "never married", "divorced", "widowed", "separated"]),
        pk.Attribute("region", ["northeast", "midwest", "south", "west"]),
        pk.Attribute.binned("work_min", edges=[0, 1, 120, 240, 360, 480, 600], open="high", type="integer"),
    ]
).confirm(by="nobody: the people are invented")

WOMEN, MEN = {"sex": "female"}, {"sex": "male"}
EMPLOYED, SEARCHING = {"labor_status": LABOUR[:2]}, {"labor_status": LABOUR[2:4]}
DEGREES, RICH = {"edu": SCHOOLING[4:]}, {"famincome": INCOMES[13:]}
STANDARD = {"15-24": 20, "25-34": 20, "35-44": 18, "45-54": 16, "55-64": 12, "65-74": 9, "75+": 5}


def invented(people: int, seed: int) -> pl.DataFrame:
    """People whose answers hang together roughly as such answers do."""
    draw = np.random.default_rng(seed)
    sex, age = draw.integers(0, 2, people), np.clip(draw.gamma(6, 8, people), 15, 85).astype(int)
    edu = np.clip((draw.normal(2.2, 1.8, people) - 0.02 * (age - 45)).round(), 0, 7).astype(int)
    works = draw.random(people) < np.where((age < 20) | (age > 66), 0.2, 0.72) + 0.1 * sex - 0.04 + 0.02 * (edu - 2)
    labour = np.where(works, draw.random(people) < 0.05, np.where((draw.random(people) < 0.15) & (age < 65), 3, 4))
    income = np.clip((7 + 1.1 * edu + 2 * works + draw.normal(0, 3, people)).round(), 0, 15).astype(int)
    married = draw.random(people) < np.clip((age - 20) / 40, 0, 0.65)
    alone = np.where(age > 70, 3, np.where(draw.random(people) < (age - 18) / 70, 2, 1))
    minutes = np.where(
        works & (draw.random(people) < 0.7), np.clip(draw.normal(430 + 40 * sex, 150, people), 1, 1000), 0
    )
    given = np.where(draw.random(people) < 0.08, None, np.array(INCOMES, object)[income])
    columns = {"sex": (sex, SEXES), "edu": (edu, SCHOOLING), "labor_status": (labour, LABOUR)}
    columns |= {
        "marital": (np.where(married, 0, alone), ["married", "never married", "divorced", "widowed", "separated"])
    }
    columns |= {
        "region": (draw.choice(4, people, p=[0.18, 0.24, 0.36, 0.22]), ["northeast", "midwest", "south", "west"])
    }
    named = {name: np.array(labels)[codes] for name, (codes, labels) in columns.items()}
    return pl.DataFrame({**named, "age": age, "famincome": given, "work_min": minutes.astype(int)}).select(SCHEMA.names)


@QUESTIONS("How many men search for work?")
def men_searching(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "labor_status").count(MEN | SEARCHING)


@QUESTIONS("Which share of women is employed?")
def share_employed(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "labor_status").proportion(EMPLOYED, given=WOMEN)


@QUESTIONS("By how much does the share of the employed differ between men and women?")
def gap_in_employment(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "labor_status")
    return table.proportion(EMPLOYED, given=MEN) - table.proportion(EMPLOYED, given=WOMEN)


@QUESTIONS("How many times as often are people without a degree searching for work?")
def relative_risk(release: pk.Release) -> pk.Quantity:
    table, others = release.crosstab("edu", "labor_status"), {"edu": SCHOOLING[:4]}
    return (table.proportion(SEARCHING, given=others) / table.proportion(SEARCHING, given=DEGREES)).on("log")


@QUESTIONS("What is the odds ratio of marriage, people with a degree to others?")
def odds_of_marriage(release: pk.Release) -> pk.Quantity:
    return release.crosstab("edu", "marital").odds_ratio(DEGREES, {"marital": "married"})


@QUESTIONS("How many people of 65 and more are there for each of 25 to 64?")
def dependency_ratio(release: pk.Release) -> pk.Quantity:
    return release.crosstab("age").ratio({"age": ["65-74", "75+"]}, {"age": ["25-34", "35-44", "45-54", "55-64"]})


@QUESTIONS("How many people of 25 to 64 with a degree are there?")
def degrees_at_work(release: pk.Release) -> pk.Quantity:
    merge = {"age": [15, 25, 65], "edu": {"degree": SCHOOLING[4:], "none": "*"}}
    return release.crosstab("age", "edu", merge=merge).count(age="25-64", edu="degree")


@QUESTIONS("Among those who named it, which share has a family income of 75,000 or more?")
def rich_families(release: pk.Release) -> pk.Quantity:
    return release.crosstab("famincome", missing="exclude").proportion(RICH)


@QUESTIONS("How long do employed women work on a day?")
def mean_minutes(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "labor_status", "work_min").mean("work_min", WOMEN | EMPLOYED)


@QUESTIONS("How much longer do men work?")
def gap_in_minutes(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "work_min")
    return table.mean("work_min", MEN) - table.mean("work_min", WOMEN)


@QUESTIONS("Which share of all minutes of work is done by women?")
def share_of_work(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "work_min")
    return table.sum("work_min", WOMEN) / table.sum("work_min")


@QUESTIONS("How much do ages vary: what is their standard deviation?")
def spread_of_ages(release: pk.Release) -> pk.Quantity:
    return release.crosstab("age").deviation("age")


@QUESTIONS("What is the median age of people who search for work?")
def median_age(release: pk.Release) -> pk.Quantile:
    return release.crosstab("age", "labor_status").quantile("age", 0.5, SEARCHING)


@QUESTIONS("By how much do the median ages of married men and women differ?")
def gap_in_median_age(release: pk.Release) -> pk.QuantileDifference:
    table = release.crosstab("sex", "age", "marital")
    median = {sex: table.quantile("age", 0.5, {"sex": sex, "marital": "married"}) for sex in SEXES}
    return median["male"] - median["female"]


@QUESTIONS("How long do the tenth of men work who work longest, at least?")
def upper_decile(release: pk.Release) -> pk.Quantile:
    return release.crosstab("sex", "work_min").quantile("work_min", 0.9, MEN)


@QUESTIONS("Which share of women would be employed, had they the ages of everybody?")
def standardised_share(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "age", "labor_status").standardised(EMPLOYED, over="age", given=WOMEN)


@QUESTIONS("By how much would it differ from that of men, both with the ages of everybody?")
def standardised_gap(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "age", "labor_status")
    return table.standardised(EMPLOYED, "age", given=MEN) - table.standardised(EMPLOYED, "age", given=WOMEN)


@QUESTIONS("Which share would be employed in a population with ages known from elsewhere?")
def standardised_elsewhere(release: pk.Release) -> pk.Quantity:
    return release.crosstab("age", "labor_status").standardised(EMPLOYED, over="age", to=STANDARD)


@QUESTIONS("At the same age, what is the odds ratio of employment, men to women (Mantel-Haenszel)?")
def odds_at_same_age(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "age", "labor_status").mantel_haenszel(MEN, EMPLOYED, within="age").odds_ratio


@QUESTIONS("How does the share with a degree change with age, per year?")
def trend_over_age(release: pk.Release) -> pk.Quantity:
    return release.crosstab("age", "edu").trend(DEGREES, over="age").slope


@QUESTIONS("Is the gap between men and women in employment larger with a degree than without?")
def gap_of_gaps(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "edu", "labor_status", merge={"edu": {"yes": SCHOOLING[4:], "no": "*"}})
    share = {(s, e): table.proportion(EMPLOYED, {"sex": s, "edu": e}) for s in SEXES for e in ("yes", "no")}
    return (share["male", "yes"] - share["female", "yes"]) - (share["male", "no"] - share["female", "no"])


@QUESTIONS("Are women rarer among the rich than among those with a degree?")
def two_tables(release: pk.Release) -> pk.Quantity:
    rich, educated = release.crosstab("sex", "famincome"), release.crosstab("sex", "edu")
    return rich.proportion(WOMEN, given=RICH) - educated.proportion(WOMEN, given=DEGREES)


@QUESTIONS("How strongly are marriage and family income related, among those who named it (Cramer's V)?")
def relation(release: pk.Release) -> pk.Measure:
    return release.crosstab("marital", "famincome", about="population", missing="exclude").association().cramers_v


@QUESTIONS("In SQL: which share of people of 25 to 64 in the south is employed?")
def in_sql(release: pk.Release) -> pk.Answer:
    employed = "COUNT(*) FILTER (WHERE labor_status LIKE 'employed%')"
    where = "region = 'south' AND age BETWEEN 25 AND 64"
    return release.query(f"SELECT {employed} / COUNT(*) AS share FROM release WHERE {where}")


@QUESTIONS("By how much does the time of work differ between men and women of the same age (least squares)?")
def least_squares(release: pk.Release) -> pk.Coefficient:
    return release.regress("work_min ~ sex + age + region")["sex[T.male]"]


@QUESTIONS("By which log odds does a degree differ between men and women of the same age (logistic regression)?")
def logistic(release: pk.Release) -> pk.Coefficient:
    degree = ", ".join(f'"{label}"' for label in SCHOOLING[4:])
    return release.regress(f"edu in ({degree}) ~ sex + age", family="logistic")["sex[T.male]"]


if __name__ == "__main__":
    plan = pk.plan(SCHEMA, records=180_000, k=10)
    print(QUESTIONS.answers(pk.release(invented(180_000, seed=1), plan)))
