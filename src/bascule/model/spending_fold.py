"""The spending fold: what a session cost, and the tokens it took, by day, from what its agent tells."""

from bascule.model.events import TurnEnded, UsageChanged
from bascule.model.records import SessionRecord, Spent

DAY = len("2026-11-17")
MONTH = len("2026-11")


def count_usage(record: SessionRecord, at: str, usage: UsageChanged) -> None:
    """In a turn: the context grows by what is new in it, which is what is paid for in full."""
    if usage.used is not None:
        record.turn_tokens += max(0, usage.used - (record.context_used or 0))
        record.context_used = usage.used
    if usage.size is not None:
        record.context_size = usage.size
    if usage.cost_usd is not None:
        _cost(record, at, usage.cost_usd)


def count_turn(record: SessionRecord, at: str, turn: TurnEnded) -> None:
    """At its end the agent says what a turn took; where it does not, the growth of its context has to do."""
    if turn.cost_usd is not None:
        _cost(record, at, turn.cost_usd)
    usage = turn.usage
    took = (
        usage.input_tokens + usage.output_tokens + usage.cache_write_tokens if usage else record.turn_tokens
    )
    record.turn_tokens = 0
    if took > 0:
        record.tokens += took
        _spend(record, at, tokens=took)


def _cost(record: SessionRecord, at: str, cost_usd: float) -> None:
    """The agent counts the whole session; one that was started again may begin at nothing."""
    before = record.cost_usd or 0.0
    more = cost_usd - before if cost_usd >= before else cost_usd
    record.cost_usd = cost_usd
    if more > 0:
        record.cents += more * 100
        _spend(record, at, cents=more * 100)


def _spend(record: SessionRecord, at: str, *, cents: float = 0.0, tokens: int = 0) -> None:
    """Add to that day's sum; of other months than this one nothing is kept."""
    day = at[:DAY]
    month = {known: spent for known, spent in record.spent.items() if known[:MONTH] == day[:MONTH]}
    so_far = month.get(day, Spent())
    record.spent = {**month, day: Spent(so_far.cents + cents, so_far.tokens + tokens)}
