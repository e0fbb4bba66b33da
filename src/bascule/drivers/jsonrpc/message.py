"""Reads JSON-RPC messages, one per line, and the few fields of their parameters that both protocols share."""

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

MAX_RPC_ID = 256

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
REQUEST_CANCELLED = -32800


class Message(Struct):
    """Any of the four kinds: a method with an id is a request, without one a notification; else an answer."""

    id: Raw | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_message = msgspec.json.Decoder(Message)
_whole = msgspec.json.Decoder(int)


def read(line: bytes) -> Message:
    line.decode()  # raw parts are kept as they are, and nothing further on takes broken UTF-8
    return _message.decode(line)


def our_id(raw: Raw) -> int | None:
    """Our ids are whole numbers; any other is not an answer to us."""
    try:
        return _whole.decode(raw)
    except msgspec.MsgspecError:
        return None


class _Fields(Struct):
    """The parts of parameters that are kept byte for byte."""

    update: Raw = Raw(b"null")
    request_id: Raw = msgspec.field(default=Raw(b"null"), name="requestId")
    item: Raw = Raw(b"null")


_fields = msgspec.json.Decoder(_Fields)


class _Address(Struct):
    """Whose message it is. Nothing else is looked at: messages of other sessions cost next to nothing."""

    session_id: str | None = msgspec.field(default=None, name="sessionId")


_address = msgspec.json.Decoder(_Address)


def session_in(params: Raw) -> str | None:
    """The session that parameters speak of, if they name one."""
    try:
        return _address.decode(params).session_id
    except msgspec.MsgspecError:
        return None


def update_in(params: Raw) -> Raw:
    return _fields.decode(params).update


def request_id_in(params: Raw) -> Raw:
    return _fields.decode(params).request_id


def item_in(params: Raw) -> Raw:
    return _fields.decode(params).item
