"""What an ACP agent says of itself when it is greeted and asked for a session, without Bascule in between."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import Launch, build_argv, child_environment
from bascule.agents.locate import locate

PATIENCE = 120.0
LONGEST_LINE = 32 * 1024 * 1024
TAKES = ("image", "audio", "embeddedContext")


class Greeting(Struct):
    """In the agent's own words, as far as they go into a table."""

    seconds: float  # from its start to its answer
    can: list[str]  # with sessions
    takes: list[str]  # in a prompt, beside text
    modes: list[str]
    models: int
    settings: list[str]  # its other options
    sign_in: list[str]


async def greet(agent: str, environment: Mapping[str, str], folder: Path) -> Greeting:
    """Start the agent as Bascule does, greet it, ask for a session, and end it."""
    spec = Catalogue.load(folder / "none").get(agent)
    found = locate(spec, environment, spec.driver("acp"))
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *build_argv(spec, found, Launch(driver="acp")),
        cwd=folder,
        env=child_environment(spec, environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            who = {"name": "bascule", "version": "0"}
            hello = {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": who}
            greeted = await _ask(process, 0, "initialize", hello)
            seconds = time.monotonic() - begun
            opened = await _ask(process, 1, "session/new", {"cwd": str(folder), "mcpServers": []})
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return _told(seconds, greeted, opened)


async def _ask(process: asyncio.subprocess.Process, number: int, method: str, params: Any) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    process.stdin.write(line.encode() + b"\n")
    async for raw in process.stdout:
        with contextlib.suppress(json.JSONDecodeError):
            said = json.loads(raw)
            if "method" not in said and said.get("id") == number:
                return said.get("result") or {}
    raise EOFError(f"it went before it answered {method}")


def _told(seconds: float, greeted: dict[str, Any], opened: dict[str, Any]) -> Greeting:
    can = greeted.get("agentCapabilities") or {}
    takes = can.get("promptCapabilities") or {}
    options = {one.get("category") or one["id"]: one for one in opened.get("configOptions") or []}
    modes = [one["id"] for one in (opened.get("modes") or {}).get("availableModes", [])]
    models = (opened.get("models") or {}).get("availableModels") or _values(options.get("model", {}))
    return Greeting(
        seconds,
        [*(["load"] if can.get("loadSession") else []), *sorted(can.get("sessionCapabilities") or {})],
        [name for name in TAKES if takes.get(name)],
        modes or [str(one["value"]) for one in _values(options.get("mode", {}))],
        len(models),
        sorted(set(options) - {"mode", "model"}),
        [str(one.get("name") or one.get("id")) for one in greeted.get("authMethods") or []],
    )


def _values(option: dict[str, Any]) -> list[dict[str, Any]]:
    """The choices of an option, which may stand in groups."""
    choices: list[dict[str, Any]] = []
    for one in option.get("options") or []:
        choices += one.get("options", [one])
    return choices
