"""The hub's ASGI app: the table of operations behind the door."""

from bascule.hub.calls.access import Access
from bascule.hub.calls.endpoint import AdmittedRequests
from bascule.hub.door.throttle import Throttle
from bascule.hub.operation_table import operation_table
from bascule.hub.services import Hub
from bascule.hub.wire.asgi_types import Receive, Scope, Send
from bascule.hub.wire.headers import SecurityHeaders


class HubApp:
    """Headers around the door, the door around everything else."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.table = hub, operation_table()
        door = Access(AdmittedRequests(hub), hub, self.table, Throttle(hub.steady))
        self._outermost = SecurityHeaders(door)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._outermost(scope, receive, send)
