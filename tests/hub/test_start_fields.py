"""What a caller chooses for a new session reaches the machine, each field of it."""

from typing import Any

import msgspec
import pytest
from msgspec import NODEFAULT
from msgspec.structs import asdict, fields
from tests.hub.running_hub import RunningHub

from bascule.api.bodies import CreateBody
from bascule.model.commands import SentImage, StartSession
from bascule.model.events import CopiedFrom, StartOptions
from bascule.model.starts import StartSignature

pytestmark = pytest.mark.anyio

CHOSEN_BY_THE_HUB = {"session_id", "agent", "cwd", "options"}
FILLED_IN_BY_THE_MACHINE = {"worktree_of"}

OPTIONS: dict[str, Any] = {
    "model": "opus",
    "permission_mode": "deny",
    "mode": "plan",
    "cols": 100,
    "rows": 30,
    "capability": "read_only",
    "skip_permissions": True,
}
OTHERS: dict[str, Any] = {
    "prompt": "Hello",
    "images": (SentImage("image/png", "AAAA"),),
    "client_message_id": "m1",
    "resume": "r1",
    "fork": True,
    "fork_at": "t1",
    "copied_from": CopiedFrom("s0", 7),
    "title": "A title",
    "driver": "terminal",
    "worktree": True,
    "signature": StartSignature(key="k1", at=1, nonce="n" * 16, mac="0" * 64),
}


def test_every_option_and_every_other_field_is_tried_here_with_another_value_than_its_default() -> None:
    command = {field.name for field in fields(StartSession)}
    assert OPTIONS.keys() == {field.name for field in fields(StartOptions)}
    assert OTHERS.keys() == command - CHOSEN_BY_THE_HUB - FILLED_IN_BY_THE_MACHINE
    for field in fields(CreateBody):
        if field.name in OPTIONS | OTHERS:
            assert field.default is not NODEFAULT
            assert (OPTIONS | OTHERS)[field.name] != field.default, field.name


async def test_every_field_of_a_start_reaches_the_machine_as_it_was_sent(hub: RunningHub) -> None:
    body = CreateBody(agent="scripted", cwd="/tmp", **OPTIONS, **OTHERS)
    async with hub.client(hub.tokens["owner"]) as client:
        made = await client.post(
            "/api/sessions",
            content=msgspec.json.encode(body),
            headers={"content-type": "application/json"},
        )
    assert made.status_code == 200, made.text
    [command] = [command for command in hub.device.commands if isinstance(command, StartSession)]
    assert command.options == StartOptions(**OPTIONS)
    assert (command.agent, command.cwd) == ("scripted", "/tmp")
    sent = asdict(command)
    assert {name: sent[name] for name in OTHERS} == OTHERS
