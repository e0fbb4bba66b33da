"""Commands for starts that wait for approval. A machine takes them from its own server only."""

from msgspec import Struct

from bascule.model.commands import Answer, Command, Done
from bascule.model.fields import Name
from bascule.model.starts import StartDecision, WaitingStart


class StartList(Answer, frozen=True, omit_defaults=False, kw_only=True):
    """`starts` wait, or ended a few minutes ago. `blocked_until` is a time while all are refused."""

    starts: tuple[WaitingStart, ...]
    approval: str
    blocked_until: float | None = None


class ListStarts(Command[StartList], frozen=True, kw_only=True):
    pass


class DecideStart(Command[Done], frozen=True, kw_only=True):
    """`block` denies all that wait, and all that come from elsewhere for a day."""

    start_id: Name
    decision: StartDecision


class WithdrawStart(Command[Done], frozen=True, kw_only=True):
    """The caller does not want it any more. The only one of these that may come from elsewhere."""

    start_id: Name


class BlockStarts(Command[Done], frozen=True, kw_only=True):
    """Refuse every start from elsewhere for a day (True), or take them again."""

    blocked: bool = True


class StartByLink(Answer, frozen=True, omit_defaults=False, kw_only=True):
    """What a one-time link is about."""

    device: str
    start: WaitingStart
    block_seconds: int


class ReadStartLink(Command[StartByLink], frozen=True, kw_only=True):
    """What a one-time link shows. Decides nothing."""

    token: Name


class AnswerStartLink(Command[Done], frozen=True, kw_only=True):
    token: Name
    decision: StartDecision


class StartsState(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What a machine tells its hubs of this."""

    approval: str = ""
    blocked_until: float | None = None
    waiting: tuple[WaitingStart, ...] = ()


StartsCommand = ListStarts | DecideStart | WithdrawStart | BlockStarts | ReadStartLink | AnswerStartLink
