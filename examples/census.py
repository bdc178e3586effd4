"""26 questions of a statistics office to the demo release: seven attributes of a census, synthetic people.

pkanon demo -o demo
python examples/census.py demo
"""

from __future__ import annotations

import sys

import pkanon as pk
from asking import Questions

QUESTIONS = Questions()

WOMEN, MEN = {"sex": "Female"}, {"sex": "Male"}
WORKED, AT_WORK = {"worked_1989": "Worked last year"}, {"worked_last_week": "Worked"}
AGES = {f"{low}-{low + 4}": (low, low + 5) for low in range(0, 85, 5)} | {"85+": (85, 91)}
"""An interval stands for its middle in means; in quantiles people are spread evenly inside it."""
CHILDREN, OLD = ["0-4", "5-9", "10-14"], ["65-69", "70-74", "75-79", "80-84", "85+"]
WORKING_AGE = [age for age in AGES if age not in (*CHILDREN, *OLD)]
INCOMES = {"negative": (-10_000, 0), "zero or n/a": 0, "1-9999": (0, 10_000), "90000+": (90_000, 100_000)}
CLASSES = {f"{low}-{low + 9999}": (low, low + 10_000) for low in range(10_000, 90_000, 10_000)}
INCOMES |= CLASSES
MIDDLE = [income for income, (low, _) in CLASSES.items() if low >= 20_000] + ["90000+"]
HIGH = [income for income, (low, _) in CLASSES.items() if low >= 50_000] + ["90000+"]
DEGREES = ["Bachelor's degree", "Master's degree", "Professional degree", "Doctorate degree"]
MINUTES = {"0-4 min or n/a": None, "95-98 min, 99 or more": (95, 105)}
MINUTES |= {f"{low}-{low + 4} min": (low, low + 5) for low in range(5, 95, 5)}
LIFE = {"young": WORKING_AGE[:4], "middle": WORKING_AGE[4:8], "late": WORKING_AGE[8:], "(missing)": CHILDREN + OLD}
"""Working age in three parts; everybody else is left out with missing="exclude"."""
YEARS = {"young": 25.0, "middle": 45.0, "late": 60.0}
STANDARD = {"young": 0.4, "middle": 0.35, "late": 0.25}


@QUESTIONS("How many women worked last week?")
def women_at_work(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "worked_last_week").count(WOMEN | AT_WORK)


@QUESTIONS("Which share of women of 16 and more worked last year?")
def share_who_worked(release: pk.Release) -> pk.Quantity:
    too_young = {"worked_1989": {"(missing)": ["N/a, less than 16 yrs old"]}}
    table = release.crosstab("sex", "worked_1989", merge=too_young, missing="exclude")
    return table.proportion(WORKED, given=WOMEN)


@QUESTIONS("By how much does the share who worked last year differ between men and women?")
def gap_in_work(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "worked_1989")
    return table.proportion(WORKED, given=MEN) - table.proportion(WORKED, given=WOMEN)


@QUESTIONS("How many times as often do men have an income of 20,000 or more?")
def income_ratio(release: pk.Release) -> pk.Quantity:
    table, some = release.crosstab("sex", "income"), {"income": MIDDLE}
    return (table.proportion(some, given=MEN) / table.proportion(some, given=WOMEN)).on("log")


@QUESTIONS("What is the odds ratio of a degree, men to women?")
def odds_of_degree(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "education").odds_ratio(MEN, {"education": DEGREES})


@QUESTIONS("How many children and old people are there for each person of working age?")
def dependency_ratio(release: pk.Release) -> pk.Quantity:
    return release.crosstab("age").ratio({"age": CHILDREN + OLD}, {"age": WORKING_AGE})


@QUESTIONS("How many people in the middle of working age have a degree?")
def degrees_in_the_middle(release: pk.Release) -> pk.Quantity:
    merge = {"age": LIFE, "education": {"degree": DEGREES, "none": "*"}}
    return release.crosstab("age", "education", merge=merge).count(age="middle", education="degree")


@QUESTIONS("Among people with an income, which share has 50,000 or more?")
def high_incomes(release: pk.Release) -> pk.Quantity:
    merge = {"income": {"high": HIGH, "(missing)": ["zero or n/a", "negative"], "low": "*"}}
    return release.crosstab("income", merge=merge, missing="exclude").proportion({"income": "high"})


@QUESTIONS("What is the mean income of women who worked last week?")
def mean_income(release: pk.Release) -> pk.Quantity:
    return release.crosstab("sex", "income", "worked_last_week").mean("income", WOMEN | AT_WORK, values=INCOMES)


@QUESTIONS("How far are the mean incomes of men and women apart?")
def gap_in_income(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "income")
    return table.mean("income", MEN, values=INCOMES) - table.mean("income", WOMEN, values=INCOMES)


