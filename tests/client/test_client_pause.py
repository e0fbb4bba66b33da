"""A paused device starts nothing, through the command's own client, until it is resumed."""

from pathlib import Path

import pytest
from tests.live import LiveServer

from bascule.api.bodies import CreateBody
from bascule.client import Client
from bascule.model.errors import Refused

pytestmark = pytest.mark.anyio


@pytest.mark.row("R20")
async def test_a_paused_device_starts_nothing_until_it_is_resumed(short_dir: Path):
    async with LiveServer(short_dir) as server, await Client.local(server.data) as client:
        await client.pause(True)
        with pytest.raises(Refused, match="paused"):
            await client.start(CreateBody(agent="demo", cwd=str(server.work)))
        await client.pause(False)
        made = await client.start(CreateBody(agent="demo", cwd=str(server.work)))
        assert [one.session_id for one in await client.sessions()] == [made.id]
