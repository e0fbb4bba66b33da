"""Senders at work: receivers that are slow, failing or gone, a command, and a machine without a desktop."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from tests.notify.push_service import receiver

from bascule.notify import desktop
from bascule.notify.channel_queue import Failure
from bascule.notify.command_notifier import run_command
from bascule.notify.http_post import Unreachable, post
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


async def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(Failure, match="did not end within"):
        await run_command((sys.executable, "-c", "import time; time.sleep(600)"), b"{}", seconds=0.3)


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
