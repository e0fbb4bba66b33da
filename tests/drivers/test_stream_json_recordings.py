"""Everything the real agent was recorded to say, as events; and the same however it is read."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivers.damage import mutated, swapped
from tests.drivers.recorded import NAMES, as_json, events_of, golden_path, lines_of, merged, output_of

from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.codec import decode_event, encode
from bascule.model.events import AnyEvent, Unrecognised


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_gives_its_expected_events(name: str) -> None:
    assert as_json(events_of(output_of(name))) == golden_path(name).read_text()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_the_real_agent_said_is_unrecognised(name: str) -> None:
    assert [event for event in events_of(output_of(name)) if isinstance(event, Unrecognised)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_event_survives_its_own_encoding(name: str) -> None:
    for event in events_of(output_of(name)):
        data = encode(event)
        assert encode(decode_event(data)) == data


@pytest.mark.parametrize("name", NAMES)
def test_put_down_and_taken_up_at_every_line_end_gives_the_same_events(name: str) -> None:
    output = output_of(name)
    events: list[AnyEvent] = []
    driver = StreamJsonDriver()
    for line in output.splitlines(keepends=True):
        events += driver.receive(line)
        assert driver.consumed == len(line)
        state = driver.state()
        assert len(state) < 8192
        driver = StreamJsonDriver.restore(state)
    assert merged([*events, *driver.finish()]) == events_of(output)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.integers(50, 5000))
def test_a_recording_gives_the_same_events_however_it_is_cut(name: str, seed: int, most: int) -> None:
    output = output_of(name)
    chance = random.Random(seed)
    events: list[AnyEvent] = []
    driver = StreamJsonDriver()
    done = offset = 0
    while done < len(output):
        size = chance.randint(1, most)
        events += driver.receive(output[done : done + size])
        done += size
        if driver.consumed and chance.random() < 0.1:
            offset += driver.consumed
            driver = StreamJsonDriver.restore(driver.state())
            done = offset
    assert merged([*events, *driver.finish()]) == events_of(output)


@pytest.mark.row("REL-31")
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32))
def test_a_damaged_recording_never_raises_and_is_kept(name: str, seed: int) -> None:
    driver = StreamJsonDriver()
    output = mutated(output_of(name), random.Random(seed))
    events = [*driver.receive(output), *driver.finish()]
    for event in events:
        encode(event)
        if isinstance(event, Unrecognised):
            assert not event.reason.startswith("driver fault"), event
    StreamJsonDriver.restore(driver.state())


@pytest.mark.row("REL-31")
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32))
def test_wrong_types_anywhere_never_raise(name: str, seed: int) -> None:
    chance = random.Random(seed)
    driver = StreamJsonDriver()
    for way, line in lines_of(name):
        if way != "out":
            continue
        wrong = json.dumps(swapped(json.loads(line), chance)).encode()
        for event in driver.receive(wrong + b"\n"):
            encode(event)
            assert not (isinstance(event, Unrecognised) and event.reason.startswith("driver fault")), event
        StreamJsonDriver.restore(driver.state())


@pytest.mark.row("REL-31")
@given(st.binary(max_size=2000))
def test_arbitrary_bytes_never_raise(data: bytes) -> None:
    driver = StreamJsonDriver()
    for event in [*driver.receive(data), *driver.finish()]:
        assert isinstance(event, Unrecognised)
        encode(event)
