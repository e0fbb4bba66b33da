"""Webhooks: what each far side gets, signed, and without the command unless it is switched on."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bascule.notify.channels import Channel
from bascule.notify.notice import Notice
from bascule.notify.webhook import Links, Post, post_of, signature

NOTICE = Notice(
    tag="request s1 r1",
    kind="approval",
    title="Fix <the> *shop*: needs approval",
    body="claude-code wants to use a tool in shop",
    detail="Bash: rm -r @everyone",
    at="2026-01-01T00:00:00Z",
    session_id="s1",
    request_id="r1",
    input_sha256="0" * 64,
    project="/srv/ana/shop",
    path="/sessions/s1",
)
LINKS = Links("https://b.example/sessions/s1", "https://b.example/api/notifications/deny", "TOKEN")


def made(kind: Any, url: str, **fields: Any) -> tuple[Post, Any]:
    post = post_of(Channel(id="c", type=kind, name="n", url=url, **fields), NOTICE, LINKS, 1234)
    return post, json.loads(post.body)


def test_a_generic_webhook_is_plain_json_and_signed_over_time_and_body() -> None:
    post, body = made("webhook", "https://x.example/hook?a=1", secret="s3")
    assert (body["kind"], body["state"], body["url"]) == ("approval", "open", LINKS.open)
    assert body["deny"] == {"url": LINKS.deny, "token": "TOKEN"}
    assert post.headers["bascule-timestamp"] == "1234"
    assert post.headers["bascule-signature"] == f"v1={signature('s3', 1234, post.body)}"
    # The receiver's own computation, as the documentation says it
    import hashlib
    import hmac

    assert (
        signature("s3", 1234, post.body) == hmac.new(b"s3", b"1234." + post.body, hashlib.sha256).hexdigest()
    )
    assert "bascule-signature" not in made("webhook", "https://x.example")[0].headers


def test_ntfy_gets_a_button_that_denies_and_none_that_allows() -> None:
    post, body = made("ntfy", "https://ntfy.example/base/my-topic", secret="tk")
    assert (post.url, post.headers["authorization"]) == ("https://ntfy.example/base", "Bearer tk")
    assert (body["topic"], body["click"], body["priority"]) == ("my-topic", LINKS.open, 4)
    (action,) = body["actions"]
    assert (action["label"], action["method"], action["url"]) == ("Deny", "POST", LINKS.deny)
    assert json.loads(action["body"]) == {"token": "TOKEN"}
    assert made("ntfy", "https://ntfy.sh/t")[0].url == "https://ntfy.sh/"


def test_slack_discord_telegram_and_gotify_get_their_own_forms_and_no_token() -> None:
    _, slack = made("slack", "https://hooks.slack.com/services/x")
    assert slack["text"].startswith("*Fix &lt;the&gt; *shop*: needs approval*")
    _, discord = made("discord", "https://discord.com/api/webhooks/1/x")
    assert discord["content"].startswith("**Fix <the\\> \\*shop\\*: needs approval**")
    assert discord["allowed_mentions"] == {"parse": []}
    post, telegram = made("telegram", "https://api.telegram.org", secret="1:AA", chat="@ana")
    assert (post.url, telegram["chat_id"]) == ("https://api.telegram.org/bot1:AA/sendMessage", "@ana")
    post, gotify = made("gotify", "https://g.example/", secret="key")
    assert (post.url, post.headers["x-gotify-key"]) == ("https://g.example/message", "key")
    assert gotify["extras"]["client::notification"]["click"]["url"] == LINKS.open
    assert "TOKEN" not in json.dumps([slack, discord, telegram, gotify])


@pytest.mark.row("X2")
@pytest.mark.parametrize("kind", ["webhook", "ntfy", "slack", "discord", "telegram", "gotify"])
def test_third_parties_see_no_command_unless_it_is_switched_on(kind: Any) -> None:
    more = {"url": "https://x.example/t", "secret": "k", "chat": "1"}
    assert b"rm -r" not in made(kind, **more)[0].body
    assert b"rm -r" in made(kind, **more, show_commands=True)[0].body


def test_what_is_settled_says_so_to_a_webhook() -> None:
    channel = Channel(id="c", type="webhook", name="n", url="https://x.example")
    settled = replace(NOTICE, settled=True, title="Denied by Ana", detail="")
    assert json.loads(post_of(channel, settled, Links(LINKS.open), 1).body)["state"] == "settled"
