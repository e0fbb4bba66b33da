"""The message of a web push: declarative, so that a browser that knows the form needs no worker for it."""

from typing import Any

import msgspec

from bascule.notify.notice import Notice, cut
from bascule.notify.web_push import MAX_PLAIN

DECLARATIVE = 8030  # marks the form: WebKit shows it by itself, other browsers hand it to our worker
SHORTEST = 40


def push_message(notice: Notice, origin: str, deny_token: str, *, show_commands: bool) -> bytes:
    """Worker and browser read the same fields; `data` is for our worker alone."""
    body = f"{notice.body}\n{notice.detail}" if show_commands and notice.detail else notice.body
    while True:
        message = msgspec.json.encode(_fields(notice, body, origin, deny_token))
        if len(message) <= MAX_PLAIN or len(body) <= SHORTEST:
            return message
        body = cut(body, max(SHORTEST, len(body) * 9 // 10))


def _fields(notice: Notice, body: str, origin: str, deny_token: str) -> dict[str, Any]:
    data: dict[str, Any] = {"path": notice.path, "settled": notice.settled}
    actions = [{"action": "open", "title": "Open", "navigate": origin + notice.path}]
    if deny_token and notice.may_deny:
        data["deny"] = deny_token
        # Without a worker there is nobody to deny: the page opens, and asks.
        actions.append({"action": "deny", "title": "Deny", "navigate": origin + notice.path})
    return {
        "web_push": DECLARATIVE,
        "notification": {
            "title": notice.title,
            "body": body,
            "navigate": origin + notice.path,
            "tag": notice.tag,
            "silent": notice.settled,
            "actions": [] if notice.settled else actions,
            "data": data,
        },
    }


def push_headers(notice: Notice, topic: str, authorization: str) -> dict[str, str]:
    urgent = notice.asks and not notice.settled
    return {
        "authorization": authorization,
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        "ttl": "86400" if notice.asks else "3600",
        "urgency": "high" if urgent else "normal",
        "topic": topic,
    }
