"""Share links and exports hide what looks like a key; the owner can keep it."""

import asyncio

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask, entries
from tests.hub.scripted_device import append

from bascule.hub.feed.feed import Delivery
from bascule.hub.live.scrubbed import ScrubbedOutlet
from bascule.model.events import (
    EntryClosed,
    EntryOpened,
    SessionReady,
    SessionStarted,
    TextAppended,
    ToolStarted,
)
from bascule.policy.scrub import HIDDEN
from bascule.store.base import Row

pytestmark = pytest.mark.anyio

KEY = "sk-" + "ant-api03-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
COMMIT = "3f786850e387550fdab836ed7e6dc881de23001b"


async def talk(hub: RunningHub) -> None:
    await hub.session()
    raw = msgspec.Raw(msgspec.json.encode({"command": f"curl -H 'x: {KEY}'"}))
    await append(
        hub.store,
        "s1",
        EntryOpened("e1", "assistant"),
        *(
            TextAppended("e1", "assistant", piece)
            for piece in (f"At {COMMIT} the key is {KEY[:9]}", KEY[9:], " so.\n")
        ),
        EntryClosed("e1"),
        ToolStarted("t1", "Bash", "Bash", "execute", raw),
    )


@pytest.mark.row("S61")
async def test_a_share_link_shows_no_key_in_its_page_its_stream_or_its_export(hub: RunningHub) -> None:
    await talk(hub)
    guest = await hub.trust("guest", "viewer", session_id="s1")
    async with hub.client(guest) as client:
        answers = [
            await client.get(f"/api/sessions/s1{path}")
            for path in ("", "/entries", "/events", "/export?format=json")
        ]
        assert [one.status_code for one in answers] == [200] * 4
    async with hub.socket(guest) as socket:
        opened = await ask(socket, "session:open", sessionId="s1")
        await ask(socket, "session:subscribe", sessionId="s1", after=0)
        head = (await hub.store.session("s1")).seq  # type: ignore[union-attr]
        rows = await entries(socket, head)
        assert [one["seq"] for one in rows] == list(range(1, head + 1))
    told = [*(one.text for one in answers[1:]), str(opened), str(rows)]
    for text in told:
        assert KEY not in text
        assert KEY[9:] not in text
        assert HIDDEN in text
        assert COMMIT in text
    # Those who are trusted see what is there
    async with hub.client(hub.tokens["viewer"]) as client:
        assert KEY in (await client.get("/api/sessions/s1/entries")).text


@pytest.mark.row("S61")
async def test_the_owner_may_keep_it_in_an_export_and_in_a_link(hub: RunningHub) -> None:
    await talk(hub)
    async with hub.client(hub.tokens["owner"]) as owner, hub.client(hub.tokens["operator"]) as operator:
        for form in ("markdown", "html", "json"):
            path = f"/api/sessions/s1/export?format={form}"
            hidden, kept = await owner.get(path), await owner.get(path + "&keepSecrets=true")
            assert KEY not in hidden.text
            assert HIDDEN in hidden.text
            assert KEY in kept.text
            assert (await operator.get(path + "&keepSecrets=true")).status_code == 403
        made = (await owner.post("/api/sessions/s1/share", json={"keepSecrets": True})).json()
    async with hub.client(made["token"]) as client:
        assert KEY in (await client.get("/api/sessions/s1/entries")).text


@pytest.mark.row("S61")
async def test_only_the_owner_gets_a_recording_with_its_keys(hub: RunningHub) -> None:
    await append(hub.store, "t1", SessionStarted("sh", "terminal", "/tmp", "ana"), SessionReady("x"))
    async with hub.client(hub.tokens["operator"]) as operator:
        refused = await operator.get("/api/sessions/t1/cast?keepSecrets=true")
    assert refused.status_code == 403
    assert "Only the owner" in refused.text


class Kept:
    def __init__(self) -> None:
        self.rows: list[Row] = []

    def deliver(self, delivery: Delivery) -> None:
        self.rows += delivery.rows

    async def ready(self) -> None:
        await asyncio.sleep(0)


def row(seq: int, **event: object) -> Row:
    return Row(seq, msgspec.json.encode({"seq": seq, "at": "", "event": event}))


@pytest.mark.parametrize("size", [1, 5, 17, 1000])
def test_a_key_that_comes_letter_by_letter_is_hidden_and_every_row_keeps_its_number(size: int) -> None:
    text = f"one\nkey {KEY} and more\npassword = 'hunter2 and more'\nlast words"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    rows = [
        row(n, type="text_appended", entry_id="e", kind="assistant", text=one)
        for n, one in enumerate(pieces, 1)
    ]
    kept = Kept()
    outlet = ScrubbedOutlet(kept)
    for one in [*rows, row(len(rows) + 1, type="entry_closed", entry_id="e")]:
        outlet.deliver(Delivery("s", [one]))
    assert [one.seq for one in kept.rows] == list(range(1, len(rows) + 2))
    said = "".join(msgspec.json.decode(one.body)["event"].get("text", "") for one in kept.rows)
    assert said == f"one\nkey {HIDDEN} and more\npassword = '{HIDDEN}'\nlast words"


def test_who_joins_in_the_middle_of_a_key_does_not_get_its_rest() -> None:
    kept = Kept()
    ScrubbedOutlet(kept).deliver(
        Delivery(
            "s", [row(9, type="text_appended", entry_id="e", kind="assistant", text=f"{KEY[12:]} is it\n")]
        )
    )
    assert msgspec.json.decode(kept.rows[0].body)["event"]["text"] == f"{HIDDEN} is it\n"
