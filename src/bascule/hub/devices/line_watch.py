"""Watches the lines of devices: pings those that fall silent, marks them as stale, closes the dead."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from bascule.hub.devices.device_line import DeviceLine
from bascule.link.liveness import DEAD_AFTER, PING_AFTER, STALE_AFTER

log = logging.getLogger("bascule.hub")

LOOK_SECONDS = 2.5  # at most, from one look to the next
SOONEST = 0.05


class LineWatch:
    """`heard` gets a device whose connection is ours and how many seconds ago it was heard; `stale` is called
    when one has become so."""

    def __init__(
        self,
        lines: Mapping[str, DeviceLine],
        steady: Callable[[], float],
        heard: Callable[[str, float], None],
        stale: Callable[[], None],
    ) -> None:
        self._lines, self._steady, self._heard, self._stale = lines, steady, heard, stale
        self._looked_at = steady()

    async def run(self) -> None:
        self._looked_at = self._steady()
        while True:
            await asyncio.sleep(self.pause())
            self.look()

    def pause(self) -> float:
        """Seconds until the next look: at the moment at which a line may have become stale or dead."""
        now = self._steady()
        silences = [now - line.heard_at for line in self._lines.values() if not line.in_memory]
        due = [after - silent for silent in silences for after in (STALE_AFTER, DEAD_AFTER) if silent < after]
        return max(SOONEST, min([LOOK_SECONDS, *due]))

    def look(self) -> None:
        now = self._steady()
        slept, self._looked_at = now - self._looked_at - 2 * LOOK_SECONDS, now
        for line in list(self._lines.values()):
            if line.in_memory:
                continue
            if slept > 0:  # so did we: a suspended machine judges nobody for what it could not hear
                line.heard_at += slept
            silent = now - line.heard_at
            if not line.far:
                self._heard(line.device, silent)
            self._judge(line, silent)

    def _judge(self, line: DeviceLine, silent: float) -> None:
        if silent >= DEAD_AFTER:
            log.info("nothing was heard of %s for %d s: closing its connection", line.device, silent)
            line.end("silent")
        elif silent >= PING_AFTER:
            line.ping()
            if silent >= STALE_AFTER and not line.stale:
                line.stale = True
                self._stale()
