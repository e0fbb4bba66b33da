"""Decides when a prompt is typed and when Enter is pressed, from what the agent has drawn. Pure."""

import re

from bascule.drivers.terminal.mode_tracker import ModeTracker
from bascule.drivers.terminal.trust_prompt import TrustPrompt, look
from bascule.drivers.terminal.virtual_screen import Screen

BRACKETED_PASTE = 2004
PASTE_BEGINS, PASTE_ENDS, ENTER = b"\x1b[200~", b"\x1b[201~", b"\r"
QUIET_SECONDS = 0.3  # without output: the agent has drawn what it wanted to
RESTLESS_SECONDS = 5.0  # it never stops drawing; its input is there all the same
PATIENCE_SECONDS = 600.0  # a person may have to sign in first; a slow agent takes a large paste for minutes
MARK_SECONDS = 60.0  # for the mark of an agent's input: a later version may have another one
LOOK_SECONDS = 0.1
SHOWN_CHARACTERS = 12

_FRAME = re.compile(r"[\s│┃|╭╮╰╯─━]+")
# What a terminal says by itself, and keys that write nothing: control sequences and strings.
_NO_TEXT = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_][^\x07\x1b]*(?:\x07|\x1b\\)|O.|.)?", re.DOTALL)
# Agents show a long text as "[Pasted text #1 +500 lines]", Copilot as "[Saved pasted content to …]".
_PLACEHOLDER = re.compile(r"\[(?:saved )?pasted", re.IGNORECASE)


class Typist:
    """`outcome` is empty until it is over: `sent`, `typed` (left for a person to send) or `not_typed`."""

    def __init__(
        self,
        prompt: str,
        *,
        send: bool,
        trust: TrustPrompt | None,
        size: tuple[int, int],
        now: float,
        input_mark: str = "",
    ) -> None:
        self._prompt, self._send, self._trust = prompt, send, trust
        self._input_mark = input_mark
        self._screen, self._modes = Screen(*size), ModeTracker()
        self._began = self._last_output = now
        self._may_paste_since: float | None = None
        self._typed_at: float | None = None
        self._typing = False
        self._asked = False  # the trust question was on the screen
        self._lost = False  # the program that got the text is gone
        self._begins = _FRAME.sub("", prompt)[:SHOWN_CHARACTERS]
        self.outcome = ""

    def resize(self, cols: int, rows: int) -> None:
        self._screen.resize(cols, rows)

    def saw(self, output: bytes, now: float) -> None:
        """The agent wrote this to its screen."""
        self._last_output = now
        self._screen.feed(output)
        self._modes.feed(output)
        if BRACKETED_PASTE not in self._modes.on:
            self._may_paste_since = None
            # Gemini starts itself again after the answer, and what was typed meanwhile is gone with it.
            if self._asked and self._typed_at is not None:
                self._typed_at, self._lost = None, True
        elif self._may_paste_since is None:
            self._may_paste_since = now

    def written(self, now: float) -> None:
        """All that was to be typed has reached the agent's terminal."""
        if self._typing:
            self._typing, self._typed_at = False, now
            self._last_output = max(self._last_output, now)  # its answer to it is still to come
            if self._asked and self._may_paste_since is None:
                self._typed_at, self._lost = None, True
            elif not self._send and not self._asked:
                self.outcome = "typed"

    def person_typed(self, keys: bytes) -> None:
        """Once the prompt is typed, a person who types on also sends it: our Enter could send anything."""
        if (
            self._typed_at is not None
            and not self.outcome
            and _NO_TEXT.sub(b"", keys)
            and not self._is_asked()
        ):
            self.outcome = "typed"

    def due(self, now: float, *, raw: bool) -> bytes:
        """What to type now. `raw`: the agent reads keys, not lines, so that no byte is changed on the way."""
        if self.outcome or self._typing:
            return b""
        if self._typed_at is not None:
            return self._finish(now, self._typed_at)
        if now - self._began > PATIENCE_SECONDS:
            self.outcome = "not_typed"
        elif raw and self._is_ready(now):
            if self._lost and self._is_shown():  # it was kept after all
                self._typed_at, self._lost = now, False
                return b""
            self._typing = True
            return PASTE_BEGINS + self._prompt.encode() + PASTE_ENDS
        return b""

    def _is_ready(self, now: float) -> bool:
        if self._may_paste_since is None:
            return False
        if not self._has_input(now - self._may_paste_since):
            return False
        # Enter would answer this question, which is a person's to answer.
        if self._is_asked():
            return False
        quiet = now - self._last_output >= QUIET_SECONDS
        return quiet or now - self._may_paste_since >= RESTLESS_SECONDS

    def _has_input(self, waited: float) -> bool:
        """opencode takes pastes before it has drawn its input and loses them; Copilot keeps them unseen."""
        lines = [line.strip() for line in self._screen.text()]
        if self._input_mark and waited < MARK_SECONDS:
            return any(line.startswith(self._input_mark) for line in lines)
        return any(lines)

    def _is_asked(self) -> bool:
        asked = self._trust is not None and look(self._screen.text(), self._trust) is not None
        self._asked = self._asked or asked
        return asked

    def _finish(self, now: float, typed_at: float) -> bytes:
        """Press Enter once the text is shown, if it is to be sent."""
        if self._is_asked():  # it was slow to ask, and the question has swallowed the text
            self._typed_at, self._lost = None, True
            return b""
        if now - self._last_output < QUIET_SECONDS and now - typed_at < RESTLESS_SECONDS:
            return b""
        if self._is_shown():
            self.outcome = "sent" if self._send else "typed"
            return ENTER if self._send else b""
        if now - typed_at > PATIENCE_SECONDS:
            self.outcome = "typed"
        return b""

    def _is_shown(self) -> bool:
        """Whether the text stands in the agent's input: a dialog that swallowed it must not get an Enter."""
        text = "\n".join(self._screen.text())
        return bool(_PLACEHOLDER.search(text)) or bool(self._begins and self._begins in _FRAME.sub("", text))
