"""The plain-text driver: the agent's output in, events out; commands in, lines out.

There is no protocol, so there are no tools and no diffs. Output that looks like a prompt or a question may be
part of an answer. If the agent's file has a probe, such output only triggers a probe, and the reply to it
decides: a turn ends, or a request is made, when only the waiting agent itself can have printed that.
"""

import hashlib
import secrets
from collections.abc import Callable
from typing import Self

import msgspec
from msgspec import Raw

from bascule.drivers.base import Cue, DriverLaunch
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import clip
from bascule.drivers.plain.cues import Cues, decoded, readable
from bascule.drivers.plain.question_subject import UNREAD, subject_in
from bascule.drivers.plain.state import MAX_FAILURE, MAX_HELD_BACK, PlainState, Probing
from bascule.drivers.writes import Replies
from bascule.model.errors import RequestWithdrawn, UnknownOption
from bascule.model.event_values import PermissionOption, Question
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    SessionReady,
    TurnEnded,
)
from bascule.model.records import Write

MAX_TAIL = 4096  # bytes of an unfinished line that are searched for a cue

_state = msgspec.json.Decoder(PlainState)


class PlainDriver:
    """`consumed` moves to the end of a line or of a question."""

    def __init__(
        self,
        launch: DriverLaunch | None = None,
        *,
        state: PlainState | None = None,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._state = state or PlainState(launch or DriverLaunch())
        self._cues = Cues(self._state.launch)
        self._nonce = nonce
        self._out = EventBuffer()
        self._replies = Replies()
        self._tail = b""
        self.consumed = 0

    @property
    def repeatable(self) -> bool:
        return False  # a question is recognised at the end of what has arrived

    @property
    def spoken(self) -> bool:
        return True  # any output counts

    def start(self) -> list[Write]:
        return []

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        if chunk and self._state.open_request is not None and self._cues.probe is not None:
            self._goes_on_unanswered()
        *lines, self._tail = (self._tail + chunk).split(b"\n")
        for line in lines:
            self._line(line + b"\n")
        self._shorten_tail()
        if self._tail:
            self._look_for_cue()
        return self._out.take()

    def finish(self) -> list[AnyEvent]:
        if self._tail:
            self._text(self._tail)
            self._tail = b""
        self._close()
        return self._out.take()

    @property
    def owes(self) -> bool:
        return bool(self._replies)

    def data_to_send(self) -> list[Write]:
        return self._replies.take()

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
        """Drop prompts not sent yet. A running turn can't be interrupted through a pipe."""
        if self._state.held and not self._state.turning:
            self._state.held = []
            self._out.put(TurnEnded("interrupted"))
        else:
            message = "This agent can't be interrupted; end the session to stop it."
            self._out.put(Note("cannot_interrupt", message, "warning"))
        return Write(write_id, b"")

    def settled(self) -> list[AnyEvent]:
        return self._out.take()

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        words = msgspec.json.decode(asked.suggestions[0], type=Cue)
        chosen = answered.option or ("deny" if answered.decision == "deny" else "allow")
        offered = {option.option_id: option.kind == "deny" for option in asked.options}
        if offered.get(chosen) is not (answered.decision == "deny"):
            raise UnknownOption(
                f"This request has no option {chosen[:80]!r} that means {answered.decision!r}.", option=chosen
            )
        typed = {"allow": words.allow, "always": words.always, "deny": words.deny}[chosen]
        return self._answer(asked.request_id, typed)

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return self._answer(asked.request_id, next(iter(answered.answers.values()), ""))

    @property
    def offered_modes(self) -> tuple[str, ...]:
        return ()

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

    def _line(self, data: bytes) -> None:
        """Handle a whole line. The agent's prompts and its replies to probes are not shown as text."""
        state, line = self._state, readable(decoded(data))[:-1]
        if self._cues.read_as_prompt(line, state.probing):
            self.consumed += len(data)
            self._is_ready()
            return
        question = self._cues.read_as_answer(line, state.probing)
        # A waiting question ends no line: what looked like one before this line was text.
        state.probing = Probing(state.probing.nonce, question)
        if state.prompting and self._cues.is_prompt(line):
            self.consumed += len(data)
            state.prompting, state.held_back = False, []
            state.forget_text()
        elif question:
            self.consumed += len(data)
            state.held_back.append(line + "\n")
        elif state.prompting or (self._cues.probe is not None and (not line or self._cues.is_prompt(line))):
            self.consumed += len(data)
            state.remember_text(decoded(data))
            state.held_back.append(line + "\n")
            if len(state.held_back) > MAX_HELD_BACK:
                self._release()
                state.prompting = False
        else:
            state.failure = clip(self._cues.failed(line, state.failure), MAX_FAILURE)
            self._text(data)

    def _shorten_tail(self) -> None:
        if len(self._tail) > MAX_TAIL:
            cut = len(self._tail) - MAX_TAIL
            while cut < len(self._tail) and self._tail[cut] & 0xC0 == 0x80:  # not inside a UTF-8 character
                cut += 1
            self._text(self._tail[:cut])
            self._tail = self._tail[cut:]

    def _text(self, data: bytes) -> None:
        self.consumed += len(data)
        self._state.remember_text(decoded(data))
        self._release()
        self._say(readable(decoded(data)))

    def _release(self) -> None:
        """Show the lines held back: they turned out to be text."""
        held, self._state.held_back = self._state.held_back, []
        for line in held:
            self._say(line)

    def _say(self, said: str) -> None:
        state = self._state
        if not said.strip() and not state.opened:
            return
        if not state.opened:
            state.opened = True
            state.entries += 1
            self._out.put(EntryOpened(self._entry(), "assistant"))
        self._out.append_text(self._entry(), "assistant", said)

    def _close(self) -> None:
        self._state.held_back = []
        if self._state.opened:
            self._state.opened = False
            self._out.put(EntryClosed(self._entry()))

    def _entry(self) -> str:
        return f"{self._state.launch.run}:{self._state.entries}"

    # That it waits -----------------------------------------------------------------------------------------

    def _look_for_cue(self) -> None:
        """The output stops inside a line: check whether the agent waits."""
        state = self._state
        shown = readable(decoded(self._tail))
        cue = self._cues.waiting(shown)
        if cue is None:
            return
        if self._cues.probe is None:
            self._take_tail()
            if cue.kind == "ready":
                self._is_ready()
            else:
                self._ask(cue, shown)
        elif state.probing.question == shown:
            self._take_tail()
            state.probing = Probing()
            self._ask(cue, shown)
        elif not state.prompting and (state.turning or not state.ready):
            self._send_probe()

    def _send_probe(self) -> None:
        """Send a probe, one at a time: the reply shows which prompt or question read it."""
        if self._cues.probe is not None and not self._state.probing.nonce:
            nonce = self._nonce()
            self._state.probing = Probing(nonce)
            words = self._cues.probe.send.replace("{nonce}", nonce)
            self._replies.add(Write(self._state.new_write("probe"), _line(words)))

    def _goes_on_unanswered(self) -> None:
        """Withdraw the open request: output came after it, so its answer might reach another question.

        If the agent waits after all, it reads the probe and asks again.
        """
        state = self._state
        request_id, state.open_request = state.open_request or "", None
        gone = QuestionWithdrawn if state.asks_in_words else PermissionWithdrawn
        self._out.put(gone(request_id, "agent"))
        self._send_probe()

    def _take_tail(self) -> None:
        self.consumed += len(self._tail)
        self._tail = b""

    def _ask(self, cue: Cue, shown: str) -> None:
        self._close()
        self._state.asks_in_words = cue.kind == "question"
        shown = shown.strip()
        if cue.kind == "question":
            kept = Raw(msgspec.json.encode({"question": shown}))
            sha256 = hashlib.sha256(bytes(kept)).hexdigest()
            self._out.put(QuestionAsked(self._new_request(), (Question(shown),), kept, sha256))
        else:
            self._ask_permission(cue, shown)
        self._state.since = len(self._state.turn_text)

    def _ask_permission(self, cue: Cue, shown: str) -> None:
        """Emit a permission request. Its input includes the subject, so that an answer is bound to it."""
        asked: dict[str, object] = {"question": shown}
        title = shown
        if cue.about:
            subject = subject_in(self._state)
            if subject is not None:
                asked = {cue.about: subject, **asked}
                title = subject if cue.about == "command" else f"{shown.partition('?')[0]}: {subject}"
            else:
                asked |= {"unread": UNREAD, "printed": self._state.turn_text[self._state.since :]}
        kept = Raw(msgspec.json.encode(asked))
        options = [PermissionOption("allow", "allow_once", "Yes", f"types `{cue.allow}`")]
        if cue.always:
            options.append(PermissionOption("always", "allow_always", "All", f"types `{cue.always}`"))
        options.append(PermissionOption("deny", "deny", "No", f"types `{cue.deny}`"))
        self._out.put(
            PermissionRequested(
                self._new_request(),
                cue.about or "prompt",
                clip(title, 300),
                cue.tool,
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                tuple(options),
                suggestions=(Raw(msgspec.json.encode(cue)),),
                reason_follows=True,
            )
        )

    def _is_ready(self) -> None:
        state = self._state
        self._close()
        if not state.ready:
            state.ready = True
            self._out.put(SessionReady(None, state.launch.model, None, state.launch.mode))
        elif state.turning:
            failed = state.failure
            self._out.put(TurnEnded("error", message=failed) if failed else TurnEnded("end_turn"))
        state.turning, state.failure = False, ""
        state.probing, state.prompting = Probing(), self._cues.probe is not None
        state.forget_text()
        if state.held:
            sent = state.held.pop(0)
            self._replies.add(Write(f"prompt:{sent.prompt_id}", self._turn(sent)))

    # What it is sent ---------------------------------------------------------------------------------------

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


def _message(text: str, around: tuple[str, str] | None) -> bytes:
    """Encode a prompt. A line is a message, unless the agent has markers around longer ones."""
    lines = text.splitlines()
    if around is None or len(lines) < 2:
        return _line(text)
    begin, end = around
    # Indent a line that equals the end marker.
    inside = [f" {line}" if line.strip() == end else line for line in lines]
    return "\n".join([begin, *inside, end]).encode() + b"\n"


def _line(text: str) -> bytes:
    return " ".join(text.splitlines()).encode() + b"\n"
