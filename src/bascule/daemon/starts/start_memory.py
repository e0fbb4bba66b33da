"""History of starts from elsewhere: which are usual on this machine, and until when all are blocked."""

from pathlib import Path

import msgspec

from bascule.daemon.private_file import write_private
from bascule.policy.unusual import StartHistory

HISTORY = "start_history.json"
BLOCKED = "starts_blocked"


class StartMemory:
    """Two small files of the state folder, which no command from elsewhere changes."""

    def __init__(self, state_folder: Path) -> None:
        self._history = state_folder / HISTORY
        self._blocked = state_folder / BLOCKED

    @property
    def history(self) -> StartHistory:
        try:
            return msgspec.json.decode(self._history.read_bytes(), type=StartHistory)
        except (FileNotFoundError, msgspec.MsgspecError):
            return StartHistory()  # unreadable is as good as none: then everything is new

    def keep(self, history: StartHistory) -> None:
        write_private(self._history, msgspec.json.encode(history))

    def blocked_until(self, now: float) -> float | None:
        """None when nothing is blocked, also because its time is over."""
        try:
            until = msgspec.json.decode(self._blocked.read_bytes(), type=float)
        except FileNotFoundError:
            return None
        return until if until > now else None

    def block(self, until: float | None) -> None:
        if until is None:
            self._blocked.unlink(missing_ok=True)
        else:
            write_private(self._blocked, msgspec.json.encode(until))
