"""Builds text entries from message chunks, and earlier prompts and turns from a replayed conversation."""

import re

from bascule.drivers.acp.state import DriverState, OpenText
from bascule.drivers.acp.tools import Tools
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import JsonObject, clip, mapping, text
from bascule.model.events import EntryClosed, EntryOpened, Note, PromptSent, TextKind, TurnEnded

MAX_HISTORY_PROMPT = 64 * 1024
MAX_ERROR = 2048  # characters; an error reported as text is short
EARLIER = "earlier"  # author of prompts from before this session

# A retry, as agents that report errors in the answer word it.
_RETRY = re.compile(r"(?:Info|Warning): [^\n]{1,500}[Rr]etrying(?:\.{3}|…)?\s*")
# Beginnings of prompts that agents made up themselves.
_SYNTHETIC = ("[Request interrupted by user", "<session_context>", "[Function Response:", "<system-reminder>")


class TextBuilder:
    def __init__(self, state: DriverState, out: EventBuffer, tools: Tools) -> None:
        self._state = state
        self._out = out
        self._tools = tools

    def say(self, kind: TextKind, update: JsonObject) -> None:
        said = words_of(mapping(update, "content"))
        if not said:
            return
        if kind == "assistant" and self._state.quirk("errors_as_text") and _RETRY.fullmatch(said):
            self.close()
            self._out.put(Note("api_retry", said, "warning"))
            return
        self._state.silent = False
        message_id = text(update, "messageId")
        # Agents that give the model's messages an id put their own text between them, without an id.
        own = kind == "assistant" and message_id is None and said.endswith("\n\n")
        self._state.own_words = clip(said.strip(), MAX_ERROR) if own else ""
        open_text = self._state.text
        if open_text is None or (open_text.kind, open_text.message_id) != (kind, message_id):
            self.close()
            self._state.entries += 1
            entry_id = f"{self._state.launch.run}:{self._state.entries}"
            open_text = self._state.text = OpenText(entry_id, kind, message_id)
            self._out.put(EntryOpened(entry_id, kind))
        if kind == "assistant" and len(open_text.head) <= MAX_ERROR:
            open_text.head += said[: MAX_ERROR + 1]
        self._out.append_text(open_text.entry_id, kind, said)

    def close(self) -> None:
        """End the open text entry: something else came between two chunks."""
        if self._state.text is not None:
            if self._state.text.kind == "assistant":
                head = self._state.text.head
                self._state.last_said = head if len(head) <= MAX_ERROR else ""
            self._out.put(EntryClosed(self._state.text.entry_id))
            self._state.text = None

    # An earlier conversation, replayed -------------------------------------------------------------------

    def hear_earlier_prompt(self, update: JsonObject) -> None:
        """A chunk of an earlier prompt. Chunks of one message share its id; one without an id is whole."""
        history, message_id = self._state.history, text(update, "messageId")
        said = words_of(mapping(update, "content"))
        if message_id is None or message_id != history.message_id:
            self.end_earlier_prompt()
        history.message_id = message_id
        history.text = clip(history.text + said, MAX_HISTORY_PROMPT)
        if message_id is None:
            self.end_earlier_prompt()

    def end_earlier_prompt(self) -> None:
        history = self._state.history
        said, history.text, history.message_id = history.text, "", None
        if not said.strip() or said.lstrip().startswith(_SYNTHETIC):
            return
        self.end_earlier_turn()
        self._state.entries += 1
        prompt_id = f"{self._state.launch.run}:earlier:{self._state.entries}"
        self._out.put(PromptSent(prompt_id, said, EARLIER))
        history.turn = True
        if self._state.stage != "opening":
            # Some agents go on replaying after they said the session is loaded. Nothing tells when that ends,
            # and a turn left open would keep the person waiting, so it is closed at once.
            self.end_earlier_turn()

    def end_earlier_turn(self) -> None:
        if self._state.history.turn:
            self.close()
            self._tools.end_all("The turn ended before this tool reported back.")
            self._state.history.turn = False
            self._out.put(TurnEnded("end_turn"))

    def skip_rest(self) -> None:
        """Skip the rest of the replay: a new prompt came first, and the rest would appear after it."""
        if not self._state.history.skipped:
            self._state.history.skipped = True
            message = "The rest of the earlier conversation is not shown here; the agent remembers it."
            self._out.put(Note("history_skipped", message))


def words_of(block: JsonObject) -> str:
    """A content block as text; other content is named in brackets."""
    match text(block, "type"):
        case "text":
            return text(block, "text") or ""
        case "resource_link":
            return f"[{text(block, 'name') or 'link'}]({text(block, 'uri') or ''})"
        case "resource":
            resource = mapping(block, "resource")
            return text(resource, "text") or f"[{text(resource, 'uri') or 'resource'}]"
        case "image" | "audio" as kind:
            return f"[{kind}: {text(block, 'mimeType') or 'unknown type'}]"
        case _:
            return ""
