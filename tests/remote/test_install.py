"""`bascule daemon install`: another machine set up over ssh, from nothing to connected and back."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.cli.program import Finished, bascule
from tests.live import LiveServer
from tests.parts import Part
from tests.remote.far_machine import FarMachine
from tests.waiting import MUCH_PATIENCE

from bascule.remote.far_program import FIRST_PORT, PORTS

pytestmark = pytest.mark.anyio


@pytest.fixture
def far(short_dir: Path) -> Iterator[FarMachine]:
    made = FarMachine(short_dir)
    yield made
    made.end()


@pytest.fixture
async def hub(short_dir: Path, far: FarMachine) -> AsyncIterator[LiveServer]:
    async with LiveServer(short_dir, env=far.environ) as running:
        yield running


async def daemon(hub: LiveServer, far: FarMachine, *words: str) -> Finished:
    more = {**far.environ, "BASCULE_DATA_DIR": str(hub.data), "NO_PROXY": "*"}
    return await bascule(hub.data, "daemon", *words, seconds=MUCH_PATIENCE, **more)


async def machines(hub: LiveServer) -> list[tuple[str, bool]]:
    """The grants of machines, and whether each is connected."""
    listed = (await hub.http.get("/api/grants")).json()["grants"]
    return [(one["device"], one["openStreams"] > 0) for one in listed if one["device"]]


async def test_a_machine_behind_ssh_is_installed_joined_and_removed(
    hub: LiveServer, far: FarMachine, part: Part
) -> None:
    (far.home / ".profile").write_text('echo welcome\nPATH="$HOME/tools:$PATH"\n')
    done = await daemon(hub, far, "install", "--through-ssh", "ana@far")
    assert done.code == 0, done.out + done.err
    assert "Connected to" in done.out.splitlines()[-1]
    assert [connected for _, connected in await machines(hub)] == [True]
    # The token came by stdin: it is in no argument of ssh, nor of anything that ssh was told to run.
    with part("the token came by stdin and stands in no argument"):
        note = json.loads((far.state / "hub.json").read_text())
        assert urlsplit(note["url"]).port in range(FIRST_PORT, FIRST_PORT + PORTS)
        assert all(note["token"] not in call for call in far.calls)
        assert not (far.home / ".ssh").exists()
        assert note["may_widen"] is False  # unless the person who installs it there says so
    again = await daemon(hub, far, "install", "--through-ssh", "--hub-may-widen", "ana@far")
    assert again.code == 0, again.out + again.err
    with part("once more, it is there already and its earlier grant is replaced"):
        assert json.loads((far.state / "hub.json").read_text())["may_widen"] is True
        assert "is there already" in again.out
        assert len(await machines(hub)) == 1
    # The hub comes back, and so do its tunnel and its machine.
    await hub.stop()
    await hub.start()
    async with asyncio.timeout(MUCH_PATIENCE):
        while [connected for _, connected in await machines(hub)] != [True]:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    gone = await daemon(hub, far, "remove", "ana@far")
    assert gone.code == 0, gone.out + gone.err
    with part("nothing is left but its sessions"):
        assert await machines(hub) == []
        assert (await hub.http.get("/api/tunnels")).json()["tunnels"] == []
        assert not far.program.exists()
        assert (far.state / "bascule.db").exists()


async def test_what_does_not_start_there_is_rolled_back_and_its_log_is_shown(
    hub: LiveServer, far: FarMachine
) -> None:
    own = far.home / ".config" / "bascule" / "config.toml"
    own.write_text("port = 0\nroots = 5\n")
    done = await daemon(hub, far, "install", "--through-ssh", "far")
    assert done.code == 1
    assert "It does not start there" in done.err
    assert "roots" in done.err
    assert "- undo: remove what was installed" in done.out
    assert not far.program.exists()
    assert not far.state.exists()
    assert not (far.home / ".local" / "bin" / "bascule").is_symlink()
    assert await machines(hub) == []
    assert (await hub.http.get("/api/tunnels")).json()["tunnels"] == []


async def test_an_address_that_the_machine_cannot_reach_is_refused_before_anything_is_copied(
    hub: LiveServer, far: FarMachine
) -> None:
    for words in ((), ("--hub-url", hub.url)):
        done = await daemon(hub, far, "install", "far", *words)
        assert done.code == 2
        assert "--through-ssh" in done.err
    done = await daemon(hub, far, "install", "far", "--hub-url", "http://hub.example")
    assert (done.code, "not encrypted" in done.err) == (2, True)
    done = await daemon(hub, far, "install", "far", "--hub-url", "https://0.0.0.0:9")
    assert (done.code, "does not reach this hub" in done.err) == (1, True)
    assert not far.program.exists()
    (far.folder / "broken").touch()
    done = await daemon(hub, far, "install", "far", "--through-ssh")
    assert (done.code, "Connection refused" in done.err) == (1, True)
