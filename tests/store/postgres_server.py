"""A PostgreSQL server for tests: from the machine's packages, run by an ordinary user, on its own socket.

`BASCULE_TEST_POSTGRES` names another one instead: the address of a database whose user may make databases.
"""

import asyncio
import itertools
import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

NOT_HERE = (
    "PostgreSQL is not installed (Debian: apt install postgresql, asyncpg: pip install 'bascule[postgres]'), "
    "and BASCULE_TEST_POSTGRES names none"
)
QUICK = "-c fsync=off -c full_page_writes=off -c shared_buffers=16MB -c max_connections=60"

# Read here: tests begin without any variable of ours.
NAMED = os.environ.get("BASCULE_TEST_POSTGRES")

_numbers = itertools.count(1)


class Server:
    """`admin` is the address of a database from which others are made."""

    def __init__(self, admin: str, control: Callable[[str], None] | None = None) -> None:
        self.admin = admin
        self._control = control

    def stop(self) -> None:
        """As a power cut would."""
        if self._control is None:
            pytest.skip("the server of BASCULE_TEST_POSTGRES is not ours to stop")
        self._control("stop")

    def start(self) -> None:
        assert self._control is not None
        self._control("start")

    def named(self, database: str) -> str:
        parts = urlsplit(self.admin)
        return urlunsplit(parts._replace(path=f"/{database}"))

    @property
    def is_ours(self) -> bool:
        """Whether it runs here, for these tests alone."""
        return self._control is not None

    def new_database(self, template: str = "template0", tablespace: str = "pg_default") -> str:
        """The address of a new database."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        self.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" TABLESPACE "{tablespace}"')
        return self.named(name)

    def script(self, url: str, *scripts: str) -> None:
        """Each of several statements, as the owner."""
        import asyncpg

        async def work() -> None:
            server = await asyncpg.connect(url)
            try:
                for one in scripts:
                    await server.execute(one)
            finally:
                await server.close()

        asyncio.run(work())

    def drop_database(self, url: str) -> None:
        name = urlsplit(url).path.removeprefix("/")
        self.run(f'DROP DATABASE "{name}" WITH (FORCE)')

    def run(self, *statements: str, url: str | None = None) -> list[list[tuple[object, ...]]]:
        """Statements as the owner, each on its own; their rows."""
        import asyncpg

        async def work() -> list[list[tuple[object, ...]]]:
            server = await asyncpg.connect(url or self.admin)
            try:
                return [[tuple(row) for row in await server.fetch(one)] for one in statements]
            finally:
                await server.close()

        loop = asyncio.SelectorEventLoop()
        try:
            return loop.run_until_complete(work())
        finally:
            loop.close()


def programs() -> Path | None:
    """Where initdb and pg_ctl are: Debian does not put them on the PATH."""
    found = shutil.which("pg_ctl")
    here = [Path(found).parent] if found else []
    here += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in here if (folder / "initdb").exists()), None)


def program(name: str) -> str:
    """One that comes with PostgreSQL; the test is skipped without it."""
    found = shutil.which(name) or next(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), None)
    if found is None:
        pytest.skip(f"{name} is not installed; it comes with PostgreSQL")
    return found


def reason_to_skip() -> str | None:
    try:
        import asyncpg  # noqa: F401
    except ModuleNotFoundError:
        return NOT_HERE
    return None if NAMED or programs() else NOT_HERE


@contextmanager
def running_server() -> Iterator[Server]:
    if NAMED:
        yield Server(NAMED)
        return
    bin_folder = programs()
    assert bin_folder is not None
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        owner = _unprivileged()
        data = Path(folder) / "d"
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        as_user = {"user": owner.pw_name, "group": owner.pw_gid, "extra_groups": []} if owner else {}

        def call(*words: str) -> None:
            subprocess.run(
                words, check=True, cwd=folder, stdout=subprocess.DEVNULL, env={"LC_ALL": "C"}, **as_user
            )

        call(
            str(bin_folder / "initdb"), "-D", str(data), "-U", "ana", "--no-sync", "-A", "trust", "-E", "UTF8"
        )
        options = f"{QUICK} -c listen_addresses= -c unix_socket_directories={folder}"
        log = str(Path(folder) / "log")

        def control(what: str) -> None:
            given = ("-o", options, "-l", log) if what == "start" else ("-m", "immediate")
            call(str(bin_folder / "pg_ctl"), "-D", str(data), *given, "-w", what)

        stop = [str(bin_folder / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop"]
        with outlived_by(f"{shlex.join(stop)}; rm -rf {shlex.quote(folder)}", **as_user):
            control("start")
            try:
                yield Server(f"postgresql://ana@/postgres?host={folder}", control)
            finally:
                control("stop")


@contextmanager
def outlived_by(command: str, **as_user: Any) -> Iterator[None]:
    """Run a shell command at the end, also when this process is killed: the pipe to it closes either way."""
    reader, writer = os.pipe()
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", f"read nothing; {command}"],
        stdin=reader,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # a signal to our group is not for it
        **as_user,
    )
    os.close(reader)
    try:
        yield
    finally:
        os.close(writer)
        watcher.wait()


def _unprivileged() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root."""
    return pwd.getpwnam("nobody") if os.getuid() == 0 else None
