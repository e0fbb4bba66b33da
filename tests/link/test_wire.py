"""Frames as JSON and binary messages: every frame comes back as it was, and broken input is named."""

import json
import os
import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.link.conversation import ANA
from tests.link.frame_strategies import COMMANDS, DOWN, UP, frames, made

from bascule.daemon.asks.idempotency import body_sha256
from bascule.link import wire
from bascule.link.frames import Ask, Ping, Reply, SessionOutput
from bascule.link.tape_frames import TapePiece
from bascule.link.wire import (
    HEADER,
    MAX_FRAME,
    MAX_MESSAGE,
    MAX_STREAMS,
    Joining,
    Kind,
    LineError,
    UnknownFrame,
)
from bascule.link.wire_names import ON_THE_WIRE, UnknownAsk
from bascule.model.commands import AnswerPermission, AnswerQuestion, Interrupt, RenameSession, SendPrompt

WAYS = [("up", one) for one in UP if one is not TapePiece] + [("down", one) for one in DOWN]


def read(message: bytes | str, way: wire.Way = "up") -> object:
    return wire.read(message, way, Joining())


def refused(message: bytes | str, way: wire.Way = "up") -> str:
    with pytest.raises(LineError) as raised:
        read(message, way)
    assert len(raised.value.message) < 400
    return raised.value.code


@pytest.mark.row("REL-40")
@pytest.mark.parametrize(("way", "frame"), WAYS)
def test_every_frame_comes_back_as_it_was(way: wire.Way, frame: type[msgspec.Struct]):
    @settings(max_examples=10)
    @given(frames(frame))
    def comes_back(one: Any) -> None:
        data = wire.encode(one)
        assert json.loads(data)["type"] == wire.word(frame)
        again = wire.decode(data, way)
        assert type(again) is frame
        assert again == one

    comes_back()


@pytest.mark.row("REL-40")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_comes_back_as_it_was_with_the_same_hash(command: type[msgspec.Struct]):
    @settings(max_examples=5)
    @given(made(command))
    def comes_back(one: Any) -> None:
        again = wire.decode(wire.encode(Ask(1, one, ANA)), "down")
        assert isinstance(again, Ask)
        assert type(again.command) is command
        assert again.command == one
        assert body_sha256(again.command) == body_sha256(one)

    comes_back()


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**62), st.binary(max_size=100))
def test_a_tape_piece_is_a_binary_message(tape: int, offset: int, data: bytes):
    assert read(wire.tape_message(tape, offset, data)) == TapePiece(tape, offset, data)


@pytest.mark.parametrize(
    "sent",
    [
        SendPrompt(session_id="s1", text="hi"),
        Interrupt(session_id="s1"),
        AnswerPermission(session_id="s1", request_id="r1", decision="allow"),
        AnswerQuestion(session_id="s1", request_id="r1"),
    ],
)
def test_a_command_has_the_word_of_the_wire_only_on_the_wire(sent: Any):
    on_wire = json.loads(wire.encode(Ask(1, sent, ANA)))["command"]
    assert on_wire["type"] == ON_THE_WIRE[type(sent)]
    assert {**on_wire, "type": type(sent).__struct_config__.tag} == json.loads(msgspec.json.encode(sent))


def test_the_tag_of_a_command_may_stand_anywhere():
    command = b'{"text":"hi","sessionId":"s1","type":"send_input"}'
    data = b'{"ask":3,"by":{"name":"ana"},"command":%s,"type":"ask"}' % command
    asked = wire.decode(data, "down")
    assert isinstance(asked, Ask)
    assert asked.command == SendPrompt(session_id="s1", text="hi")
    assert type(asked.command) is SendPrompt


def test_a_frame_of_a_newer_version_is_unknown_and_no_error():
    assert read('{"type":"moon_phase","x":[1,{}]}') == UnknownFrame("moon_phase")
    assert read(json.dumps({"type": "x" * 9000})) == UnknownFrame("x" * 80)


def test_a_field_of_a_newer_version_is_ignored():
    assert read('{"type":"ping","n":4,"mood":"fine"}') == Ping(4)


def test_a_command_of_a_newer_version_names_its_ask():
    data = '{"type":"ask","ask":9,"command":{"type":"dance","steps":3},"by":{"name":"ana"}}'
    assert read(data, "down") == UnknownAsk(9, "dance", "There is no such command.")


def test_a_command_with_a_field_of_a_newer_version_names_its_ask_and_the_field():
    command = {"type": "rename_session", "sessionId": "s1", "title": "t", "colour": "red"}
    data = json.dumps({"type": "ask", "ask": 9, "command": command, "by": {"name": "ana"}})
    assert read(data, "down") == UnknownAsk(9, "rename_session", "There is no field 'colour' here.")


