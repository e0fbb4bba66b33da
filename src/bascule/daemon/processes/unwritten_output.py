"""Processes whose output the keeper can't write: it holds them back until it can, and tells their owner."""

from collections.abc import Callable

from bascule.transport.keeper_messages import StorageNotice

NO_ROOM = ("ENOSPC", "EDQUOT")


class UnwrittenOutput:
    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self._errors: dict[str, str] = {}  # by the keeper's name of the process

    def hear(self, notice: StorageNotice) -> None:
        if notice.error is None:
            self.forget(notice.session)
        else:
            self._errors[notice.session] = notice.error
            self.on_change()

    def forget(self, name: str) -> None:
        """It is written again, or the process is over."""
        if self._errors.pop(name, None) is not None:
            self.on_change()

    def clear(self) -> None:
        """The keeper is asked anew, and says what holds now."""
        for name in list(self._errors):
            self.forget(name)

    @property
    def problem(self) -> str | None:
        """What is wrong with the disk, in words."""
        if not self._errors:
            return None
        count, (error, *_) = len(self._errors), self._errors.values()
        who = "the output of an agent" if count == 1 else f"the output of {count} agents"
        if error in NO_ROOM:
            return f"The disk is full: {who} waits until there is room again."
        return f"The disk can't be written ({error}): {who} waits until it can."
