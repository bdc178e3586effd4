"""Blind signatures: the vector of RFC 9474, those of another implementation, and that what the issuer sees fits every token."""

import itertools
import json
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from marking_keys import marking_key

from pkanon import InputError
from pkanon._collect import tokens

DATA = Path(__file__).parents[1] / "data"
VECTOR = json.loads((DATA / "rfc9474.json").read_text(encoding="utf-8"))
OTHERS = json.loads((DATA / "blindrsa.json").read_text(encoding="utf-8"))
NUMBERS = {name: int(VECTOR[name], 16) for name in ("p", "q", "n", "e", "d", "inv")}
BYTES = {name: bytes.fromhex(text) for name, text in VECTOR.items() if name not in (*NUMBERS, "source", "name")}


@pytest.fixture(scope="module")
def key():
    return tokens.PrivateKey.generate()


@pytest.fixture(scope="module")
def other_key():
    return tokens.PrivateKey.generate()


def test_the_vector_of_the_rfc():
    assert VECTOR["name"] == "RSABSSA-SHA384-PSS-Randomized"
    key = tokens.PrivateKey(NUMBERS["p"], NUMBERS["q"])
    assert (key.n, tokens.EXPONENT) == (NUMBERS["n"], NUMBERS["e"])
    prepared = BYTES["msg_prefix"] + BYTES["msg"]
    assert prepared == BYTES["input_msg"]
    blinded = tokens.blind(key.public, prepared, salt=BYTES["salt"], inverse=NUMBERS["inv"])
    assert blinded.request == BYTES["blinded_msg"]
    assert key.sign_blinded(blinded.request) == BYTES["blind_sig"]
    assert tokens.finalize(key.public, prepared, blinded.inverse, BYTES["blind_sig"]) == BYTES["sig"]
    assert key.public.verify(prepared, BYTES["sig"])


@pytest.mark.parametrize("number", range(len(OTHERS["vectors"])))
def test_another_implementation_blinds_and_signs_as_we_do(number):
    assert OTHERS["name"] == VECTOR["name"]
    key = tokens.PrivateKey(int(OTHERS["p"], 16), int(OTHERS["q"], 16))
    vector = {name: bytes.fromhex(text) for name, text in OTHERS["vectors"][number].items()}
    assert key.sign_blinded(vector["request"]) == vector["blind_signature"]
    finished = tokens.finalize(key.public, vector["token"], vector["inverse"], vector["blind_signature"])
    assert finished == vector["signature"]
    assert key.public.verify(vector["token"], vector["signature"])
    assert not key.public.verify(bytes(32), vector["signature"])


def test_the_whole_way(key):
    token = tokens.new_token()
    blinded = tokens.blind(key.public, token)
    answer = key.sign_blinded(blinded.request)
    assert answer == key.sign_blinded(blinded.request)
    signature = tokens.finalize(key.public, token, blinded.inverse, answer)
    assert key.public.verify(token, signature)


def test_forged_and_foreign_tokens_are_refused(key, other_key):
    token = tokens.new_token()
    blinded = tokens.blind(key.public, token)
    signature = tokens.finalize(key.public, token, blinded.inverse, key.sign_blinded(blinded.request))
    for place in (0, 16, 31):
        forged = bytearray(token)
        forged[place] ^= 1
        assert not key.public.verify(bytes(forged), signature)
    for place in (0, 128, 255):
        forged = bytearray(signature)
        forged[place] ^= 1
        assert not key.public.verify(token, bytes(forged))
    assert not key.public.verify(token, b"")
    assert not key.public.verify(token, signature + b"\0")
    assert not other_key.public.verify(token, signature)
    with pytest.raises(tokens.TokenError, match="not a signature with the key"):
        tokens.finalize(other_key.public, token, blinded.inverse, key.sign_blinded(blinded.request))
    with pytest.raises(tokens.TokenError, match="wrong length"):
        tokens.finalize(key.public, token, blinded.inverse, b"\0" * 10)


@pytest.mark.parametrize("number", [0, "n", "too short", "too long"])
def test_requests_that_are_no_numbers_below_n_are_refused(key, number):
    size = key.size
    requests = {
        0: bytes(size),
        "n": key.n.to_bytes(size, "big"),
        "too short": b"\1" * (size - 1),
        "too long": b"\0" * 300,
    }
    with pytest.raises(tokens.TokenError, match="blinded request"):
        key.sign_blinded(requests[number])


