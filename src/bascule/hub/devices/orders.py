"""Orders: commands that a device gets in any case: at once, or as the first thing when it is back."""

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import msgspec

from bascule.api.machine_answers import DeviceOutcome
from bascule.hub.devices.asking import answered, ask_by
from bascule.link.machine import EndAll, Ended, PauseDevice
from bascule.model.codec import encode
from bascule.model.commands import Actor, Command, EndSession
from bascule.model.errors import BasculeError, DeviceOffline, StorageFailed
from bascule.store.devices import DeviceBook, StandingCommand

if TYPE_CHECKING:
    from bascule.hub.devices.device_line import DeviceLine
    from bascule.hub.devices.switchboard import Switchboard

log = logging.getLogger("bascule.hub")

Order = EndAll | PauseDevice | EndSession
ANSWER_SECONDS = 3.0  # a device behind a network has to answer, before the others' answers are given
AT_MOST = 60.0  # that stopping everything takes

_orders = msgspec.json.Decoder[Order](Order)


class Orders:
    """An order is kept before it is called kept, and dropped once the device has carried it out."""

    def __init__(self, board: "Switchboard", book: DeviceBook) -> None:
        self._board = board
        self._book = book
        self._under_way: set[tuple[str, str, str]] = set()

    async def give(self, order: Order, by: Actor, devices: Iterable[str]) -> list[DeviceOutcome]:
        """To all of them at the same time: one that does not answer delays nobody, nor who hangs up."""
        giving = [self._board.spawn(self._give(device, order, by), f"order {device}") for device in devices]
        return [await asyncio.shield(one) for one in giving]

    async def _give(self, device: str, order: Order, by: Actor) -> DeviceOutcome:
        if not self._board.is_connected(device):
            return await self._keep(device, order, by, None)
        line = self._board.line(device)
        asking = self._board.spawn(
            ask_by(line, cast("Command[Any]", order), by, seconds=AT_MOST),
            f"{_kind(order)} {device}",
        )
        patience = AT_MOST if line.in_memory else ANSWER_SECONDS
        done, _ = await asyncio.wait({asking}, timeout=patience)
        if not done:
            return await self._keep(device, order, by, asking)
        try:
            answer = asking.result()
        except DeviceOffline:
            return await self._keep(device, order, by, None)
        except BasculeError as error:
            return self._outcome(device, "refused", error.message)
        for older in self._book.standing(device):
            if older.kind == _kind(order):
                self._book.drop(older)
        return self._outcome(device, "done", ended=answer.ended if isinstance(answer, Ended) else 0)

    async def _keep(
        self, device: str, order: Order, by: Actor, asking: "asyncio.Task[Any] | None"
    ) -> DeviceOutcome:
        """For its next hello; or until its answer comes after all."""
        kept, written = self._book.stand(device, _kind(order), encode(order), by)
        if asking is not None:
            self._settle_later(asking, kept)
        try:
            await written
        except StorageFailed as error:  # it holds all the same, until this hub is restarted
            log.warning("%s for %s could not be stored: %s", kept.kind, device, error.message)
        away = "is away" if asking is None else "does not answer"
        return self._outcome(
            device, "waiting", f"{self._name(device)} {away}: it {_promise(order)} when it is back."
        )

    def deliver(self, line: "DeviceLine") -> None:
        """The device is there again: what it was to do comes first."""
        for kept in self._book.standing(line.device):
            self._send(line, kept)

    def deliver_new(self, line: "DeviceLine") -> None:
        """Other nodes have changed the book. One that did not know yet that the device is back, here, has
        kept an order for it: only this node gives it to the device."""
        for kept in self._book.standing(line.device):
            if _key(kept) not in self._under_way:
                self._send(line, kept)

    def _send(self, line: "DeviceLine", kept: StandingCommand) -> None:
        try:
            order = _orders.decode(kept.command)
        except msgspec.ValidationError as error:
            log.warning("a command for %s can't be read and is dropped: %s", kept.device, error)
            self._book.drop(kept)
            return
        number, answer = line.begin(order, kept.by, None, AT_MOST)
        asked = answered(line, cast("Command[Any]", order), number, answer, AT_MOST)
        self._settle_later(self._board.spawn(asked, f"{kept.kind} {kept.device}"), kept)

    def _settle_later(self, asking: "asyncio.Task[Any]", kept: StandingCommand) -> None:
        self._under_way.add(_key(kept))
        asking.add_done_callback(lambda done: self._settle(done, kept))

    def _settle(self, asking: "asyncio.Task[Any]", kept: StandingCommand) -> None:
        self._under_way.discard(_key(kept))
        if asking.cancelled():
            return
        error = asking.exception()
        if isinstance(error, DeviceOffline):
            return  # it stays for the next time
        if error is not None:
            log.warning("%s did not carry out %s: %s", kept.device, kept.kind, error)
        self._book.drop(kept)

    def _outcome(self, device: str, outcome: Any, message: str = "", ended: int = 0) -> DeviceOutcome:
        name = self._name(device)
        return DeviceOutcome(device=device, name=name, outcome=outcome, ended=ended, message=message)

    def _name(self, device: str) -> str:
        known = self._book.get(device)
        return known.shown_name if known is not None else device


def _promise(order: Order) -> str:
    match order:
        case EndAll():
            return "stops its agents"
        case EndSession():
            return "ends this session"
        case PauseDevice():
            return "hears of it"


def _key(kept: StandingCommand) -> tuple[str, str, str]:
    return kept.device, kept.kind, kept.at


def _kind(order: Order) -> str:
    """A newer order of a kind takes the older one's place."""
    tag = str(type(order).__struct_config__.tag)
    return f"{tag} {order.session_id}" if isinstance(order, EndSession) else tag
