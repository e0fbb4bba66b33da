"""Messages over the browser's socket: `{"id", "type", "key", "device", …parameters}` for an operation.

`requestId` may name a message, too, unless it is a parameter of its operation; it stands in the answer again.
"""

from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from bascule.hub.calls.operation import Operation, Table
from bascule.hub.wire.intake import convert, json_object
from bascule.model.commands import Done
from bascule.model.errors import CallerError, InvalidInput
from bascule.model.fields import Name


class BadMessage(CallerError):
    code = "INVALID_MESSAGE"


class MessageHead(Struct, frozen=True):
    """The fields of a message besides its parameters."""

    type: str
    id: int | None = None
    key: Name | None = None


class _RequestId(Struct, frozen=True):
    id: Name


ENVELOPE = ("type", "id", "key")
MAX_DEVICE = 200


@dataclass(frozen=True)
class SocketMessage:
    operation: Operation
    name: str
    id: int | None
    key: str | None
    body: Any
    device: str | None
    request_id: str = ""

    @property
    def session_id(self) -> str:
        """Of the session it acts in; only for operations that do."""
        return self.body.session_id


def decode_message(table: Table, text: str | bytes) -> SocketMessage:
    """Raises `BadMessage`; `id` of a message that could be read so far is in its fields."""
    number: int | None = None
    try:
        fields = json_object(text)
        around = {name: fields.pop(name) for name in ENVELOPE if name in fields}
        number = around.get("id") if isinstance(around.get("id"), int) else None
        envelope = convert(around, MessageHead)
        operation = table.messages.get(envelope.type)
        if operation is None:
            raise BadMessage(f"There is no message type {envelope.type[:60]!r}.", id=number)
        device, request_id = device_of(operation, fields), _request_id(operation, fields)
        body = convert(operation.given(fields), operation.body)
    except BadMessage:
        raise
    except CallerError as error:
        raise BadMessage(error.message, id=number) from None
    return SocketMessage(operation, envelope.type, envelope.id, envelope.key, body, device, request_id)


def _request_id(operation: Operation, fields: dict[str, Any]) -> str:
    if "requestId" not in fields or "requestId" in operation.fields.values():
        return ""
    return convert({"id": fields.pop("requestId")}, _RequestId).id


def device_of(operation: Operation, fields: dict[str, Any]) -> str | None:
    """Takes the device that a message is for out of its fields, if its operation is for one."""
    if not operation.for_device or "device" not in fields:
        return None
    device = fields.pop("device")
    if not isinstance(device, str) or not 0 < len(device) <= MAX_DEVICE:
        raise InvalidInput(f"`device` is the id of a machine, at most {MAX_DEVICE} characters.")
    return device


def socket_answer(operation: Operation, result: object) -> object:
    """An operation's answer as the socket gives it."""
    if operation.answer_key and not isinstance(result, Done):
        return {operation.answer_key: result}
    return result
