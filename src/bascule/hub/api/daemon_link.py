"""The operation by which a machine that has joined connects; what serves it is imported when one does."""

from bascule.hub.api.call import AnyCall
from bascule.hub.api.operation import Operation


async def connect_daemon(call: AnyCall) -> None:
    from bascule.hub.daemon_socket import connect  # noqa: PLC0415 - only a hub of several machines needs it

    await connect(call)


OPERATIONS = (
    Operation(
        method="WS",
        path="/ws/daemon",
        need="daemon",
        run=connect_daemon,
        summary="WebSocket of a machine that has joined",
        described=False,
    ),
)
