"""The messages between hub and daemon: docs/link.md lists them, with the words of the wire."""

from typing import Annotated

from msgspec import Meta, Raw, Struct

from bascule.link.comparisons import ComparisonCommand
from bascule.link.files import FilesCommand
from bascule.link.found import FoundCommand
from bascule.link.frame import Frame, Whole
from bascule.link.git import GitCommand
from bascule.link.listening import ListeningCommand
from bascule.link.machine import AgentInfo, AgentState, MachineCommand
from bascule.link.prompts import PromptFilesCommand
from bascule.link.rules import RulesCommand
from bascule.link.starts import StartsCommand, StartsState
from bascule.link.tape import ReadTape
from bascule.link.tape_frames import (
    AskFirst,
    ClaimSeat,
    CloseTape,
    LeaveSeat,
    OpenTape,
    RedrawTape,
    SeatArranged,
    SeatElected,
    SizeSeat,
    SomebodyTypes,
    TailTape,
    TakeSeat,
    TapeCredit,
    TapeDelivered,
    TapeOpened,
    TapePiece,
    TapeState,
    TapeTailed,
    TapeTyped,
    ToldFirst,
)
from bascule.link.unlogged import UnloggedCommand
from bascule.model.capability import Capability
from bascule.model.commands import Actor, AnySessionCommand
from bascule.model.errors import Refusal
from bascule.model.fields import Name

Agents = Annotated[tuple[AgentInfo, ...], Meta(max_length=1000)]


PROTOCOL = 1  # the version of the link that this code speaks
REMEMBERS_ANSWERS = "remembers_answers"  # a feature: a command that comes again with its key is done once


class Versions(Struct, frozen=True):
    """The versions of the link that one side can speak, both ends included."""

    lowest: Whole = PROTOCOL
    highest: Whole = PROTOCOL


class DeviceState(Struct, frozen=True, omit_defaults=True):
    """What a device says of itself, and says again when it changes."""

    paused: bool = False
    paused_by_owner: bool = False  # on the machine itself, so this hub can't end it
    storage_problem: str | None = None
    roots: tuple[str, ...] = ()
    running: Whole = 0  # sessions whose agent runs
    starts_by_itself: bool | None = None  # after the machine was restarted; None: not known
    starts: StartsState = StartsState()  # from elsewhere: what they need, and which wait
    levels: tuple[Capability, ...] = ("full",)  # that a start may ask for there, the least first
    # What lets agents do more without asking is set on the machine itself: it refuses that to this hub.
    owner_only: bool = False


# Up: daemon to hub


class DaemonConnected(Frame, frozen=True):
    """The first frame of a daemon: who it is, and what the hub may have of it already.

    `store` names its database: a hub that uses the same one needs no rows, and a hub that has copied another
    one knows that this is not the log it copied. `boot` is random for each process and `attempt` counts its
    connections, so that a late hello of the same process is known. `clock` is its time in seconds.
    """

    device: Name
    name: Name
    version: Name
    agents: Agents = ()
    protocol: Versions = Versions()
    features: tuple[str, ...] = ()
    boot: str = ""
    attempt: Whole = 0
    store: str = ""
    state: DeviceState = DeviceState()
    clock: float = 0.0


class SessionOutput(Frame, frozen=True):
    """Rows of one log, without a gap, the first of them number `first`. Each is on the daemon's disk."""

    session_id: Name
    first: Whole
    rows: tuple[Raw, ...]


class SessionHead(Frame, frozen=True):
    """How far a log reaches. The hub shows it as live only once it has this row."""

    session_id: Name
    seq: Whole


class SessionDiverged(Frame, frozen=True):
    """The hub copied another log than this one, which is sent from its first row, up to `head` by now."""

    session_id: Name
    head: Whole


class SessionForgotten(Frame, frozen=True):
    """A found session is no longer there: the copy may go."""

    session_id: Name


class AuditRow(Struct, frozen=True):
    """One record of an audit chain: `hash` is of `prev_hash` and the bytes of `body`.

    The bytes are not JSON in JSON: what somebody wrote into the machine's database must not end the line.
    """

    body: bytes
    prev_hash: str
    hash: str


class AuditOutput(Frame, frozen=True):
    """Records of the machine's audit chain, without a gap, the first of them number `first`.

    Each is on the daemon's disk. The next ones follow once the hub has said `AuditHeld`. `anew`: the hub has
    copied another chain than this one, which is sent from its first record.
    """

    first: Whole
    rows: Annotated[tuple[AuditRow, ...], Meta(min_length=1, max_length=10_000)]
    anew: bool = False


