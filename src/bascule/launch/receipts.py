"""The socket on which launchers inside terminals report what became of a launch."""

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any, cast

from bascule.launch.private_folder import LaunchFolder, failed, new_stem

MAX_REPORT = 16 * 1024
SECONDS = 10.0

Report = dict[str, Any]


class Receipts:
    """A unix socket in the launch folder, which only this user can reach."""

    def __init__(self, folder: LaunchFolder, on_report: Callable[[Report], None]) -> None:
        self.name = f"report-{new_stem()}.sock"
        self._folder, self._on_report = folder, on_report
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        path = str(self._folder.path / self.name)
        try:
            self._server = await asyncio.start_unix_server(self._reported, path, limit=MAX_REPORT)
            os.chmod(path, 0o600)
        except OSError as error:
            # Most likely its path is too long for a socket: about a hundred bytes.
            raise failed(error) from error

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        self._folder.remove(self.name)

    async def _reported(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                line = await reader.readline()
            report = json.loads(line)
            if isinstance(report, dict):
                self._on_report(cast(Report, report))
        except (TimeoutError, ValueError, OSError):
            return  # whatever connected here was no launcher
        finally:
            writer.close()
