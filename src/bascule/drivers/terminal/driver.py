"""The terminal driver: reads signals from a program's output, and changes nothing of it.

The bytes themselves are on the tape. The driver extracts the title, bells, clipboard requests, the modes a
late viewer needs, and the trust prompt of the first screen.
"""

import msgspec
from msgspec import Struct

from bascule.drivers.terminal.mode_tracker import ModeTracker, prelude
from bascule.drivers.terminal.strings import ControlStrings, StringScanner, Unfinished, is_only_csi
from bascule.drivers.terminal.trust_prompt import MAX_TRIES, TrustPrompt, TrustWatch, look
from bascule.drivers.terminal.virtual_screen import Screen

CHECKPOINT_BYTES = 128 * 1024
CHECKPOINTS = 96
TRUST_BYTES = 512 * 1024  # of output that are watched for the trust prompt


class Checkpoint(Struct, frozen=True, array_like=True):
    """An offset at which a viewer may begin, and the terminal modes on there."""

    offset: int
    on: tuple[int, ...]


class Tail(Struct, frozen=True):
    """The offset at which a viewer begins, and the bytes that set up its terminal."""

    offset: int
    prelude: bytes


class Signals(Struct, frozen=True):
    """Out-of-band signals in a piece of output."""

    bells: int = 0
    title: str | None = None
    clipboard: int = 0
    trust_asked: bool = False  # the trust prompt appeared


class _State(Struct):
    consumed: int
    strings: Unfinished
    modes: ModeTracker
    checkpoints: list[Checkpoint]
    trust: TrustWatch


class TerminalDriver:
    """Never raises, whatever the bytes. Its state may be saved and restored anywhere."""

    def __init__(self, cols: int, rows: int, question: TrustPrompt | None = None) -> None:
        self.consumed = 0
        self._strings = StringScanner()
        self._modes = ModeTracker()
        self._checkpoints = [Checkpoint(0, tuple(sorted(self._modes.on)))]
        self._question = question
        self._trust = TrustWatch()
        self._screen = Screen(cols, rows) if question is not None else None

    @property
    def full_screen(self) -> bool:
        return self._modes.alternate

    def receive(self, chunk: bytes) -> Signals:
        if self.consumed + len(chunk) - self._checkpoints[-1].offset >= CHECKPOINT_BYTES:
            cut = chunk.rfind(b"\n") + 1 or len(chunk)
            found = self._scan(chunk[:cut])
            self._mark()
            found = _joined(found, self._scan(chunk[cut:]))
        else:
            found = self._scan(chunk)
        asked = self._watch_for_question(chunk)
        return Signals(found.bells, found.title, found.clipboard, asked)

    def resized(self, cols: int, rows: int) -> None:
        if self._screen is not None:
            self._screen.resize(cols, rows)

    def tail(self, end: int, base: int, limit: int) -> Tail:
        """The newest checkpoint at least `limit` bytes before the end that is still on the tape."""
        kept = [checkpoint for checkpoint in self._checkpoints if checkpoint.offset >= base]
        if not kept:  # no line end for long: begin in the middle rather than not at all
            return Tail(base, prelude(self._modes.on))
        before = [checkpoint for checkpoint in kept if checkpoint.offset <= end - limit]
        chosen = before[-1] if before else kept[0]
        return Tail(chosen.offset, prelude(set(chosen.on)))

    # The trust prompt

    @property
    def question_open(self) -> bool:
        return self._trust.state == "asked"

    def trust_step(self) -> bytes | None:
        """The next key that leads to "yes", read from the current screen. None: leave it to a person."""
        if self._trust.state != "asked" or self._screen is None or self._question is None:
            return None
        asked = look(self._screen.text(), self._question)
        if asked is None or asked.step is None or self._trust.tries >= MAX_TRIES:
            return None
        self._trust.tries += 1
        if asked.step == b"\r":
            self._trust.state = "answered"
            self._screen = None
        return asked.step

    def leave_question(self) -> None:
        """Stop watching for the trust prompt: a person types, or time is up."""
        if self._trust.state in ("watching", "asked"):
            self._trust.state = "left"
        self._screen = None

    def _watch_for_question(self, chunk: bytes) -> bool:
        if self._screen is None or self._question is None:
            return False
        self._screen.feed(chunk)
        if self._trust.state == "watching" and look(self._screen.text(), self._question) is not None:
            self._trust.state = "asked"
            return True
        if self.consumed > TRUST_BYTES:
            self.leave_question()
        return False

    # Saving and restoring

    def state(self) -> bytes:
        return msgspec.json.encode(
            _State(self.consumed, self._strings.unfinished, self._modes, self._checkpoints, self._trust)
        )

    def restore(self, state: bytes) -> None:
        """Restore a saved state. The screen is not saved, so an open trust prompt is left to a person."""
        kept = msgspec.json.decode(state, type=_State)
        self.consumed = kept.consumed
        self._strings = StringScanner(kept.strings)
        self._modes = kept.modes
        self._checkpoints = kept.checkpoints or self._checkpoints
        self._trust = kept.trust
        if kept.consumed or kept.trust.state != "watching":
            self.leave_question()

    def _scan(self, data: bytes) -> ControlStrings:
        self.consumed += len(data)
        only_csi = is_only_csi(data)
        self._modes.feed(data, only_csi=only_csi)
        return self._strings.feed(data, only_csi=only_csi)

    def _mark(self) -> None:
        if self._strings.at_ground and not self._modes.cut:
            self._checkpoints.append(Checkpoint(self.consumed, tuple(sorted(self._modes.on))))
            del self._checkpoints[:-CHECKPOINTS]


def _joined(first: ControlStrings, second: ControlStrings) -> ControlStrings:
    title = second.title if second.title is not None else first.title
    return ControlStrings(first.bells + second.bells, title, first.clipboard + second.clipboard)