@QUESTIONS("Which share of all income do women have?")
def share_of_income(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "income")
    return table.sum("income", WOMEN, values=INCOMES) / table.sum("income", values=INCOMES)


@QUESTIONS("How much do ages vary: what is their standard deviation?")
def spread_of_ages(release: pk.Release) -> pk.Quantity:
    return release.crosstab("age").deviation("age", values=AGES)


@QUESTIONS("What is the median time to work?")
def median_travel(release: pk.Release) -> pk.Quantile:
    return release.crosstab("travel_time").quantile("travel_time", 0.5, values=MINUTES)


@QUESTIONS("By how much do the median ages of men and women differ?")
def gap_in_median_age(release: pk.Release) -> pk.QuantileDifference:
    table = release.crosstab("sex", "age")
    return table.quantile("age", 0.5, WOMEN, values=AGES) - table.quantile("age", 0.5, MEN, values=AGES)


@QUESTIONS("Which income do one in ten men exceed?")
def upper_decile(release: pk.Release) -> pk.Quantile:
    return release.crosstab("sex", "income").quantile("income", 0.9, MEN, values=INCOMES)


@QUESTIONS("Which share of women would work, had they the ages of everybody?")
def standardised_share(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "age", "worked_last_week", merge={"age": LIFE}, missing="exclude")
    return table.standardised(AT_WORK, over="age", given=WOMEN)


@QUESTIONS("By how much would it differ from that of men, both with the ages of everybody?")
def standardised_gap(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "age", "worked_last_week", merge={"age": LIFE}, missing="exclude")
    return table.standardised(AT_WORK, "age", given=MEN) - table.standardised(AT_WORK, "age", given=WOMEN)


@QUESTIONS("Which share would work in a population with ages known from elsewhere?")
def standardised_elsewhere(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("age", "worked_last_week", merge={"age": LIFE}, missing="exclude")
    return table.standardised(AT_WORK, over="age", to=STANDARD)


@QUESTIONS("At the same age, what is the odds ratio of work, men to women (Mantel-Haenszel)?")
def odds_at_same_age(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "age", "worked_last_week", merge={"age": LIFE}, missing="exclude")
    return table.mantel_haenszel(MEN, AT_WORK, within="age").odds_ratio


@QUESTIONS("How does the share who work change with age, per year of working age?")
def trend_over_age(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("age", "worked_last_week", merge={"age": LIFE}, missing="exclude")
    return table.trend(AT_WORK, over="age", scores=YEARS).slope


@QUESTIONS("Is the gap between men and women in work larger late in life than early?")
def gap_of_gaps(release: pk.Release) -> pk.Quantity:
    table = release.crosstab("sex", "age", "worked_last_week", merge={"age": LIFE})
    share = {(s, age): table.proportion(AT_WORK, {"sex": s, "age": age}) for s in ("Male", "Female") for age in YEARS}
    return (share["Male", "late"] - share["Female", "late"]) - (share["Male", "young"] - share["Female", "young"])


@QUESTIONS("Are women rarer among people with a degree than among those who work?")
def two_tables(release: pk.Release) -> pk.Quantity:
    educated, working = release.crosstab("sex", "education"), release.crosstab("sex", "worked_last_week")
    return educated.proportion(WOMEN, given={"education": DEGREES}) - working.proportion(WOMEN, given=AT_WORK)


@QUESTIONS("How strongly are work last year and education related (Cramer's V)?")
def relation(release: pk.Release) -> pk.Measure:
    return release.crosstab("worked_1989", "education", about="population").association().cramers_v


@QUESTIONS("In SQL: which share of the working have an income of 50,000 or more?")
def in_sql(release: pk.Release) -> pk.Answer:
    high = f"COUNT(*) FILTER (WHERE income IN ({str(HIGH)[1:-1]}))"
    return release.query(f"SELECT {high} / COUNT(*) AS share FROM release WHERE worked_last_week = 'Worked'")


@QUESTIONS("By how much does income differ between men and women of the same age (least squares)?")
def least_squares(release: pk.Release) -> pk.Coefficient:
    return release.regress("income ~ sex + age", values={"income": INCOMES, "age": AGES})["sex[T.Female]"]


@QUESTIONS("By which log odds does work differ between men and women of the same age (logistic regression)?")
def logistic(release: pk.Release) -> pk.Coefficient:
    values = {"age": {age: years if age in WORKING_AGE else None for age, years in AGES.items()}}
    fit = release.regress("worked_last_week == 'Worked' ~ sex + age", family="logistic", values=values)
    return fit["sex[T.Female]"]


if __name__ == "__main__":
    print(QUESTIONS.answers(pk.open_release(sys.argv[1] if len(sys.argv) > 1 else "demo")))
