"""Assistant messages: merges streamed deltas and complete blocks into entries, each emitted once."""

from msgspec import Raw

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import clip, loosely
from bascule.drivers.line_reader import keep
from bascule.drivers.stream_json.open_messages import OpenMessages
from bascule.drivers.stream_json.output_messages import (
    Assistant,
    BlockStart,
    BrokenBlock,
    ContentBlock,
    ContextTokens,
    Delta,
    StreamEvent,
    raw_blocks,
)
from bascule.drivers.stream_json.results import change_by
from bascule.drivers.stream_json.state import MAX_FAILURE, Block, BlockKind, DriverState, Message, OpenTool
from bascule.drivers.stream_json.tools import PLANS, kind_of, plan_in, title_of_raw
from bascule.drivers.stream_json.turns import tell_failure
from bascule.model.events import (
    Note,
    PlanChanged,
    TextKind,
    TextSaid,
    ToolStarted,
    UsageChanged,
)

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
    """Merges a message's pieces with its complete blocks."""

    def __init__(self, state: DriverState, out: EventBuffer) -> None:
        self._state = state
        self._out = out
        self._open = OpenMessages(state, out)

    def close_open(self, *, sub_agents: bool) -> None:
        """Close every text left open. Sub-agents may go on speaking when a turn has ended."""
        self._open.close_all(sub_agents=sub_agents)

    # Pieces -----------------------------------------------------------------------------------------

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
            self._open.stream(event.message.id, parent)
            return None
        return None if event.type in _KNOWN_API_EVENTS else f"unknown stream event {event.type[:80]!r}"

    def _delta(self, index: int, delta: Delta, parent: str | None) -> str | None:
        if delta.type == "text_delta":
            piece, kind = delta.text, "assistant"
        elif delta.type == "thinking_delta":
            piece, kind = delta.thinking, "thinking"
        else:
            return None if delta.type in _KNOWN_DELTAS else f"unknown delta {delta.type[:80]!r}"
        message = self._open.streaming(parent)
        if message is None:
            return "a piece of a message that never began"
        block = self._open.find_block(message, index)
        if block is None:
            if index < message.next_index:
                return "a piece of a block that was already complete"
            block = self._open.begin_block(message, index, kind)
        self._open.append(message, block, piece)
        return None

    def _block_begins(self, index: int, start: BlockStart, parent: str | None) -> str | None:
        message = self._open.streaming(parent)
        if message is None:
            return "a block of a message that never began"
        if index < message.next_index:
            return None  # known: repeated after a retry inside the agent
        block = self._open.begin_block(message, index, _BLOCK_KINDS.get(start.type, "other"))
        said = start.text if block.kind == "assistant" else start.thinking
        if said:
            self._open.append(message, block, said)
        return None

    def _block_stops(self, index: int, parent: str | None) -> None:
        message = self._open.streaming(parent)
        block = self._open.find_block(message, index) if message is not None else None
        if message is not None and block is not None:
            self._open.close(message, block)

    # Whole blocks -----------------------------------------------------------------------------------

    def complete(self, said: Assistant, line: bytes) -> None:
        """Handle complete blocks; those that are not understood are kept as `line` has them."""
        body, parent = said.message, said.parent_tool_use_id
        if said.is_api_error_message and parent is None and self._is_failure(body.content):
            return
        message = self._open.take_up(body.id, parent)
        strange: list[tuple[int, str]] = []
        for position, block in enumerate(body.content):
            why = self._complete_block(message, block, position, line)
            if why is not None:
                strange.append((position, why))
        if parent is None and body.usage is not None:
            self._count_context(body.usage)
        for position, why in strange:
            keep(self._out, bytes(raw_blocks(line)[position]), why)

    def _is_failure(self, content: list[ContentBlock]) -> bool:
        """Remember the text of an API error, which the end of the turn reports; False if it is no text."""
        words = [block.text for block in content if block.text is not None]
        if not words or len(words) != len(content):
            return False
        tell_failure(self._state, self._out)
        self._state.failure = clip("\n".join(words), MAX_FAILURE)
        return True

    def _complete_block(
        self, message: Message, block: ContentBlock, position: int, line: bytes
    ) -> str | None:
        kind = _BLOCK_KINDS.get(block.type, "other")
        begun = self._open.take_begun(message, kind) if message.blocks else None
        if kind == "assistant" or kind == "thinking":
            said = block.text if kind == "assistant" else block.thinking
            self._complete_text(message, begun, kind, said or "")
            return None
        if kind == "tool" and block.id is not None and block.name is not None:
            self._start_tool(block.id, block.name, block.input, message.parent)
            return None
        if block.type.endswith("_tool_result") and block.tool_use_id is not None:
            self._tool_ran_elsewhere(block.tool_use_id, raw_blocks(line)[position])
            return None
        if isinstance(block, BrokenBlock):
            return block.why
        return None if block.type == "redacted_thinking" else f"unknown content block {block.type[:80]!r}"

    def _complete_text(self, message: Message, begun: Block | None, kind: TextKind, said: str) -> None:
        if begun is None:
            self._say(message, None, kind, said)
        elif begun.opened:
            self._complete_streamed(message, begun, kind, said)
        elif said:
            self._say(message, None if begun.closed else begun.index, kind, said)

    def _complete_streamed(self, message: Message, begun: Block, kind: TextKind, said: str) -> None:
        self._out.count_text()
        if not begun.begins(said):
            # The complete text differs from its pieces and is the one that counts.
            self._open.close(message, begun)
            corrected = "The agent changed what it had streamed; its final words follow."
            self._out.put(Note("text_corrected", corrected))
            self._say(message, None, kind, said)
        elif not begun.closed:
            self._open.append(message, begun, said[begun.length :])
            self._open.close(message, begun)
        elif len(said) > begun.length:
            self._say(message, None, kind, said[begun.length :])

    def _say(self, message: Message, index: int | None, kind: TextKind, said: str) -> None:
        """A text that came whole. It takes the next index even if it is empty: the agent counts so, too."""
        if index is None:
            index = message.next_index
            message.next_index = index + 1
        if said:
            self._out.put(TextSaid(f"{message.message_id}:{index}", kind, said, message.parent))

    def _start_tool(self, tool_id: str, name: str, call: Raw, parent: str | None) -> None:
        if tool_id in self._state.tools:
            return
        self._state.remember_tool(tool_id, OpenTool(name, parent))
        # A copy: the raw input is a part of its line, which would stay in memory with it.
        self._out.put(
            ToolStarted(tool_id, name, title_of_raw(name, call), kind_of(name), call.copy(), parent)
        )
        plan = plan_in(name, loosely(call)) if name == PLANS else None
        if plan is not None:
            self._out.put(PlanChanged(plan))

    def _tool_ran_elsewhere(self, tool_id: str, raw: Raw) -> None:
        """A tool of the model's own provider: its result is a part of the answer."""
        result = loosely(raw)
        self._out.put(change_by(tool_id, result.get("content"), result.get("is_error"), {}, {}))
        self._state.tools.pop(tool_id, None)

    def _count_context(self, tokens: ContextTokens) -> None:
        used, info = tokens.total(), self._state.info
        if used and used != info.used:
            info.used = used
            self._out.put(UsageChanged(used, info.size, info.cost_usd))
