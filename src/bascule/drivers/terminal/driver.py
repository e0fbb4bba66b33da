"""The terminal's driver: reads a program's output as it goes by, and changes nothing of it.

The bytes themselves live on the tape. What is taken from them: the title, the bell, wishes to use the
clipboard, the modes a late viewer must know, and one question of the first screen.
"""

import msgspec
from msgspec import Struct

from bascule.drivers.terminal.modes import ModeTracker, prelude
from bascule.drivers.terminal.screen import Screen
from bascule.drivers.terminal.strings import Found, StringScanner, Unfinished, is_only_csi
from bascule.drivers.terminal.trust_prompt import MAX_TRIES, TrustPrompt, TrustWatch, look

CHECKPOINT_BYTES = 128 * 1024
CHECKPOINTS = 96
TRUST_BYTES = 512 * 1024  # of output in which the question may come; it belongs to the first screens


class Checkpoint(Struct, frozen=True, array_like=True):
    """A place where a viewer may begin, and the modes it must begin in."""

    offset: int
    on: tuple[int, ...]


class Tail(Struct, frozen=True):
    """Where to begin, and what a viewer shows before it."""

    offset: int
    prelude: bytes


class Signals(Struct, frozen=True):
    """What a piece of output said beside its text."""

    bells: int = 0
    title: str | None = None
    clipboard: int = 0
    trust_asked: bool = False  # for the first time


class _State(Struct):
    consumed: int
    strings: Unfinished
    modes: ModeTracker
    checkpoints: list[Checkpoint]
    trust: TrustWatch


class TerminalDriver:
    """Never raises, whatever the bytes; may be put down anywhere (`state`) and taken up again."""

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
        """The newest place at least `limit` bytes before the end that is still on the tape."""
        kept = [checkpoint for checkpoint in self._checkpoints if checkpoint.offset >= base]
        if not kept:  # the program wrote no line end for long: begin in the middle rather than not at all
            return Tail(base, prelude(self._modes.on))
        before = [checkpoint for checkpoint in kept if checkpoint.offset <= end - limit]
        chosen = before[-1] if before else kept[0]
        return Tail(chosen.offset, prelude(set(chosen.on)))

    # The question of the first screen

    @property
    def question_open(self) -> bool:
        return self._trust.state == "asked"

    def trust_step(self) -> bytes | None:
        """The next key on the way to "yes", looked up on the screen as it is now. None: leave it alone."""
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
        """A person types, or time is up: whatever is asked from now on is theirs to answer."""
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

    # Put down and taken up

    def state(self) -> bytes:
        return msgspec.json.encode(
            _State(self.consumed, self._strings.unfinished, self._modes, self._checkpoints, self._trust)
        )

    def restore(self, state: bytes) -> None:
        """Go on where another left off. Its screen is not kept, so a question it saw is a person's now."""
        kept = msgspec.json.decode(state, type=_State)
        self.consumed = kept.consumed
        self._strings = StringScanner(kept.strings)
        self._modes = kept.modes
        self._checkpoints = kept.checkpoints or self._checkpoints
        self._trust = kept.trust
        if kept.consumed or kept.trust.state != "watching":
            self.leave_question()

    def _scan(self, data: bytes) -> Found:
        self.consumed += len(data)
        only_csi = is_only_csi(data)
        self._modes.feed(data, only_csi=only_csi)
        return self._strings.feed(data, only_csi=only_csi)

    def _mark(self) -> None:
        if self._strings.at_ground and not self._modes.cut:
            self._checkpoints.append(Checkpoint(self.consumed, tuple(sorted(self._modes.on))))
            del self._checkpoints[:-CHECKPOINTS]


def _joined(first: Found, second: Found) -> Found:
    title = second.title if second.title is not None else first.title
    return Found(first.bells + second.bells, title, first.clipboard + second.clipboard)