def test_every_request_fits_every_token(key, seed):
    """Some claims and answers: of each pair there is a factor that leads from the token to the request.

    The issuer knows the requests, the service knows tokens and signatures. For request z and signed encoding m the factor
    is the e-th root of z/m, and it is a number that the device could have drawn with the same probability as any other.
    So whatever is known of the requests says nothing about which token belongs to which.
    """
    n, e = key.n, tokens.EXPONENT
    claims, answers = [], []
    for _ in range(200):
        token = tokens.new_token()
        salt_and_token = tokens.blind(key.public, token)
        claims.append(int.from_bytes(salt_and_token.request, "big"))
        inverse = int.from_bytes(salt_and_token.inverse, "big")
        answers.append(claims[-1] * pow(inverse, e, n) % n)  # the encoding that the signature reveals: s^e
    chance = random.Random(seed)
    chance.shuffle(answers)
    pairs = [*zip(claims, answers), *itertools.product(claims[:5], answers[:5])]
    for request, encoded in chance.sample(pairs, 40):
        factor = key.root(request * pow(encoded, -1, n) % n)
        assert encoded * pow(factor, e, n) % n == request
        assert 0 < factor < n
        # the e-th power is a bijection, so there is just this one factor
        assert key.root(pow(factor, e, n)) == factor
    # and both sides spread over the same numbers: a request tells nothing by its size
    high = sum(request > n // 2 for request in claims)
    assert 60 < high < 140


def test_a_key_is_proved_to_hide(key):
    public = key.public
    assert tokens.PublicKey.from_json(public.to_json()) == public
    for wrong in (public.proof[:-1], (*public.proof[:-1], public.proof[0]), ()):
        with pytest.raises(InputError, match="without a proof"):
            replace(public, proof=wrong)
    with pytest.raises(InputError, match="RSA key of"):
        tokens.PublicKey(key.p, public.proof)


def test_a_key_that_would_link_people_has_no_proof():
    """With 65537 dividing p - 1 a request keeps a mark of its token: such a key must not pass."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    p = 2 * tokens.EXPONENT * (2**1006 + 231) + 1
    assert p.bit_length() == 1024
    assert pow(2, p - 1, p) == pow(3, p - 1, p) == 1  # a prime, as far as this test needs one
    q = rsa.generate_private_key(tokens.EXPONENT, 2048).private_numbers().q
    n = p * q
    assert pow(3, (p - 1) // tokens.EXPONENT, p) != 1  # 3 has no e-th root modulo p: roots are missing
    rooted = [pow(tokens._challenge(n, i), (p - 1) // tokens.EXPONENT, p) == 1 for i in range(tokens.ROOTS)]
    assert not all(rooted)  # so no e-th root exists, whatever is written down as a proof


def is_rooted(key):
    return all(pow(root, tokens.EXPONENT, key.n) == tokens._challenge(key.n, i) for i, root in enumerate(key.proof))


@pytest.mark.parametrize(("first", "proved_by_units"), [(3, False), (1009, True)])
def test_a_key_with_small_factors_is_refused(first, proved_by_units):
    """Every root is there, but a request shares with n what its token shares: that is a mark."""
    key = marking_key(first, proved_by_units=proved_by_units)
    assert key.n.bit_length() == 2048
    assert is_rooted(key)
    encoded = tokens.encode(key.marked(bytes(48)), 2047, bytes(48))
    request = encoded * pow(2, tokens.EXPONENT, key.n) % key.n
    assert (
        math.gcd(request, key.n) == math.gcd(encoded, key.n) > 1
    )  # what the issuer would see, whatever hides the token
    with pytest.raises(InputError, match="small factor"):
        tokens.PublicKey(key.n, key.proof)
    with pytest.raises(InputError, match="small factor"):
        tokens.PublicKey.from_json(key.to_json())


def test_a_token_that_shares_a_larger_factor_is_not_sent():
    key = marking_key(tokens.EXPONENT + 1)
    public = tokens.PublicKey.from_json(key.to_json())
    with pytest.raises(tokens.TokenError, match="shares a factor"):
        tokens.blind(public, key.marked(bytes(48)), salt=bytes(48))


def test_a_device_seldom_has_to_stop():
    """The bound that the module states: factors above 65537 in a modulus of at most 4096 bits."""
    key = marking_key(tokens.EXPONENT + 1)
    assert len(key.factors) < 128
    assert tokens.EXPONENT**256 > 2**4096
    stopped = 1 - math.prod(1 - 1 / factor for factor in key.factors)
    assert stopped < len(key.factors) / tokens.EXPONENT < 1 / 512


def test_the_roots_of_a_proof_are_units():
    """Zero modulo a factor is a root of zero in every key, so it would prove nothing."""
    key = marking_key(tokens.EXPONENT + 1, proved_by_units=False)
    assert is_rooted(key)
    with pytest.raises(InputError, match="without a proof"):
        tokens.PublicKey(key.n, key.proof)


def test_keys_in_files(key, tmp_path):
    (tmp_path / "key.pem").write_bytes(key.to_pem())
    assert tokens.PrivateKey.read(tmp_path / "key.pem") == key
    with pytest.raises(InputError, match="Cannot read"):
        tokens.PrivateKey.read(tmp_path / "none.pem")
    with pytest.raises(InputError, match="not an unencrypted RSA key"):
        tokens.PrivateKey.from_pem(b"nothing")
    assert str(key.p) not in repr(key)


@pytest.mark.parametrize("text", ["AA=", "A", "AA+A", "AA/A", "AB", 3, None, "AAé"])
def test_base64url_is_written_in_one_way(text):
    with pytest.raises(tokens.TokenError):
        tokens.from_text(text)


def test_base64url_round_trip():
    for length in range(40):
        content = bytes(range(200, 200 + length))
        assert tokens.from_text(tokens.to_text(content), length) == content
    with pytest.raises(tokens.TokenError):
        tokens.from_text("AAAA", 4)
