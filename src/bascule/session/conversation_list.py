"""Asks a live agent for its conversations, with one request for all callers at a time."""

import asyncio
from collections.abc import Callable

from bascule.drivers.base import Driver
from bascule.drivers.conversation_list import Listing, ListsConversations
from bascule.model.errors import AgentFailed, NotSupported
from bascule.model.records import Write

LIST_SECONDS = 20.0


class ConversationList:
    def __init__(self, driver: Driver, send: Callable[[Write], object]) -> None:
        self._driver = driver if isinstance(driver, ListsConversations) else None
        self._send = send
        self._listing: asyncio.Future[Listing] | None = None

    @property
    def can_be_listed(self) -> bool:
        return self._driver is not None and self._driver.lists

    async def list(self, write_id: str) -> Listing:
        """Those the agent knows of this session's folder."""
        if self._driver is None:
            raise NotSupported("This agent lists no conversations.")
        if self._listing is None or self._listing.done():
            self._listing = asyncio.get_running_loop().create_future()
            self._send(self._driver.list_conversations(write_id))
        listing = self._listing
        try:
            async with asyncio.timeout(LIST_SECONDS):
                return await asyncio.shield(listing)
        except TimeoutError:
            if self._listing is listing:
                self._listing = None  # the next caller asks the agent again
            raise AgentFailed("The agent did not list its conversations.") from None

    def look(self) -> None:
        """The driver has read on: perhaps the answer."""
        listing = self._driver.take_listing() if self._driver is not None else None
        if listing is not None and self._listing is not None and not self._listing.done():
            self._listing.set_result(listing)
