"""Reads JSON-RPC messages, one per line, and the few fields of their parameters that both protocols share."""

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

MAX_RPC_ID = 256

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
REQUEST_CANCELLED = -32800


class Message(Struct):
    """A request (method and id), a notification (method only), a result or an error (id only)."""

    id: Raw | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_message = msgspec.json.Decoder(Message)
_whole = msgspec.json.Decoder(int)


def read(line: bytes) -> Message:
    line.decode()  # raises on broken UTF-8, which raw fields would pass on unchecked
    return _message.decode(line)


def our_id(raw: Raw) -> int | None:
    """The id as a number; None if it is not one, and so not an id of ours."""
    try:
        return _whole.decode(raw)
    except msgspec.MsgspecError:
        return None


class _Fields(Struct):
    """Parameters that are kept byte for byte."""

    update: Raw = Raw(b"null")
    request_id: Raw = msgspec.field(default=Raw(b"null"), name="requestId")
    item: Raw = Raw(b"null")


_fields = msgspec.json.Decoder(_Fields)


class _Address(Struct):
    """The session a message is for. Decoding nothing else makes messages of other sessions cheap."""

    session_id: str | None = msgspec.field(default=None, name="sessionId")


_address = msgspec.json.Decoder(_Address)


def session_in(params: Raw) -> str | None:
    """The session id in the parameters, if there is one."""
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
