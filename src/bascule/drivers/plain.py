"""Agents that speak plain text: what they print is what they say, and patterns tell when they wait.

There is no protocol to rely on, so nothing is claimed that the text does not show: no tools, no diffs, no
errors. A turn ends when the agent shows that it is ready again.
"""

import codecs
import hashlib
import re
from typing import Self

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.base import Cue, DriverLaunch
from bascule.drivers.lenient import clip
from bascule.drivers.outlet import Outlet
from bascule.model.errors import RequestWithdrawn, UnknownOption
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    Note,
    PermissionAnswered,
    PermissionOption,
    PermissionRequested,
    PromptSent,
    Question,
    QuestionAnswered,
    QuestionAsked,
    SessionReady,
    TurnEnded,
)
from bascule.model.records import Write

MAX_TAIL = 4096  # of a line that has not ended: where a cue is looked for
MAX_CUE = 1000

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\r")


class PlainState(Struct, omit_defaults=True):
    launch: DriverLaunch = DriverLaunch()
    ready: bool = False  # it has been ready once
    turning: bool = False
    opened: bool = False  # an entry is open
    entries: int = 0
    asked: int = 0
    open_request: str | None = None
    held: list[PromptSent] = []


_state = msgspec.json.Decoder(PlainState)


class PlainDriver:
    """`consumed` moves to the end of a line, or to the end of a cue: what is behind either is done with."""

    def __init__(self, launch: DriverLaunch | None = None, *, state: PlainState | None = None) -> None:
        self._state = state or PlainState(launch or DriverLaunch())
        self._cues = [(re.compile(cue.pattern), cue) for cue in self._state.launch.cues]
        self._out = Outlet()
        self._replies: list[Write] = []
        self._tail = b""
        self.consumed = 0

    def start(self) -> list[Write]:
        return []

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        self._tail += chunk
        whole, newline, rest = self._tail.rpartition(b"\n")
        if newline:
            self._print(whole + newline)
            self._tail = rest
        if len(self._tail) > MAX_TAIL:
            cut = len(self._tail) - MAX_TAIL
            while cut < len(self._tail) and self._tail[cut] & 0xC0 == 0x80:  # not inside a character
                cut += 1
            self._print(self._tail[:cut])
            self._tail = self._tail[cut:]
        if self._tail:
            self._look_for_cue()
        return self._out.take()

    def finish(self) -> list[AnyEvent]:
        if self._tail:
            self._print(self._tail)
            self._tail = b""
        self._close()
        return self._out.take()

    @property
    def owes(self) -> bool:
        return bool(self._replies)

    def data_to_send(self) -> list[Write]:
        owed = list(self._replies)
        self._replies.clear()
        return owed

    def prompt(self, sent: PromptSent) -> Write:
        state = self._state
        if sent.images:
            self._out.put(
                Note("images_left_out", "This agent takes no pictures; they were left out.", "warning")
            )
        if state.ready and not state.turning and not state.held:
            return Write(f"prompt:{sent.prompt_id}", self._turn(sent))
        state.held.append(sent)
        return Write(f"prompt:{sent.prompt_id}", b"")

    def interrupt(self, write_id: str) -> Write:
        """A pipe has no key for that. Whoever wants it stopped has to end the session."""
        if self._state.held and not self._state.turning:
            self._state.held = []
            self._out.put(TurnEnded("interrupted"))
        else:
            told = "This agent can't be interrupted; end the session to stop it."
            self._out.put(Note("cannot_interrupt", told, "warning"))
        return Write(write_id, b"")

    def settled(self) -> list[AnyEvent]:
        return self._out.take()

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        words = msgspec.json.decode(asked.suggestions[0], type=Cue)
        chosen = answered.option or ("deny" if answered.decision == "deny" else "allow")
        offered = {one.option_id: one.kind == "deny" for one in asked.options}
        if offered.get(chosen) is not (answered.decision == "deny"):
            raise UnknownOption(
                f"This request has no option {chosen[:80]!r} that means {answered.decision!r}.", option=chosen
            )
        typed = {"allow": words.allow, "always": words.always, "deny": words.deny}[chosen]
        return self._answer(asked.request_id, typed)

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return self._answer(asked.request_id, next(iter(answered.answers.values()), ""))

    def set_mode(self, write_id: str, mode: str) -> Write:
        return self._cannot(write_id, "mode")

    def set_model(self, write_id: str, model: str) -> Write:
        return self._cannot(write_id, "model")

    def state(self) -> bytes:
        return msgspec.json.encode(self._state)

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls(state=_state.decode(state))

    # What it prints ----------------------------------------------------------------------------------------

    def _print(self, data: bytes) -> None:
        self.consumed += len(data)
        said = _plain(data)
        if not said.strip() and not self._state.opened:
            return
        state = self._state
        if not state.opened:
            state.opened = True
            state.entries += 1
            self._out.put(EntryOpened(self._entry(), "assistant"))
        self._out.append_text(self._entry(), "assistant", said)

    def _close(self) -> None:
        if self._state.opened:
            self._state.opened = False
            self._out.put(EntryClosed(self._entry()))

    def _entry(self) -> str:
        return f"{self._state.launch.run}:{self._state.entries}"

    def _look_for_cue(self) -> None:
        """It printed something without ending the line: maybe it waits."""
        shown = _plain(self._tail)[-MAX_CUE:]
        for pattern, cue in self._cues:
            found = pattern.search(shown)
            if found is not None and found.end() == len(shown):
                self.consumed += len(self._tail)
                self._tail = b""
                self._close()
                self._cue(cue, shown)
                return

    def _cue(self, cue: Cue, shown: str) -> None:
        match cue.kind:
            case "permission":
                self._ask_permission(cue, shown.strip())
            case "question":
                kept = Raw(msgspec.json.encode({"question": shown.strip()}))
                sha256 = hashlib.sha256(bytes(kept)).hexdigest()
                self._out.put(QuestionAsked(self._new_request(), (Question(shown.strip()),), kept, sha256))
            case _:
                self._is_ready()

    def _ask_permission(self, cue: Cue, shown: str) -> None:
        kept = Raw(msgspec.json.encode({"question": shown}))
        options = [PermissionOption("allow", "allow_once", "Yes", f"types `{cue.allow}`")]
        if cue.always:
            options.append(PermissionOption("always", "allow_always", "Always", f"types `{cue.always}`"))
        options.append(PermissionOption("deny", "deny", "No", f"types `{cue.deny}`"))
        self._out.put(
            PermissionRequested(
                self._new_request(),
                "prompt",
                clip(shown, 300),
                "other",
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                tuple(options),
                suggestions=(Raw(msgspec.json.encode(cue)),),
            )
        )

    def _is_ready(self) -> None:
        state = self._state
        if not state.ready:
            state.ready = True
            self._out.put(SessionReady(None, state.launch.model, None, state.launch.mode))
        elif state.turning:
            self._out.put(TurnEnded("end_turn"))
        state.turning = False
        if state.held:
            sent = state.held.pop(0)
            self._replies.append(Write(f"prompt:{sent.prompt_id}", self._turn(sent)))

    # What it is told ---------------------------------------------------------------------------------------

    def _turn(self, sent: PromptSent) -> bytes:
        self._state.turning = True
        return _message(sent.text, self._state.launch.multiline)

    def _new_request(self) -> str:
        self._state.asked += 1
        self._state.open_request = f"{self._state.launch.run}:{self._state.asked}"
        return self._state.open_request

    def _answer(self, request_id: str, words: str) -> Write:
        if request_id != self._state.open_request:
            raise RequestWithdrawn(request_id, reason="agent")
        self._state.open_request = None
        return Write(f"answer:{request_id}", _line(words))

    def _cannot(self, write_id: str, what: str) -> Write:
        self._out.put(
            Note(f"{what}_refused", f"This agent can't change its {what} while it runs.", "warning")
        )
        return Write(write_id, b"")


def _plain(data: bytes) -> str:
    return _ESCAPES.sub("", codecs.decode(data, "utf-8", "replace"))


def _message(text: str, around: tuple[str, str] | None) -> bytes:
    """One line is one message to such an agent, unless it has a way to say where a longer one ends."""
    lines = text.splitlines()
    if around is None or len(lines) < 2:
        return _line(text)
    begin, end = around
    # A line that would end the message early must not be that line.
    inside = [f" {line}" if line.strip() == end else line for line in lines]
    return "\n".join([begin, *inside, end]).encode() + b"\n"


def _line(text: str) -> bytes:
    return " ".join(text.splitlines()).encode() + b"\n"
