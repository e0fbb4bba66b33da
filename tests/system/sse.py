"""Reads a session's server-sent events as a browser's EventSource does."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
from tests.live import LiveServer
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Event:
    name: str
    data: Any
    id: int | None


async def stream(
    server: LiveServer, session: str, *, last: int | str | None = None, token: str | None = None, **query: Any
) -> AsyncIterator[Event]:
    """Events of one connection, until it ends. `last` is sent as `Last-Event-ID`."""
    headers = {} if last is None else {"last-event-id": str(last)}
    if token is not None:
        query["token"] = token
    else:
        headers["authorization"] = f"Bearer {server.token}"
    async with (
        httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE) as client,
        client.stream("GET", f"/api/sessions/{session}/stream", headers=headers, params=query) as answer,
    ):
        assert answer.status_code == 200, answer.status_code
        assert answer.headers["content-type"].startswith("text/event-stream")
        name, data, place = "message", "", None
        async for line in answer.aiter_lines():
            field, _, value = line.partition(": ")
            match field:
                case "event":
                    name = value
                case "data":
                    data += value
                case "id":
                    place = int(value.partition("-")[0])
                case "" if data:
                    yield Event(name, json.loads(data), place)
                    name, data, place = "message", "", None
                case _:
                    pass


async def until(server: LiveServer, session: str, *names: str, **options: Any) -> list[Event]:
    """All events until one of each name has come that has a number."""
    found: list[Event] = []
    missing = set(names)
    async with contextlib.aclosing(stream(server, session, **options)) as events:
        async for event in events:
            found.append(event)
            if event.id is not None:
                missing.discard(event.name)
            if not missing:
                return found
    raise AssertionError(f"the stream ended before {missing}: {[one.name for one in found]}")
