"""Messages over the browser's socket: `{"id", "type", "key", …parameters}` for one of the operations."""

from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from bascule.hub.api.intake import convert, json_object
from bascule.hub.api.operation import Operation, Table
from bascule.hub.api.views import Done
from bascule.model.errors import CallerError
from bascule.model.fields import Name


class BadMessage(CallerError):
    code = "INVALID_MESSAGE"


class Envelope(Struct, frozen=True):
    """The fields around the parameters."""

    type: str
    id: int | None = None
    key: Name | None = None


ENVELOPE = ("type", "id", "key")


@dataclass(frozen=True)
class SocketMessage:
    operation: Operation
    name: str
    id: int | None
    key: str | None
    body: Any

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
        envelope = convert(around, Envelope)
        operation = table.messages.get(envelope.type)
        if operation is None:
            raise BadMessage(f"There is no message type {envelope.type[:60]!r}.", id=number)
        body = convert(fields, operation.body)
    except BadMessage:
        raise
    except CallerError as error:
        raise BadMessage(error.message, id=number) from None
    return SocketMessage(operation, envelope.type, envelope.id, envelope.key, body)


def socket_answer(operation: Operation, result: object) -> object:
    """An operation's answer as the socket gives it."""
    if operation.answer_key and not isinstance(result, Done):
        return {operation.answer_key: result}
    return result
