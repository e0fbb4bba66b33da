"""A small disk for one database of a PostgreSQL of our own, to be filled and emptied by a test."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.postgres_server import Server

SIZE = "32m"
LUMP = bytes(1024 * 1024)


class SmallDisk:
    """`url` is the address of a database whose tables are there; the server's own log is elsewhere."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    def fill(self) -> None:
        with contextlib.suppress(OSError), open(self.folder / "filler", "wb", buffering=0) as file:
            while True:
                file.write(LUMP)
        with contextlib.suppress(OSError), open(self.folder / "filler", "ab", buffering=0) as file:
            while True:
                file.write(LUMP[:4096])

    def empty(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)


@contextlib.contextmanager
def small_disk(server: Server) -> Iterator[SmallDisk]:
    """Skips the test where none can be made."""
    if not server.is_ours:
        pytest.skip("the server of BASCULE_TEST_POSTGRES is elsewhere: no small disk for it")
    if os.getuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = Path(tempfile.mkdtemp(prefix="disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        tables = folder / "tables"
        tables.mkdir()
        shutil.chown(tables, "nobody")
        folder.chmod(0o755)
        name = f"small_{os.getpid()}"
        server.run(f"CREATE TABLESPACE {name} LOCATION '{tables}'")
        made = SmallDisk(folder, server.new_database(tablespace=name))
        try:
            yield made
        finally:
            made.empty()
            server.drop_database(made.url)
            server.run(f"DROP TABLESPACE {name}")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()
