"""Parameters and answers of the operations on notifications."""

from typing import Annotated

from msgspec import Meta

from bascule.api.bodies import Body
from bascule.api.view import View
from bascule.model.fields import Name
from bascule.model.notices import DEFAULT_KINDS, ChannelType, NoticeKind, WebType

Kinds = Annotated[tuple[NoticeKind, ...], Meta(max_length=6)]
Address = Annotated[str, Meta(max_length=2000)]
Secret = Annotated[str, Meta(max_length=500)]
Time = Annotated[str, Meta(max_length=5)]


class NotifyOptions(Body, kw_only=True, frozen=True):
    """Quiet hours as HH:MM in the server's time zone, empty for none; 0 minutes: no finished turns."""

    quiet_start: Time = ""
    quiet_end: Time = ""
    finished_minutes: Annotated[int, Meta(ge=0, le=1440)] = 10


class ChannelNamed(Body, kw_only=True, frozen=True):
    channel_id: Name


class ChannelAdd(Body, kw_only=True, frozen=True):
    """`secret`: signs a webhook, or is the token that ntfy, Telegram or Gotify want.

    `projects`: folders, such as /srv/shop; where there are several machines laptop:/srv/shop, by name or id.
    """

    service: WebType
    name: Name
    url: Address
    secret: Secret = ""
    chat: Annotated[str, Meta(max_length=100)] = ""
    kinds: Kinds = DEFAULT_KINDS
    projects: Annotated[tuple[Address, ...], Meta(max_length=50)] = ()
    show_commands: bool = False


class ChannelChange(ChannelNamed, kw_only=True, frozen=True):
    """What is left out stays as it is. An address or a token is not changed: add another channel."""

    name: Name | None = None
    enabled: bool | None = None
    kinds: Kinds | None = None
    projects: Annotated[tuple[Address, ...], Meta(max_length=50)] | None = None
    show_commands: bool | None = None


class PushSubscribe(Body, kw_only=True, frozen=True):
    """A browser's own subscription, as its push manager gives it."""

    endpoint: Address
    p256dh: Annotated[str, Meta(max_length=200)]
    auth: Annotated[str, Meta(max_length=100)]


class ActiveBody(Body, kw_only=True, frozen=True):
    active: bool


class DenyBody(Body, kw_only=True, frozen=True):
    token: Annotated[str, Meta(min_length=1, max_length=2048)]


class ChannelView(View, frozen=True, kw_only=True):
    """A channel without its secrets, and how it fares. `host` is who is written to; `mine`: of this grant."""

    id: str
    type: ChannelType
    name: str
    host: str
    enabled: bool
    kinds: tuple[NoticeKind, ...]
    projects: tuple[str, ...]
    show_commands: bool
    mine: bool
    has_secret: bool
    problem: str  # what went wrong last, in words; empty since the last success
    delivered_at: str | None = None
    failed_at: str | None = None
    next_try_at: str | None = None
    waiting: int = 0
    given_up: int = 0


class NotificationsView(View, frozen=True, kw_only=True):
    """`push_key`: what browsers subscribe with; empty where the server can't push, as `push_problem` says."""

    channels: list[ChannelView]
    quiet_start: str
    quiet_end: str
    finished_minutes: int
    time_zone: str  # the server's, in which quiet hours are meant
    push_key: str = ""
    push_problem: str = ""
    own_channel: str | None = None  # this grant's own push subscription


class ChannelTested(View, frozen=True, kw_only=True):
    """Whether it was taken, and what the far side said."""

    ok: bool
    message: str
