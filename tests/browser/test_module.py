"""The module for browsers draws what Python draws from the same words, to the last word."""

import json
from pathlib import Path

import numpy as np
import pytest
from marking_keys import FactoredKey, marking_key
from scipy.stats import binomtest

import pkanon as pk
from pkanon._collect.tokens import PrivateKey, from_text, to_text
from pkanon._schema import code_dtype

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "client-vectors.json").read_text(encoding="utf-8"))
EXHAUSTIVE = VECTORS["exhaustive"]

DRAW = "(pk, plan, cases) => cases.map((c) => pk.randomise(pk.readPlan(plan), c.record, pk.listedWords(c.words)))"
ALL_WORDS = """(pk, json, record, words, vary) => {
  const plan = pk.readPlan(json);
  const runs = [];
  for (let word = 0; word < 65536; word++) {
    const sent = pk.randomise(plan, record, pk.listedWords({ ...words, [vary]: String(word) }));
    if (!runs.length || String(runs.at(-1)[1]) !== String(sent)) runs.push([word, sent]);
  }
  return runs;
}"""


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
def test_vectors(calculator, vector):
    assert calculator(DRAW, vector["plan"], vector["cases"]) == [case["sent"] for case in vector["cases"]]


@pytest.mark.parametrize("number", range(len(EXHAUSTIVE)))
def test_all_words(calculator, number):
    entry = EXHAUSTIVE[number]
    runs = calculator(ALL_WORDS, entry["plan"], entry["record"], entry["words"], entry["vary"])
    assert runs == merged(entry["runs"])


def merged(runs):
    """Runs of which no two neighbours have one outcome."""
    return [run for i, run in enumerate(runs) if not i or run[1] != runs[i - 1][1]]


# --- real randomness

DRAWS = 2_000
COUNT = """(pk, json, record, draws, words) => {
  const plan = pk.readPlan(json);
  const source = words === "system" ? pk.systemWords : new Function("pk", `return ${words}`)(pk);
  const counts = plan.attributes.map((attribute) => new Array(attribute.size).fill(0));
  for (let i = 0; i < draws; i++) pk.randomise(plan, record, source).forEach((code, place) => counts[place][code]++);
  return counts;
}"""
CHANCES = """(pk, json, record) => {
  const plan = pk.readPlan(json);
  const all = (place) => Array.from({ length: plan.attributes[place].size }, (_, code) => code);
  return record.map((_, place) => all(place).map(pk.chanceOf(plan, record, place)));
}"""
LEAST = 1e-7
"""A p value below this is no chance: there are fewer than 100 of them here."""
PLANS = {vector["name"]: vector["plan"] for vector in VECTORS["vectors"]}


def first_and_last(plan):
    """Two records that the plan allows."""
    units = plan.units
    ends = []
    for pick in (0, -1):
        codes = {}
        for unit in units:
            code = np.array([pick % unit.size], code_dtype(unit.size))
            codes |= dict(zip(unit.attributes, (int(part[0]) for part in unit.split(code))))
        ends.append([codes[name] for name in plan.schema.names])
    return ends


def exact_chances(plan, record):
    """What a person with this record is sent as, attribute by attribute, as the estimators of the package see it."""
    codes = dict(zip(plan.schema.names, record))
    result = {}
    for block in plan.blocks:
        sizes = [size for unit in block.units for size in unit.sizes]
        if block.has_marginals:
            for name, size in zip(block.attributes, sizes):
                result[name] = block.forward(np.eye(size)[codes[name]], {name: 0})
        else:
            table = np.zeros(sizes)
            table[tuple(codes[name] for name in block.attributes)] = 1.0
            sent = block.forward(table, {name: axis for axis, name in enumerate(block.attributes)})
            for axis, name in enumerate(block.attributes):
                result[name] = sent.sum(axis=tuple(i for i in range(len(sizes)) if i != axis))
    return [result[name] for name in plan.schema.names]


def smallest_p(counts, chances):
    return min(
        binomtest(count, DRAWS, min(1.0, chance)).pvalue
        for some, own in zip(counts, chances)
        for count, chance in zip(some, own)
    )


@pytest.mark.parametrize("name", PLANS)
def test_the_browsers_own_randomness(calculator, name):
    plan = pk.Plan.from_json(PLANS[name])
    for record in first_and_last(plan):
        expected = exact_chances(plan, record)
        assert smallest_p(calculator(COUNT, PLANS[name], record, DRAWS, "system"), expected) > LEAST
        for got, own in zip(calculator(CHANCES, PLANS[name], record), expected):
            np.testing.assert_allclose(got, own, atol=1e-12)


