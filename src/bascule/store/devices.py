"""Devices: the machines a hub knows, also those that are away, and the commands that wait for them."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bascule.model.codec import encode, timestamp
from bascule.model.commands import Actor
from bascule.model.errors import CallerError
from bascule.store.base import AuditRecord
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.transaction import Transaction

log = logging.getLogger(__name__)

COLUMNS = (
    *("device", "name", "added_at", "given_name", "store", "epoch", "boot", "attempt"),
    *("heard_at", "skew_ms", "version", "agents", "state", "replaced_by", "forgotten"),
)
NAMES = ", ".join(COLUMNS)
ALL = f"SELECT {NAMES} FROM devices ORDER BY n"
CHOSEN = ("given_name", "replaced_by")  # by people, perhaps at another node
KEPT = [name for name in COLUMNS if name not in ("device", "added_at", *CHOSEN, "forgotten")]
ADD = f"INSERT INTO devices ({NAMES}) VALUES ({', '.join('?' for _ in COLUMNS)})"
# A node that a machine has left may still note something of the connection it had.
NOTE = f"""
{ADD} ON CONFLICT (device) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in KEPT)}
WHERE devices.epoch <= excluded.epoch
"""
LIST = "UPDATE devices SET forgotten = 0 WHERE device = ? AND epoch <= ?"
ADD_MISSING = f"{ADD} ON CONFLICT DO NOTHING"
CHANGE = "UPDATE devices SET {} WHERE device = ?"
STANDING = "SELECT device, kind, command, by, at FROM standing_commands ORDER BY n"
STAND = "INSERT OR REPLACE INTO standing_commands (device, kind, command, by, at) VALUES (?, ?, ?, ?, ?)"
DROP = "DELETE FROM standing_commands WHERE device = ? AND kind = ? AND at = ?"
MAX_NAME = 100

_actors = msgspec.json.Decoder(Actor)


class DeviceNotFound(CallerError):
    code = "DEVICE_NOT_FOUND"


class DeviceRecord(Struct, frozen=True):
    """A machine as it was last heard of. `agents` and `state` are JSON, as the link has them."""

    device: str
    name: str  # what it calls itself
    added_at: str
    given_name: str = ""  # what a person calls it
    store: str = ""  # names its database
    epoch: int = 0  # counts its connections
    boot: str = ""
    attempt: int = 0
    heard_at: str = ""
    skew_ms: int = 0  # its clock less ours
    version: str = ""
    agents: bytes = b"[]"
    state: bytes = b"{}"
    replaced_by: str = ""  # the device that this machine is now
    forgotten: bool = False

    @property
    def shown_name(self) -> str:
        return self.given_name or self.name


class StandingCommand(Struct, frozen=True):
    """A command that a machine gets at its next hello. `kind` is the command's own `type`."""

    device: str
    kind: str
    command: bytes
    by: Actor
    at: str


