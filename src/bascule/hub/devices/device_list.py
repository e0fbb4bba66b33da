"""The list of devices: what the book has of each, with what its present connection says."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from bascule.api.machine_answers import DeviceStatus, Presence
from bascule.hub.devices.device_line import DeviceLine
from bascule.link.frames import DaemonConnected, DeviceState
from bascule.link.liveness import ClockOffset
from bascule.link.machine import AgentInfo
from bascule.model.codec import encode, timestamp
from bascule.store.devices import DeviceBook, DeviceRecord

T = TypeVar("T")
Agents = tuple[AgentInfo, ...]
NOTE_SECONDS = 30.0  # between two notes of when a device was heard, while it is
MAX_AGENTS = 200
CLOCK_OFF = 60.0  # seconds that a clock is off before people see a warning
MAX_NAME = 100

_agents = msgspec.json.Decoder(Agents)
_states = msgspec.json.Decoder(DeviceState)


class DeviceList:
    def __init__(self, book: DeviceBook, clock: Callable[[], float]) -> None:
        self.book = book
        self.hub_problem: Callable[[], str | None] = lambda: None  # why this hub can store nothing
        self._clock = clock
        self._agents = {one.device: _read(_agents, one.agents, ()) for one in book.all()}
        self._states = {one.device: _read(_states, one.state, DeviceState()) for one in book.all()}
        self._noted: dict[str, float] = {}
        self._incompatible: set[str] = set()
        self._clocks: dict[str, ClockOffset] = {}  # since each device's last hello

    # Reading

    def all(self, lines: Mapping[str, DeviceLine]) -> list[DeviceStatus]:
        return [self._status(record, lines.get(record.device)) for record in self.book.all()]

    def one(self, device: str, lines: Mapping[str, DeviceLine]) -> DeviceStatus | None:
        record = self.book.get(device)
        return None if record is None or record.forgotten else self._status(record, lines.get(device))

    def skew(self, device: str) -> float:
        seconds = self._record(device).skew_ms / 1000
        return seconds if abs(seconds) > CLOCK_OFF else 0.0

    def agents(self, device: str) -> Agents:
        return self._agents.get(device, ())

    def _status(self, record: DeviceRecord, line: DeviceLine | None) -> DeviceStatus:
        state = self._states.get(record.device, DeviceState())
        presence: Presence = "away" if line is None else "stale" if line.stale else "online"
        return DeviceStatus(
            device=record.device,
            name=record.shown_name,
            version=record.version,
            online=line is not None,
            epoch=record.epoch,
            agents=self.agents(record.device),
            state=presence,
            last_heard=self._last_heard(record, line),
            paused=state.paused,
            paused_by_owner=state.paused_by_owner,
            storage_problem=state.storage_problem or self.hub_problem(),
            roots=state.roots,
            running=state.running,
            skew_ms=record.skew_ms,
            needs_update=record.device in self._incompatible,
            replaced_by=record.replaced_by,
            starts_by_itself=state.starts_by_itself,
            starts=state.starts,
            levels=state.levels,
            owner_only=state.owner_only,
        )

    def _last_heard(self, record: DeviceRecord, line: DeviceLine | None) -> str | None:
        return timestamp(self._clock()) if line is not None and line.in_memory else record.heard_at or None

    def heard_within(self, seconds: float) -> list[str]:
        """The devices that were here so short a time ago."""
        since = timestamp(self._clock() - seconds)
        return [one.device for one in self.book.all() if one.heard_at >= since and not one.replaced_by]

    def is_boot(self, device: str, boot: str) -> bool:
        """Whether the process that was accepted last is this one."""
        record = self.book.get(device)
        return record is not None and record.boot == boot

    def is_late(self, hello: DaemonConnected) -> bool:
        """A hello from before the last one that was accepted of the same process."""
        record = self.book.get(hello.device)
        return bool(
            record is not None
            and hello.boot
            and record.boot == hello.boot
            and hello.attempt <= record.attempt
        )

    # Noting

    def heard_elsewhere(self, hello: DaemonConnected) -> None:
        """Another node holds the connection, and has stored this."""
        self._agents[hello.device] = hello.agents[:MAX_AGENTS]
        self._states[hello.device] = hello.state
        self._incompatible.discard(hello.device)

    def reloaded(self, held: Callable[[str], bool]) -> None:
        """The book was read again, after another node had written."""
        for one in self.book.all():
            if not held(one.device):
                self._agents[one.device] = _read(_agents, one.agents, self.agents(one.device))
                self._states[one.device] = _read(_states, one.state, DeviceState())

    def hello_of(self, device: str) -> DaemonConnected:
        """What a device that is connected said of itself, for another node."""
        record = self._record(device)
        return DaemonConnected(
            device,
            record.name or device,
            record.version or "?",
            agents=self.agents(device),
            boot=record.boot,
            attempt=record.attempt,
            store=record.store,
            state=self._states.get(device, DeviceState()),
        )

    def accept(self, hello: DaemonConnected, epoch: int = 0) -> DeviceRecord:
        """The device's next connection. Epochs are counted here, whatever its clock says; several nodes count
        them together, and say with `epoch` how far they are."""
        now = timestamp(self._clock())
        name = hello.name[:MAX_NAME]
        known = self.book.get(hello.device) or DeviceRecord(hello.device, name, now)
        self._agents[hello.device] = agents = hello.agents[:MAX_AGENTS]
        self._states[hello.device] = hello.state
        self._incompatible.discard(hello.device)
        self._clocks[hello.device] = ClockOffset()
        self._noted[hello.device] = self._clock()
        self.book.put(
            replace(
                known,
                name=name,
                store=hello.store,
                epoch=max(known.epoch + 1, epoch),
                boot=hello.boot,
                attempt=hello.attempt,
                heard_at=now,
                skew_ms=round((hello.clock - self._clock()) * 1000) if hello.clock else known.skew_ms,
                version=hello.version,
                agents=encode(agents),
                state=encode(hello.state),
            )
        )
        if known.forgotten:
            self.book.list_again(self._record(hello.device))
        return self._record(hello.device)

    def note_incompatible(self, hello: DaemonConnected) -> None:
        """It was heard, and its version can't be talked to."""
        known = self.book.get(hello.device)
        if known is not None:
            self._incompatible.add(hello.device)
            heard = timestamp(self._clock())
            self.book.put(replace(known, version=hello.version, heard_at=heard))

    def note_agents(self, device: str, agents: Agents, *, store: bool = True) -> None:
        self._agents[device] = agents = agents[:MAX_AGENTS]
        if store:
            self._put(device, agents=encode(agents))

    def note_state(self, device: str, state: DeviceState, *, store: bool = True) -> None:
        self._states[device] = state
        if store:
            self._put(device, state=encode(state))

    def note_clock(self, device: str, pinged: float, their_clock: float) -> None:
        """A pong came: how far the device's clock is ahead, by the pong that was under way the shortest."""
        clock = self._clocks[device]
        clock.add(pinged, their_clock, self._clock())
        if clock.seconds is not None:
            self._put(device, skew_ms=round(clock.seconds * 1000))

    def note_heard(self, device: str, *, now: bool = False, ago: float = 0.0) -> None:
        """Now and then, unless `now`: to know after a crash when it was there."""
        heard = self._clock() - ago
        if now or abs(heard - self._noted.get(device, 0.0)) >= NOTE_SECONDS:
            self._noted[device] = heard
            self._put(device, heard_at=timestamp(heard))

    def _put(self, device: str, **fields: object) -> None:
        record = self._record(device)
        changed = replace(record, **fields)  # type: ignore[arg-type]
        if changed != record:
            self.book.put(changed)

    def _record(self, device: str) -> DeviceRecord:
        record = self.book.get(device)
        assert record is not None, "a line that was accepted is of a device in the book"
        return record


def _read(decoder: "msgspec.json.Decoder[T]", data: bytes, otherwise: T) -> T:
    """What another version wrote may say nothing to this one; the device says it again."""
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError:
        return otherwise
