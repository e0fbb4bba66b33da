"""Nodes of two versions: a newer one brings the database up to date while an older one serves from it."""

import asyncio
from pathlib import Path

import pytest
from tests.live import LIMITS
from tests.machines import older
from tests.machines.cluster import start
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import relay
from tests.machines.scale import FULL
from tests.store.postgres_server import Server

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio

MIGRATIONS = "src/bascule/store/postgres/migrations"
# Nodes that know the database only as it was before one of these. The last is just older than today's.
FROM = 5
ADDED = sorted(path.name for path in (older.ROOT / MIGRATIONS).glob("[0-9]*.sql"))[FROM - 1 :]
ONLY_FULL = pytest.mark.skipif(not FULL, reason="with `make machines`: older versions of the program")


@pytest.mark.row("X11")
@pytest.mark.parametrize("added", [*(pytest.param(one, marks=ONLY_FULL) for one in ADDED[:-1]), ADDED[-1]])
async def test_an_older_node_goes_on_beside_a_newer_one_and_is_refused_once_it_starts_again(
    short_dir: Path, postgres: Server, added: str
) -> None:
    if (name := older.before(f"{MIGRATIONS}/{added}")) is None:
        pytest.skip(f"the history of this checkout does not show who added {added}")
    env = await asyncio.to_thread(older.unpacked, short_dir / "older", name)
    store = {"BASCULE_STORE": await asyncio.to_thread(postgres.new_database)}
    for one in "abl":
        (short_dir / one).mkdir(mode=0o700)
    async with relay() as line:
        config = f'allowed_hosts = ["{line.host}"]\n{LIMITS}'
        async with Hub(short_dir / "a", env={**store, **env}, config=config) as old:
            line.target = old.url
            laptop = Machine(short_dir / "l", "d-laptop")
            await laptop.join(old, line.url)
            async with laptop, Hub(short_dir / "b", env=store, config=config) as new:
                new.token = old.token
                await new.until_device("d-laptop", online=True)
                session = await start(new, laptop, "count 3")
                ended = await new.wait_for(session, TurnEnded)
                await equal_logs(old, laptop, session)
                for node in (old, new):
                    searched = await node.http.get("/api/search", params={"q": "count"})
                    assert searched.status_code == 200, searched.text
                line.target = new.url
                await old.kill()
                await new.until_device("d-laptop", online=True)
                await new.send(session, "count 2")
                await new.wait_for(session, TurnEnded, ended.seq)
                await equal_logs(new, laptop, session)
                code, said = await old.refused()
                assert code != 0
                assert "newer Bascule" in said
