"""Programs that are typed to: what their output says beside the text on the screen."""

from bascule.drivers.terminal.driver import Signals, Tail, TerminalDriver

__all__ = ["Signals", "Tail", "TerminalDriver"]
