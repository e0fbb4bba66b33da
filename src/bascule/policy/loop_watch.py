"""Loop watch: counts a tool that is called again and again with the same input and the same outcome. Pure."""

from collections import OrderedDict

MAX_KNOWN = 512  # different calls that are counted in one turn


class LoopWatch:
    """Of one turn: a new prompt is a new reason to do the same thing.

    A call is remembered by Python's own hash of 64 bits, because every call of a flood passes here: two that
    differ are taken for the same about once in 10^17.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[int, int] = OrderedDict()

    def count(self, tool: str, input: bytes, status: str, output: str) -> int:
        """How often this very call came to this very outcome by now."""
        call, seen = hash((tool, input, status, output)), self._seen
        times = seen[call] = seen.pop(call, 0) + 1
        if len(seen) > MAX_KNOWN:
            seen.popitem(last=False)
        return times

    def clear(self) -> None:
        self._seen.clear()
