"""The messages an agent has begun, each by its id, with the blocks of text that are streamed in them."""

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.stream_json.state import MAX_MESSAGES, Block, BlockKind, DriverState, Message
from bascule.model.events import EntryClosed, EntryOpened

MAX_STREAMS = 32


class OpenMessages:
    def __init__(self, state: DriverState, out: EventBuffer) -> None:
        self._state = state
        self._out = out
        self._known = {message.message_id: message for message in state.messages}
        # Only messages that were streamed can have a text to close; most are not, or not any more.
        self._streamed = {message.message_id for message in state.messages if message.blocks}
        self._last: tuple[Block, str] | None = None  # the block that was streamed last, and its entry

    def take_up(self, message_id: str, parent: str | None) -> Message:
        """The message of this id, begun if new. A speaker who begins one has ended their others."""
        message = self._known.get(message_id)
        if message is None:
            message = self._begin(message_id, parent)
        if self._streamed:
            for other in self._state.messages:
                if other is not message and other.parent == parent:
                    self.close_blocks(other)
        return message

    def _begin(self, message_id: str, parent: str | None) -> Message:
        known, messages = self._known, self._state.messages
        begun = known[message_id] = Message(message_id, parent)
        messages.append(begun)
        while len(messages) > MAX_MESSAGES:
            oldest = messages.pop(0)
            del known[oldest.message_id]
            if oldest.blocks:
                self.close_blocks(oldest)
        return begun

    def stream(self, message_id: str, parent: str | None) -> None:
        """Pieces that follow are of this message."""
        self.take_up(message_id, parent)
        streams = self._state.streams
        streams[parent or ""] = message_id
        if len(streams) > MAX_STREAMS:
            streams.pop(next(iter(streams)))

    def streaming(self, parent: str | None) -> Message | None:
        message_id = self._state.streams.get(parent or "")
        return None if message_id is None else self._known.get(message_id)

    def close_all(self, *, sub_agents: bool) -> None:
        for message in self._state.messages:
            if sub_agents or message.parent is None:
                self.close_blocks(message)

    # Blocks of one message --------------------------------------------------------------------------

    def begin_block(self, message: Message, index: int, kind: BlockKind) -> Block:
        block = Block(index, kind)
        message.blocks.append(block)
        message.next_index = max(message.next_index, index + 1)
        self._streamed.add(message.message_id)
        return block

    def find_block(self, message: Message, index: int) -> Block | None:
        for block in message.blocks:
            if block.index == index:
                return block
        return None

    def take_begun(self, message: Message, kind: BlockKind) -> Block | None:
        """Take the oldest streamed block of that kind: complete blocks come in the same order."""
        for position, block in enumerate(message.blocks):
            if block.kind == kind:
                del message.blocks[position]
                if not message.blocks:
                    self._streamed.discard(message.message_id)
                return block
        return None

    def append(self, message: Message, block: Block, piece: str) -> None:
        if not piece or block.closed or block.kind == "tool" or block.kind == "other":
            return
        last = self._last
        if last is not None and last[0] is block:
            entry_id = last[1]
        else:
            entry_id = f"{message.message_id}:{block.index}"
            self._last = block, entry_id
        if not block.opened:
            block.opened = True
            self._out.put(EntryOpened(entry_id, block.kind, message.parent))
        self._out.append_text(entry_id, block.kind, piece, block)

    def close(self, message: Message, block: Block) -> None:
        if block.opened and not block.closed:
            self._out.put(EntryClosed(f"{message.message_id}:{block.index}"))
        block.closed = True

    def close_blocks(self, message: Message) -> None:
        for block in message.blocks:
            self.close(message, block)
        self._streamed.discard(message.message_id)
