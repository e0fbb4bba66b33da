"""The operation that opens the browser's socket, in the words that the client asks for."""

from collections.abc import Callable

from bascule.api.bodies import SocketQuery
from bascule.hub.calls.call import Call
from bascule.hub.calls.operation import Operation, Table
from bascule.hub.live.browser_socket import BrowserSocket
from bascule.hub.live.workbench_socket import WorkbenchSocket

SOCKETS: dict[str, type[BrowserSocket]] = {"bascule": BrowserSocket, "workbench": WorkbenchSocket}


def socket_operation(table: Callable[[], Table]) -> Operation:
    """The socket itself, which serves the operations of `table`."""

    async def run(call: Call[SocketQuery]) -> None:
        await SOCKETS[call.body.words](call, table()).run()

    return Operation(
        method="WS",
        path="/ws",
        need="any",
        body=SocketQuery,
        run=run,
        summary="WebSocket for operations and pushed events",
        ticket=True,
    )