@pytest.mark.parametrize(
    "mutant",
    [
        "(block, draw, round, bits) => pk.systemWords(block, draw, round, bits) >> 1n",  # a bit is lost
        "(block, draw, round, bits) => BigInt(Math.floor(Math.random() ** 1.5 * 2 ** 16)) << BigInt(bits - 16)",
        "((kept) => (block, draw, round, bits) => (kept = kept ? 0n : pk.systemWords(block, draw, round, bits)))(0n)",
    ],
)
def test_poor_randomness_is_noticed(calculator, mutant):
    name = next(iter(PLANS))
    plan = pk.Plan.from_json(PLANS[name])
    worst = [
        smallest_p(calculator(COUNT, PLANS[name], record, DRAWS, mutant), exact_chances(plan, record))
        for record in first_and_last(plan)
    ]
    assert min(worst) < LEAST


@pytest.mark.parametrize("name", PLANS)
def test_the_factor_of_the_odds_is_that_of_the_plan(calculator, name):
    plan = pk.Plan.from_json(PLANS[name])
    got = calculator("(pk, json) => String(pk.oddsFactor(pk.readPlan(json)))", PLANS[name])
    expected = float(plan.epsilon_ratio) if plan.epsilon_ratio else np.inf
    assert float(got) == pytest.approx(expected, rel=1e-12)


# --- answers to codes

ATTRIBUTES = [
    (pk.Attribute("a", ["no", "yes"], missing="value"), [None, "no", "yes", "maybe", ""]),
    (pk.Attribute("a", ["x", "y"], other="rest"), ["x", "y", "z", None]),
    (pk.Attribute.ranged("a", -3, 40, missing="value"), ["-3", "0", "40", "41", "-4", "1.5", "", None]),
    (pk.Attribute.ranged("a", 2**60, 2**60 + 9), [str(2**60), str(2**60 + 9), str(2**60 + 10), str(2**60 - 1)]),
    (pk.Attribute.binned("a", edges=[0, 18, 65], open="high"), ["0", "17", "18", "64", "65", "999", "-1", "x"]),
    (pk.Attribute.binned("a", edges=[0, 18, 65], open="low"), ["-5", "0", "17", "18", "64", "65"]),
    (pk.Attribute.binned("a", edges=[0.0, 0.1, 2.5], open="both"), ["-1e9", "0", "0.1", "0.0999", "2.5", "1e3"]),
    (pk.Attribute.binned("a", edges=[0.0, 0.1, 2.5], open="none"), ["-0.1", "0", "2.4999", "2.5"]),
]


@pytest.mark.parametrize(("attribute", "answers"), ATTRIBUTES)
def test_codes_are_those_of_the_schema(calculator, attribute, answers):
    def code(answer):
        kind = {"integer": int, "number": float}.get(attribute.type, str)
        try:
            return attribute.code(None if answer is None else kind(answer))
        except (pk.PkanonError, ValueError):
            return None

    plan = {"format": "pkanon-plan/1", "attributes": [attribute.to_json()], "units": [], "blocks": []}
    run = "(pk, json, answers) => answers.map((answer) => pk.codeOf(pk.readPlan(json).attributes[0], answer))"
    assert calculator(run, plan, answers) == [code(answer) for answer in answers]


REFUSED = "(pk, json) => { try { pk.readPlan(json); return ''; } catch (error) { return error.message; } }"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "pkanon-plan/2"}, "The plan has an unknown format."),
        ({"kind": "laplace"}, "The plan has an unknown kind of block."),
        ({"width": 24}, "The plan has an unknown kind of block."),
        ({"replace": "40000"}, "The numbers of a block do not fit."),
    ],
)
def test_plans_that_the_module_does_not_understand_are_refused(calculator, change, message):
    plan = json.loads(json.dumps(PLANS["retention, 16 bits"]))
    assert calculator(REFUSED, plan) == ""
    (plan if "format" in change else plan["blocks"][0]).update(change)
    assert calculator(REFUSED, plan) == message


@pytest.mark.parametrize("record", [[0], [0, 3], [0, -1], [0, 0.5], [0, None]])
def test_records_that_the_plan_does_not_allow_are_refused(calculator, record):
    run = "(pk, json, record) => { try { return pk.randomise(pk.readPlan(json), record, pk.systemWords); } catch { return 'no'; } }"
    assert calculator(run, PLANS["retention, 16 bits"], record) == "no"


