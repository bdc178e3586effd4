"""Agreement blocks in plan files: what is written is read, what is damaged is refused."""

import copy

import pytest
from agreement_examples import BUNDLES, EXAMPLES
from dense import unit_of
from plans import plan_of

import pkanon as pk
from pkanon._blocks import Agreement


def test_every_plan_file_entry_survives():
    for block in [*EXAMPLES.values(), *BUNDLES.values()]:
        assert Agreement.from_json(block.to_json(block.units), block.units) == block
        plan = plan_of([block], 9) if block in EXAMPLES.values() else None
        assert plan is None or pk.Plan.from_json(plan.to_json()) == plan


DAMAGE = {
    "a number too few": lambda entry: entry["sets"].pop(),
    "a number too many": lambda entry: entry["sets"].append("0"),
    "negative": lambda entry: entry["sets"].__setitem__(0, "-5"),
    "sum": lambda entry: entry["sets"].__setitem__(0, str(int(entry["sets"][0]) + 1)),
    "sum below": lambda entry: entry["sets"].__setitem__(0, str(int(entry["sets"][0]) - 1)),
    "a number that is no text": lambda entry: entry["sets"].__setitem__(0, int(entry["sets"][0])),
    "a fraction": lambda entry: entry["sets"].__setitem__(0, "1.5"),
    "unknown key": lambda entry: entry.__setitem__("signs", []),
    "no sets": lambda entry: entry.pop("sets"),
    "unit that is not there": lambda entry: entry["units"].__setitem__(0, 2),
    "negative unit": lambda entry: entry["units"].__setitem__(0, -2),
    "unit by name": lambda entry: entry["units"].__setitem__(0, "a"),
    "unit that is a truth value": lambda entry: entry["units"].__setitem__(0, False),
    "unit twice": lambda entry: entry["units"].__setitem__(0, 1),
    "units in another order": lambda entry: entry["units"].reverse(),
    "no units": lambda entry: entry.update(units=[], sets=[str(2**16)]),
    "width": lambda entry: entry.__setitem__("width", 24),
    "width as text": lambda entry: entry.__setitem__("width", "16"),
    "another width": lambda entry: entry.__setitem__("width", 32),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_plan_files_are_refused(damage):
    data = plan_of([EXAMPLES["2 x 3"]], 9).to_json()
    damaged = copy.deepcopy(data)
    damage(damaged["blocks"][0])
    assert repr(damaged) != repr(data)
    with pytest.raises(pk.PlanError):
        pk.Plan.from_json(damaged)


def test_negative_numbers_that_sum_up_are_refused():
    with pytest.raises(pk.PlanError, match="without negatives"):
        Agreement((unit_of(2),), (-1, 2**16 + 1), 16)


def test_twelve_units_are_the_most():
    def one(count):
        sets = (2**64 - 2**count + 1,) + (1,) * (2**count - 1)
        return Agreement(tuple(unit_of(2, names=[f"u{i}"]) for i in range(count)), sets)

    block = one(12)
    assert Agreement.from_json(block.to_json(block.units), block.units) == block
    with pytest.raises(pk.PlanError, match="1 to 12 units, not 13"):
        one(13)
    with pytest.raises(pk.PlanError, match="1 to 12 units, not 0"):
        Agreement((), (2**64,))


def test_a_unit_of_more_values_than_words_is_refused():
    Agreement((unit_of(2**16),), (2**15, 2**15), 16)
    with pytest.raises(pk.PlanError, match="more values than its words"):
        Agreement((unit_of(2**16 + 1),), (2**15, 2**15), 16)
