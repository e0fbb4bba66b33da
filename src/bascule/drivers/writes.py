"""Writes to the agent that a driver makes on its own: how their ids are told apart, and the list of them."""

from bascule.model.records import Write

# A write whose id begins with this belongs to the agent's process, not to one session of it: several sessions
# may owe it, and it is written once for all of them.
FOR_ALL = "@"


class Replies:
    """Writes the driver owes the agent, in order, until whoever holds the process takes them."""

    def __init__(self) -> None:
        self._writes: list[Write] = []

    def __bool__(self) -> bool:
        return bool(self._writes)

    def add(self, write: Write) -> None:
        self._writes.append(write)

    def take(self) -> list[Write]:
        """All of them, once."""
        writes, self._writes = self._writes, []
        return writes
