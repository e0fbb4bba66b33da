"""Services for agents: reads and writes files of the session's folder, and runs programs in it."""

import asyncio
import os

import msgspec
from msgspec import Struct

from bascule.daemon.files.confined import ConfinedFolder, FileForbidden
from bascule.daemon.files.file_writing import write_file
from bascule.daemon.files.folder_listing import read_bytes
from bascule.daemon.processes.agent_terminals import AgentTerminals
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.drivers.acp.service_calls import HostCall
from bascule.model.errors import InvalidInput
from bascule.model.settings import Settings

MAX_READ = 10 * 1024 * 1024
MAX_WRITE = 10 * 1024 * 1024


class ReadParams(Struct):
    path: str
    line: int | None = None  # the first one is 1
    limit: int | None = None


class WriteParams(Struct):
    path: str
    content: str


class AgentServices:
    def __init__(self, settings: Settings, sessions: LiveSessions) -> None:
        self._own = (settings.data_dir, settings.config_dir)
        self.terminals = AgentTerminals(sessions.keeper, sessions.by_kept_name, os.environ, self._own)

    async def serve(self, session_id: str, cwd: str, call: HostCall) -> object:
        try:
            match call.method:
                case "fs/read_text_file":
                    asked = msgspec.json.decode(call.params, type=ReadParams)
                    return {"content": await asyncio.to_thread(self._read, cwd, asked)}
                case "fs/write_text_file":
                    params = msgspec.json.decode(call.params, type=WriteParams)
                    await asyncio.to_thread(self._write, cwd, params)
                    return {}
                case _:
                    return await self.terminals.serve(session_id, cwd, call)
        except msgspec.MsgspecError as error:
            raise InvalidInput(f"Invalid params: {error}") from error

    async def release(self, session_id: str) -> None:
        await self.terminals.release_all(session_id)

    def _read(self, cwd: str, asked: ReadParams) -> str:
        with ConfinedFolder(cwd, self._own).file(relative(asked.path, cwd)) as (descriptor, info):
            if info.st_size > MAX_READ:
                raise FileForbidden(f"This file is larger than {MAX_READ // 2**20} MB.")
            data = read_bytes(descriptor, MAX_READ + 1)
        if len(data) > MAX_READ:
            raise FileForbidden(f"This file is larger than {MAX_READ // 2**20} MB.")
        try:
            content = data.decode()
        except UnicodeDecodeError:
            raise FileForbidden("This file is not UTF-8 text.") from None
        return _some_lines(content, asked.line, asked.limit)

    def _write(self, cwd: str, params: WriteParams) -> None:
        data = params.content.encode()
        if len(data) > MAX_WRITE:
            raise FileForbidden(f"That is more than {MAX_WRITE // 2**20} MB.")
        write_file(ConfinedFolder(cwd, self._own), relative(params.path, cwd), data)


def relative(path: str, cwd: str) -> str:
    """The protocol's paths are absolute; only those below the session's folder are served."""
    base = cwd.rstrip("/") + "/"
    if not path.startswith("/") or not path.startswith(base):
        raise FileForbidden(f"{path[:200]} lies outside the session's folder {cwd}.")
    return path[len(base) :]


def _some_lines(content: str, line: int | None, limit: int | None) -> str:
    if line is None and limit is None:
        return content
    first = max(0, (line or 1) - 1)
    lines = content.splitlines(keepends=True)
    return "".join(lines[first:] if limit is None else lines[first : first + max(0, limit)])
