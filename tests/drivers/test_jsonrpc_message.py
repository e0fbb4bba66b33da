"""JSON-RPC messages as they are read: four kinds, ids of ours and of others, fields kept byte for byte."""

import msgspec
import pytest
from msgspec import UNSET, Raw

from bascule.drivers.jsonrpc import message as rpc


def test_a_request_a_notification_and_an_answer_are_told_apart() -> None:
    request = rpc.read(b'{"id":7,"method":"ask","params":{"a":1}}')
    assert (bytes(request.id), request.method) == (b"7", "ask")  # type: ignore[arg-type]
    assert rpc.read(b'{"method":"news"}').id is UNSET
    answer = rpc.read(b'{"id":1,"result":null}')
    assert (answer.method, answer.error) == (UNSET, UNSET)


def test_broken_utf8_and_broken_json_are_refused() -> None:
    with pytest.raises(UnicodeError):
        rpc.read(b'{"method":"a","params":{"b":"\xff"}}')
    with pytest.raises(msgspec.DecodeError):
        rpc.read(b"{")


@pytest.mark.parametrize(("raw", "number"), [(b"12", 12), (b'"12"', None), (b"1.5", None), (b"null", None)])
def test_only_whole_numbers_are_ids_of_ours(raw: bytes, number: int | None) -> None:
    assert rpc.our_id(Raw(raw)) == number


def test_parts_of_parameters_keep_their_bytes() -> None:
    params = Raw(b'{"sessionId":"s","update":{ "a" : 1 },"requestId":"r","item":[ ]}')
    assert rpc.session_in(params) == "s"
    assert bytes(rpc.update_in(params)) == b'{ "a" : 1 }'
    assert bytes(rpc.request_id_in(params)) == b'"r"'
    assert bytes(rpc.item_in(params)) == b"[ ]"


@pytest.mark.parametrize("params", [b"{}", b'{"sessionId":3}', b"[]"])
def test_parameters_that_name_no_session(params: bytes) -> None:
    assert rpc.session_in(Raw(params)) is None
