"""A hub that is started again: what nobody was told of is told once, and what was told is replaced."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.hub.running_hub import RunningHub, running_hub, until
from tests.hub.scripted_device import append
from tests.notify.push_service import Receiver, receiver
from tests.waiting import PATIENCE

from bascule.model.events import GuardAnswered, GuardAsked, PermissionAnswered
from bascule.notify.channels import Channel
from bascule.notify.quiet_hours import QuietHours

pytestmark = pytest.mark.anyio

GUARD = GuardAsked("g1", "loop", "Bash was called 5 times with the same input.", 5, 5)


@contextlib.asynccontextmanager
async def started(folder: Path) -> AsyncIterator[RunningHub]:
    """A hub that tells at once, and tries again after a long time."""
    async with running_hub(folder) as hub:
        notifier = hub.services.notifier
        notifier.decider.grace = 0.0
        notifier.ladder = (3600.0,)
        yield hub


@pytest.fixture
async def far() -> AsyncIterator[Receiver]:
    async with receiver() as one:
        yield one


def webhook(hub: RunningHub, far: Receiver, name: str = "hook") -> None:
    hub.services.notifier.book.put(Channel(id=name, type="webhook", name=name, url=far.url))


def quiet_now() -> QuietHours:
    hour = time.localtime().tm_hour
    return QuietHours(f"{(hour - 1) % 24:02}:00", f"{(hour + 3) % 24:02}:00")


async def told(far: Receiver) -> dict[str, Any]:
    return (await asyncio.wait_for(far.requests.get(), PATIENCE)).json


@pytest.mark.row("X2")
async def test_a_request_that_quiet_hours_held_back_is_told_once_after_a_restart(
    tmp_path: Path, far: Receiver
) -> None:
    async with started(tmp_path) as hub:
        webhook(hub, far)
        hub.services.notifier.book.set_options(quiet_now(), 10)
        await hub.session()
        await hub.ask_permission("s1")
        await append(hub.store, "s1", GUARD)
        await until(lambda: (hub.services.notifier.decider.next_due() or 0) > hub.services.steady())
    assert far.requests.empty()
    async with started(tmp_path) as hub:  # its quiet hours go on
        await hub.ask_permission("s1", "r2")
        await until(lambda: (hub.services.notifier.decider.next_due() or 0) > hub.services.steady())
        assert far.requests.empty()
        hub.services.notifier.book.set_options(QuietHours(), 10)
    async with started(tmp_path) as hub:
        assert {(await told(far))["requestId"] for _ in range(2)} == {"r1", "g1"}
        assert (await told(far))["url"].endswith("/inbox")  # the third within ten seconds
        await until(lambda: hub.services.notifier.health("hook")[1] == 0)
    async with started(tmp_path) as hub:
        await append(hub.store, "s1", PermissionAnswered("r1", "deny", "Mira"))
        assert (await told(far))["title"] == "Denied by Mira"
        assert far.requests.empty()


@pytest.mark.row("X2")
async def test_what_was_told_before_a_restart_is_not_told_again_and_is_replaced_once_it_is_over(
    tmp_path: Path, far: Receiver
) -> None:
    async with started(tmp_path) as hub:
        webhook(hub, far)
        await hub.session()
        await hub.ask_permission("s1")
        request = await told(far)
        await append(hub.store, "s1", GUARD)
        guard = await told(far)
        await until(lambda: hub.services.notifier.health("hook")[1] == 0)
    async with started(tmp_path) as hub:
        await append(hub.store, "s1", PermissionAnswered("r1", "allow", "Mira"))
        settled = await told(far)
        assert (settled["tag"], settled["state"], settled["title"]) == (
            request["tag"],
            "settled",
            "Allowed by Mira",
        )
        await until(lambda: hub.services.notifier.health("hook")[1] == 0)
        # Decided while nobody listened: the next hub says so
        await hub.services.notifier.close()
        await append(hub.store, "s1", GuardAnswered("g1", "go_on", "Mira"))
    async with started(tmp_path) as hub:
        settled = await told(far)
        assert (settled["tag"], settled["state"], settled["title"]) == (guard["tag"], "settled", "Continued")
        await until(lambda: hub.services.notifier.health("hook")[1] == 0)
    # Nothing is left of either
    async with started(tmp_path) as hub:
        assert await hub.store.query(lambda one: one.execute("SELECT * FROM sent_notices").fetchall()) == []
        assert await hub.store.query(lambda one: one.execute("SELECT * FROM sent_channels").fetchall()) == []
    assert far.requests.empty()


async def test_a_channel_that_failed_before_a_restart_sends_it_and_the_one_that_did_not_does_not(
    tmp_path: Path, far: Receiver
) -> None:
    async with receiver() as failing:
        failing.answers(503, "busy")
        async with started(tmp_path) as hub:
            webhook(hub, far)
            webhook(hub, failing, "failing")
            await hub.session()
            await hub.ask_permission("s1")
            assert (await told(far))["requestId"] == "r1"
            await until(lambda: hub.services.notifier.health("failing")[0].next_try_at is not None)
            await until(lambda: hub.services.notifier.health("hook")[1] == 0)
        assert (await told(failing))["requestId"] == "r1"
        failing.answers(200)
        async with started(tmp_path) as hub:
            assert (await told(failing))["requestId"] == "r1"
            await until(lambda: hub.services.notifier.health("failing")[1] == 0)
        async with started(tmp_path) as hub:
            await append(hub.store, "s1", PermissionAnswered("r1", "deny", "Mira"))
            assert [(await told(one))["title"] for one in (far, failing)] == ["Denied by Mira"] * 2
        assert far.requests.empty()
        assert failing.requests.empty()


async def test_a_request_that_no_channel_was_there_for_is_told_once_there_is_one(
    tmp_path: Path, far: Receiver
) -> None:
    async with started(tmp_path) as hub:
        await hub.session()
        await hub.ask_permission("s1")
        await until(lambda: hub.services.notifier.decider.next_due() is None)
        webhook(hub, far)
    async with started(tmp_path):
        assert (await told(far))["requestId"] == "r1"
