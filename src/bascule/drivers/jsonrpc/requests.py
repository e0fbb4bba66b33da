"""Requests that the agent sends: each is shown to a person, and answered or refused once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic

import msgspec
from msgspec import Raw

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc.message import INVALID_PARAMS, MAX_RPC_ID
from bascule.drivers.jsonrpc.message_writer import MessageWriter
from bascule.drivers.jsonrpc.state import OpenRequest, RequestT, RpcState
from bascule.drivers.writes import Replies
from bascule.model.errors import RequestWithdrawn
from bascule.model.events import Note, PermissionWithdrawn, QuestionWithdrawn
from bascule.model.records import Write

ENDLESS_ID = "a request with an endless id"

Withdrawn = PermissionWithdrawn | QuestionWithdrawn


class AgentRequests(ABC, Generic[RequestT]):
    def __init__(
        self, state: RpcState[Any, RequestT], out: EventBuffer, replies: Replies, writer: MessageWriter
    ) -> None:
        self._rpc = state
        self._out = out
        self._replies = replies
        self._writer = writer

    def request(self, rpc_id: Raw, method: str, params: Raw) -> str | None:
        """Handle one request. Returns what about it was not understood."""
        rpc_id = Raw(bytes(rpc_id))
        if len(bytes(rpc_id)) > MAX_RPC_ID:
            return ENDLESS_ID
        if any(bytes(request.rpc_id) == bytes(rpc_id) for request in self._rpc.requests.values()):
            message = "The agent repeated a request; it stands once."
            self._out.put(Note("duplicate_request", message, "warning"))
            return None
        try:
            return self._serve(rpc_id, method, params)
        except msgspec.MsgspecError as error:
            # The agent waits for an answer: it gets one even when nobody understood the request.
            self._refuse(rpc_id, INVALID_PARAMS, f"Invalid params: {error}")
            return f"broken {method[:80]}: {error}"

    @abstractmethod
    def _serve(self, rpc_id: Raw, method: str, params: Raw) -> str | None:
        """Put the request before a person, or reply to it. Returns what about it was not understood."""

    def open_request(self, request_id: str) -> RequestT:
        request = self._rpc.requests.get(request_id)
        if request is None:
            raise RequestWithdrawn(request_id, reason="interrupted")
        return request

    def answer(self, request_id: str, result: Mapping[str, object]) -> Write:
        """The person's answer to an open request, which is over with it."""
        request = self.open_request(request_id)
        del self._rpc.requests[request_id]
        return Write(f"answer:{request_id}", self._writer.result(request.rpc_id, result))

    def cancel_all(self) -> tuple[bytes, list[Withdrawn]]:
        """The turn is being stopped: answers every open request so, and withdraws it from people."""
        lines = b"".join(self._cancelled(request) for request in self._rpc.requests.values())
        gone = [withdrawn(key, request, "interrupted") for key, request in self._rpc.requests.items()]
        self._rpc.requests.clear()
        return lines, gone

    @abstractmethod
    def _cancelled(self, request: RequestT) -> bytes:
        """The line that tells the agent its request was cancelled; empty if it needs none."""

    def _refuse(self, rpc_id: Raw, code: int, message: str) -> None:
        self._reply(self._writer.error(rpc_id, code, message[:500]))

    def _reply(self, line: bytes) -> None:
        self._replies.add(Write(self._rpc.new_write("reply"), line))


def withdrawn(request_id: str, request: OpenRequest, reason: str) -> Withdrawn:
    event = QuestionWithdrawn if request.kind == "question" else PermissionWithdrawn
    return event(request_id, reason)
