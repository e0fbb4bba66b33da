"""Senders at work: receivers that are slow, failing or gone, a command, and a machine without a desktop."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.notify.push_service import receiver
from tests.notify.requests import NOTICE

from bascule.notify import desktop
from bascule.notify.channel_queue import Failure
from bascule.notify.channels import Channel
from bascule.notify.command_notifier import run_command
from bascule.notify.delivery import Sender
from bascule.notify.deny_tokens import read_token
from bascule.notify.http_post import Unreachable, post
from bascule.notify.web_push import PushKeys
from bascule.notify.webhook import Post

pytestmark = pytest.mark.anyio


def request(url: str) -> Post:
    return Post(url, {"content-type": "application/json"}, b"{}")


@pytest.mark.row("X2")
async def test_a_receiver_that_is_slow_failing_or_gone_is_told_apart_in_words() -> None:
    async with receiver() as far:
        assert (await post(request(far.url + "/a?b=c"))).status == 201
        assert (await far.requests.get()).path == "/a?b=c"
        far.answers(429, "slow\x1b down", "Retry-After: 7")
        reply = await post(request(far.url))
        assert (reply.status, reply.words, reply.retry_after) == (429, "slow down", 7.0)
        far.answer = b"220 smtp.example\r\n\r\n"
        with pytest.raises(Unreachable, match="does not speak HTTP"):
            await post(request(far.url))
        far.answer = b""
        with pytest.raises(Unreachable, match="without an answer"):
            await post(request(far.url))
        far.hold = asyncio.Event()
        with pytest.raises(Unreachable, match=r"no answer within 0\.05 seconds"):
            await post(request(far.url), seconds=0.05)
        gone = far.url
        far.hold.set()
    with pytest.raises(Unreachable, match="nothing listens there"):
        await post(request(gone))


async def test_nothing_can_be_added_to_a_request_by_its_address_or_a_header() -> None:
    async with receiver() as far:
        for wrong in (
            request(far.url + "/\x7f"),
            Post(far.url, {"authorization": "Bearer x\r\nhost: evil"}, b""),
            request(far.url + "/ü"),
        ):
            with pytest.raises(Unreachable, match="HTTP does not have"):
                await post(wrong)
        assert far.requests.empty()


async def test_a_redirect_is_not_followed() -> None:
    async with receiver() as far, receiver() as other:
        far.answers(302, "", f"Location: {other.url}")
        assert (await post(request(far.url))).status == 302
        assert other.requests.empty()


async def test_a_command_gets_json_on_stdin_and_its_arguments_as_they_are(tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = "import json,sys; json.dump([sys.argv[2:], json.load(sys.stdin)], open(sys.argv[1], 'w'))"
    await run_command((sys.executable, "-c", script, str(out), "$(id)", "a b"), b'{"title":"x"}')
    assert json.loads(out.read_text()) == [["$(id)", "a b"], {"title": "x"}]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("/nonexistent/program",), r"can't be started \(No such file"),
        ((sys.executable, "-c", "import sys; sys.exit('no route')"), "ended with code 1: no route"),
    ],
)
async def test_a_command_that_fails_says_why(argv: tuple[str, ...], words: str) -> None:
    with pytest.raises(Failure, match=words):
        await run_command(argv, b"{}")


async def test_a_command_that_ends_before_it_reads_says_why_as_well() -> None:
    argv = ("/bin/sh", "-c", "echo no route >&2; exit 1")
    ended = await asyncio.gather(*(run_command(argv, b"{}") for _ in range(20)), return_exceptions=True)
    assert {str(error) for error in ended} == {"/bin/sh ended with code 1: no route"}


async def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(Failure, match="did not end within"):
        await run_command((sys.executable, "-c", "import time; time.sleep(600)"), b"{}", seconds=0.3)


def sender(folder: Path, *argv: str) -> Sender:
    keys = PushKeys(folder, "mailto:ana@example.org", lambda: 1.0)
    return Sender(keys, lambda: "https://b.example", lambda: bytes(32), argv, lambda: 1.0, ())


@pytest.mark.row("X2")
async def test_the_owners_command_gets_a_notice_with_its_command_only_where_that_is_switched_on(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    script = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    sends = sender(tmp_path, sys.executable, "-c", script, str(out))
    channel = Channel(id="command", type="command", name="Command")
    assert "ended well" in await sends.send(channel, NOTICE, may_deny=True)
    told = json.loads(out.read_text())
    token = told.pop("deny")["token"]
    claims = read_token(bytes(32), token)
    assert (claims.channel_id, claims.session_id, claims.request_id) == ("command", "s1", "r1")
    assert told == {
        "tag": "request s1 r1",
        "kind": "approval",
        "title": "Fix the shop: needs approval",
        "body": "claude-code wants to use a tool in shop",
        "at": "2026-01-01T00:00:00Z",
        "settled": False,
        "detail": "",
        "session_id": "s1",
        "request_id": "r1",
        "input_sha256": "0" * 64,
        "project": "/srv/ana/shop",
        "device": "d-laptop",
        "path": "/sessions/s1",
        "url": "https://b.example/sessions/s1",
    }
    await sends.send(replace(channel, show_commands=True), NOTICE, may_deny=False)
    told = json.loads(out.read_text())
    assert (told["detail"], told["deny"]) == ("Bash: rm -r build", None)
    await sends.send(channel, replace(NOTICE, settled=True), may_deny=True)
    told = json.loads(out.read_text())
    assert (told["settled"], told["deny"]) == (True, None)


@pytest.mark.row("R14")
async def test_a_machine_without_a_desktop_or_without_the_package_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    await desktop.show("title", "body", {"End": asyncio.Event().wait}, 30)  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(desktop, "find_spec", lambda name: None)
    assert not desktop.is_available()
    await desktop.show("title", "body", {}, 30)
