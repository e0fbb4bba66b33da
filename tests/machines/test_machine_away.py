"""A machine that is away for a while, in real processes: what people do at the hub meanwhile arrives once."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import Relay
from tests.waiting import PATIENCE

from bascule.model.events import PermissionAnswered, PermissionModeChanged, PermissionRequested, TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture
def hub(hub_behind_line: Hub) -> Hub:
    return hub_behind_line


@pytest.fixture
async def laptop(short_dir: Path, hub: Hub, line: Relay) -> AsyncIterator[Machine]:
    """With an agent that asks, and one that hears; both note in a ledger of their own what they were told."""
    folder = short_dir / "l"
    folder.mkdir(mode=0o700)
    made = Machine(folder, "d-laptop")
    made.add_agent("asks", "asks_many.py", "1", str(folder / "asked"))
    made.add_agent("hears", "records.py", str(folder / "heard"))
    await made.join(hub, line.url)
    async with made:
        await hub.until_device("d-laptop", online=True)
        yield made


async def start(hub: Hub, laptop: Machine, agent: str, prompt: str) -> str:
    body = {"agent": agent, "cwd": str(laptop.work), "prompt": prompt, "device": "d-laptop"}
    answer = await hub.http.post("/api/sessions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def ledger(laptop: Machine, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (laptop.folder / name).read_text().splitlines()]


async def newest_answer(hub: Hub, state: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            answers = (await hub.http.get("/api/answers")).json()["answers"]
            if answers and answers[0]["state"] == state:
                return answers[0]
            await asyncio.sleep(0.02)


async def audit_of(server: Any, request: str, count: int) -> list[dict[str, Any]]:
    """What was written of a request, once it is so much: an answer is called applied before that."""
    async with asyncio.timeout(PATIENCE):
        while True:
            lines = (await server.http.get("/api/audit", params={"limit": 1000})).json()["records"]
            records = [one["entry"]["record"] for one in lines]
            found = [one for one in records if one.get("request_id") == request]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.02)


@pytest.mark.row("R11")
async def test_a_deny_given_while_the_machine_is_dead_reaches_the_agent_once_when_it_is_back(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "asks", "go")
    asked = (await hub.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    await equal_logs(hub, laptop, session)
    await laptop.kill()
    await hub.until_device("d-laptop", online=False)
    answer = await hub.post(
        f"/api/sessions/{session}/permissions",
        requestId=asked.request_id,
        decision="deny",
        inputSha256=asked.input_sha256,
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["waits"] is True
    (waiting,) = (await hub.http.get("/api/requests")).json()["requests"]
    given_at = waiting["waitingAnswer"]["at"]
    assert not (laptop.folder / "asked").read_text()

    await laptop.start()
    await hub.wait_for(session, TurnEnded)
    applied = await newest_answer(hub, "applied")
    assert applied["at"] == given_at
    answers = [one["answer"] for one in ledger(laptop, "asked") if "answer" in one]
    assert [one["response"]["behavior"] for one in answers] == ["deny"]
    rows = [one.event for one in await laptop.log(session)]
    (fact,) = [one for one in rows if isinstance(one, PermissionAnswered)]
    assert (fact.decision, fact.by) == ("deny", "owner")
    await equal_logs(hub, laptop, session)
    at_hub, at_machine = await audit_of(hub, asked.request_id, 2), await audit_of(laptop, asked.request_id, 1)
    assert [f"given at {given_at}" in one["detail"] for one in at_hub] == [False, True]
    assert [one["detail"].partition(";")[0] for one in at_machine] == [f"given at {given_at}"]


@pytest.mark.row("R11")
async def test_a_prompt_sent_just_after_a_cut_arrives_once(hub: Hub, laptop: Machine, line: Relay) -> None:
    session = await start(hub, laptop, "hears", "first")
    first = await hub.wait_for(session, TurnEnded)
    line.cut()
    await hub.until_device("d-laptop", online=False)
    sending = asyncio.create_task(hub.post(f"/api/sessions/{session}/send", text="second"))
    await hub.devices()  # one question later: the hub has heard the other, too
    assert not sending.done()
    line.mend()
    answer = await sending
    assert answer.status_code == 200, answer.text
    await hub.wait_for(session, TurnEnded, first.seq)
    assert [one.count("second") for one in heard(laptop)] == [0, 1]
    await equal_logs(hub, laptop, session)


def heard(laptop: Machine) -> list[str]:
    """The prompts that the agent was given, by its own ledger."""
    return [json.dumps(one) for one in ledger(laptop, "heard") if one.get("heard", {}).get("type") == "user"]


@pytest.mark.row("R11")
async def test_a_prompt_whose_answer_was_cut_off_is_repeated_by_the_hub_and_carried_out_once(
    hub: Hub, laptop: Machine, line: Relay
) -> None:
    session = await start(hub, laptop, "hears", "first")
    first = await hub.wait_for(session, TurnEnded)
    line.hold_answers()
    sending = asyncio.create_task(hub.post(f"/api/sessions/{session}/send", text="second"))
    await laptop.wait_for(session, TurnEnded, first.seq)  # it is done there, and the hub does not know
    assert not sending.done()
    line.cut()
    line.mend()
    answer = await sending
    assert answer.status_code == 200, answer.text
    assert [one.count("second") for one in heard(laptop)] == [0, 1]
    await equal_logs(hub, laptop, session)


@pytest.mark.row("R11")
async def test_a_change_without_a_stored_reply_is_repeated_too_while_the_process_is_the_same(
    hub: Hub, laptop: Machine, line: Relay
) -> None:
    session = await start(hub, laptop, "hears", "first")
    await hub.wait_for(session, TurnEnded)
    line.hold_answers()
    setting = asyncio.create_task(hub.post(f"/api/sessions/{session}/permission-mode", mode="deny"))
    await laptop.wait_for(session, PermissionModeChanged)
    line.cut()
    line.mend()
    answer = await setting
    assert answer.status_code == 200, answer.text
    rows = await equal_logs(hub, laptop, session)
    assert sum(b"permission_mode_changed" in row for row in rows) == 1
