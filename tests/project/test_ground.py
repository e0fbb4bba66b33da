"""What conftest.py promises every other test: the loop, the borrowed home and the short folder."""

import asyncio
import importlib.util
import os
from pathlib import Path


async def test_async_tests_run_on_asyncio_with_uvloop_where_it_is_installed():
    module = type(asyncio.get_running_loop()).__module__
    assert module.startswith("uvloop") == (importlib.util.find_spec("uvloop") is not None)


def test_the_home_of_a_run_is_empty_of_the_users_own_settings(borrowed_home: Path):
    assert Path.home() == borrowed_home
    assert not [name for name in os.environ if name.startswith(("BASCULE_", "CLAUDE", "XDG_"))]


async def test_a_unix_socket_fits_into_a_short_dir(short_dir: Path):
    assert short_dir.stat().st_mode & 0o777 == 0o700
    server = await asyncio.start_unix_server(lambda _reader, writer: writer.close(), short_dir / "agent.sock")
    server.close()
    await server.wait_closed()
