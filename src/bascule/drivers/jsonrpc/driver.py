"""The base of the ACP and Codex drivers: reads lines, sends prompts, interrupts turns."""

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc.requests import AgentRequests
from bascule.drivers.jsonrpc.state import RpcState
from bascule.drivers.line_driver import LineDecoder, LineDriver
from bascule.drivers.writes import Replies
from bascule.model.events import AnyEvent, PromptSent, TurnEnded
from bascule.model.records import Write


class Handshake(Protocol):
    """Opens the session, and sends prompts once it is open."""

    def begin(self) -> list[Write]: ...

    def prompt(self, sent: PromptSent) -> Write: ...


StateT = TypeVar("StateT", bound=RpcState[Any, Any])
HandshakeT = TypeVar("HandshakeT", bound=Handshake)
RequestsT = TypeVar("RequestsT", bound=AgentRequests[Any])


class JsonRpcDriver(LineDriver[StateT], ABC, Generic[StateT, HandshakeT, RequestsT]):
    def __init__(
        self,
        state: StateT,
        out: EventBuffer,
        replies: Replies,
        decoder: LineDecoder,
        handshake: HandshakeT,
        requests: RequestsT,
    ) -> None:
        super().__init__(state, out, replies, decoder)
        self._handshake = handshake
        self._requests = requests
        self._settled: list[AnyEvent] = []

    def start(self) -> list[Write]:
        return self._handshake.begin()

    def prompt(self, sent: PromptSent) -> Write:
        return self._handshake.prompt(sent)

    def interrupt(self, write_id: str) -> Write:
        """Stop the turn and cancel the requests it waits for. Prompts not sent yet never are."""
        if self._state.held:
            self._state.held = []
            if not self._is_turning:
                self._settled.append(TurnEnded("interrupted"))
        if not self._is_turning:
            return Write(write_id, b"")
        stop = self._stop_turn()
        answers, gone = self._requests.cancel_all()
        self._settled += gone
        return Write(write_id, stop + answers)

    def settled(self) -> list[AnyEvent]:
        settled, self._settled = [*self._settled, *super().settled()], []
        return settled

    @property
    @abstractmethod
    def _is_turning(self) -> bool:
        """Whether a turn was asked for and has not ended."""

    @abstractmethod
    def _stop_turn(self) -> bytes:
        """Note that a person stops the turn. Returns the line that stops the agent, if it can be sent now."""
