"""The Agent Client Protocol as a driver: bytes in, events out; wishes in, bytes out."""

from collections.abc import Mapping
from typing import Self

import msgspec

from bascule.drivers.acp.agent_info import AgentInfoReader
from bascule.drivers.acp.decode import Decoder
from bascule.drivers.acp.encode import WRITER, form_answer, permission_outcome
from bascule.drivers.acp.handshake import AcpHandshake
from bascule.drivers.acp.requests import FAILED, AcpRequests
from bascule.drivers.acp.services import HostCall
from bascule.drivers.acp.state import DriverState, Greeting, Joining
from bascule.drivers.acp.tools import Tools
from bascule.drivers.base import DriverLaunch
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.line_reader import LineReader
from bascule.drivers.listing import Listing
from bascule.drivers.models import check_offered
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

    Without services the agent reads, writes and runs by itself, and asks for permission to.
    """

    def __init__(
        self,
        launch: DriverLaunch | None = None,
        *,
        joining: Joining | None = None,
        state: DriverState | None = None,
    ) -> None:
        self._state = state or _fresh(launch or DriverLaunch(), joining)
        self._out = EventBuffer()
        self._replies: list[Write] = []
        self._settled: list[AnyEvent] = []
        agent_info = AgentInfoReader(self._state, self._out)
        tools = Tools(self._state, self._out)
        self._requests = AcpRequests(self._state, self._out, self._replies, tools)
        self._handshake = AcpHandshake(self._state, self._out, self._replies, agent_info)
        self._decoder = Decoder(self._state, self._out, self._handshake, self._requests, agent_info, tools)
        self._reader = LineReader(self._out, self._decoder.line, skipping=self._state.skipping)

    @property
    def consumed(self) -> int:
        return self._reader.consumed

    @property
    def spoken(self) -> bool:
        return True  # whoever holds the connection sees to it

    def start(self) -> list[Write]:
        return self._handshake.begin()

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        self._reader.feed(chunk)
        return self._out.take()

    def finish(self) -> list[AnyEvent]:
        self._reader.finish()
        self._decoder.finish()
        return self._out.take()

    @property
    def owes(self) -> bool:
        return bool(self._replies) or self._requests.fresh_calls or self._decoder.listing is not None

    def data_to_send(self) -> list[Write]:
        owed = list(self._replies)
        self._replies.clear()
        self._requests.fresh_calls = False
        return owed

    def prompt(self, sent: PromptSent) -> Write:
        return self._handshake.prompt(sent)

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
        answers, gone = self._requests.cancel_all()
        self._settled += gone
        return Write(
            write_id, WRITER.notification("session/cancel", {"sessionId": state.info.session_id}) + answers
        )

    def settled(self) -> list[AnyEvent]:
        ended, self._settled = [*self._settled, *self._out.take()], []
        return ended

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        request = self._state.requests.get(asked.request_id)
        if request is not None and request.call is not None:
            return self._decide_call(asked.request_id, request.call, answered)
        outcome = permission_outcome(asked, answered)
        self._state.denying = self._state.denying or answered.decision == "deny"
        tool = self._state.tools.get(asked.tool_id or "")
        if tool is not None and answered.decision == "deny":
            tool.denied = True
        return self._answer(asked.request_id, outcome)

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return self._answer(asked.request_id, form_answer(asked, answered))

    def _decide_call(self, request_id: str, call_id: str, answered: PermissionAnswered) -> Write:
        """Allowed, the call becomes due, and its reply carries the answer; denied, it is over."""
        del self._state.requests[request_id]
        if answered.decision == "allow":
            self._state.calls[call_id].due = True
            return Write(f"answer:{request_id}", b"")
        call = self._state.calls.pop(call_id)
        told = WRITER.error(call.rpc_id, FAILED, f"Denied: {answered.message or 'the user said no.'}")
        return Write(f"answer:{request_id}", told)

    def calls_due(self) -> list[HostCall]:
        return self._requests.due()

    def answer_call(self, call_id: str, result: object, error: str = "", code: int = FAILED) -> list[Write]:
        """What became of a call: a result, or words on why there is none. Nothing if it is not awaited."""
        call = self._state.calls.pop(call_id, None)
        if call is None:
            return []
        line = WRITER.error(call.rpc_id, code, error[:2000]) if error else WRITER.result(call.rpc_id, result)
        return [Write(f"answer:{call.request_id}" if call.request_id else f"reply:{call_id}", line)]

    # A process that others may share -----------------------------------------------------------------------

    @property
    def greeting(self) -> Greeting | None:
        """What the agent answered to the first words, once it has."""
        info = self._state.info
        if not info.greeted:
            return None
        return Greeting(
            info.version,
            info.images,
            info.loads,
            info.resumes,
            info.closes,
            info.lists,
            info.logins,
        )

    @property
    def refused(self) -> str:
        """Why the agent would not be greeted, in its words; empty if it did not refuse."""
        return self._state.refused

    @property
    def session_id(self) -> str | None:
        """The agent's name for the conversation, once it is known."""
        return self._state.info.session_id or self._state.launch.resume

    @property
    def heard(self) -> int:
        """How many bytes of all that were read were about this session."""
        return self._state.heard

    @property
    def skipping(self) -> bool:
        return self._reader.skipping

    @property
    def works_alone(self) -> bool:
        """A turn runs, and only the agent has anything to do: no person, no tool, no service of ours."""
        state = self._state
        asked = state.requests or state.calls
        return state.turn is not None and not asked and not any(one.begun for one in state.tools.values())

    @property
    def lists(self) -> bool:
        return self._state.info.lists

    def list_conversations(self, write_id: str) -> Write:
        return Write(write_id, self._handshake.list_conversations())

    def take_listing(self) -> Listing | None:
        listing, self._decoder.listing = self._decoder.listing, None
        return listing

    def probe(self, write_id: str) -> Write:
        """Ask whether it is there. Only that an answer comes matters."""
        return Write(write_id, self._handshake.probe())

    def leave(self, write_id: str) -> list[Write]:
        """The session ends while the process goes on: stop its turn, let go of it."""
        cancel = self.interrupt(write_id)
        self._state.leaving = True
        self._settled.clear()
        if self._state.stage != "opening":
            self._handshake.close()
        return [cancel, *self.data_to_send()]

    @property
    def has_left(self) -> bool:
        """The agent has answered everything that this session asked for."""
        waiting = {"open", "prompt", "close"}
        return self._state.leaving and not any(one.asked in waiting for one in self._state.pending.values())

    @property
    def offered_modes(self) -> tuple[str, ...]:
        return self._state.info.modes

    def set_mode(self, write_id: str, mode: str) -> Write:
        if self._state.stage != "ready":
            self._state.launch = msgspec.structs.replace(self._state.launch, mode=mode)
            return Write(write_id, b"")
        return Write(write_id, self._handshake.set_mode(mode))

    def set_model(self, write_id: str, model: str) -> Write:
        check_offered(model, self._state.info.offered)
        if self._state.stage in ("new", "opening", "failed"):
            self._state.launch = msgspec.structs.replace(self._state.launch, model=model)
            return Write(write_id, b"")
        return Write(write_id, self._handshake.set_model(model))

    def state(self) -> bytes:
        self._state.skipping = self._reader.skipping
        return msgspec.json.encode(self._state)

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls(state=_state.decode(state))

    def _answer(self, request_id: str, result: Mapping[str, object]) -> Write:
        request = self._state.requests.get(request_id)
        if request is None:
            raise RequestWithdrawn(request_id, reason="interrupted")
        del self._state.requests[request_id]
        return Write(f"answer:{request_id}", WRITER.result(request.rpc_id, result))


def _fresh(launch: DriverLaunch, joining: Joining | None) -> DriverState:
    state = DriverState(launch)
    if joining is not None:
        state.shared, state.id_base, state.skipping = True, joining.id_base, joining.skipping
        if joining.greeting is not None:
            told, info = joining.greeting, state.info
            info.version, info.images, info.logins = told.version, told.images, told.logins
            info.loads, info.resumes = told.loads, told.resumes
            info.closes, info.lists = told.closes, told.lists
            info.greeted = True
    return state
