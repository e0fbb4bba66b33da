"""Encodes and decodes events. One encoding serves the database, the link and the browser."""

from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, get_args

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import fields

from bascule.model import event_values
from bascule.model.events import AnyEvent, Unrecognised

UNKNOWN = "unknown to this version"
MAX_UNKNOWN = 4096  # bytes of an event of a newer version that are shown


class Logged(Struct, frozen=True, gc=False):
    """An entry of a log: the fact, its number in the session, and when it was written down."""

    seq: int
    at: str
    event: AnyEvent


class LoggedRaw(Struct, frozen=True):
    """The same, with the event left as bytes: for those who only pass it on."""

    seq: int
    at: str
    event: Raw


_encoder = msgspec.json.Encoder()
_logged = msgspec.json.Decoder(Logged)
_logged_raw = msgspec.json.Decoder(LoggedRaw)
_event = msgspec.json.Decoder[AnyEvent](AnyEvent)


def encode(value: object) -> bytes:
    return _encoder.encode(value)


def encode_logged(seq: int, at: str, event: AnyEvent) -> bytes:
    return b'{"seq":%d,"at":"%s","event":%s}' % (seq, at.encode(), _encoder.encode(event))


def encode_log(log: list[Logged]) -> list[bytes]:
    """Many at a time, each as `encode_logged` has it: half the time a row of a flood takes."""
    bodies = _encoder.encode_lines(log).split(b"\n")
    if len(bodies) != len(log) + 1:  # an event holds JSON that somebody else wrote, over several lines
        return [_encoder.encode(logged) for logged in log]
    bodies.pop()
    return bodies


def decode_logged(data: bytes) -> Logged:
    return _logged.decode(data)


def decode_leniently(data: bytes) -> Logged:
    """An event that this version does not know comes as `Unrecognised`. Raises `DecodeError` for no row."""
    try:
        return _logged.decode(data)
    except msgspec.ValidationError as error:
        logged = _logged_raw.decode(data)
        raw = bytes(logged.event)
        shown = raw[:MAX_UNKNOWN].decode(errors="replace")
        return Logged(logged.seq, logged.at, Unrecognised(shown, f"{UNKNOWN}: {error}", len(raw)))


@cache
def vocabulary() -> str:
    """Names the events that this version knows: another version's name differs when its events do."""
    structs: list[Any] = [*get_args(AnyEvent), *filter(_is_struct, vars(event_values).values())]
    described = [
        f"{struct.__name__} {[(each.name, each.type) for each in fields(struct)]}" for struct in structs
    ]
    return sha256("\n".join(sorted(described)).encode()).hexdigest()[:16]


def _is_struct(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, Struct)


def decode_logged_raw(data: bytes) -> LoggedRaw:
    return _logged_raw.decode(data)


def decode_event(data: bytes) -> AnyEvent:
    return _event.decode(data)


def timestamp(moment: float) -> str:
    """Seconds since the epoch as the ISO form every log uses: UTC, milliseconds, `Z`."""
    second, microseconds = divmod(round(moment * 1_000_000), 1_000_000)
    return f"{_whole_second(second)}.{microseconds // 1000:03}Z"


@lru_cache(maxsize=2)
def _whole_second(second: int) -> str:
    """Kept, because many events are logged within one second."""
    return datetime.fromtimestamp(second, UTC).isoformat().removesuffix("+00:00")
