"""Damages bytes and JSON at random places, from a seed."""

import copy
import json

PIECES = [b"", b"\0", b"\xff", b"{", b"}", b"[", b'"', b",", b":", b"null", b"-1", b"1e999",
          b"9" * 40, b"\n", b"\\ud800", b"\xe2\x80\xae", b"{" * 2000, b"[" * 2000]  # fmt: skip
VALUES = [None, True, -1, 0, 10**30, 1.5, "", "@x", "@1", "#2.5", "~", "é\u202e", [], {},
          [[]], {"": None}, {"ref": [0]}, {"case": "x"}, "x" * 5000]  # fmt: skip


def damage(content, rng):
    """Bytes with one damage: cut off, flipped, a part dropped, doubled or replaced."""
    at = rng.randrange(len(content) + 1)
    length = rng.choice([0, 1, 1, 2, 8, 64])
    match rng.randrange(5):
        case 0:
            return content[:at]
        case 1:
            at = min(at, len(content) - 1)
            return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        case 2:
            return content[:at] + content[at + length :]
        case 3:
            return content[:at] + content[max(0, at - length) : at] + content[at:]
        case _:
            return content[:at] + rng.choice(PIECES) + content[at + length :]


def change(value, rng):
    """JSON with one change: a part is dropped, added, or replaced by one of another kind."""
    whole = [copy.deepcopy(value)]
    places = [(whole, 0), *_places(whole[0])]
    inside, where = rng.choice(places)
    match rng.randrange(4):
        case 0 if inside is not whole:
            del inside[where]
        case 1 if isinstance(inside, dict):
            inside[rng.choice(["", "id", "x", "from", "\u202e"])] = rng.choice(VALUES)
        case 2 if isinstance(inside, list) and inside is not whole:
            inside.insert(where, copy.deepcopy(inside[where]))
        case _:
            inside[where] = rng.choice(VALUES)
    return whole[0]


def _places(value):
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for where, item in items:
        found.append((value, where))
        if isinstance(item, dict | list):
            found += _places(item)
    return found


def either(content, rng):
    """JSON text, damaged as bytes or changed as JSON."""
    if rng.random() < 0.4:
        return damage(content, rng)
    return json.dumps(change(json.loads(content), rng)).encode()
