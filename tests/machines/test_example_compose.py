"""The nodes of examples/compose.yaml: their commands run here, with the file's environment."""

import asyncio
import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.ports import kept_port, number
from tests.store.postgres_server import Server
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[2] / "examples" / "compose.yaml"


@pytest.mark.row("X11")
async def test_both_nodes_of_the_compose_file_start_by_their_commands_and_answer(
    short_dir: Path, postgres: Server
) -> None:
    yaml: Any = pytest.importorskip("yaml")
    text = EXAMPLE.read_text().replace("${BASCULE_PUBLIC_URL}", "https://bascule.example:8443")
    services = yaml.safe_load(text)["services"]
    store = await asyncio.to_thread(postgres.new_database)
    async with contextlib.AsyncExitStack() as closing:
        for name in ("node-a", "node-b"):
            port = number(closing.enter_context(kept_port()))
            process = await _started(services[name], short_dir / name, store, port)
            closing.push_async_callback(_ended, process)
            async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(PATIENCE):
                while True:
                    assert process.returncode is None
                    with contextlib.suppress(httpx.TransportError):
                        answer = await http.get(f"http://127.0.0.1:{port}/health")
                        break
                    await asyncio.sleep(0.05)
            assert answer.json()["status"] == "ok"
        count = "SELECT count(*)::int FROM bascule.nodes"
        async with asyncio.timeout(PATIENCE):  # each writes itself down a moment after it answers
            while (await asyncio.to_thread(postgres.run, count, url=store))[0] != [(2,)]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def _started(service: dict[str, Any], home: Path, store: str, port: int) -> asyncio.subprocess.Process:
    """What is in this checkout stands for what the command installs."""
    home.mkdir(mode=0o700)
    shell, flag, script = shlex.split(service["command"])
    given = dict(service["environment"])
    assert urlsplit(given["BASCULE_STORE"]).hostname == "database"
    given["BASCULE_STORE"] = store
    given["BASCULE_NODE_URL"] = f"http://127.0.0.1:{port}"
    given |= {"BASCULE_PORT": str(port), "BASCULE_LAUNCH_ENABLED": "false", "HOME": str(home)}
    given["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run = script.partition(" && ")[2].replace(
        "exec bascule ", f"exec {shlex.quote(sys.executable)} -m bascule "
    )
    return await asyncio.create_subprocess_exec(
        shell, flag, run, env=given, stdout=asyncio.subprocess.DEVNULL
    )


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    await process.wait()
