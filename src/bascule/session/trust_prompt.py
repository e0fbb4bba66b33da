"""Answers an agent's trust prompt in a folder that a person has trusted: once, and logged."""

from collections.abc import Callable

from bascule.drivers.terminal import Signals, TerminalDriver
from bascule.model.events import Note
from bascule.session.deadlines import Deadlines
from bascule.session.ledger import Ledger

LOOK_SECONDS = 0.5  # a screen that has just been drawn may not listen yet
GIVE_UP_SECONDS = 120.0
ENTER = b"\r"


class Trusting:
    def __init__(
        self,
        ledger: Ledger,
        driver: TerminalDriver,
        trusts: Callable[[str], bool],
        press: Callable[[bytes], None],
        deadlines: Deadlines,
    ) -> None:
        self._ledger = ledger
        self._driver = driver
        self._trusts = trusts
        self._press = press
        self._deadlines = deadlines

    def after(self, signals: Signals) -> None:
        """Look at what a piece of output brought."""
        if not signals.trust_asked:
            return
        cwd = self._ledger.record.cwd
        self._deadlines.set("trust over", GIVE_UP_SECONDS, self._driver.leave_question)
        if self._trusts(cwd):
            self._deadlines.set("trust", LOOK_SECONDS, self._step)
        else:
            words = (
                "The agent asks whether it may trust this folder. Answer in the terminal, or have Bascule "
                f"answer from now on with: bascule projects trust {cwd}"
            )
            self._log(Note("trust_asked", words))
            self._driver.leave_question()

    def _step(self) -> None:
        """One key towards "yes", chosen on the screen as it is now; Enter only when the mark stands there."""
        if not self._driver.question_open:
            return  # a person was faster
        key = self._driver.trust_step()
        if key is None:
            self._driver.leave_question()
            self._log(Note("trust_asked", "The agent's trust question could not be read; answer it here."))
            return
        if key == ENTER:
            words = "Said yes to the agent's trust question, because this folder is trusted in Bascule."
            self._log(Note("trust_answered", words))
        else:
            self._deadlines.set("trust", LOOK_SECONDS, self._step)
        self._press(key)

    def _log(self, note: Note) -> None:
        self._ledger.log([note], out_offset=self._driver.consumed, driver_state=self._driver.state())
