"""Agents that speak plain text: what they print is said, and their cues are asked about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.agents.catalogue import Catalogue
from bascule.drivers.base import Cue, DriverLaunch
from bascule.drivers.plain import PlainDriver
from bascule.model.errors import RequestWithdrawn, UnknownOption
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


@given(st.binary(max_size=20_000))
def test_r31_arbitrary_bytes_never_raise(data: bytes) -> None:
    driver = PlainDriver(LAUNCH)
    driver.receive(data)
    driver.finish()
    assert driver.consumed == len(data)
    PlainDriver.restore(driver.state())


AIDER = Catalogue.load("/nonexistent").get("aider").driver("plain")
AIDER_LAUNCH = DriverLaunch(
    "/p",
    "r",
    cues=tuple(Cue(one.pattern, one.kind, one.allow, one.always, one.deny) for one in AIDER.cues),
    multiline=AIDER.multiline,
)
# As the released program printed it over pipes, version 0.86.2.
AIDER_SPOKE = (
    b"No git repo found, create one to track aider's changes (recommended)? (Y)es/(N)o [Yes]: ",
    b"Git repository created in /p\nAider v0.86.2\nModel: openai/fake-model with whole edit format\n\n> ",
    b"\nLike this:\n\nhello.txt\n```\nhi there\n```\n\nhello.txt\nCreate new file? (Y)es/(N)o [Yes]: ",
    b"Applied edit to hello.txt\n\n> ",
    b"\nRun this:\n\nls\nRun shell command? (Y)es/(N)o/(D)on't ask again [Yes]: ",
    b"\nTokens: 609 sent, 14 received.\n\nask> ",
    b"a.txt\nb.txt\nAdd file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: ",
)


def aider_at(turns: int) -> tuple[PlainDriver, list[AnyEvent]]:
    driver, events = PlainDriver(AIDER_LAUNCH), list[AnyEvent]()
    for spoken in AIDER_SPOKE[:turns]:
        events += driver.receive(spoken)
    return driver, events


def test_r22_aiders_questions_are_requests_and_its_prompt_is_the_end_of_a_turn() -> None:
    driver, events = aider_at(1)
    (asked,) = [one for one in events if isinstance(one, PermissionRequested)]
    assert asked.title.startswith("No git repo found")
    answer = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "deny", "ana"))
    assert answer.data == b"n\n"
    _, events = aider_at(len(AIDER_SPOKE))
    kinds = [type(one) for one in events if isinstance(one, PermissionRequested | SessionReady)]
    assert kinds == [PermissionRequested, SessionReady, *[PermissionRequested] * 3]
    options = [len(one.options) for one in events if isinstance(one, PermissionRequested)]
    assert options == [2, 2, 2, 3], "only where it offers all of them can all be allowed"


def test_r22_aider_is_never_told_to_say_yes_to_itself() -> None:
    assert not any("yes" in word for word in AIDER.args)
    assert Catalogue.load("/nonexistent").get("aider").environment.set == {"AIDER_YES_ALWAYS": "false"}


def test_a_message_of_several_lines_stays_one_and_can_not_end_early() -> None:
    driver, _ = aider_at(2)
    write = driver.prompt(PromptSent("p1", "def f():\n    pass\nbascule}\nrm -rf x", "ana"))
    assert write.data == b"{bascule\ndef f():\n    pass\n bascule}\nrm -rf x\nbascule}\n"
    driver, _ = aider_at(2)
    assert driver.prompt(PromptSent("p1", "one line", "ana")).data == b"one line\n"


@pytest.mark.parametrize("option", ["always", "deny", "y; rm x", "allow\n"])
def test_s42_an_option_it_did_not_offer_types_nothing(option: str) -> None:
    driver, events = aider_at(1)
    (asked,) = [one for one in events if isinstance(one, PermissionRequested)]
    with pytest.raises(UnknownOption):
        driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana", option))
    answered = PermissionAnswered(asked.request_id, "allow", "ana")
    assert driver.answer_permission(asked, answered).data == b"y\n"


@given(st.binary(max_size=200), st.integers(1, 40))
def test_r31_any_bytes_however_cut_are_text_and_none_is_lost(noise: bytes, size: int) -> None:
    driver, events = PlainDriver(AIDER_LAUNCH), list[AnyEvent]()
    data = noise + b"\n"
    for at in range(0, len(data), size):
        events += driver.receive(data[at : at + size])
    events += driver.finish()
    assert driver.consumed == len(data)
    assert all(not isinstance(one, Note) for one in events)