def test_the_word_of_the_struct_is_not_a_word_of_the_wire():
    command = {"type": "send_prompt", "sessionId": "s1", "text": "hi"}
    data = json.dumps({"type": "ask", "ask": 9, "command": command, "by": {"name": "ana"}})
    assert isinstance(read(data, "down"), UnknownAsk)


def test_rows_stay_bytes_whatever_event_they_hold():
    row = b'{"seq":1,"at":"?","event":{"type":"of_next_year","x":  1}}'
    output = wire.decode(b'{"type":"session_output","session_id":"s","first":1,"rows":[%s, 7]}' % row, "up")
    assert isinstance(output, SessionOutput)
    assert [bytes(one) for one in output.rows] == [row, b"7"]


@pytest.mark.row("S39")
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", "NOT_JSON"),
        ("nonsense", "NOT_JSON"),
        ('{"type":"ping","n":1', "NOT_JSON"),
        ('{"type":"ping","n":1}}', "NOT_JSON"),
        ('{"type":"\ud800"}', "NOT_JSON"),
        ('{"type":"unknown","x":' + "[" * 60_000, "NOT_JSON"),
        ('{"type":"session_output","session_id":"s","first":1,"rows":[' + "[" * 60_000, "NOT_JSON"),
        ("[]", "INVALID_FRAME"),
        ("{}", "INVALID_FRAME"),
        ('{"type":7}', "INVALID_FRAME"),
        ('{"type":"ping"}', "INVALID_FRAME"),
        ('{"type":"ping","n":-1}', "INVALID_FRAME"),
        ('{"type":"ping","n":9223372036854775808}', "INVALID_FRAME"),
        ('{"type":"ping","n":' + "9" * 50_000 + "}", "INVALID_FRAME"),
        ('{"type":"session_head","session_id":"s","seq":-5}', "INVALID_FRAME"),
        ('{"type":"session_head","session_id":"","seq":5}', "INVALID_FRAME"),
        ('{"type":"tape_opened","tape":4294967296,"offset":0,"base":0,"end":0}', "INVALID_FRAME"),
        ('{"type":"tape_piece","tape":1,"offset":0,"data":""}', "INVALID_FRAME"),
        ('{"type":"agents_changed","agents":[' + ",".join(["{}"] * 10_000) + "]}", "INVALID_FRAME"),
        ('{"type":"ask","ask":1,"command":{"type":"end_all"},"by":{"name":"x"}}', "WRONG_DIRECTION"),
        ('{"type":"ack","heads":{},"rows":0}', "WRONG_DIRECTION"),
        ('{"type":"ping","n":1,"x":"' + "x" * MAX_MESSAGE + '"}', "MESSAGE_TOO_LARGE"),
        (b"\x02" * (MAX_MESSAGE + 1), "MESSAGE_TOO_LARGE"),
        (b"", "UNKNOWN_KIND"),
        (b"\x01\x00", "UNKNOWN_KIND"),
        (b'{"type":"ping","n":1}', "UNKNOWN_KIND"),
        (HEADER.pack(9, 0, 0), "UNKNOWN_KIND"),
        (HEADER.pack(Kind.TAPE, 1, 2**64 - 1) + b"x", "INVALID_FRAME"),
        (HEADER.pack(Kind.PART, 1, 0), "BROKEN_PARTS"),
        (HEADER.pack(Kind.LAST_PART, 1, 0), "BROKEN_PARTS"),
        (HEADER.pack(Kind.PART, 1, 5) + b"x", "BROKEN_PARTS"),
        (HEADER.pack(Kind.LAST_PART, 1, 1 << 30) + b"x", "BROKEN_PARTS"),
        (HEADER.pack(Kind.LAST_PART, 1, 0) + b"nonsense", "NOT_JSON"),
        (HEADER.pack(Kind.LAST_PART, 1, 0) + HEADER.pack(Kind.LAST_PART, 2, 0) + b"{}", "NOT_JSON"),
        (HEADER.pack(Kind.LAST_PART, 1, 0) + bytes([Kind.DEFLATED]), "NOT_JSON"),
        (HEADER.pack(Kind.DEFLATED, 0, 1 << 30) + b"x", "FRAME_TOO_LARGE"),
        (HEADER.pack(Kind.DEFLATED, 0, 10) + b"\xff\xff", "BROKEN_DEFLATE"),
        (HEADER.pack(Kind.DEFLATED, 0, 10), "BROKEN_DEFLATE"),
    ],
)
def test_broken_input_is_refused_with_its_code(message: bytes | str, code: str):
    assert refused(message) == code


def test_a_daemon_takes_no_frame_that_only_daemons_send():
    assert refused(wire.encode(Reply(1)).decode(), "down") == "WRONG_DIRECTION"
    assert refused(wire.tape_message(1, 0, b"x"), "down") == "WRONG_DIRECTION"


