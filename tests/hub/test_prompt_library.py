"""The prompt library over HTTP and the socket: who sees what, versions and conflicts, uses, limits."""

from typing import Any

import httpx
import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask
from tests.parts import Part
from websockets.asyncio.client import ClientConnection

pytestmark = pytest.mark.anyio


def content(text: str = "Look at {{file}}", title: str = "Review", **more: Any) -> dict[str, Any]:
    return {"title": title, "delta": {"ops": [{"insert": text + "\n"}]}, **more}


async def add(client: httpx.AsyncClient, shared: bool = True, **more: Any) -> dict[str, Any]:
    answer = await client.post("/api/prompts", json={"content": content(**more), "shared": shared})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def titles(client: httpx.AsyncClient, **params: Any) -> list[str]:
    listed = (await client.get("/api/prompts", params=params)).json()
    return [one["title"] for one in listed["prompts"]]


@pytest.mark.row("L10")
async def test_a_prompt_is_saved_found_changed_removed_and_restored(hub: RunningHub, part: Part) -> None:
    async with hub.client(hub.tokens["operator"]) as client:
        fields = [{"name": "file", "kind": "file"}]
        made = await add(client, tags=["review"], fields=fields)
        one = f"/api/prompts/{made['id']}"
        with part("it is shown with its text, its fields and their defaults"):
            shown = (await client.get(one)).json()
            assert shown["content"]["delta"] == {"ops": [{"insert": "Look at {{file}}\n"}]}
            assert shown["content"]["fields"] == [
                {"name": "file", "kind": "file", "hint": "", "choices": [], "default": ""}
            ]
            assert (shown["prompt"]["version"], shown["prompt"]["mine"]) == (1, True)
        with part("it is found by its text, with the words that matched"):
            found = (await client.get("/api/prompts", params={"q": "look"})).json()["prompts"]
            assert found[0]["snippet"] == ["Review review ", "Look", " at {{file}} "]
            assert await titles(client, q="heron") == []
        with part("a second version, and the first is still there"):
            changed = await client.post(one, json={"base": 1, "content": content("Look twice")})
            assert changed.json()["version"] == 2
            listed = (await client.get(f"{one}/versions")).json()["versions"]
            assert [(each["version"], each["by"]) for each in listed] == [(2, "operator"), (1, "operator")]
            first = (await client.get(f"{one}/versions/1")).json()
            assert first["delta"]["ops"][0]["insert"] == "Look at {{file}}\n"
        with part("removed, it is on no list but that of the removed, and comes back"):
            assert (await client.delete(one)).json() == {"ok": True}
            assert await titles(client) == []
            assert await titles(client, removed=True) == ["Review"]
            assert (await client.post(f"{one}/restore")).json()["removedAt"] is None
            assert await titles(client) == ["Review"]


