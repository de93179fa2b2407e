"""Which partition a key belongs to, the same in every log and for every producer of ours.

Kafka's Java client, kafka-python, the Collector (with its murmur2 hasher) and the embedded log must
agree, or the spans of one trace would lie on two partitions.
"""

from typing import Final

_SEED: Final = 0x9747B28C
_MULTIPLIER: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Return the 32-bit MurmurHash2 of `data` with the seed that Kafka uses, as unsigned."""
    length = len(data)
    hashed = _SEED ^ length
    whole = length & ~3
    for index in range(0, whole, 4):
        word = int.from_bytes(data[index : index + 4], "little") * _MULTIPLIER & _MASK
        word ^= word >> 24
        hashed = (hashed * _MULTIPLIER ^ word * _MULTIPLIER) & _MASK
    if whole < length:
        hashed ^= int.from_bytes(data[whole:], "little")
        hashed = hashed * _MULTIPLIER & _MASK
    hashed ^= hashed >> 13
    hashed = hashed * _MULTIPLIER & _MASK
    return hashed ^ hashed >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition of `key` among `partitions` (the sign bit is dropped, as in Java)."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
