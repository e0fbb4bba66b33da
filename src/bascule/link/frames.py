"""The messages between hub and daemon: docs/link.md lists them, with the words of the wire."""

from typing import Annotated

from msgspec import Meta, Raw, Struct

from bascule.link.comparisons import ComparisonCommand
from bascule.link.files import FilesCommand
from bascule.link.found import FoundCommand
from bascule.link.git import GitCommand
from bascule.link.machine import AgentInfo, AgentState, MachineCommand
from bascule.link.prompts import PromptFilesCommand
from bascule.link.rules import RulesCommand
from bascule.link.starts import StartsCommand, StartsState
from bascule.link.tape import Arrangement, ReadTape
from bascule.link.unlogged import UnloggedCommand
from bascule.model.capability import Capability
from bascule.model.commands import Actor, AnySessionCommand
from bascule.model.errors import Refusal
from bascule.model.events import snake
from bascule.model.fields import Cells, Name

# A number that fits a database and the header of a binary message; no other is taken from the far side.
Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]
TapeNumber = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Agents = Annotated[tuple[AgentInfo, ...], Meta(max_length=1000)]


class Frame(Struct, frozen=True, tag_field="type", tag=snake, omit_defaults=True):
    """The base of every frame."""


PROTOCOL = 1  # the version of the link that this code speaks


class Versions(Struct, frozen=True):
    """The versions of the link that one side can speak, both ends included."""

    lowest: Whole = PROTOCOL
    highest: Whole = PROTOCOL


class DeviceState(Struct, frozen=True, omit_defaults=True):
    """What a device says of itself, and says again when it changes."""

    paused: bool = False
    storage_problem: str | None = None
    roots: tuple[str, ...] = ()
    running: Whole = 0  # sessions whose agent runs
    starts_by_itself: bool | None = None  # after the machine was restarted; None: not known
    starts: StartsState = StartsState()  # from elsewhere: what they need, and which wait
    levels: tuple[Capability, ...] = ("full",)  # that a start may ask for there, the least first


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
    """The answer to `Ask`: a result or a refusal."""

    ask: Whole
    result: Raw = Raw(b"{}")
    refusal: Refusal | None = None


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
    """Whoever asked has left: the answer is not wanted."""

    ask: Whole


# Both ways


class Ping(Frame, frozen=True):
    """`clock` is the sender's time in seconds."""

    n: Whole
    clock: float = 0.0


class Pong(Frame, frozen=True):
    """`pinged` repeats the ping's clock, `clock` is the sender's own: the difference of both can be told."""

    n: Whole
    pinged: float = 0.0
    clock: float = 0.0


# Terminals: one stream of bytes for each `tape`, a number that the hub chooses


class OpenTape(Frame, frozen=True):
    """Send a terminal's output from `after`, or else about its last `tail` bytes; at first up to `credit`."""

    tape: TapeNumber
    session_id: Name
    run: Whole
    credit: Whole
    after: Whole | None = None
    tail: Whole = 0


class TapeOpened(Frame, frozen=True):
    """Output follows from `offset`; a viewer's terminal needs `prelude` before it."""

    tape: TapeNumber
    offset: Whole
    base: Whole
    end: Whole
    over: bool = False
    prelude: bytes = b""


class TapePiece(Frame, frozen=True):
    """Output from `offset` on. A binary message on the wire."""

    tape: TapeNumber
    offset: Whole
    data: bytes


class TapeState(Frame, frozen=True):
    """The tape grew, was trimmed, or has ended, beyond what was sent."""

    tape: TapeNumber
    base: Whole
    end: Whole
    over: bool = False
    refusal: Refusal | None = None  # why it could not be opened


class TapeCredit(Frame, frozen=True):
    """Output up to this offset may be sent."""

    tape: TapeNumber
    upto: Whole


class TailTape(Frame, frozen=True):
    """Where does a viewer begin that wants about the last `limit` bytes? `n` numbers the question."""

    tape: TapeNumber
    n: Whole
    limit: Whole


class TapeTailed(Frame, frozen=True):
    """The answer to `TailTape`."""

    tape: TapeNumber
    n: Whole
    offset: Whole
    prelude: bytes = b""


class AskFirst(Frame, frozen=True):
    """May a viewer's terminal answer what the program asked before it came? `n` numbers the question."""

    tape: TapeNumber
    n: Whole


class ToldFirst(Frame, frozen=True):
    """The answer to `AskFirst`: yes, for one viewer of each run and only just after its start."""

    tape: TapeNumber
    n: Whole
    first: bool


class TapeTyped(Frame, frozen=True):
    """Keys for the program. `n` counts them, from 1; `reply` marks a terminal's own answer to a question.

    `seat` is the viewer's who typed; 0 for a reply.
    """

    tape: TapeNumber
    n: Whole
    data: bytes
    by: Actor
    reply: bool = False
    seat: Whole = 0


class TapeDelivered(Frame, frozen=True):
    """What became of the keys up to `n`: the program has them, or why not."""

    tape: TapeNumber
    n: Whole
    refusal: Refusal | None = None


class TakeSeat(Frame, frozen=True):
    """A viewer of this tape takes a seat; `seat` is a number that the hub chooses for it."""

    tape: TapeNumber
    seat: Whole
    by: Actor
    may_write: bool


class SizeSeat(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole
    cols: Cells
    rows: Cells


class ClaimSeat(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole


class LeaveSeat(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole


class SeatArranged(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole
    arrangement: Arrangement


class SeatElected(Frame, frozen=True):
    """This viewer's terminal answers the program's queries from now on."""

    tape: TapeNumber
    seat: Whole


class SomebodyTypes(Frame, frozen=True):
    """Another viewer than this seat's types."""

    tape: TapeNumber
    seat: Whole
    name: str


class RedrawTape(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole


class CloseTape(Frame, frozen=True):
    tape: TapeNumber


UpFrame = (
    DaemonConnected
    | SessionOutput
    | SessionHead
    | SessionDiverged
    | SessionForgotten
    | AuditOutput
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