async def test_of_two_browsers_the_second_is_told_and_nothing_is_overwritten(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as ana, hub.client(hub.tokens["operator"]) as ben:
        one = f"/api/prompts/{(await add(ana))['id']}"
        assert (await ben.post(one, json={"base": 1, "content": content("Ben")})).status_code == 200
        refused = await ana.post(one, json={"base": 1, "content": content("Ana")})
        assert refused.status_code == 409
        error = refused.json()["error"]
        assert (error["code"], error["version"], error["by"]) == ("PROMPT_CHANGED", 2, "operator")
        assert (await ana.get(one)).json()["content"]["delta"]["ops"] == [{"insert": "Ben\n"}]
        assert (await ana.post(one, json={"base": 2, "content": content("Ana")})).json()["version"] == 3


async def test_a_private_prompt_is_seen_by_its_grant_alone(hub: RunningHub, part: Part) -> None:
    await hub.trust("second", "operator")
    async with (
        hub.client(hub.tokens["owner"]) as owner,
        hub.client(hub.tokens["operator"]) as operator,
        hub.client(hub.tokens["second"]) as second,
        hub.client(hub.tokens["viewer"]) as viewer,
    ):
        made = await add(operator, shared=False, text="secret heron")
        one = f"/api/prompts/{made['id']}"
        with part("nobody else lists, finds, reads, changes or removes it, not even the owner"):
            for other in (owner, second, viewer):
                assert await titles(other) == []
                assert await titles(other, q="heron") == []
                assert (await other.get(one)).status_code == 404
                assert (await other.get(f"{one}/versions/1")).status_code == 404
            for other in (owner, second):
                assert (await other.post(one, json={"base": 1, "content": content()})).status_code == 404
                assert (await other.delete(one)).status_code == 404
                assert (await other.post(f"{one}/mark", json={"shared": True})).status_code == 404
        with part("shared, everybody reads it, and only who made it takes it back"):
            assert (await operator.post(f"{one}/mark", json={"shared": True})).json()["shared"]
            assert await titles(viewer) == ["Review"]
            refused = await second.post(f"{one}/mark", json={"shared": False})
            assert refused.status_code == 403
            assert "Only operator, who made it" in refused.json()["error"]["message"]
            assert (await second.post(f"{one}/mark", json={"favourite": True})).json()["favourite"]
        with part("when its grant is gone, the owner finds it, and it is nobody else's"):
            assert not (await operator.post(f"{one}/mark", json={"shared": False})).json()["shared"]
            await hub.grants.revoke(hub.grant["operator"].id)
            assert await titles(owner) == ["Review"]
            assert await titles(second) == []


async def test_a_viewer_reads_and_changes_nothing(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as owner, hub.client(hub.tokens["viewer"]) as viewer:
        one = f"/api/prompts/{(await add(owner))['id']}"
        assert (await viewer.get(one)).status_code == 200
        for path, body in (
            ("/api/prompts", {"content": content()}),
            (one, {"base": 1, "content": content()}),
            (f"{one}/mark", {"favourite": True}),
            (f"{one}/used", {"version": 1, "kind": "terminal"}),
            ("/api/prompts/import", {"folder": "/tmp"}),
            ("/api/prompts/export", {"folder": "/tmp"}),
        ):
            assert (await viewer.post(path, json=body)).status_code == 403, path


async def test_a_use_names_its_session(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["owner"]) as client:
        one = f"/api/prompts/{(await add(client))['id']}"
        used = {"version": 1, "kind": "session", "sessions": ["s1", "gone"]}
        assert (await client.post(f"{one}/used", json=used)).json() == {"ok": True}
        uses = (await client.get(f"{one}/uses")).json()["uses"]
        assert [(each["sessionId"], each["kind"], each["by"]) for each in uses] == [
            ("gone", "session", "owner"),
            ("s1", "session", "owner"),
        ]


async def test_what_is_no_prompt_is_refused_in_words(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        for wrong, told in (
            (content(title=""), "`title` is empty"),
            ({"title": "x"}, "'delta' is missing"),
            ({"title": "x", "delta": {"ops": [{"retain": 3}]}}, "retain"),
            ({"title": "x", "delta": {"ops": [{"insert": "a"}, {"delete": 1}]}}, "delete"),
            (content(fields=[{"name": "a", "kind": "verse"}]), "verse"),
            (content(text="a" * 600_000, tags=["x"] * 31), "at most 30"),
        ):
            answer = await client.post("/api/prompts", json={"content": wrong})
            assert answer.status_code == 400, wrong
            assert told in answer.json()["error"]["message"]
        halves = {"ops": [{"insert": "a" * 600_000}, {"insert": "b" * 600_000}]}
        long = await client.post("/api/prompts", json={"content": {"title": "x", "delta": halves}})
        assert "1,200,000 characters long" in long.json()["error"]["message"]
        assert await titles(client) == []


async def test_other_pages_are_told_and_a_repeated_add_is_one(hub: RunningHub) -> None:
    async with hub.socket() as one, hub.socket() as other:
        await ask(other, "hello")
        for number in (1, 2):
            made = await ask(one, "prompts:add", number, key="k1", content=content())
        assert made["ok"]["prompt"]["version"] == 1
        told = await pushed(other, "prompts:changed")
        assert told["promptId"] == made["ok"]["prompt"]["id"]
        listed = await ask(one, "prompts:list", 3)
        assert len(listed["ok"]["prompts"]) == 1


async def pushed(socket: ClientConnection, kind: str) -> dict[str, Any]:
    while True:
        message = msgspec.json.decode(await socket.recv())
        if message.get("type") == kind:
            return message
