"""Webhooks: the HTTP request that a channel's far side understands, for one notice. Pure."""

import hmac
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from bascule.notify.channels import Channel
from bascule.notify.notice import Notice

SIGNATURE, TIMESTAMP = "bascule-signature", "bascule-timestamp"
PRIORITY = {"approval": 4, "question": 4, "ended": 3, "finished": 3, "limit": 4, "machine": 3}


class Post(Struct, frozen=True):
    url: str
    headers: dict[str, str]
    body: bytes


class Links(Struct, frozen=True):
    """Addresses for the far side; the ones to deny by are empty where nothing can be denied."""

    open: str
    deny: str = ""
    deny_token: str = ""


def post_of(channel: Channel, notice: Notice, links: Links, now: int) -> Post:
    match channel.type:
        case "ntfy":
            return _ntfy(channel, notice, links)
        case "slack":
            return _json(channel.url, {"text": _slack(channel, notice, links)})
        case "discord":
            content = f"**{_plain(notice.title)}**\n{_plain(_words(channel, notice))}\n{links.open}"
            return _json(channel.url, {"content": content[:1900], "allowed_mentions": {"parse": []}})
        case "telegram":
            text = f"{notice.title}\n{_words(channel, notice)}\n{links.open}"
            address = f"{channel.url.rstrip('/')}/bot{channel.secret}/sendMessage"
            return _json(address, {"chat_id": channel.chat, "text": text, "disable_web_page_preview": True})
        case "gotify":
            return _gotify(channel, notice, links)
        case _:
            return _signed(channel, notice, links, now)


def _words(channel: Channel, notice: Notice) -> str:
    return f"{notice.body}\n{notice.detail}" if channel.show_commands and notice.detail else notice.body


def _json(url: str, body: object, **headers: str) -> Post:
    return Post(url, {"content-type": "application/json", **headers}, msgspec.json.encode(body))


def _signed(channel: Channel, notice: Notice, links: Links, now: int) -> Post:
    """Plain JSON. The signature is over the time and the body, so that an old request can't be sent again."""
    body: dict[str, Any] = {
        "tag": notice.tag,
        "kind": notice.kind,
        "state": "settled" if notice.settled else "open",
        "title": notice.title,
        "body": notice.body,
        "sessionId": notice.session_id,
        "requestId": notice.request_id,
        "project": notice.project,
        "device": notice.device,
        "at": notice.at,
        "url": links.open,
    }
    if channel.show_commands and notice.detail:
        body["detail"] = notice.detail
    if links.deny_token:
        body["deny"] = {"url": links.deny, "token": links.deny_token}
    post = _json(channel.url, body)
    if channel.secret:
        post.headers[TIMESTAMP] = str(now)
        post.headers[SIGNATURE] = f"v1={signature(channel.secret, now, post.body)}"
    return post


def signature(secret: str, now: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{now}.".encode() + body, sha256).hexdigest()


def _ntfy(channel: Channel, notice: Notice, links: Links) -> Post:
    parts = urlsplit(channel.url)
    above, _, topic = parts.path.strip("/").rpartition("/")
    body: dict[str, Any] = {
        "topic": topic,
        "title": notice.title,
        "message": _words(channel, notice),
        "priority": PRIORITY[notice.kind],
        "click": links.open,
    }
    if links.deny_token:
        deny = {
            "action": "http",
            "label": "Deny",
            "url": links.deny,
            "method": "POST",
            "headers": {"Content-Type": "application/json"},
            "body": msgspec.json.encode({"token": links.deny_token}).decode(),
            "clear": True,
        }
        body["actions"] = [deny]
    root = urlunsplit((parts.scheme, parts.netloc, f"/{above}" if above else "/", "", ""))
    return _json(root, body, **({"authorization": f"Bearer {channel.secret}"} if channel.secret else {}))


def _gotify(channel: Channel, notice: Notice, links: Links) -> Post:
    body = {
        "title": notice.title,
        "message": _words(channel, notice),
        "priority": 2 * PRIORITY[notice.kind],
        "extras": {"client::notification": {"click": {"url": links.open}}},
    }
    return _json(f"{channel.url.rstrip('/')}/message", body, **{"x-gotify-key": channel.secret})


def _slack(channel: Channel, notice: Notice, links: Links) -> str:
    title, words = (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        for text in (notice.title, _words(channel, notice))
    )
    return f"*{title}*\n{words}\n<{links.open}|Open>"


def _plain(text: str) -> str:
    """No markup of Discord's, and nobody is mentioned."""
    return "".join(f"\\{letter}" if letter in "\\*_~`|>#[]()@" else letter for letter in text)
