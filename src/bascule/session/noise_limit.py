"""Rate limit on unrecognised output: keeps some lines, counts the rest."""

from collections.abc import Callable, Sequence

from bascule.model.events import AnyEvent, Note, Unrecognised
from bascule.policy.token_bucket import TokenBucket

AT_ONCE = 20  # lines that are kept whole
PER_MINUTE = 20


class NoiseLimit:
    def __init__(self, steady: Callable[[], float]) -> None:
        self._room = TokenBucket(PER_MINUTE, AT_ONCE, steady)
        self._left_out = 0

    def bounded(self, events: Sequence[AnyEvent]) -> list[AnyEvent]:
        """The same events, without the unrecognised ones over the limit."""
        kept: list[AnyEvent] = []
        for event in events:
            if not isinstance(event, Unrecognised):
                kept.append(event)
            elif self._room.take():
                kept += [*self.count_left_out(), event]
            else:
                if not self._left_out:
                    words = "The agent prints much that is not its protocol. From here on it is only counted."
                    kept.append(Note("unrecognised_flood", words, "warning"))
                self._left_out += 1
        return kept

    def count_left_out(self) -> list[AnyEvent]:
        """A note with the number of lines left out since the last such note."""
        count, self._left_out = self._left_out, 0
        message = f"{count} lines that are not the agent's protocol were left out here."
        return [Note("unrecognised_left_out", message, "warning")] if count else []
