"""Loop watch: counts a tool that is called again and again with the same input and the same outcome. Pure."""

import hashlib
from collections import OrderedDict

MOST_OPEN = 256  # calls whose outcome is awaited
MOST_KNOWN = 512  # different calls that are counted in one turn

Call = tuple[str, bytes, bytes]  # tool, digest of its input, digest of its outcome


class LoopWatch:
    """Of one turn: a new prompt is a new reason to do the same thing."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._seen: OrderedDict[Call, int] = OrderedDict()

    def started(self, tool_id: str, tool: str, input: bytes) -> None:
        self._open[tool_id] = (tool, _digest(input))
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)

    def ended(self, tool_id: str, status: str, output: str) -> tuple[str, int] | None:
        """The tool, and how often this very call came to this very outcome by now."""
        call = self._open.pop(tool_id, None)
        if call is None:
            return None
        key = (*call, _digest(status.encode() + b"\0" + output.encode(errors="surrogatepass")))
        self._seen[key] = self._seen.pop(key, 0) + 1
        if len(self._seen) > MOST_KNOWN:
            self._seen.popitem(last=False)
        return call[0], self._seen[key]

    def clear(self) -> None:
        self._open.clear()
        self._seen.clear()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
