"""Plays a recorded conversation with a JSON-RPC agent into a driver.

What the agent said is read, what was said to it is done again through the driver, and what the driver writes
is held against what was written then.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from bascule.drivers.base import Driver
from bascule.model.codec import decode_event, encode
from bascule.model.events import AnyEvent, PermissionRequested, PromptSent, QuestionAsked
from bascule.model.records import Write

RECORDINGS = Path(__file__).parents[1] / "recordings"

Message = dict[str, Any]


def names_in(folder: str) -> list[str]:
    return sorted(path.stem for path in (RECORDINGS / folder).glob("*.ndjson"))


def messages_of(folder: str, name: str) -> list[tuple[str, Message]]:
    rows = [json.loads(row) for row in (RECORDINGS / folder / f"{name}.ndjson").read_text().splitlines()]
    return [(row["dir"], json.loads(row["line"])) for row in rows if row["dir"] in ("in", "out")]


class Handling(Protocol):
    """How one protocol's messages to the agent are done again."""

    def begin(self) -> Driver: ...

    def restore(self, state: bytes) -> Driver: ...

    def do(self, play: "Play", said: Message) -> None: ...


class Play:
    """One run of a recording. `cut` says how the output comes; on `swap` the driver is replaced."""

    def __init__(
        self,
        handling: Handling,
        recording: list[tuple[str, Message]],
        *,
        cut: Callable[[bytes], Iterator[bytes]] | None = None,
        swap: Callable[[], bool] = lambda: False,
    ) -> None:
        self.handling = handling
        self.recording = recording
        self.driver = handling.begin()
        self.events: list[AnyEvent] = []
        self.asked: dict[str, PermissionRequested | QuestionAsked] = {}
        self.owed: list[Write] = []
        self.written: list[Message] = []
        self.ids: dict[int, int] = {}  # recorded id -> the driver's
        self.dropped: set[int] = set()
        self.prompts = 0
        self._cut = cut or (lambda data: iter([data]))
        self._swap = swap
        self._consumed = 0

    def run(self) -> list[AnyEvent]:
        pending = b""
        for way, message in self.recording:
            if way == "out":
                heard = self._renumbered(message)
                pending += encode_line(heard) if heard is not None else b""
            else:
                self._hear(pending)
                pending = b""
                self.handling.do(self, message)
        self._hear(pending)
        self._take(self.driver.finish())
        return self.events

    def _renumbered(self, message: Message) -> Message | None:
        if "method" in message or message.get("id") is None:
            return message
        if message["id"] in self.dropped:
            return None
        return {**message, "id": self.ids[message["id"]]}

    def _hear(self, data: bytes) -> None:
        """The bytes, in pieces; a driver that is put down at a line end is read on from there by another."""
        for piece in self._cut(data):
            self._take(self.driver.receive(piece))
            self._consumed += len(piece)
            if self._swap() and self.driver.consumed == self._consumed:
                self.driver = self.handling.restore(self.driver.state())
                self._consumed = 0

    def _take(self, events: list[AnyEvent]) -> None:
        self.events += events
        self.owed += self.driver.data_to_send()
        for event in events:
            stored = decode_event(encode(event))
            if isinstance(stored, PermissionRequested | QuestionAsked):
                self.asked[stored.request_id] = stored

    # What a handling does ---------------------------------------------------------------------------------

    def next_prompt(self, text: str) -> PromptSent:
        self.prompts += 1
        return PromptSent(f"p{self.prompts}", text, "ana")

    def take_owed(self, method: str) -> Message:
        """The message of this method that the driver came to owe by itself."""
        for write in self.owed:
            for line in write.data.splitlines():
                if json.loads(line).get("method") == method:
                    self.owed.remove(write)
                    return json.loads(line)
        raise AssertionError(f"the driver did not send {method}, but {self.owed}")

    def wrote(self, write: Write, said: Message | None = None) -> list[Message]:
        """What a write says; the request in it stands for the recorded one from now on."""
        found = [json.loads(line) for line in write.data.splitlines()]
        self.written += found
        if said is not None and "id" in said and "method" in said:
            self.ids[said["id"]] = found[0]["id"]
        self._take(self.driver.settled())
        return found

    def drop(self, said: Message) -> None:
        """A request the driver never makes: its answer is not for it either."""
        if "id" in said and "method" in said:
            self.dropped.add(said["id"])

    def open_request(self, rpc_id: object) -> PermissionRequested | QuestionAsked:
        """What was asked last under this id of the agent."""
        state = json.loads(self.driver.state())
        for request_id, request in state.get("requests", {}).items():
            if request["rpc_id"] == rpc_id:
                return self.asked[request_id]
        raise AssertionError(f"nothing open under {rpc_id!r}")


def encode_line(message: Message) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def in_pieces(chance: random.Random, most: int) -> Callable[[bytes], Iterator[bytes]]:
    def cut(data: bytes) -> Iterator[bytes]:
        done = 0
        while done < len(data):
            size = chance.randint(1, most)
            yield data[done : done + size]
            done += size

    return cut


def by_line(data: bytes) -> Iterator[bytes]:
    yield from data.splitlines(keepends=True)
