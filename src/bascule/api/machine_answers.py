"""Answers of the API about machines: their state, commands for several of them, pairing and tunnels."""

from typing import Literal

from msgspec import Struct, field

from bascule.api.server_answers import Restored
from bascule.api.view import View
from bascule.link.machine import AgentInfo
from bascule.link.starts import StartsState
from bascule.link.tunnels import TunnelStatus
from bascule.model.capability import Capability

# stale: connected, but nothing was heard of it for a while; away: not connected.
Presence = Literal["online", "stale", "away"]


class DeviceStatus(Struct, frozen=True, rename="camel"):
    """One machine as the hub sees it, or as it was when it was last heard."""

    device: str
    name: str
    version: str
    online: bool  # it is connected: `state` is not "away"
    epoch: int
    agents: tuple[AgentInfo, ...] = ()
    state: Presence = "away"
    last_heard: str | None = None
    paused: bool = False
    paused_by_owner: bool = False  # on the machine itself, so this hub can't end it
    storage_problem: str | None = None  # why it can store nothing just now
    roots: tuple[str, ...] = ()  # the folders below which its sessions may run, the usual one first
    running: int = 0  # sessions whose agent runs
    skew_ms: int = 0  # how far its clock is ahead of the hub's
    needs_update: bool = False  # its version and the hub's have no protocol in common
    starts_by_itself: bool | None = None  # after the machine was restarted; None: not known
    starts: StartsState = StartsState()  # from elsewhere: what they need, and which wait
    levels: tuple[Capability, ...] = ("full",)  # that a start may ask for there, the least first
    # What lets agents do more without asking is set on the machine itself: it refuses that to this hub.
    owner_only: bool = False
    replaced_by: str = ""  # the device that this machine is now, after it was installed anew


class DeviceOutcome(View, frozen=True, kw_only=True):
    """What became of a command for one of several machines.

    `waiting`: it is away, or did not answer in time, and gets the command first when it is back.
    """

    device: str
    name: str
    outcome: Literal["done", "waiting", "refused"]
    ended: int = 0  # agents that were stopped
    message: str = ""  # for a person


class DevicesTold(View, frozen=True, kw_only=True):
    devices: list[DeviceOutcome] = field(default_factory=list[DeviceOutcome])


class EndedEverywhere(View, frozen=True, kw_only=True):
    """`ended` counts the agents that were stopped on all machines."""

    ended: int
    devices: list[DeviceOutcome] = field(default_factory=list[DeviceOutcome])


class Capabilities(Struct, frozen=True):
    can_spawn_sessions: bool
    supported_harnesses: list[str]


class DaemonStatus(Struct, frozen=True):
    connected: bool
    client_id: str | None
    capabilities: Capabilities
    devices: list[DeviceStatus]
    storage_problem: str | None = None  # why nothing can be stored just now
    restored: Restored | None = None  # for a month after it was noticed


class DeviceList(View, frozen=True, kw_only=True):
    devices: list[DeviceStatus]


class PairingAsked(View, frozen=True, kw_only=True):
    """The code to show to the person at the machine; the secret is for `poll` only."""

    code: str
    secret: str
    expires_in: float


class PairingState(View, frozen=True, kw_only=True):
    """`token` is there once, when the owner has allowed it."""

    state: Literal["waiting", "allowed", "denied"]
    token: str | None = None
    by: str = ""


class PairingView(View, frozen=True, kw_only=True):
    """A machine that waits to be let in."""

    id: str
    code: str
    device: str
    name: str
    user: str
    version: str
    address: str
    agents: list[str]
    expires_in: float
    known: bool = False  # a machine of this identity is there already; its grant is replaced


class PairingList(View, frozen=True, kw_only=True):
    pairings: list[PairingView]


class TunnelList(View, frozen=True, kw_only=True):
    tunnels: list[TunnelStatus]