class HubRestored(Frame, frozen=True):
    """The hub had acknowledged so many rows more than it says to have now: they are sent again."""

    rows: Whole


class DeviceStateChanged(Frame, frozen=True, tag="device_state"):
    state: DeviceState


class AgentsChanged(Frame, frozen=True):
    agents: Agents


class AgentStatus(Frame, frozen=True):
    """An agent's process came up, went away, or is being tried again."""

    agent: str
    status: AgentState
    message: str = ""  # for a person: what happened and what is done about it


class AgentProblem(Frame, frozen=True):
    """What went wrong between a session and its agent, for those who look now; the log has it as well."""

    session_id: Name
    refusal: Refusal


class Reply(Frame, frozen=True):
    """The answer to `Ask`: a result or a refusal.

    `seq` is how far the log of the command's session reached when it was done, if it may have written there.
    """

    ask: Whole
    result: Raw = Raw(b"{}")
    refusal: Refusal | None = None
    seq: Whole = 0


# Down: hub to daemon


class Welcome(Frame, frozen=True):
    """The hub's answer to `DaemonConnected`.

    `epoch` grows with each connection of the device: frames of an older one are ignored. `window` is how many
    bytes of rows may be sent beyond what was acknowledged; `rows` is how many rows the hub has of this store.
    """

    protocol: Whole
    hub: str
    name: str
    store: str
    epoch: Whole
    clock: float
    window: Whole
    rows: Whole = 0
    features: tuple[str, ...] = ()


class LineRefused(Frame, frozen=True, tag="refused"):
    """The hub does not take this connection, and closes it. `retry` is the number of seconds to wait."""

    code: str
    message: str
    retry: float


class Resume(Frame, frozen=True):
    """How far the hub has each log of this device: the last row's number and its checksum. In pages."""

    heads: dict[str, tuple[Whole, Whole]]
    last: bool = True


class Ack(Frame, frozen=True):
    """These rows would survive a power cut at the hub. `rows` counts all it has of the device's store."""

    heads: dict[str, Whole]
    rows: Whole


class AuditHeld(Frame, frozen=True):
    """The hub's copy of the audit chain ends with record `n`, which has this hash and is on the hub's disk.

    The daemon goes on from there. `fault` says why the hub did not take what was sent; nothing more is sent
    until the next connection.
    """

    n: Whole
    hash: str
    fault: str = ""


class Watching(Frame, frozen=True):
    """The sessions that somebody looks at: their rows are sent before others'."""

    sessions: tuple[str, ...]


class Fetch(Frame, frozen=True):
    """Somebody opens a found session: send its log, too."""

    session_id: Name


DeviceCommand = (
    AnySessionCommand
    | MachineCommand
    | FilesCommand
    | GitCommand
    | ListeningCommand
    | FoundCommand
    | RulesCommand
    | ComparisonCommand
    | UnloggedCommand
    | PromptFilesCommand
    | StartsCommand
    | ReadTape
)


class Ask(Frame, frozen=True):
    """A command with its envelope: who asks, and the idempotency key."""

    ask: Whole
    command: DeviceCommand
    by: Actor
    key: str | None = None
    deadline_ms: Whole | None = None  # after which nobody waits for the answer


class Cancel(Frame, frozen=True):
    """The caller has left: the answer is not wanted."""

    ask: Whole


# Both ways


class Ping(Frame, frozen=True):
    """`clock` is the sender's time in seconds."""

    n: Whole
    clock: float = 0.0


class Pong(Frame, frozen=True):
    """`pinged` repeats the ping's clock, `clock` is the sender's own: so the difference can be computed."""

    n: Whole
    pinged: float = 0.0
    clock: float = 0.0


UpFrame = (
    DaemonConnected
    | SessionOutput
    | SessionHead
    | SessionDiverged
    | SessionForgotten
    | AuditOutput
    | HubRestored
    | AgentsChanged
    | AgentStatus
    | AgentProblem
    | DeviceStateChanged
    | Reply
    | TapeOpened
    | TapePiece
    | TapeState
    | TapeTailed
    | ToldFirst
    | TapeDelivered
    | SeatArranged
    | SeatElected
    | SomebodyTypes
    | Ping
    | Pong
)
DownFrame = (
    Welcome
    | LineRefused
    | Resume
    | Ack
    | AuditHeld
    | Watching
    | Fetch
    | Ask
    | Cancel
    | OpenTape
    | TapeCredit
    | TailTape
    | AskFirst
    | TapeTyped
    | TakeSeat
    | SizeSeat
    | ClaimSeat
    | LeaveSeat
    | RedrawTape
    | CloseTape
    | Ping
    | Pong
)
AnyFrame = UpFrame | DownFrame
