"""Answers of the API about grants: who may use this server, by which link and address."""

from typing import Literal

from bascule.api.view import View


class GrantView(View, frozen=True, kw_only=True):
    id: str
    name: str
    role: str
    session_id: str | None = None
    device: str | None = None
    kind: str = ""
    created_at: str = ""
    expires_at: str | None = None
    last_used_at: str | None = None
    open_streams: int = 0  # pages and streams that it has open now


class ServerAddress(View, frozen=True, kw_only=True):
    """Where this server may be reached; only a try shows whether it can."""

    kind: Literal["public", "network", "loopback"]
    url: str


class AddressList(View, frozen=True, kw_only=True):
    addresses: list[ServerAddress]


class LinkMade(View, frozen=True, kw_only=True):
    """A one-time link, with its secret alone for other addresses: `URL/#pair=SECRET`."""

    link: str
    secret: str
    expires_in: float
    addresses: list[ServerAddress]


class LinkRedeemed(View, frozen=True, kw_only=True):
    """The token is shown once, here."""

    token: str
    name: str
    role: str


class GrantList(View, frozen=True, kw_only=True):
    grants: list[GrantView]


class GrantMade(View, frozen=True, kw_only=True):
    """A new grant with its secret, shown only once."""

    grant: GrantView
    token: str
    link: str


class QrCode(View, frozen=True, kw_only=True):
    """A square of dots without its quiet border; in each row `1` is dark."""

    rows: list[str]


class TicketMade(View, frozen=True, kw_only=True):
    ticket: str
    expires_in: float
