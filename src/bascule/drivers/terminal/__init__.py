"""Driver for terminal programs: reads titles, bells and modes from their output."""

from bascule.drivers.terminal.driver import Signals, Tail, TerminalDriver

__all__ = ["Signals", "Tail", "TerminalDriver"]
