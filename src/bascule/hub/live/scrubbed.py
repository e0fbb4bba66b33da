"""Stands before a viewer who came by a share link: hides what looks like a secret in the rows they get."""

from bascule.hub.feed.feed import Delivery, Outlet
from bascule.hub.live.scrubbed_rows import RowScrubber


class ScrubbedOutlet:
    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._scrubber = RowScrubber()

    def deliver(self, delivery: Delivery) -> None:
        rows = self._scrubber.passed(delivery.rows)
        if rows:
            self._outlet.deliver(Delivery(delivery.session_id, rows))

    async def ready(self) -> None:
        await self._outlet.ready()
