"""The Agent Client Protocol as a driver: bytes in, events out; wishes in, bytes out."""

from collections.abc import Mapping
from typing import Self

import msgspec
from msgspec import Raw

from bascule.drivers.acp.asking import Asking, HostCalls
from bascule.drivers.acp.decode import Decoder
from bascule.drivers.acp.encode import PEN, form_answer, permission_outcome
from bascule.drivers.acp.facts import About
from bascule.drivers.acp.opening import Opening, capabilities_of
from bascule.drivers.acp.state import DriverState
from bascule.drivers.acp.tools import Tools
from bascule.drivers.base import DriverLaunch
from bascule.drivers.outlet import Outlet
from bascule.drivers.reading import LineReader
from bascule.model.errors import RequestWithdrawn
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    TurnEnded,
)
from bascule.model.records import Write

_state = msgspec.json.Decoder(DriverState)


class AcpDriver:
    """One session on a connection that may carry others: `id_base` keeps their request ids apart.

    `capabilities` is what the agent is told we serve; `host_calls` takes the calls for it. Without a host the
    agent reads, writes and runs by itself, and asks for permission to.
    """

    def __init__(
        self,
        launch: DriverLaunch | None = None,
        *,
        id_base: int = 0,
        capabilities: Mapping[str, object] | None = None,
        host_calls: HostCalls | None = None,
        state: DriverState | None = None,
    ) -> None:
        self._state = state or DriverState(
            launch or DriverLaunch(), id_base=id_base, capabilities=Raw(capabilities_of(capabilities))
        )
        self._out = Outlet()
        self._replies: list[Write] = []
        self._settled: list[AnyEvent] = []
        about = About(self._state, self._out)
        tools = Tools(self._state, self._out)
        self._asking = Asking(self._state, self._out, self._replies, tools, host_calls)
        self._opening = Opening(self._state, self._out, self._replies, about)
        self._decoder = Decoder(self._state, self._out, self._opening, self._asking, about, tools)
        self._reader = LineReader(self._out, self._decoder.line, skipping=self._state.skipping)

    @property
    def consumed(self) -> int:
        return self._reader.consumed

    def start(self) -> list[Write]:
        return [self._opening.initialize()]

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        self._reader.feed(chunk)
        return self._out.take()

    def finish(self) -> list[AnyEvent]:
        self._reader.finish()
        self._decoder.finish()
        return self._out.take()

    @property
    def owes(self) -> bool:
        return bool(self._replies)

    def data_to_send(self) -> list[Write]:
        owed = list(self._replies)
        self._replies.clear()
        return owed

    def prompt(self, sent: PromptSent) -> Write:
        return self._opening.prompt(sent)

    def interrupt(self, write_id: str) -> Write:
        """Stop the turn, and answer what it waits for. What was not sent yet never is."""
        state = self._state
        if state.held:
            state.held = []
            if state.turn is None:
                self._settled.append(TurnEnded("interrupted"))
        if state.turn is None:
            return Write(write_id, b"")
        state.cancelling = True
        answers, gone = self._asking.cancel_all()
        self._settled += gone
        return Write(
            write_id, PEN.notification("session/cancel", {"sessionId": state.facts.session_id}) + answers
        )

    def settled(self) -> list[AnyEvent]:
        ended, self._settled = [*self._settled, *self._out.take()], []
        return ended

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        outcome = permission_outcome(asked, answered)
        tool = self._state.tools.get(asked.tool_id or "")
        if tool is not None and answered.decision == "deny":
            tool.denied = True
        return self._answer(asked.request_id, outcome)

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return self._answer(asked.request_id, form_answer(asked, answered))

    def answer_host_call(self, call_id: str, result: Raw | None, error: str = "") -> Write:
        """What the host says to a call it took: a result, or words on why there is none."""
        rpc_id = self._asking.host_waiting.pop(call_id)
        line = PEN.error(rpc_id, -32000, error) if result is None else PEN.result(rpc_id, result)
        return Write(f"reply:{call_id}", line)

    def set_mode(self, write_id: str, mode: str) -> Write:
        if self._state.stage != "ready":
            self._state.launch = msgspec.structs.replace(self._state.launch, mode=mode)
            return Write(write_id, b"")
        return Write(write_id, self._opening.set_mode(mode))

    def set_model(self, write_id: str, model: str) -> Write:
        if self._state.stage in ("new", "opening", "failed"):
            self._state.launch = msgspec.structs.replace(self._state.launch, model=model)
            return Write(write_id, b"")
        return Write(write_id, self._opening.set_model(model))

    def state(self) -> bytes:
        self._state.skipping = self._reader.skipping
        return msgspec.json.encode(self._state)

    @classmethod
    def restore(cls, state: bytes, *, host_calls: HostCalls | None = None) -> Self:
        return cls(state=_state.decode(state), host_calls=host_calls)

    def _answer(self, request_id: str, result: Mapping[str, object]) -> Write:
        request = self._state.requests.get(request_id)
        if request is None:
            raise RequestWithdrawn(request_id, reason="interrupted")
        del self._state.requests[request_id]
        return Write(f"answer:{request_id}", PEN.result(request.rpc_id, result))
