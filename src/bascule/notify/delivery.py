"""Sends one notice by one channel, and says in words what the far side answered."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import asdict

from bascule.notify import desktop
from bascule.notify.channel_queue import Failure
from bascule.notify.channels import Channel
from bascule.notify.command_notifier import run_command
from bascule.notify.deny_tokens import DenyClaims, make_token
from bascule.notify.http_post import Reply, Unreachable, post
from bascule.notify.notice import Notice
from bascule.notify.push_message import push_headers, push_message
from bascule.notify.web_push import PushKeys, encrypt, topic_of, unb64
from bascule.notify.webhook import Links, Post, post_of

DENY_PATH = "/api/notifications/deny"
DESKTOP_SECONDS = 30.0
Poster = Callable[[Post], Awaitable[Reply]]


class Sender:
    """`origin` is the address of this server for people elsewhere; `deny_key` signs tokens to deny."""

    def __init__(
        self,
        keys: PushKeys,
        origin: Callable[[], str],
        deny_key: Callable[[], bytes],
        argv: tuple[str, ...],
        clock: Callable[[], float],
        push_hosts: tuple[str, ...],
        poster: Poster = post,
    ) -> None:
        self._keys, self._origin, self._deny_key = keys, origin, deny_key
        self._argv, self._clock, self._poster = argv, clock, poster
        self._push_hosts = push_hosts

    @property
    def push_key(self) -> str:
        """What browsers subscribe with. Raises `NotSupported` where the server can't push."""
        return self._keys.public

    async def send(self, channel: Channel, notice: Notice, *, may_deny: bool) -> str:
        """What the far side said. Raises `Failure`."""
        token = self._token(channel, notice) if may_deny and notice.may_deny else ""
        match channel.type:
            case "push":
                return await self._push(channel, notice, token)
            case "command":
                await run_command(self._argv, self._json(channel, notice, token))
                return f"{self._argv[0]} ended well."
            case "desktop":
                if not desktop.is_available():
                    raise Failure(desktop.MISSING, final=True)
                words = notice.detail if channel.show_commands and notice.detail else notice.body
                await desktop.show(notice.title, words, {}, DESKTOP_SECONDS)
                return "The desktop was asked to show it."
            case _:
                links = self._links(notice, token)
                return await self._post(channel, post_of(channel, notice, links, int(self._clock())))

    async def _push(self, channel: Channel, notice: Notice, token: str) -> str:
        if not is_push_service(channel.url, self._push_hosts):
            raise Failure(f"{channel.host} is not a push service that notify.push_hosts allows", gone=True)
        plain = push_message(notice, channel.origin, token, show_commands=channel.show_commands)
        body = encrypt(plain, unb64(channel.p256dh), unb64(channel.auth))
        headers = push_headers(notice, topic_of(notice.tag), self._keys.authorization(channel.url))
        return await self._post(channel, Post(channel.url, headers, body))

    async def _post(self, channel: Channel, request: Post) -> str:
        try:
            reply = await self._poster(request)
        except Unreachable as error:
            raise Failure(f"{channel.host}: {error}") from None
        if 200 <= reply.status < 300:
            return f"{channel.host} answered {reply.status}."
        said = f"{channel.host} answered {reply.status}{': ' + reply.words if reply.words else ''}"
        if channel.type == "push" and reply.status in (404, 410):
            raise Failure(f"{said}; the browser has ended its subscription", gone=True)
        again = reply.status in (408, 425, 429) or reply.status >= 500
        raise Failure(said, final=not again, retry_after=reply.retry_after)

    def _token(self, channel: Channel, notice: Notice) -> str:
        claims = DenyClaims(channel.id, notice.session_id, notice.request_id, notice.input_sha256)
        return make_token(self._deny_key(), claims)

    def _links(self, notice: Notice, token: str) -> Links:
        origin = self._origin()
        return Links(origin + notice.path, origin + DENY_PATH if token else "", token)

    def _json(self, channel: Channel, notice: Notice, token: str) -> bytes:
        links = self._links(notice, token)
        shown = asdict(notice) if channel.show_commands else {**asdict(notice), "detail": ""}
        del shown["of"]
        deny = {"url": links.deny, "token": token} if token else None
        return msgspec.json.encode({**shown, "url": links.open, "deny": deny}) + b"\n"


def is_push_service(endpoint: str, hosts: tuple[str, ...]) -> bool:
    """A browser names the address that this server writes to: only those of known push services are taken.

    `*.example` stands for every host below it. A host that is named with its port may also be plain http.
    """
    parts = urlsplit(endpoint)
    name = (parts.hostname or "").lower()
    if parts.username or parts.password or not endpoint.isascii():
        return False
    if parts.netloc.lower() in (host for host in hosts if ":" in host):
        return parts.scheme in ("https", "http")
    if parts.scheme != "https" or parts.port not in (None, 443):
        return False
    return any(name == host or (host.startswith("*.") and name.endswith(host[1:])) for host in hosts)
