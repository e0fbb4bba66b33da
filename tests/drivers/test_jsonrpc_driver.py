"""The core of the JSON-RPC drivers: each request is handled once, a turn is stopped with all it waits for."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, Raw, Struct

from bascule.drivers.base import DriverLaunch
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc.driver import JsonRpcDriver
from bascule.drivers.jsonrpc.message import read
from bascule.drivers.jsonrpc.message_writer import MessageWriter
from bascule.drivers.jsonrpc.requests import ENDLESS_ID, AgentRequests
from bascule.drivers.jsonrpc.state import RpcState
from bascule.drivers.writes import Replies
from bascule.model.errors import RequestWithdrawn
from bascule.model.events import (
    AnyEvent,
    Note,
    PermissionWithdrawn,
    PromptSent,
    QuestionWithdrawn,
    TurnEnded,
    Unrecognised,
)
from bascule.model.records import Write

WRITER = MessageWriter()


class Request(Struct):
    rpc_id: Raw
    kind: str


class State(RpcState[str, Request], Struct, omit_defaults=True):
    turning: bool = False


class Params(Struct):
    kind: str


class Requests(AgentRequests[Request]):
    def _serve(self, rpc_id: Raw, method: str, params: Raw) -> str | None:
        self._rpc.remember_request(Request(rpc_id, msgspec.json.decode(params, type=Params).kind))
        return None

    def _cancelled(self, request: Request) -> bytes:
        return WRITER.result(request.rpc_id, "cancelled")


class Handshake:
    def __init__(self, state: State) -> None:
        self._state = state

    def begin(self) -> list[Write]:
        return [Write("start:1", b"hello\n")]

    def prompt(self, sent: PromptSent) -> Write:
        self._state.held.append(sent)
        return Write(f"prompt:{sent.prompt_id}", b"")


class Decoder:
    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    def line(self, line: bytes) -> str | None:
        message = read(line)
        assert message.id is not UNSET
        assert message.method is not UNSET
        return self._requests.request(message.id, message.method, message.params)

    def finish(self) -> None:
        pass


class Driver(JsonRpcDriver[State, Handshake, Requests]):
    def __init__(self) -> None:
        state, out, replies = State(DriverLaunch("/p", "r")), EventBuffer(), Replies()
        requests = Requests(state, out, replies, WRITER)
        super().__init__(state, out, replies, Decoder(requests), Handshake(state), requests)

    @property
    def _is_turning(self) -> bool:
        return self._state.turning

    def _stop_turn(self) -> bytes:
        return b'"stop"\n'

    def turn(self) -> None:
        self._state.turning = True

    def answer(self, request_id: str) -> Write:
        return self._requests.answer(request_id, {"ok": True})


def ask(driver: Driver, rpc_id: Any, kind: object = "permission") -> list[AnyEvent]:
    asked = {"id": rpc_id, "method": "ask", "params": {"kind": kind}}
    return driver.receive(json.dumps(asked).encode() + b"\n")


def said(writes: list[Write]) -> list[Any]:
    return [json.loads(line) for write in writes for line in write.data.splitlines()]


def test_an_open_request_is_answered_once() -> None:
    driver = Driver()
    assert ask(driver, "x") == []
    write = driver.answer("r:1")
    assert (write.write_id, said([write])) == (
        "answer:r:1",
        [{"jsonrpc": "2.0", "id": "x", "result": {"ok": True}}],
    )
    with pytest.raises(RequestWithdrawn):
        driver.answer("r:1")


def test_a_repeated_request_stands_once() -> None:
    driver = Driver()
    ask(driver, 1)
    (noted,) = ask(driver, 1)
    assert isinstance(noted, Note)
    assert noted.code == "duplicate_request"
    assert not driver.owes


def test_a_request_that_is_not_understood_is_refused_and_kept() -> None:
    driver = Driver()
    (kept,) = ask(driver, 1, kind=5)
    assert isinstance(kept, Unrecognised)
    assert kept.reason.startswith("broken ask: ")
    (refusal,) = said(driver.data_to_send())
    assert (refusal["id"], refusal["error"]["code"]) == (1, -32602)


def test_a_request_with_an_endless_id_is_kept_and_not_remembered() -> None:
    driver = Driver()
    (kept,) = ask(driver, "x" * 500)
    assert isinstance(kept, Unrecognised)
    assert kept.reason == ENDLESS_ID
    assert not driver.owes


def test_an_interrupt_stops_the_turn_and_cancels_what_it_waits_for() -> None:
    driver = Driver()
    driver.turn()
    ask(driver, 1)
    ask(driver, 2, "question")
    stop, *answers = said([driver.interrupt("i:1")])
    assert stop == "stop"
    assert [(answer["id"], answer["result"]) for answer in answers] == [(1, "cancelled"), (2, "cancelled")]
    assert driver.settled() == [
        PermissionWithdrawn("r:1", "interrupted"),
        QuestionWithdrawn("r:2", "interrupted"),
    ]
    assert driver.settled() == []


def test_an_interrupt_before_the_turn_drops_the_prompts_that_wait() -> None:
    driver = Driver()
    assert driver.start() == [Write("start:1", b"hello\n")]
    driver.prompt(PromptSent("p1", "hello", "ana"))
    assert driver.interrupt("i:1") == Write("i:1", b"")
    assert driver.settled() == [TurnEnded("interrupted")]
    assert driver.interrupt("i:2") == Write("i:2", b"")
    assert driver.settled() == []
