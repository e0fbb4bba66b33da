"""Claude Code in a plain terminal, as far as its hooks go: runs them as the real one does, keeps its file.

As seen with 2.1.325: hooks without `asyncRewake` are waited for, and a `block` prolongs the turn; the others
run beside it, and one that ends with 2 wakes it with what it wrote to stderr.
"""

import asyncio
import contextlib
import json
import os
from pathlib import Path
from typing import Any

from tests.daemon.homes import CLAUDE, CLAUDE_ID
from tests.daemon.sleeper import Sleeper, claude_record, note_terminal, speak
from tests.waiting import PATIENCE


class TerminalClaude:
    """`leaf` is the newest record of its conversation."""

    def __init__(self, home: Path, leaf: str = "d2") -> None:
        self.home = home
        self.leaf = leaf
        self.beside: list[asyncio.subprocess.Process] = []
        self.shown: list[str] = []  # what stands in the terminal because of a hook
        self._process = Sleeper()
        self._count = 0
        self.status("idle")

    @property
    def pid(self) -> int:
        return self._process.pid

    def status(self, status: str) -> None:
        note_terminal(self.home, self.pid, status)

    async def aclose(self) -> None:
        """As the real one: its hooks are ended with it."""
        self._process.end()
        for process in self.beside:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.communicate()

    # Its hooks

    def hooks(self, event: str) -> list[dict[str, Any]]:
        settings = json.loads((self.home / ".claude/settings.json").read_text())
        return [hook for group in settings.get("hooks", {}).get(event, []) for hook in group["hooks"]]

    async def fire(self, event: str, *, active: bool = False) -> str | None:
        """Run the hooks of an event. Gives what one of them says instead of letting it stop."""
        told = {"session_id": CLAUDE_ID, "cwd": "/", "hook_event_name": event, "stop_hook_active": active}
        reason = None
        for hook in self.hooks(event):
            process = await self._start(hook["command"], json.dumps(told).encode())
            if hook.get("asyncRewake"):
                self.beside.append(process)
                continue
            out, err = await asyncio.wait_for(process.communicate(), hook["timeout"])
            assert (process.returncode, err) == (0, b"")
            if out:
                answer = json.loads(out)
                assert answer["decision"] == "block"
                reason = answer["reason"]
                self.shown.append(f"Stop hook error: {reason}")
        return reason

    async def _start(self, command: str, told: bytes) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", command, cwd="/", env=self.environment(),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(told)
        process.stdin.close()
        return process

    def environment(self) -> dict[str, str]:
        """What a person's shell may hold, too: a Python of another project, a C locale."""
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C",
            "PYTHONPATH": "/nonexistent",
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "CLAUDE_PID": str(self.pid),
        }

    async def woken(self) -> str:
        """Wait until a hook that runs beside it wakes it, and give what it was told."""
        async with asyncio.timeout(PATIENCE):
            while self.beside:
                ends = {asyncio.create_task(one.wait()): one for one in self.beside}
                done, others = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                for task in others:
                    task.cancel()
                for process in [ends[task] for task in done]:
                    self.beside.remove(process)
                    out, err = await process.communicate()
                    assert out == b""
                    if process.returncode == 2:
                        self.shown.append("Message from Bascule")
                        return err.decode()
                    assert (process.returncode, err) == (0, b"")
        raise AssertionError("all hooks ended, and none woke it")

    # Its file

    def says(self, text: str) -> None:
        self._add("assistant", [{"type": "text", "text": text}])

    def prompted(self, text: str) -> None:
        self._add("user", text)

    def prolonged(self, reason: str) -> None:
        self._add("user", f"Stop hook feedback:\n{reason}", isMeta=True)

    def wakened(self, told: str) -> None:
        before = self.hooks("Stop")[-1]["rewakeMessage"]
        self._add(
            "user",
            "<task-notification>\n<summary>Message from Bascule</summary>\n</task-notification>\n"
            f"<system-reminder>\n{before} {told}\n</system-reminder>",
            origin={"kind": "task-notification", "producer": "session-task"},
        )

    def ends_turn(self) -> None:
        self._add("system", "", subtype="turn_duration", durationMs=5)

    def _add(self, kind: str, content: Any, **more: Any) -> None:
        self._count += 1
        uuid = f"t{self._count}"
        speak(self.home, claude_record(kind, uuid, self.leaf, content, **more))
        self.leaf = uuid

    def file(self) -> str:
        return (self.home / CLAUDE).read_text()
