"""The mode of `make split` itself: hub and machine in two processes; the hub sees no file of the machine."""

import os
from pathlib import Path

import pytest
import tests.live
from tests.live import LiveServer
from tests.warm import reason_not_to_hide

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tests.live, "SPLIT", True)


@pytest.mark.usefixtures("split")
async def test_people_reach_a_session_by_a_hub_that_sees_no_file_of_the_machine(short_dir: Path) -> None:
    async with LiveServer(short_dir) as server:
        session = await server.create("think")
        await server.wait_for(session, TurnEnded)
        hub = server.front
        assert (hub is not server, hub.pid != server.pid, hub.url != server.own_url) == (True, True, True)
        assert (server.data / "bascule.db").exists()
        assert (hub.data / "bascule.db").exists()
        if (reason := reason_not_to_hide()) is not None:
            pytest.skip(f"the hub can read the machine's files: {reason}")
        for folder in (server.data, server.config, server.work, server.home):
            assert os.listdir(f"/proc/{hub.pid}/root{folder}") == []
        assert "bascule.db" in os.listdir(f"/proc/{hub.pid}/root{hub.data}")


@pytest.mark.usefixtures("split")
async def test_a_hub_is_ended_when_its_machine_can_t_start(short_dir: Path) -> None:
    server = LiveServer(short_dir)
    (server.config / "config.toml").write_text("nonsense = 1\n")
    with pytest.raises(AssertionError, match="nonsense"):
        await server.start()
    assert server.front.process is not None
    assert server.front.process.returncode is not None
