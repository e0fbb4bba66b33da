"""Writes that a driver owes the agent on its own, and the id prefix of those shared by all sessions."""

from bascule.model.records import Write

# A write whose id begins with this belongs to the agent's process, not to one session of it: several sessions
# may owe it, and it is written once for all of them.
FOR_ALL = "@"


class Replies:
    """Writes the driver owes the agent, in order, until they are taken."""

    def __init__(self) -> None:
        self._writes: list[Write] = []

    def __bool__(self) -> bool:
        return bool(self._writes)

    def add(self, write: Write) -> None:
        self._writes.append(write)

    def take(self) -> list[Write]:
        """Take all of them."""
        writes, self._writes = self._writes, []
        return writes
