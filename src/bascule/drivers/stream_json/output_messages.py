"""Claude Code's output messages that come in floods, as one tagged union: each line is decoded once.

All other messages, and those with a field of a type nobody expects, are not of this union (`decode_message`
raises `ValidationError`) and are read loosely.
"""

from typing import Annotated, final

import msgspec
from msgspec import Meta, Raw, Struct

from bascule.drivers.lenient import DECODE_ERRORS, Id, JsonObject, loosely, mapping, objects, text, whole
from bascule.model.events import EMPTY_OBJECT

# `gc=False`: what is decoded from JSON has no circles, and the collector need not look at each line.

# Pieces of a message ----------------------------------------------------------------------------------


class Delta(Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""


class BlockStart(Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None


class MessageStart(Struct, gc=False):
    id: Id = ""


class ApiEvent(Struct, gc=False):
    """The used fields of a Messages API event."""

    type: str
    index: Annotated[int, Meta(ge=0, lt=2**31)] = 0
    delta: Delta | None = None
    content_block: BlockStart | None = None
    message: MessageStart | None = None


@final
class StreamEvent(Struct, tag_field="type", tag="stream_event", gc=False):
    event: ApiEvent
    parent_tool_use_id: Id | None = None


# Whole blocks of a message ----------------------------------------------------------------------------


class ContentBlock(Struct, gc=False):
    type: str
    text: str | None = None
    thinking: str | None = None
    id: Id | None = None
    name: Id | None = None
    input: Raw = EMPTY_OBJECT
    tool_use_id: Id | None = None


class BrokenBlock(ContentBlock):
    """A block that does not fit `ContentBlock`, with the reason."""

    why: str = ""


Count = Annotated[int, Meta(ge=0, lt=2**53)] | None


class ContextTokens(Struct, gc=False):
    """The tokens of the context window that a request used."""

    input_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None

    def total(self) -> int:
        cached = (self.cache_read_input_tokens or 0) + (self.cache_creation_input_tokens or 0)
        return (self.input_tokens or 0) + cached


class AssistantBody(Struct, gc=False):
    id: Id
    content: list[ContentBlock]
    usage: ContextTokens | None = None


@final
class Assistant(Struct, tag_field="type", tag="assistant", gc=False):
    message: AssistantBody
    parent_tool_use_id: Id | None = None
    is_api_error_message: bool | None = None
    uuid: object = None  # its id in the conversation, at which a copy can end


class _RawBody(Struct, gc=False):
    id: Id
    content: list[Raw]
    usage: Raw = EMPTY_OBJECT


class _RawAssistant(Struct, gc=False):
    message: _RawBody
    parent_tool_use_id: Id | None = None
    is_api_error_message: bool | None = None
    uuid: object = None


# The user's side --------------------------------------------------------------------------------------


class UserBlock(Struct, gc=False):
    type: str = ""
    text: str | None = None
    tool_use_id: str | None = None
    content: object = None
    is_error: object = None


class UserBody(Struct, gc=False):
    content: str | list[UserBlock]


@final
class User(Struct, tag_field="type", tag="user", gc=False):
    """Tool results, echoes of prompts, and texts the agent gives itself."""

    message: UserBody
    tool_use_result: object = None  # the structured result beside the one the model reads
    tool_result_meta: object = None  # how each call was decided
    synthetic: object = msgspec.field(default=None, name="isSynthetic")
    parent_tool_use_id: object = None
    uuid: object = None


@final
class ControlRequest(Struct, tag_field="type", tag="control_request", gc=False):
    request_id: Id
    request: Raw = EMPTY_OBJECT


decode_message = msgspec.json.Decoder[StreamEvent | Assistant | User | ControlRequest](
    StreamEvent | Assistant | User | ControlRequest
).decode
_assistant = msgspec.json.Decoder(_RawAssistant)
_block = msgspec.json.Decoder(ContentBlock)


def raw_blocks(line: bytes) -> list[Raw]:
    """The blocks of an assistant message as they were sent."""
    return _assistant.decode(line).message.content


def damaged_assistant(line: bytes) -> Assistant:
    """An assistant message, though some of its blocks do not fit. Raises if its frame does not fit either."""
    said = _assistant.decode(line)
    blocks = [_read(raw) for raw in said.message.content]
    usage = loosely(said.message.usage)
    tokens = ContextTokens(*(whole(usage, name) for name in ContextTokens.__struct_fields__))
    body = AssistantBody(said.message.id, blocks, tokens)
    return Assistant(body, said.parent_tool_use_id, said.is_api_error_message, said.uuid)


def _read(raw: Raw) -> ContentBlock:
    try:
        return _block.decode(raw)
    except DECODE_ERRORS as error:
        return BrokenBlock("", why=f"broken content block: {error}")


def damaged_user(said: JsonObject) -> User | None:
    """A user message without the fields of wrong types; None if it has no content at all."""
    body = mapping(said, "message")
    content: str | list[UserBlock] | None = text(body, "content")
    if content is None:
        if not isinstance(body.get("content"), list):
            return None
        content = [
            UserBlock(
                text(block, "type") or "",
                text(block, "text"),
                text(block, "tool_use_id"),
                block.get("content"),
                block.get("is_error"),
            )
            for block in objects(body, "content")
        ]
    outcome, metas = said.get("tool_use_result"), said.get("tool_result_meta")
    parent, uuid = said.get("parent_tool_use_id"), said.get("uuid")
    return User(UserBody(content), outcome, metas, said.get("isSynthetic"), parent, uuid)
