"""The ACP driver: the agent's bytes in, events out; commands in, bytes for the agent out."""

from typing import Self

import msgspec

from bascule.drivers.acp.agent_info import AgentInfoReader
from bascule.drivers.acp.conversation_list import Sessions
from bascule.drivers.acp.decode import Decoder
from bascule.drivers.acp.encode import WRITER, form_answer, permission_outcome
from bascule.drivers.acp.handshake import AcpHandshake
from bascule.drivers.acp.requests import FAILED, AcpRequests
from bascule.drivers.acp.service_calls import HostCall
from bascule.drivers.acp.state import DriverState, Greeting, Joining
from bascule.drivers.acp.tools import Tools
from bascule.drivers.base import DriverLaunch
from bascule.drivers.conversation_list import Listing
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc.driver import JsonRpcDriver
from bascule.drivers.models import check_offered
from bascule.drivers.writes import Replies
from bascule.model.events import (
    PermissionAnswered,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write

_state = msgspec.json.Decoder(DriverState)


class AcpDriver(JsonRpcDriver[DriverState, AcpHandshake, AcpRequests]):
    """One session on a connection that may carry others: `id_base` keeps their request ids apart.

    Without services the agent reads files, writes files and runs commands itself, and asks for permission.
    """

    def __init__(
        self,
        launch: DriverLaunch | None = None,
        *,
        joining: Joining | None = None,
        state: DriverState | None = None,
    ) -> None:
        state = state or _fresh(launch or DriverLaunch(), joining)
        out, replies = EventBuffer(), Replies()
        agent_info, tools = AgentInfoReader(state, out), Tools(state, out)
        requests = AcpRequests(state, out, replies, tools)
        handshake = AcpHandshake(state, out, replies, agent_info)
        self._sessions = Sessions()
        decoder = Decoder(state, out, handshake, requests, agent_info, tools, self._sessions)
        super().__init__(state, out, replies, decoder, handshake, requests)

    @property
    def spoken(self) -> bool:
        return True  # the connection waits for the first message itself

    @property
    def owes(self) -> bool:
        return super().owes or self._requests.fresh_calls or self._sessions.has_listing

    def data_to_send(self) -> list[Write]:
        self._requests.fresh_calls = False
        return super().data_to_send()

    @property
    def _is_turning(self) -> bool:
        return self._state.turn is not None

    def _stop_turn(self) -> bytes:
        self._state.cancelling = True
        return WRITER.notification("session/cancel", {"sessionId": self._state.info.session_id})

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        request = self._state.requests.get(asked.request_id)
        if request is not None and request.call is not None:
            return self._decide_call(asked.request_id, request.call, answered)
        outcome = permission_outcome(asked, answered)
        self._state.denying = self._state.denying or answered.decision == "deny"
        tool = self._state.tools.get(asked.tool_id or "")
        if tool is not None and answered.decision == "deny":
            tool.denied = True
        return self._requests.answer(asked.request_id, outcome)

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return self._requests.answer(asked.request_id, form_answer(asked, answered))

    def _decide_call(self, request_id: str, call_id: str, answered: PermissionAnswered) -> Write:
        """Allow a service call, which makes it due and answers it later with its result; or deny it now."""
        del self._state.requests[request_id]
        if answered.decision == "allow":
            self._state.calls[call_id].due = True
            return Write(f"answer:{request_id}", b"")
        call = self._state.calls.pop(call_id)
        error = WRITER.error(call.rpc_id, FAILED, f"Denied: {answered.message or 'the user said no.'}")
        return Write(f"answer:{request_id}", error)

    def calls_due(self) -> list[HostCall]:
        return self._requests.due()

    def answer_call(self, call_id: str, result: object, error: str = "", code: int = FAILED) -> list[Write]:
        """Reply to a service call with its result or an error; nothing if the agent no longer waits."""
        call = self._state.calls.pop(call_id, None)
        if call is None:
            return []
        line = WRITER.error(call.rpc_id, code, error[:2000]) if error else WRITER.result(call.rpc_id, result)
        return [Write(f"answer:{call.request_id}" if call.request_id else f"reply:{call_id}", line)]

    # A process that others may share -----------------------------------------------------------------------

    @property
    def greeting(self) -> Greeting | None:
        """The agent's answer to `initialize`, once it came."""
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
        """Why the agent refused `initialize`, in its words; empty if it did not."""
        return self._state.refused

    @property
    def session_id(self) -> str | None:
        """The agent's id of the session, once it is known."""
        return self._state.info.session_id or self._state.launch.resume

    @property
    def heard(self) -> int:
        """How many of the bytes read were messages of this session."""
        return self._state.heard

    @property
    def skipping(self) -> bool:
        return self._lines.skipping

    @property
    def works_alone(self) -> bool:
        """Whether a turn runs that waits for no person, no tool and no service of ours."""
        state = self._state
        asked = state.requests or state.calls
        return state.turn is not None and not asked and not any(tool.begun for tool in state.tools.values())

    @property
    def lists(self) -> bool:
        return self._state.info.lists

    def list_conversations(self, write_id: str) -> Write:
        return Write(write_id, self._handshake.list_conversations())

    def take_listing(self) -> Listing | None:
        return self._sessions.take()

    def probe(self, write_id: str) -> Write:
        """Check that the agent is alive: any answer will do."""
        return Write(write_id, self._handshake.probe())

    def leave(self, write_id: str) -> list[Write]:
        """End the session while its process goes on: stop the turn and close the session."""
        cancel = self.interrupt(write_id)
        self._state.leaving = True
        self._settled.clear()
        if self._state.stage != "opening":
            self._handshake.close()
        return [cancel, *self.data_to_send()]

    @property
    def has_left(self) -> bool:
        """Whether the agent has answered all that must be answered before this session may go."""
        waiting = {"open", "prompt", "close"}
        return self._state.leaving and not any(
            pending.asked in waiting for pending in self._state.pending.values()
        )

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

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls(state=_state.decode(state))


def _fresh(launch: DriverLaunch, joining: Joining | None) -> DriverState:
    state = DriverState(launch)
    if joining is not None:
        state.shared, state.id_base, state.skipping = True, joining.id_base, joining.skipping
        if joining.greeting is not None:
            greeting, info = joining.greeting, state.info
            info.version, info.images, info.logins = greeting.version, greeting.images, greeting.logins
            info.loads, info.resumes = greeting.loads, greeting.resumes
            info.closes, info.lists = greeting.closes, greeting.lists
            info.greeted = True
    return state
