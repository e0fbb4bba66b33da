"""Names of notifications: what they tell of, and the ways they go."""

from typing import Literal

# approval, question: a request waits; ended: a session failed or ended by itself; finished: a long turn is
# over; limit: a session ends soon by a limit, or a guard rail has stopped its agent; machine: one is away
# while something ran there.
NoticeKind = Literal["approval", "question", "ended", "finished", "limit", "machine"]
WebType = Literal["webhook", "ntfy", "slack", "discord", "telegram", "gotify"]
ChannelType = Literal[
    "push", "command", "desktop", "webhook", "ntfy", "slack", "discord", "telegram", "gotify"
]
DEFAULT_KINDS: tuple[NoticeKind, ...] = ("approval", "question", "ended", "limit", "machine")
