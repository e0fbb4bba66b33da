"""The working-time fold: how long a session's agent has worked, not counting waits for a person."""

from datetime import datetime

from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord

WORKING = frozenset({Phase.STARTING, Phase.RUNNING, Phase.INTERRUPTED})


def count_working_time(record: SessionRecord, at: str) -> None:
    """Close the stretch of work that is over, or note that one begins; times are read only then."""
    works = record.phase in WORKING and not record.open_requests
    if works == bool(record.working_since):
        return
    if works:
        record.working_since = at
    else:
        record.worked_ms += _milliseconds(record.working_since, at)
        record.working_since = ""


def _milliseconds(since: str, until: str) -> int:
    """Never less than nothing: the clock may have been set back."""
    took = datetime.fromisoformat(until) - datetime.fromisoformat(since)
    return max(0, round(took.total_seconds() * 1000))
