"""The state that JSON-RPC drivers share: ids that never repeat, and bounds on what is remembered."""

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.base import DriverLaunch
from bascule.drivers.jsonrpc.state import MAX_OPEN, RpcState


class Request(Struct):
    rpc_id: Raw
    kind: str = "permission"


class State(RpcState[str, Request], Struct, omit_defaults=True):
    own: str = ""

    def may_forget(self, pending: str) -> bool:
        return pending != "prompt"


def fresh() -> State:
    return State(DriverLaunch("/p", "r"))


def test_ids_begin_above_the_base_and_never_repeat() -> None:
    state = fresh()
    state.id_base = 1000
    assert [state.new_id("a"), state.new_id("b")] == [1001, 1002]
    assert state.pending == {1001: "a", 1002: "b"}
    assert [state.new_write("reply"), state.new_write("list")] == ["reply:r:1", "list:r:2"]


def test_requests_get_the_id_by_which_people_answer_them() -> None:
    state = fresh()
    assert state.remember_request(Request(Raw(b"1"))) == "r:1"
    assert state.remember_request(Request(Raw(b"2"))) == "r:2"
    assert set(state.requests) == {"r:1", "r:2"}


def test_what_is_remembered_is_bounded_and_what_must_stay_stays() -> None:
    state = fresh()
    prompt = state.new_id("prompt")
    for number in range(2 * MAX_OPEN):
        state.new_id("probe")
        state.remember_request(Request(Raw(b"%d" % number)))
    assert prompt in state.pending
    assert len(state.pending) == MAX_OPEN + 1
    assert len(state.requests) == MAX_OPEN


def test_it_survives_its_encoding_with_the_types_of_its_protocol() -> None:
    state = fresh()
    state.own = "mine"
    state.new_id("prompt")
    state.remember_request(Request(Raw(b'"x"'), "question"))
    restored = msgspec.json.decode(msgspec.json.encode(state), type=State)
    assert restored.pending == {1: "prompt"}
    assert (restored.own, restored.requests["r:1"].kind) == ("mine", "question")
    assert msgspec.json.encode(State()) == b"{}"
