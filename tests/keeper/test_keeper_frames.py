"""Frames: whole however they are cut, and never more than their caps."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.keeper.frames import MAX_BLOB, MAX_JSON, FrameError, FrameReader, encode

messages = st.dictionaries(st.text(max_size=20), st.integers() | st.text() | st.none(), max_size=5)


@given(st.lists(st.tuples(messages, st.binary(max_size=200)), max_size=5), st.integers(1, 50))
def test_frames_come_out_the_same_however_the_bytes_are_cut(frames, step):
    wire = b"".join(encode(message, blob) for message, blob in frames)
    reader, seen = FrameReader(), []
    for start in range(0, len(wire), step):
        reader.feed(wire[start : start + step])
        while frame := reader.next():
            seen.append(frame)
    assert seen == frames


@given(st.binary(max_size=300))
def test_any_bytes_give_frames_or_a_frame_error_and_nothing_else(data):
    reader = FrameReader()
    reader.feed(data)
    try:
        while reader.next():
            continue
    except FrameError:
        return


@pytest.mark.parametrize("lengths", [(MAX_JSON + 1, 0), (2, MAX_BLOB + 1), (2**32 - 1, 2**32 - 1)])
def test_a_frame_over_its_cap_is_refused_by_its_header_alone(lengths):
    reader = FrameReader()
    reader.feed(struct.pack(">II", *lengths))
    with pytest.raises(FrameError):
        reader.next()


@pytest.mark.parametrize("body", [b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b""])
def test_what_is_not_a_json_object_is_refused(body):
    reader = FrameReader()
    reader.feed(struct.pack(">II", len(body), 0) + body)
    with pytest.raises(FrameError):
        reader.next()


def test_too_large_a_message_is_not_sent():
    with pytest.raises(FrameError):
        encode({"text": "x" * MAX_JSON})