# --- blind signatures

RFC = json.loads((Path(__file__).parents[1] / "data" / "rfc9474.json").read_text(encoding="utf-8"))
BLIND = """async (pk, key, message, salt, r, inverse, signature) => {
  const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  const { blinded, inverse: own } = await pk.blind(key, bytes(message), bytes(salt), BigInt(r));
  const finished = await pk.finalize(key, bytes(message), bytes(signature), BigInt(inverse));
  const altered = bytes(message);
  altered[0] ^= 1;
  return {
    blinded: pk.toHex(blinded), inverse: String(own), signature: pk.toHex(finished),
    verified: await pk.verify(key, bytes(message), finished), altered: await pk.verify(key, altered, finished),
    wrong: await pk.finalize(key, altered, bytes(signature), BigInt(inverse)).catch((error) => error.message),
  };
}"""


def number(name):
    return int(RFC[name], 16)


def test_the_vectors_of_rfc_9474(calculator):
    n = number("n")
    key = {"n": to_text(n.to_bytes(512, "big")), "e": to_text(number("e").to_bytes(3, "big"))}
    factor = pow(number("inv"), -1, n)
    got = calculator(BLIND, key, RFC["input_msg"], RFC["salt"], str(factor), str(number("inv")), RFC["blind_sig"])
    assert got == {
        "blinded": RFC["blinded_msg"],
        "inverse": str(number("inv")),
        "signature": RFC["sig"],
        "verified": True,
        "altered": False,
        "wrong": "The issuer's signature is wrong.",
    }


@pytest.mark.parametrize(("first", "proved_by_units"), [(3, False), (1009, True)])
def test_a_key_with_small_factors_is_refused(calculator, first, proved_by_units):
    """All its roots are there, but requests would share with n what their tokens share."""
    key = marking_key(first, proved_by_units=proved_by_units)
    assert not calculator("(pk, key) => pk.isProven(key)", key.to_json())
    attempt = "(pk, key) => pk.blindToken(key).then(() => 'sent', (error) => error.message)"
    assert "has no proof" in calculator(attempt, key.to_json())


def test_a_token_that_shares_a_larger_factor_is_not_sent(calculator):
    key = marking_key(65538)
    assert calculator("(pk, key) => pk.isProven(key)", key.to_json())
    attempt = """(pk, key, token) => pk.blind(key, pk.fromBase64(token), new Uint8Array(48))
      .then(() => "sent", (error) => error.message)"""
    assert "shares a factor" in calculator(attempt, key.to_json(), to_text(key.marked(bytes(48))))
    assert calculator(attempt, key.to_json(), to_text(bytes(32))) == "sent"


def test_the_roots_of_a_proof_are_units_below_n(calculator):
    private = PrivateKey.generate()
    key = private.public.to_json()
    assert calculator("(pk, key) => pk.isProven(key)", key)
    above = to_text((private.public.proof[0] + private.n).to_bytes(private.size + 1, "big"))
    assert not calculator("(pk, key) => pk.isProven(key)", {**key, "proof": [above, *key["proof"][1:]]})
    assert not calculator("(pk, key) => pk.isProven(key)", marking_key(65538, proved_by_units=False).to_json())


def test_a_short_key_is_refused(calculator):
    private = PrivateKey.generate()
    for factors, proven in (((private.p, private.q), True), ((private.p,), False)):
        assert calculator("(pk, key) => pk.isProven(key)", FactoredKey(factors).to_json()) is proven


def test_a_token_of_the_browser_is_signed_and_verified_in_python(calculator):
    private = PrivateKey.generate()
    key = private.public.to_json()
    start = """async (pk, key) => {
      const { token, blinded, inverse } = await pk.blindToken(key);
      return { token: pk.toBase64(token), blinded: pk.toBase64(blinded), inverse: String(inverse) };
    }"""
    made = calculator(start, key)
    signed = to_text(private.sign_blinded(from_text(made["blinded"])))
    end = """async (pk, key, token, signed, inverse) =>
      pk.toBase64(await pk.finalize(key, pk.fromBase64(token), pk.fromBase64(signed), BigInt(inverse)))"""
    signature = from_text(calculator(end, key, made["token"], signed, made["inverse"]))
    token = from_text(made["token"], 32)
    assert private.public.verify(token, signature)
    assert not private.public.verify(bytes(32), signature)
