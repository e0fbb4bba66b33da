"""A session found on the disk, as a device tells of it."""

from bascule.link.found import FoundItem
from bascule.model.codec import timestamp


def found_item(
    session_id: str = "found-1",
    command: str = "claude --resume=0bf6",
    created_at: str = timestamp(0),
    updated_at: str = timestamp(1),
) -> FoundItem:
    return FoundItem(
        session_id=session_id,
        agent="claude-code",
        title="Mend the tide chart",
        cwd="/code/tidechart",
        created_at=created_at,
        updated_at=updated_at,
        messages=4,
        cost_usd=0.25,
        model="opus",
        phase="ended",
        queued=0,
        archived=False,
        terminal=None,
        command=command,
    )
