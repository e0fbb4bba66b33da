"""Assistant messages: merges streamed deltas and complete blocks into entries, each emitted once."""

import zlib
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import DECODE_ERRORS, Id, JsonObject, clip, loosely, text, whole
from bascule.drivers.stream_json.results import change_by
from bascule.drivers.stream_json.state import MAX_FAILURE, Block, BlockKind, DriverState, Message, OpenTool
from bascule.drivers.stream_json.tools import kind_of, plan_in, title_of
from bascule.drivers.stream_json.turns import tell_failure
from bascule.model.events import (
    EMPTY_OBJECT,
    EntryClosed,
    EntryOpened,
    Note,
    PlanChanged,
    ToolStarted,
    UsageChanged,
)


class Delta(Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""


class BlockStart(Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None


class MessageStart(Struct):
    id: Id = ""


class ApiEvent(Struct):
    """The used fields of a Messages API event."""

    type: str
    index: Annotated[int, Meta(ge=0, lt=2**31)] = 0
    delta: Delta | None = None
    content_block: BlockStart | None = None
    message: MessageStart | None = None


class StreamEvent(Struct):
    event: ApiEvent
    parent_tool_use_id: Id | None = None


class AssistantBody(Struct):
    id: Id
    content: list[Raw]
    usage: Raw = EMPTY_OBJECT


class Assistant(Struct):
    message: AssistantBody
    parent_tool_use_id: Id | None = None
    is_api_error_message: bool | None = None


class ContentBlock(Struct):
    type: str
    text: str | None = None
    thinking: str | None = None
    id: Id | None = None
    name: Id | None = None
    input: Raw = EMPTY_OBJECT
    tool_use_id: Id | None = None


_block = msgspec.json.Decoder(ContentBlock)

_BLOCK_KINDS: dict[str, BlockKind] = {
    "text": "assistant",
    "thinking": "thinking",
    "tool_use": "tool",
    "server_tool_use": "tool",
    "mcp_tool_use": "tool",
}
# Empty, or reported by other messages.
_KNOWN_API_EVENTS = frozenset({"message_delta", "message_stop", "ping"})
_KNOWN_DELTAS = frozenset({"input_json_delta", "signature_delta", "citations_delta"})


class Messages:
    """Tracks each open message by its id, and each block of it by its index."""

    def __init__(self, state: DriverState, out: EventBuffer) -> None:
        self._state = state
        self._out = out

    def stream(self, said: StreamEvent) -> str | None:
        """Handle a stream event. Returns what about it was not understood."""
        event, parent = said.event, said.parent_tool_use_id
        if event.type == "content_block_delta" and event.delta is not None:
            return self._delta(event.index, event.delta, parent)
        if event.type == "content_block_start" and event.content_block is not None:
            return self._block_begins(event.index, event.content_block, parent)
        if event.type == "content_block_stop":
            self._block_stops(event.index, parent)
            return None
        if event.type == "message_start" and event.message is not None:
            self._message_begins(event.message.id, parent)
            return None
        return None if event.type in _KNOWN_API_EVENTS else f"unknown stream event {event.type[:80]!r}"

    def complete(self, said: Assistant) -> list[tuple[Raw, str]]:
        """Handle complete blocks. Returns those that were not understood, and why."""
        body, parent = said.message, said.parent_tool_use_id
        if said.is_api_error_message and parent is None and self._is_failure(body.content):
            return []
        message = self._open_message(body.id, parent)
        strange: list[tuple[Raw, str]] = []
        for raw in body.content:
            try:
                block = _block.decode(raw)
            except DECODE_ERRORS as error:
                strange.append((raw, f"broken content block: {error}"))
                continue
            why = self._complete_block(message, block, raw)
            if why is not None:
                strange.append((raw, why))
        self._count_context(body, parent)
        return strange

    def close_open(self, *, sub_agents: bool) -> None:
        """Close every text left open. Sub-agents may go on speaking when a turn has ended."""
        for message in self._state.messages:
            if sub_agents or message.parent is None:
                self._close_blocks(message)

    def _is_failure(self, content: list[Raw]) -> bool:
        """Remember the text of an API error, which the end of the turn reports; False if it is no text."""
        said = [text(loosely(raw), "text") for raw in content]
        words = [part for part in said if part is not None]
        if not words or len(words) != len(said):
            return False
        tell_failure(self._state, self._out)
        self._state.failure = clip("\n".join(words), MAX_FAILURE)
        return True

    # Pieces -----------------------------------------------------------------------------------------

    def _delta(self, index: int, delta: Delta, parent: str | None) -> str | None:
        if delta.type == "text_delta":
            piece, kind = delta.text, "assistant"
        elif delta.type == "thinking_delta":
            piece, kind = delta.thinking, "thinking"
        else:
            return None if delta.type in _KNOWN_DELTAS else f"unknown delta {delta.type[:80]!r}"
        message = self._streaming(parent)
        if message is None:
            return "a piece of a message that never began"
        block = self._find(message, index)
        if block is None:
            if index < message.next_index:
                return "a piece of a block that was already complete"
            block = self._new_block(message, index, kind)
        self._append(message, block, piece)
        return None

    def _message_begins(self, message_id: str, parent: str | None) -> None:
        self._open_message(message_id, parent)
        self._state.streams[parent or ""] = message_id
        if len(self._state.streams) > 32:
            self._state.streams.pop(next(iter(self._state.streams)))

    def _block_begins(self, index: int, start: BlockStart, parent: str | None) -> str | None:
        message = self._streaming(parent)
        if message is None:
            return "a block of a message that never began"
        if index < message.next_index:
            return None  # known: repeated after a retry inside the agent
        block = self._new_block(message, index, _BLOCK_KINDS.get(start.type, "other"))
        said = start.text if block.kind == "assistant" else start.thinking
        if said and block.kind in ("assistant", "thinking"):
            self._append(message, block, said)
        return None

    def _block_stops(self, index: int, parent: str | None) -> None:
        message = self._streaming(parent)
        block = self._find(message, index) if message is not None else None
        if message is not None and block is not None:
            self._close(message, block)

    def _streaming(self, parent: str | None) -> Message | None:
        message_id = self._state.streams.get(parent or "")
        for message in reversed(self._state.messages):
            if message.message_id == message_id:
                return message
        return None

    # Whole blocks -----------------------------------------------------------------------------------

    def _complete_block(self, message: Message, block: ContentBlock, raw: Raw) -> str | None:
        kind = _BLOCK_KINDS.get(block.type, "other")
        begun = self._take_begun(message, kind)
        if kind in ("assistant", "thinking"):
            said = block.text if kind == "assistant" else block.thinking
            self._complete_text(message, begun, kind, said or "")
            return None
        if kind == "tool" and block.id is not None and block.name is not None:
            self._start_tool(block.id, block.name, block.input, message.parent)
            return None
        if block.type.endswith("_tool_result") and block.tool_use_id is not None:
            outcome = loosely(raw)
            self._out.put(change_by(outcome, {}, {}))
            self._state.tools.pop(block.tool_use_id, None)
            return None
        return None if block.type == "redacted_thinking" else f"unknown content block {block.type[:80]!r}"

    def _take_begun(self, message: Message, kind: BlockKind) -> Block | None:
        """Take the oldest streamed block of that kind: complete blocks come in the same order."""
        for position, block in enumerate(message.blocks):
            if block.kind == kind:
                return message.blocks.pop(position)
        if kind in ("tool", "other"):
            return None
        fresh = Block(message.next_index, kind)
        message.next_index += 1
        return fresh

    def _complete_text(self, message: Message, begun: Block | None, kind: BlockKind, said: str) -> None:
        assert begun is not None
        known = said[: begun.length]
        if begun.opened and (len(known) < begun.length or zlib.crc32(_bytes(known)) != begun.crc):
            self._correct(message, begun, said)
            return
        rest = said[begun.length :]
        if rest and begun.closed:
            begun = Block(message.next_index, kind)
            message.next_index += 1
        if rest:
            self._append(message, begun, rest)
        self._close(message, begun)

    def _correct(self, message: Message, begun: Block, said: str) -> None:
        """The complete text differs from its deltas and is the one that counts: emit it as another entry."""
        self._close(message, begun)
        self._out.put(
            Note("text_corrected", "The agent changed what it had streamed; its final words follow.")
        )
        fresh = Block(message.next_index, begun.kind)
        message.next_index += 1
        if said:
            self._append(message, fresh, said)
            self._close(message, fresh)

    def _start_tool(self, tool_id: str, name: str, call: Raw, parent: str | None) -> None:
        if tool_id in self._state.tools:
            return
        self._state.remember_tool(tool_id, OpenTool(name, parent))
        arguments = loosely(call)
        kept = Raw(bytes(call))
        self._out.put(
            ToolStarted(tool_id, name, title_of(name, arguments), kind_of(name), input=kept, parent=parent)
        )
        plan = plan_in(name, arguments)
        if plan is not None:
            self._out.put(PlanChanged(plan))

    def _count_context(self, body: AssistantBody, parent: str | None) -> None:
        if parent is not None:
            return
        used = context_tokens(loosely(body.usage))
        if used and used != self._state.info.used:
            self._state.info.used = used
            self._out.put(UsageChanged(used, self._state.info.size, self._state.info.cost_usd))

    # Blocks -----------------------------------------------------------------------------------------

    def _open_message(self, message_id: str, parent: str | None) -> Message:
        message, evicted = self._state.message(message_id, parent)
        for old in evicted:
            self._close_blocks(old)
        for other in self._state.messages:
            if other is not message and other.parent == parent:
                self._close_blocks(other)
        return message

    def _new_block(self, message: Message, index: int, kind: BlockKind) -> Block:
        block = Block(index, kind)
        message.blocks.append(block)
        message.next_index = max(message.next_index, index + 1)
        return block

    def _find(self, message: Message, index: int) -> Block | None:
        for block in message.blocks:
            if block.index == index:
                return block
        return None

    def _append(self, message: Message, block: Block, piece: str) -> None:
        if not piece or block.closed or block.kind not in ("assistant", "thinking"):
            return
        entry_id = f"{message.message_id}:{block.index}"
        if not block.opened:
            block.opened = True
            self._out.put(EntryOpened(entry_id, block.kind, message.parent))
        self._out.append_text(entry_id, block.kind, piece)
        block.length += len(piece)
        block.crc = zlib.crc32(_bytes(piece), block.crc)

    def _close(self, message: Message, block: Block) -> None:
        if block.opened and not block.closed:
            self._out.put(EntryClosed(f"{message.message_id}:{block.index}"))
        block.closed = True

    def _close_blocks(self, message: Message) -> None:
        for block in message.blocks:
            self._close(message, block)


def _bytes(said: str) -> bytes:
    return said.encode("utf-8", "surrogatepass")


def context_tokens(usage: JsonObject) -> int:
    """How many tokens of the context window a request used."""
    keys = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(whole(usage, key) or 0 for key in keys)
