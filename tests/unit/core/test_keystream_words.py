"""The keystream, pinned against AES of the counter blocks computed here, block by block."""

import itertools

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from pipeline import aes_words

from pkanon._sample.keystream import (
    COUNT_STREAM,
    ORDER_STREAM,
    Keystream,
    Seeded,
    System,
    block_stream,
    dummy_stream,
    is_private,
)

KEY = bytes(range(32))
STREAMS = [0, 1, 2**24, 2**40 + 2**24 * 3 + 2**8 * 5 + 7, COUNT_STREAM, ORDER_STREAM, ORDER_STREAM + 1, 2**64 - 1]


def test_the_first_block_by_hand():
    # counter block: 8 bytes stream, 8 bytes block number, both big-endian
    stream, block = 0x0102030405060708, 0x1112
    counter = bytes([1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0x11, 0x12])
    text = Cipher(AES256(KEY), ECB()).encryptor().update(counter)
    source = Keystream(KEY)
    got = source.words(stream, block * 2, 2, 64)
    assert got.tolist() == [int.from_bytes(text[:8], "little"), int.from_bytes(text[8:], "little")]
    got = source.words(stream, block * 8 + 3, 1, 16)
    assert got.tolist() == [text[6] + 256 * text[7]]


def test_a_published_vector():
    # NIST SP 800-38A, F.5.5 (CTR-AES256.Encrypt): the first output block, the counter read as stream and block
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    stream, block = int.from_bytes(counter[:8], "big"), int.from_bytes(counter[8:], "big")
    got = Keystream(key).words(stream, block * 2, 2, 64)
    assert got.tobytes().hex() == "0bdf7df1591716335e9a8b15c860c502"


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("stream", STREAMS)
def test_any_start_and_count(stream, width):
    source = Keystream(KEY)
    for start, count in itertools.product([0, 1, 2, 3, 7, 8, 9, 15, 1000, 2**31 + 5, 2**53 - 3], [0, 1, 2, 5, 17, 130]):
        got = source.words(stream, start, count, width)
        assert got.dtype == np.dtype(f"<u{width // 8}")
        assert got.tolist() == aes_words(KEY, stream, start, count, width)


def test_a_long_stretch_crosses_the_chunks_of_the_cipher():
    # zeros are enciphered 2^20 bytes at a time: 2^17 words of 64 bits
    got = Keystream(KEY).words(5, 3, 2**18 + 9, 64)
    for start in (0, 2**17 - 20, 2**18 - 20, 2**18 - 11):
        assert got[start : start + 20].tolist() == aes_words(KEY, 5, start + 3, 20, 64)
    assert len(np.unique(got)) == len(got)  # a block that repeats or stays empty would show


def test_words_may_be_overwritten():
    source = Keystream(KEY)
    first = source.words(1, 0, 10, 32)
    kept = first.tolist()
    first[:] = 0
    assert source.words(1, 0, 10, 32).tolist() == kept


def test_widths_read_the_same_bytes():
    source = Keystream(KEY)
    texts = {source.words(9, 0, 4096 // width, width).tobytes() for width in (16, 32, 64)}
    assert len(texts) == 1


def test_streams_are_disjoint():
    blocks = [0, 1, 255, 2**16, 2**32 - 1]
    streams = [block_stream(b, d, r) for b in blocks for d in (0, 1, 255, 2**16 - 1) for r in (0, 1, 255)]
    streams += [dummy_stream(unit, round) for unit in (0, 1, 2**24 - 1) for round in (0, 1, 2**32 - 1)]
    streams += [COUNT_STREAM + round for round in (0, 1, 255, 2**32 - 1)]
    streams += [ORDER_STREAM + round for round in (0, 1, 255, 2**32 - 1)]
    assert len(set(streams)) == len(streams)
    assert max(streams) < 2**64
    assert block_stream(3, 2, 1) == 3 * 2**24 + 2 * 2**8 + 1
    assert (ORDER_STREAM, COUNT_STREAM) == (2**63, 2**62)


@pytest.mark.parametrize("place", [(-1, 0, 0), (2**32, 0, 0), (0, -1, 0), (0, 2**16, 0), (0, 0, -1), (0, 0, 256)])
def test_no_stream_runs_over_into_the_next(place):
    with pytest.raises(ValueError, match="no stream"):
        block_stream(*place)


@pytest.mark.parametrize("place", [(-1, 0), (2**24, 0), (0, -1), (0, 2**32)])
def test_no_dummy_stream_runs_over_into_the_next(place):
    with pytest.raises(ValueError, match="no stream"):
        dummy_stream(*place)


def test_different_streams_and_keys_give_different_words():
    words = {Keystream(KEY).words(stream, 0, 4, 64).tobytes() for stream in STREAMS}
    assert len(words) == len(STREAMS)
    assert Keystream(bytes(32)).words(0, 0, 4, 64).tolist() != Keystream(KEY).words(0, 0, 4, 64).tolist()


def test_system_keys_are_fresh():
    keys = {System().key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {32}


def test_seeded_keys_depend_on_the_seed_only():
    keys = {Seeded(seed).key() for seed in (-1, 0, 1, 2, 10**30)}
    assert len(keys) == 5
    assert Seeded(7).key() == Seeded(7).key()
    assert len(Seeded(7).key()) == 32


def test_no_key_and_no_seed_is_shown():
    assert "31415926" not in repr(Seeded(31415926)) + str(Seeded(31415926))
    source = Keystream(KEY)
    shown = repr(source) + str(source) + repr(vars(source))
    assert KEY.hex() not in shown
    assert repr(KEY) not in shown


def test_only_system_randomness_may_claim_anything():
    class Heir(System):
        def key(self):
            return KEY

    class Alike:
        private = True

        def key(self):
            return KEY

    assert is_private(System())
    assert not any(is_private(other) for other in (Seeded(1), Heir(), Alike()))
    with pytest.raises(AttributeError):
        object.__setattr__(System(), "key", lambda: KEY)


@pytest.mark.parametrize("key", [b"", bytes(16), bytes(31), bytes(33)])
def test_a_key_of_another_length_is_refused(key):
    with pytest.raises(ValueError):
        Keystream(key)
