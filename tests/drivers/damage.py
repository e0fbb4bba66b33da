"""Damages recordings: bytes changed, cut and repeated; values of wrong types."""

import random

WRONG: list[object] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    2**70,
    1.5,
    "",
    "text",
    "\ud7ff",
    [],
    [[]],
    [None],
    {},
    {"type": 1},
]


def mutated(output: bytes, chance: random.Random) -> bytes:
    data = bytearray(output or b"\n")
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randint(1, 60)]
            case 2:
                data[at:at] = chance.choice([b"\n", b"null", b"[]", b"{}", b"\\ud800", b"\x00", b"-1", b'"'])
            case _:
                other = chance.randrange(len(data))
                data[at:at] = data[other : other + chance.randint(1, 200)]
        if not data:
            data += b"\n"
    return bytes(data)


def swapped(value: object, chance: random.Random) -> object:
    """The same JSON with a few values of other types."""
    if chance.random() < 0.04:
        return chance.choice(WRONG)
    if isinstance(value, dict):
        return {key: swapped(inner, chance) for key, inner in value.items() if chance.random() > 0.02}
    if isinstance(value, list):
        return [swapped(inner, chance) for inner in value]
    return value
