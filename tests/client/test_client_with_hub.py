"""The client against the real hub: the two must mean the same words."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.hub.running_hub import RunningHub, running_hub
from tests.waiting import PATIENCE

from bascule.api.bodies import CreateBody
from bascule.client import Client
from bascule.model.codec import decode_event
from bascule.model.errors import Refused
from bascule.model.events import PermissionRequested, PromptSent, SessionStarted, TextAppended

pytestmark = pytest.mark.anyio


async def owner_of(hub: RunningHub) -> Client:
    return await Client.connect(hub.url, hub.tokens["owner"])


@pytest.mark.row("X12")
async def test_a_session_is_started_followed_spoken_to_and_ended(tmp_path: Path):
    async with running_hub(tmp_path) as hub, await owner_of(hub) as client, asyncio.timeout(PATIENCE):
        wanted = CreateBody(agent="scripted", cwd=str(tmp_path), model="opus", mode="plan", title="T")
        created = await client.start(wanted)
        async with aclosing(client.events(created.id)) as events:
            started = (await anext(events)).event
            assert isinstance(started, SessionStarted)
            assert started.model == "opus"
            sent = await client.send(created.id, "hello")
            assert sent.state == "sent"
            prompt = (await anext(events)).event
            assert isinstance(prompt, PromptSent)
            assert prompt.text == "hello"
            await hub.say(created.id, "a", "b")
            texts = [(await anext(events)).event for _ in range(2)]
            assert [one.text for one in texts if isinstance(one, TextAppended)] == ["a", "b"]
        assert [one.session_id for one in await client.sessions()] == [created.id]
        assert (await client.session(created.id)).agent == "scripted"
        assert (await client.entries(created.id)).seq == 4
        await client.interrupt(created.id)
        await client.set_mode(created.id, "plan")
        await client.set_model(created.id, "opus")
        await client.set_permission_mode(created.id, "deny")
        await client.rename(created.id, "new")
        await client.archive(created.id)
        await client.reconnect(created.id)
        await client.end(created.id)


async def test_a_permission_is_listed_answered_and_refused_the_second_time(tmp_path: Path):
    async with running_hub(tmp_path) as hub, await owner_of(hub) as client, asyncio.timeout(PATIENCE):
        session_id = await hub.session()
        await hub.ask_permission(session_id)
        assert (await client.session(session_id)).open_requests == 1
        (request,) = await client.requests()
        assert isinstance(decode_event(bytes(request.asked)), PermissionRequested)
        await client.answer(session_id, "r1", "allow", input_sha256=request.input_sha256, option="once")
        with pytest.raises(Refused) as caught:
            await client.answer(session_id, "r1", "deny", input_sha256=request.input_sha256, message="no")
        assert caught.value.refusal().code == "ALREADY_ANSWERED"
        await client.answer_question(session_id, "q1", {"Which?": "red"}, input_sha256="0" * 64)


async def test_grants_audit_agents_and_the_panic_button(tmp_path: Path):
    async with running_hub(tmp_path) as hub, await owner_of(hub) as client, asyncio.timeout(PATIENCE):
        made = await client.create_grant("phone", "viewer", days=1)
        assert made.link.endswith(f"/#token={made.token}")
        assert "phone" in [one.name for one in await client.grants()]
        async with await Client.connect(made.link) as phone:
            with pytest.raises(Refused) as caught:
                await phone.kill_all()
        assert caught.value.refusal().code == "FORBIDDEN"
        await client.revoke_grant(made.grant.id)
        with pytest.raises(Refused):
            await Client.connect(made.link)
        assert (await client.agents())[0].name == "scripted"
        page = await client.audit()
        assert page.last == len(page.records) > 0
        assert (await client.verify_audit()).ok
        assert (await client.kill_all()).ended == 2
        await client.ping()


async def test_a_feed_goes_on_after_the_hub_cut_its_connection(tmp_path: Path):
    async with running_hub(tmp_path) as hub, await owner_of(hub) as client, asyncio.timeout(PATIENCE):
        session_id = await hub.session()
        await hub.say(session_id, *(str(n) for n in range(50)))
        seen: list[int] = []
        async with aclosing(client.events(session_id)) as events:
            async for logged in events:
                seen.append(logged.seq)
                if logged.seq == 20:
                    assert client._connection is not None
                    client._connection._socket.transport.abort()
                    await hub.say(session_id, "while away")
                if logged.seq == 52:
                    break
        assert seen == list(range(1, 53))
