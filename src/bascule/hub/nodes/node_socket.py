"""The socket of another node of this hub: it reaches machines that this node holds, and brings its news."""

import asyncio
import contextlib
import logging

import msgspec

from bascule.hub.calls.call import AnyCall
from bascule.hub.devices.link_tapes import LinkTapes
from bascule.hub.door.open_streams import Ending
from bascule.hub.door.roles import Forbidden
from bascule.hub.nodes.cluster import Cluster
from bascule.hub.nodes.envelope import (
    MAX_DEVICE,
    NODE_HEADER,
    SUBPROTOCOL,
    Answered,
    Called,
    Gone,
    Leave,
    control,
    enclose,
    opened,
)
from bascule.hub.nodes.joining import answer_call
from bascule.hub.nodes.relay import Relay
from bascule.hub.wire.intake import header
from bascule.hub.wire.ws_protocol import BoundedSocket, binary_frame, text_frame
from bascule.link.unsent import keep_little_unsent
from bascule.link.wire import AHEAD, LineError
from bascule.model.codec import encode
from bascule.model.errors import BasculeError
from bascule.model.faults import report

log = logging.getLogger("bascule.hub")

BROKE_THE_RULES = 4002


class NodeSocket:
    def __init__(self, call: AnyCall, cluster: Cluster, node: str) -> None:
        self._hub, self._call, self._cluster, self._node = call.hub, call, cluster, node
        self._connection: BoundedSocket = call.scope["bascule.connection"]
        self._relays: dict[str, Relay] = {}
        self._dirty: dict[str, Relay] = {}
        self._more = asyncio.Event()
        self._work: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        await self._call.receive()
        await self._call.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        keep_little_unsent(self._connection.transport)
        leave = self._hub.open_streams.enter(self._call.holder, self._end)
        writing = asyncio.create_task(self._write(), name=f"to node {self._node}")
        try:
            while (message := await self._call.receive())["type"] == "websocket.receive":
                self._take(message.get("text"), message.get("bytes") or b"")
        finally:
            leave()
            self._cluster.left(self._node)
            writing.cancel()
            for relay in self._relays.values():
                relay.close()
            for task in list(self._work):
                task.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    def _take(self, text: str | None, data: bytes) -> None:
        try:
            if text is not None:
                self._control(text)
                return
            device, inner = opened(data)
            if len(device) > MAX_DEVICE or not device:
                raise ValueError("A message between nodes names no machine.")
            self._relay(device).receive(inner)
        except (LineError, ValueError) as error:
            log.warning("node %s: %s", self._node, error)
            self._connection.end(BROKE_THE_RULES, "not a message between nodes")

    def _control(self, text: str) -> None:
        with contextlib.suppress(msgspec.MsgspecError):  # of a newer version
            message = control(text)
            if isinstance(message, Leave):
                relay = self._relays.pop(message.device, None)
                self._dirty.pop(message.device, None)
                if relay is not None:
                    relay.close()
            elif isinstance(message, Called):
                task = asyncio.create_task(self._answer(message), name=f"{message.what} for {self._node}")
                self._work.add(task)
                task.add_done_callback(self._work.discard)
            else:
                self._cluster.heard(self._node, message)

    async def _answer(self, called: Called) -> None:
        try:
            result = await answer_call(self._hub, called.what, bytes(called.body))
            said = Answered(called.n, msgspec.Raw(result))
        except BasculeError as error:
            said = Answered(called.n, refusal=error.refusal())
        except Exception as error:  # noqa: BLE001 - the other node gets an error, without the inside
            said = Answered(called.n, refusal=report(log, f"{called.what} of another node", error))
        self._connection.write_frame(text_frame(encode(said)))

    def _relay(self, device: str) -> Relay:
        if device not in self._relays:
            tapes = self._hub.link_tapes.setdefault(device, LinkTapes())
            self._relays[device] = made = Relay(
                self._hub.switchboard,
                tapes,
                device,
                lambda: self._wrote(device, made),
                lambda: self._gone(device, made),
            )
        return self._relays[device]

    def _wrote(self, device: str, relay: Relay) -> None:
        self._dirty[device] = relay
        self._more.set()

    def _gone(self, device: str, relay: Relay) -> None:
        """After what it said last, which may be a refusal."""
        self._hand_over(device, relay, most=1 << 30)
        if self._relays.get(device) is relay:
            del self._relays[device]
            self._dirty.pop(device, None)
        self._connection.write_frame(text_frame(encode(Gone(device))))

    async def _write(self) -> None:
        while not self._connection.gone:
            await self._more.wait()
            self._more.clear()
            while self._dirty:
                for device, relay in list(self._dirty.items()):
                    if not self._hand_over(device, relay, most=AHEAD):
                        self._dirty.pop(device, None)
                await self._connection.ready()

    def _hand_over(self, device: str, relay: Relay, most: int) -> bool:
        messages = relay.line.take(most)
        for message in messages:
            self._connection.write_frame(binary_frame(enclose(device, message)))
        return bool(messages)

    def _end(self, ending: Ending) -> None:
        self._connection.end(1012 if ending is Ending.SHUTDOWN else 1008, ending.value)


async def connect(call: AnyCall) -> None:
    cluster, node = call.hub.cluster, header(call.scope["headers"], NODE_HEADER.lower().encode())
    if not isinstance(cluster, Cluster) or not node or len(node) > MAX_DEVICE:
        raise Forbidden("Only the nodes of a hub on PostgreSQL connect here.")
    if not any(one == SUBPROTOCOL for one in call.scope.get("subprotocols", ())):
        raise Forbidden(f"Speak the subprotocol {SUBPROTOCOL}.")
    await NodeSocket(call, cluster, node).run()