def test_an_ask_without_somebody_who_asks_is_refused():
    assert refused('{"type":"ask","ask":1,"command":{"type":"end_all"}}', "down") == "INVALID_FRAME"
    assert refused('{"type":"ask","ask":1,"command":{},"by":{"name":"x"}}', "down") == "INVALID_FRAME"
    assert refused('{"type":"ask","ask":1,"command":3,"by":{"name":"x"}}', "down") == "INVALID_FRAME"


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


@pytest.mark.row("S39")
def test_a_bomb_is_inflated_no_further_than_it_announced():
    bomb = raw_deflate(bytes(20_000_000))
    assert len(bomb) < MAX_MESSAGE
    assert refused(HEADER.pack(Kind.DEFLATED, 0, 100) + bomb) == "BROKEN_DEFLATE"
    assert refused(HEADER.pack(Kind.DEFLATED, 0, MAX_FRAME + 1) + bomb) == "FRAME_TOO_LARGE"


@pytest.mark.parametrize("tail", [b"x", raw_deflate(b"{}")])
def test_nothing_may_follow_a_deflated_frame(tail: bytes):
    data = wire.encode(Ping(1))
    assert refused(HEADER.pack(Kind.DEFLATED, 0, len(data)) + raw_deflate(data) + tail) == "BROKEN_DEFLATE"


def test_a_deflated_frame_must_not_be_shorter_than_announced():
    data = wire.encode(Ping(1))
    assert read(HEADER.pack(Kind.DEFLATED, 0, len(data)) + raw_deflate(data)) == Ping(1)
    assert refused(HEADER.pack(Kind.DEFLATED, 0, len(data) + 1) + raw_deflate(data)) == "BROKEN_DEFLATE"


def test_rows_in_binary_messages_must_be_text_as_in_text_messages():
    data = b'{"type":"session_output","session_id":"s","first":1,"rows":["\xff"]}'
    assert refused(HEADER.pack(Kind.LAST_PART, 1, 0) + data) == "NOT_JSON"
    assert refused(HEADER.pack(Kind.DEFLATED, 0, len(data)) + raw_deflate(data)) == "NOT_JSON"


def test_rows_deflate_to_a_fraction():
    rows = tuple(Raw(b'{"seq":%d,"event":{"type":"text","text":"more words"}}' % n) for n in range(100))
    output = SessionOutput("s", 1, rows)
    message = wire.deflate(wire.encode(output))
    assert message is not None
    assert len(message) < len(wire.encode(output)) / 4
    assert read(message) == output


def test_what_is_small_large_or_does_not_shrink_is_not_deflated():
    assert wire.deflate(b"a" * 100) is None
    assert wire.deflate(b"a" * (wire.DEFLATE_MOST + 1)) is None
    assert wire.deflate(os.urandom(5000)) is None


@pytest.mark.row("S39")
def test_only_so_many_frames_may_be_in_parts_at_a_time():
    joining = Joining()
    for number in range(MAX_STREAMS):
        assert joining.add(HEADER.pack(Kind.PART, number, 0) + b"x") is None
    with pytest.raises(LineError, match="more than 8 frames"):
        joining.add(HEADER.pack(Kind.PART, 99, 0) + b"x")


@pytest.mark.row("S39")
def test_a_frame_that_never_ends_is_refused_when_it_is_too_large(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire, "MAX_FRAME", 1000)
    joining = Joining()
    joining.add(HEADER.pack(Kind.PART, 1, 0) + b"x" * 1000)
    with pytest.raises(LineError) as raised:
        joining.add(HEADER.pack(Kind.PART, 1, 1000) + b"x")
    assert raised.value.code == "FRAME_TOO_LARGE"


@pytest.mark.row("S39")
def test_unfinished_frames_together_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire, "MAX_UNFINISHED", 1000)
    joining = Joining()
    joining.add(HEADER.pack(Kind.PART, 1, 0) + b"x" * 500)
    assert joining.add(HEADER.pack(Kind.LAST_PART, 2, 0) + b"x" * 500) == b"x" * 500
    joining.add(HEADER.pack(Kind.PART, 3, 0) + b"x" * 500)
    with pytest.raises(LineError) as raised:
        joining.add(HEADER.pack(Kind.PART, 4, 0) + b"x")
    assert raised.value.code == "FRAME_TOO_LARGE"


headed = st.builds(
    lambda kind, number, offset, rest: HEADER.pack(kind, number, offset) + rest,
    st.sampled_from([1, 2, 3, 4]),
    st.integers(0, 3),
    st.integers(0, 40),
    st.binary(max_size=60),
)


@pytest.mark.row("S39")
@settings(max_examples=50)
@given(st.binary(max_size=60) | st.text(max_size=60) | headed, st.sampled_from(["up", "down"]))
def test_no_input_raises_anything_but_a_line_error(message: bytes | str, way: wire.Way):
    try:
        read(message, way)
    except LineError:
        return


def test_a_rename_needs_no_translation():
    ask = Ask(1, RenameSession(session_id="s", title="t"), ANA, "k", 500)
    assert wire.encode(ask) == msgspec.json.encode(ask)
