"""Agents that speak plain text: what they print is said, and their cues are asked about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.drivers.base import Cue, DriverLaunch
from bascule.drivers.plain import PlainDriver
from bascule.model.errors import RequestWithdrawn
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    SessionReady,
    TextAppended,
    TurnEnded,
)

CUES = (
    Cue(r"\(Y\)es/\(N\)o(/\(D\)on't ask again)? \[Yes\]: $", "permission", "y", "d", "n"),
    Cue(r"Name: $", "question"),
    Cue(r"(^|\n)[a-z]*> $"),
)
LAUNCH = DriverLaunch("/p", "r", cues=CUES)
ALLOW = b"Run shell command?\nls (Y)es/(N)o/(D)on't ask again [Yes]: "


def ready() -> PlainDriver:
    driver = PlainDriver(LAUNCH)
    assert any(isinstance(one, SessionReady) for one in driver.receive(b"Aider v0.86\n> "))
    return driver


def said(events: list[AnyEvent]) -> str:
    return "".join(one.text for one in events if isinstance(one, TextAppended))


def test_a_prompt_waits_until_the_agent_is_ready_and_its_turn_ends_when_it_is_again() -> None:
    driver = PlainDriver(LAUNCH)
    assert driver.start() == []
    assert driver.prompt(PromptSent("p1", "fix\nit", "ana")).data == b""
    events = driver.receive(b"\x1b[32mAider v0.86\x1b[0m\n> ")
    assert said(events) == "Aider v0.86\n"
    (write,) = driver.data_to_send()
    assert (write.write_id, write.data) == ("prompt:p1", b"fix it\n")
    events = driver.receive(b"Done.\n> ")
    assert said(events) == "Done.\n"
    assert [type(one) for one in events][-2:] == [EntryClosed, TurnEnded]


@pytest.mark.parametrize(
    ("decision", "option", "typed"),
    [("allow", None, b"y\n"), ("allow", "always", b"d\n"), ("deny", None, b"n\n")],
)
def test_a_permission_is_typed_in_the_agents_words(decision: str, option: str | None, typed: bytes) -> None:
    driver = ready()
    driver.prompt(PromptSent("p1", "run", "ana"))
    asked = next(one for one in driver.receive(ALLOW) if isinstance(one, PermissionRequested))
    driver = PlainDriver.restore(driver.state())
    answered = PermissionAnswered(asked.request_id, decision, "ana", option=option)  # type: ignore[arg-type]
    assert driver.answer_permission(asked, answered).data == typed
    with pytest.raises(RequestWithdrawn):
        driver.answer_permission(asked, answered)


def test_a_question_is_answered_with_a_line() -> None:
    driver = ready()
    asked = next(one for one in driver.receive(b"Name: ") if isinstance(one, QuestionAsked))
    write = driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", {"Name:": "Bo"}))
    assert write.data == b"Bo\n"


def test_a_cue_that_was_read_is_not_read_again_by_whoever_takes_up() -> None:
    driver = ready()
    output = b"words\n" + ALLOW
    driver = PlainDriver.restore(driver.state())
    driver.receive(output)
    assert driver.consumed == len(output)
    assert PlainDriver.restore(driver.state()).receive(b"") == []


def test_it_can_not_be_interrupted_and_says_so() -> None:
    driver = ready()
    driver.prompt(PromptSent("p1", "run", "ana"))
    assert driver.interrupt("interrupt:1").data == b""
    (note,) = driver.settled()
    assert isinstance(note, Note)
    assert driver.set_mode("m", "x").data == driver.set_model("m", "x").data == b""


@given(st.lists(st.integers(1, 30), min_size=1))
def test_text_is_the_same_however_it_is_cut(sizes: list[int]) -> None:
    output = "some words and ünïcode\nthen more\n\x1b[1mbold\x1b[0m end\n".encode() * 3
    driver = PlainDriver(LAUNCH)
    events: list[AnyEvent] = []
    at = turn = 0
    while at < len(output):
        size = sizes[turn % len(sizes)]
        events += driver.receive(output[at : at + size])
        at, turn = at + size, turn + 1
    assert said([*events, *driver.finish()]) == "some words and ünïcode\nthen more\nbold end\n" * 3


@pytest.mark.row("REL-31")
@given(st.binary(max_size=20_000))
def test_arbitrary_bytes_never_raise(data: bytes) -> None:
    driver = PlainDriver(LAUNCH)
    driver.receive(data)
    driver.finish()
    assert driver.consumed == len(data)
    PlainDriver.restore(driver.state())


@pytest.mark.row("REL-31")
@given(st.binary(max_size=200), st.integers(1, 40))
def test_any_bytes_however_cut_are_text_and_none_is_lost(noise: bytes, size: int) -> None:
    driver, events = PlainDriver(LAUNCH), list[AnyEvent]()
    data = noise + b"\n"
    for at in range(0, len(data), size):
        events += driver.receive(data[at : at + size])
    events += driver.finish()
    assert driver.consumed == len(data)
    assert all(not isinstance(one, Note) for one in events)
