"""Serves the scripted model on 127.0.0.1, inside a test or as a program."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter, deque
from collections.abc import AsyncGenerator, Generator, Iterator
from typing import Protocol
from uuid import uuid4

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from tests.modelapi import gemini, openai_chat, openai_responses, stream
from tests.modelapi.reply import Reply, choose
from tests.modelapi.request import MessagesRequest
from tests.modelapi.script import Call, Fail
from tests.modelapi.stream import Timed

KEPT_REQUESTS = 200
BYTES_PER_TOKEN = 4
# A reset right behind the words would discard them before the agent has read them.
BEFORE_CUT = 0.2
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class _Wire(Protocol):
    """One vendor's API: how it writes a reply."""

    def events(self, reply: Reply, model: str, tokens: int, /) -> Iterator[Timed]: ...

    def message(self, reply: Reply, model: str, tokens: int, /) -> dict[str, object]: ...


class ScriptedModel:
    """The application, and what it was asked (newest last)."""

    def __init__(self) -> None:
        self.requests: deque[MessagesRequest] = deque(maxlen=KEPT_REQUESTS)
        self.searches: list[str] = []  # what was searched for by this server, as far as it shows
        self._failures: Counter[tuple[str, int]] = Counter()
        self.app = Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count_tokens, methods=["POST"]),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/responses", self._responses, methods=["POST"]),
                Route("/v1beta/models/{call:path}", self._gemini, methods=["POST"]),
                Route("/v1/models", _models, methods=["GET"]),
                Route("/{probe:path}", _probe, methods=["GET", "HEAD"]),
            ]
        )

    async def _messages(self, http: Request) -> Response:
        body = await http.body()
        try:
            request = msgspec.json.decode(body, type=MessagesRequest)
        except msgspec.MsgspecError as error:
            return _failure(400, str(error))
        return self._answer(request, len(body), stream)

    async def _chat(self, http: Request) -> Response:
        body = await http.body()
        return self._answer(openai_chat.read(msgspec.json.decode(body)), len(body), openai_chat)

    async def _responses(self, http: Request) -> Response:
        body = await http.body()
        return self._answer(openai_responses.read(msgspec.json.decode(body)), len(body), openai_responses)

    async def _gemini(self, http: Request) -> Response:
        model, _, verb = http.path_params["call"].rpartition(":")
        body = await http.body()
        if verb == "countTokens":
            return JSONResponse({"totalTokens": len(body) // BYTES_PER_TOKEN})
        request = gemini.read(msgspec.json.decode(body), model, stream=verb == "streamGenerateContent")
        return self._answer(request, len(body), gemini)

    def _answer(self, request: MessagesRequest, size: int, wire: _Wire) -> Response:
        self.requests.append(request)
        reply = choose(request)
        if reply.failure is not None and self._still_fails(request, reply.failure):
            return _failure(reply.failure.status, f"Scripted error {reply.failure.status}")
        self.searches += _searched(request, reply)
        tokens = size // BYTES_PER_TOKEN
        if request.stream:
            return _EventStream(reply, wire.events(reply, request.model, tokens))
        return JSONResponse(wire.message(reply, request.model, tokens), headers=_request_id())

    async def _count_tokens(self, http: Request) -> Response:
        return JSONResponse({"input_tokens": len(await http.body()) // BYTES_PER_TOKEN})

    def _still_fails(self, request: MessagesRequest, fail: Fail) -> bool:
        if fail.times is None:
            return True
        place = (request.prompt(), request.calls_since_prompt())
        self._failures[place] += 1
        return self._failures[place] <= fail.times


class _EventStream(Response):
    """Sends the events one by one, gives up when the agent hangs up, and can break off unfinished."""

    media_type = "text/event-stream"

    def __init__(self, reply: Reply, events: Iterator[Timed]) -> None:
        super().__init__(headers=_request_id())
        del self.headers["content-length"]
        self._reply = reply
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        gone = asyncio.create_task(_disconnect(receive), name="agent hangs up")
        try:
            for event in self._events:
                if event.delay:
                    await asyncio.wait([gone], timeout=event.delay)
                if gone.done():
                    return
                await send({"type": "http.response.body", "body": event.data, "more_body": True})
            if self._reply.cut is not None:
                await asyncio.wait([gone], timeout=BEFORE_CUT)
        finally:
            gone.cancel()
        # Returning without a last body makes the server drop the connection: that is the cut.
        if self._reply.cut is None or self._reply.cut.politely:
            await send({"type": "http.response.body", "body": b""})


def _searched(request: MessagesRequest, reply: Reply) -> list[str]:
    """A search is a request of its own to the vendor's server, or a part of what that server answers."""
    by_itself = [str(one.arguments["query"]) for one in reply.blocks if isinstance(one, Call) and one.hosted]
    return by_itself or ([request.prompt()] if request.searches() else [])


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


async def _models(_http: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "fake-model", "object": "model"}]})


async def _probe(_http: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _failure(status: int, text: str) -> Response:
    kind = ERROR_TYPES.get(status, "api_error")
    return JSONResponse(
        {"type": "error", "error": {"type": kind, "message": text}}, status_code=status, headers=_request_id()
    )


def _request_id() -> dict[str, str]:
    return {"request-id": f"req_{uuid4().hex[:24]}"}


class _Server(uvicorn.Server):
    """A uvicorn server that leaves the process's signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextlib.asynccontextmanager
async def serve(model: ScriptedModel, port: int = 0) -> AsyncGenerator[str]:
    """Serve the model for the length of the block and give its URL."""
    listener = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(
        model.app, log_config=None, log_level="critical", lifespan="off", timeout_graceful_shutdown=1
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="scripted model API")
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()
