"""One launch, from request to outcome: its record, and the HTTP answer made from it."""

import asyncio
from typing import Any, Literal

from msgspec import Struct, field

from bascule.launch.errors import LaunchError

State = Literal["opening", "launched", "failed"]
# How far the prompt is: given as an argument; being typed; typed and sent; typed, for a person to send.
PromptState = Literal["waiting", "none", "argument", "typing", "sent", "typed", "not_typed"]


class LaunchRecord(Struct, kw_only=True, eq=False):
    id: str
    stem: str  # of the names of its files
    who: str  # asked for it: a page's origin, or a grant's name
    at: str
    agent: str
    mode: str | None
    terminal: str
    rule: str
    temp_file: str
    state: State = "opening"
    prompt: PromptState = "waiting"
    error: LaunchError | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)  # it is launched, or it has failed

    def launched(self, prompt: PromptState) -> None:
        self.state, self.prompt = "launched", prompt
        self.settled.set()

    def failed(self, error: LaunchError) -> None:
        if self.state == "opening":
            self.state, self.error = "failed", error
            self.settled.set()

    def data(self) -> dict[str, Any]:
        """`launched` is true only once the launcher inside the terminal has said so."""
        return {
            "launched": self.state == "launched",
            "confirmed": self.state != "opening",
            "id": self.id,
            "state": self.state,
            "terminal": self.terminal,
            "rule": self.rule,
            "tempFile": self.temp_file,
            "timestamp": self.at,
            "agent": self.agent,
            "mode": self.mode,
            "prompt": self.prompt,
        }


def launch_answer(record: LaunchRecord) -> tuple[int, dict[str, Any]]:
    """Status and body: 202 while nobody knows yet whether a window will open."""
    if record.error is not None:
        return error_answer(record.error, launch=record)
    status = 202 if record.state == "opening" else 200
    return status, {"success": True, "data": record.data()}


def error_answer(error: LaunchError, launch: LaunchRecord | None = None) -> tuple[int, dict[str, Any]]:
    details: dict[str, Any] = dict(error.fields)
    if launch is not None:
        details |= {"id": launch.id, "terminal": launch.terminal, "rule": launch.rule}
    body = {"success": False, "error": error.error, "message": error.message, "details": details}
    return error.status, body
