"""Extracts a request's credentials: a bearer token, a ticket, or a session's token in query or body."""

from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from bascule.hub.wire.asgi_types import Scope
from bascule.hub.wire.intake import decode_json
from bascule.model.errors import InvalidInput

SECRET_FIELDS = ("token", "ticket")


class Credentials(NamedTuple):
    bearer: str | None
    ticket: str | None
    token: str | None

    @property
    def nothing(self) -> bool:
        return self.bearer is None and self.ticket is None and self.token is None


class _TokenOnly(Struct):
    token: str | None = None


def take_credentials(scope: Scope) -> Credentials:
    """Read them, and take them out of the scope's query: whatever is logged later can't hold them."""
    secrets: dict[str, str] = {}
    query: bytes = scope.get("query_string", b"")
    if any(name.encode() in query for name in SECRET_FIELDS) or b"%" in query:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=None)
        secrets = {name: value for name, value in pairs if name in SECRET_FIELDS}
        rest = [(name, value) for name, value in pairs if name not in SECRET_FIELDS]
        scope["query_string"] = urlencode(rest).encode()
    return Credentials(_bearer(scope["headers"]), secrets.get("ticket"), secrets.get("token"))


def _bearer(headers: list[tuple[bytes, bytes]]) -> str | None:
    values = [value for name, value in headers if name == b"authorization"]
    if not values:
        return None
    if len(values) > 1:
        raise InvalidInput("Send one Authorization header.")
    scheme, _, secret = values[0].decode("latin-1").partition(" ")
    # Another scheme is shown and wrong, which is not the same as nothing shown.
    return secret.strip() if scheme.lower() == "bearer" else ""


def token_in(body: bytes) -> str | None:
    """The chat API's `token` field. What else the body holds is looked at only once it is let in."""
    try:
        return decode_json(body, _TokenOnly).token
    except InvalidInput:
        return None
