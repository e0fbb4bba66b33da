"""The operations by which a machine that has joined, and another node of this hub, connect.

What serves them is imported when one does.
"""

from bascule.hub.calls.call import AnyCall
from bascule.hub.calls.operation import Operation


async def connect_daemon(call: AnyCall) -> None:
    from bascule.hub.daemon_socket import connect  # noqa: PLC0415 - only a hub of several machines needs it

    await connect(call)


async def connect_node(call: AnyCall) -> None:
    from bascule.hub.nodes.node_socket import connect  # noqa: PLC0415 - needs the extra for PostgreSQL

    await connect(call)


OPERATIONS = (
    Operation(
        method="WS",
        path="/ws/node",
        need="node",
        run=connect_node,
        summary="WebSocket of another node of this hub",
        described=False,
    ),
    Operation(
        method="WS",
        path="/ws/daemon",
        need="daemon",
        run=connect_daemon,
        summary="WebSocket of a machine that has joined",
        described=False,
    ),
)
