"""Everything the ACP and Codex agents were recorded to say, as events; and the same however it is read.

Playing a recording also holds what the driver writes against what was written then (see `playing`).
"""

import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivers.acp_playing import AcpHandling
from tests.drivers.codex_playing import CodexHandling
from tests.drivers.damage import mutated, swapped
from tests.drivers.playing import RECORDINGS, Play, by_line, encode_line, in_pieces, messages_of, names_in
from tests.drivers.recorded import as_json, merged
from tests.drivers.rpc_regolden import RESUMED

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.base import Driver, DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.model.codec import decode_event, encode
from bascule.model.events import AnyEvent, PromptSent, Unrecognised

NAMES = [
    *(f"acp/{name}" for name in names_in("acp")),
    *(f"acp/{name}.resumed" for name in RESUMED),
    *(f"codex/{name}" for name in names_in("codex")),
]


def handling_of(name: str) -> AcpHandling | CodexHandling:
    folder, _, rest = name.partition("/")
    if folder == "codex":
        return CodexHandling(rest)
    return AcpHandling(rest.removesuffix(".resumed"), "session/resume" if name.endswith(".resumed") else None)


def events_of(name: str) -> list[AnyEvent]:
    handling = handling_of(name)
    return Play(handling, handling.recording).run()


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_gives_its_expected_events(name: str) -> None:
    assert as_json(merged(events_of(name))) == (RECORDINGS / f"{name}.events.json").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_a_real_agent_said_is_unrecognised_and_all_of_it_survives_its_encoding(name: str) -> None:
    for event in events_of(name):
        assert not isinstance(event, Unrecognised), event
        data = encode(event)
        assert encode(decode_event(data)) == data


@pytest.mark.parametrize("name", NAMES)
def test_put_down_and_taken_up_at_every_line_end_gives_the_same_events(name: str) -> None:
    handling = handling_of(name)
    play = Play(handling, handling.recording, cut=by_line, swap=lambda: True)
    assert merged(play.run()) == merged(events_of(name))
    assert len(play.driver.state()) < 32 * 1024


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.integers(50, 5000))
def test_a_recording_gives_the_same_events_however_it_is_cut(name: str, seed: int, most: int) -> None:
    chance = random.Random(seed)
    handling = handling_of(name)
    play = Play(handling, handling.recording, cut=in_pieces(chance, most), swap=lambda: chance.random() < 0.3)
    assert merged(play.run()) == merged(events_of(name))


# Hostile ---------------------------------------------------------------------------------------------------


def output_of(name: str) -> list[bytes]:
    """What the agent said, with its answers numbered as a driver's own requests are."""
    folder, _, rest = name.partition("/")
    said = [message for way, message in messages_of(folder, rest.removesuffix(".resumed")) if way == "out"]
    for message in said:
        if "method" not in message and isinstance(message.get("id"), int):
            message["id"] -= 1
    return [encode_line(message) for message in said]


def started(name: str) -> Driver:
    kind: type[AcpDriver | CodexDriver] = CodexDriver if name.startswith("codex/") else AcpDriver
    driver = kind(DriverLaunch("/home/dev/project", "r"))
    driver.start()
    for number in range(5):
        driver.prompt(PromptSent(f"p{number}", "hello", "ana"))
    return driver


def check(driver: Driver, events: list[AnyEvent], restore: Callable[[bytes], Driver]) -> None:
    for event in events:
        encode(event)
        assert not (isinstance(event, Unrecognised) and event.reason.startswith("driver fault")), event
    driver.data_to_send()
    restore(driver.state())


@pytest.mark.row("REL-31")
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32))
def test_a_damaged_recording_never_raises_and_is_kept(name: str, seed: int) -> None:
    driver = started(name)
    events = driver.receive(mutated(b"".join(output_of(name)), random.Random(seed)))
    check(driver, [*events, *driver.finish()], type(driver).restore)


@pytest.mark.row("REL-31")
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32))
def test_wrong_types_anywhere_never_raise(name: str, seed: int) -> None:
    chance = random.Random(seed)
    driver = started(name)
    for line in output_of(name):
        wrong = json.dumps(swapped(json.loads(line), chance)).encode()
        check(driver, driver.receive(wrong + b"\n"), type(driver).restore)
    check(driver, driver.finish(), type(driver).restore)


@pytest.mark.row("REL-31")
@pytest.mark.parametrize("kind", [AcpDriver, CodexDriver])
@given(data=st.binary(max_size=2000))
def test_arbitrary_bytes_never_raise(kind: type[AcpDriver | CodexDriver], data: bytes) -> None:
    driver = kind()
    for event in [*driver.receive(data), *driver.finish()]:
        assert isinstance(event, Unrecognised)
        encode(event)