class DeviceBook:
    """In memory, too. What people change is on disk before it is reported; what is heard, a little later."""

    def __init__(
        self, store: BookStore, devices: Iterable[DeviceRecord], standing: Iterable[StandingCommand]
    ) -> None:
        self._store = store
        self._devices = {device.device: device for device in devices}
        self._standing = {(one.device, one.kind): one for one in standing}

    @classmethod
    async def open(cls, store: BookStore) -> "DeviceBook":
        return cls(store, *await store.query(_load))

    @property
    def link_name(self) -> str:
        """Names the store that this book is in, on a link."""
        return self._store.link_name

    def all(self) -> list[DeviceRecord]:
        """Those that count, in the order they were added."""
        return [
            device for device in self._devices.values() if not device.forgotten and not device.replaced_by
        ]

    def get(self, device: str) -> DeviceRecord | None:
        return self._devices.get(device)

    def put(self, record: DeviceRecord) -> None:
        """Note what was heard. A power cut may lose the last of it."""
        self._devices[record.device] = record
        self._write_later(lambda transaction: _execute(transaction, NOTE, _values(record)))

    def list_again(self, record: DeviceRecord) -> None:
        """It is connected here, so it is on the list, even if another node removed it."""
        self._devices[record.device] = replace(record, forgotten=False)
        values = (record.device, record.epoch)
        self._write_later(lambda transaction: _execute(transaction, LIST, values))

    async def reload(self, held: Callable[[str], bool]) -> None:
        """Take over what other nodes of this hub have changed. Of a machine whose connection is `held` here,
        only what people chose: this node knows the rest better. One that was removed at a node which had not
        heard of its connection is listed again."""
        stored, standing = await self._store.transact(
            lambda transaction: _load(transaction.connection), sync=False
        )
        for record in stored:
            known = self._devices.get(record.device)
            if known is None or not held(record.device):
                self._devices[record.device] = record
            else:
                chosen = {name: getattr(record, name) for name in CHOSEN}
                self._devices[record.device] = replace(known, **chosen)
                if record.forgotten and not known.forgotten:
                    self.list_again(self._devices[record.device])
        self._standing = {(one.device, one.kind): one for one in standing}

    async def rename(self, device: str, name: str, by: Actor) -> DeviceRecord:
        """An empty name gives it its own again."""
        return await self._change(
            device, by, f"device {device} named {name!r}", given_name=name.strip()[:MAX_NAME]
        )

    async def forget(self, device: str, by: Actor) -> DeviceRecord:
        """Take it off the list. Its sessions stay; if it connects again, it is listed again."""
        for one in self.standing(device):
            self.drop(one)
        return await self._change(device, by, f"device {device} removed", forgotten=True)

    async def replace(self, device: str, other: str, by: Actor) -> DeviceRecord:
        """Another device is what this machine is now."""
        return await self._change(device, by, f"device {device} replaced by {other}", replaced_by=other)

    async def _change(self, device: str, by: Actor, detail: str, **fields: Any) -> DeviceRecord:
        known = self._devices.get(device)
        if known is None or known.forgotten:
            raise DeviceNotFound("There is no such device.")

        def write(transaction: Transaction) -> None:
            # These fields alone: another node may know the others better.
            _execute(transaction, ADD_MISSING, _values(known))
            changed = CHANGE.format(", ".join(f"{name} = ?" for name in fields))
            _execute(transaction, changed, (*fields.values(), device))
            transaction.audit([AuditRecord.of(by, "grant", detail=detail)])

        await self._store.transact(write)
        changed = self._devices[device] = replace(self._devices[device], **fields)
        return changed

    # Commands that wait

    def standing(self, device: str) -> list[StandingCommand]:
        return [one for one in self._standing.values() if one.device == device]

    def stand(
        self, device: str, kind: str, command: bytes, by: Actor
    ) -> "tuple[StandingCommand, asyncio.Future[None]]":
        """Keep a command until the device is there. It holds at once; await the future to have it on disk."""
        one = StandingCommand(device, kind, command, by, timestamp(self._store.clock()))
        self._standing.pop((device, kind), None)
        self._standing[device, kind] = one
        values = (device, kind, command, encode(by), one.at)

        def write(transaction: Transaction) -> None:
            transaction.connection.execute(STAND, values)

        return one, self._store.transact(write)

    def drop(self, done: StandingCommand) -> None:
        """It was carried out. A newer one of its kind stays."""
        if self._standing.get((done.device, done.kind)) == done:
            del self._standing[done.device, done.kind]
        values = (done.device, done.kind, done.at)
        self._write_later(lambda transaction: _execute(transaction, DROP, values))

    def _write_later(self, write: Callable[[Transaction], None]) -> None:
        self._store.transact(write, sync=False).add_done_callback(_written)


def _written(done: "asyncio.Future[None]") -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.warning("what a device said could not be stored: %s", error)


def _execute(transaction: Transaction, statement: str, values: tuple[object, ...]) -> None:
    transaction.connection.execute(statement, values)


def _values(record: DeviceRecord) -> tuple[object, ...]:
    return tuple(getattr(record, name) for name in COLUMNS)


def _load(connection: Connection) -> tuple[list[DeviceRecord], list[StandingCommand]]:
    devices = [_record(dict(zip(COLUMNS, values, strict=True))) for values in connection.execute(ALL)]
    standing = [
        StandingCommand(device, kind, command, _actors.decode(by), at)
        for device, kind, command, by, at in connection.execute(STANDING)
    ]
    return devices, standing


def _record(columns: dict[str, Any]) -> DeviceRecord:
    columns["forgotten"] = bool(columns["forgotten"])
    return DeviceRecord(**columns)
