"""The ACP driver where the recordings do not go: waiting, refusing, sharing, choosing by kind."""

from typing import Any

import pytest
from tests.drivers.acp_lines import CAN, LAUNCH, OPTIONS, begun, chunk, line, opened, prompt, sent_by, update

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.acp.state import Joining
from bascule.drivers.base import DriverLaunch
from bascule.model.events import (
    AnyEvent,
    CommandsChanged,
    EntryClosed,
    ModeChanged,
    Note,
    SessionReady,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)

# Opening -----------------------------------------------------------------------------------------------


def test_prompts_given_before_the_session_exists_are_sent_once_it_does_one_at_a_time() -> None:
    driver = AcpDriver(LAUNCH)
    driver.start()
    first, second = driver.prompt(prompt(1)), driver.prompt(prompt(2, "more"))
    assert (first.data, second.data) == (b"", b"")
    driver = AcpDriver.restore(driver.state())
    driver.receive(line(id=0, result={"protocolVersion": 1, "agentCapabilities": CAN}))
    driver.data_to_send()
    driver = AcpDriver.restore(driver.state())
    assert not driver.owes
    driver.receive(line(id=1, result={"sessionId": "s1"}))
    assert driver.owes
    (write,) = driver.data_to_send()
    assert write.write_id == "prompt:p1"
    (sent,) = sent_by(write)
    assert sent["params"] == {"sessionId": "s1", "prompt": [{"type": "text", "text": "hello"}]}
    driver.receive(line(id=sent["id"], result={"stopReason": "end_turn"}))
    (write,) = driver.data_to_send()
    assert write.write_id == "prompt:p2"


def test_an_interrupt_before_the_session_exists_ends_the_turn_and_sends_nothing() -> None:
    driver = begun()
    driver.prompt(prompt())
    assert driver.interrupt("interrupt:1").data == b""
    assert driver.settled() == [TurnEnded("interrupted")]
    driver.data_to_send()
    driver.receive(line(id=1, result={"sessionId": "s1"}))
    assert driver.data_to_send() == []


def test_a_refused_session_is_told_and_the_next_prompt_tries_again() -> None:
    driver = AcpDriver(LAUNCH)
    driver.start()
    driver.prompt(prompt(1))
    methods = [{"id": "login", "description": "Run `agent login`"}]
    driver.receive(line(id=0, result={"protocolVersion": 1, "authMethods": methods}))
    driver.data_to_send()
    events = driver.receive(line(id=1, error={"code": -32000, "message": "Authentication required"}))
    note, ended = events
    assert isinstance(note, Note)
    assert note.code == "login_needed"
    assert "Run `agent login`" in note.text
    assert isinstance(ended, TurnEnded)
    assert ended.stop_reason == "error"
    (again,) = sent_by(driver.prompt(prompt(2)))
    assert again["method"] == "session/new"
    driver.receive(line(id=again["id"], result={"sessionId": "s1"}))
    assert [one.write_id for one in driver.data_to_send()] == ["prompt:p2"]


def test_an_agent_that_refused_to_be_greeted_is_greeted_again() -> None:
    driver = AcpDriver(LAUNCH)
    driver.start()
    (note,) = driver.receive(line(id=0, error={"code": -32603, "message": "not now"}))
    assert isinstance(note, Note)
    assert sent_by(driver.prompt(prompt()))[0]["method"] == "initialize"


@pytest.mark.parametrize(
    ("can", "history", "method"),
    [
        (CAN, False, "session/resume"),
        (CAN, True, "session/load"),
        ({"loadSession": True}, False, "session/load"),
        ({"sessionCapabilities": {"resume": {}}}, True, "session/resume"),
    ],
)
def test_an_earlier_session_is_taken_up_in_the_way_the_agent_can(
    can: Any, history: bool, method: str
) -> None:
    driver = begun(DriverLaunch("/p", "r", resume="old", history=history), can)
    (sent,) = sent_by(*driver.data_to_send())
    assert (sent["method"], sent["params"]["sessionId"]) == (method, "old")


def test_an_agent_that_can_not_come_back_says_so() -> None:
    driver = AcpDriver(DriverLaunch("/p", "r", resume="old"))
    driver.start()
    (note,) = driver.receive(line(id=0, result={"protocolVersion": 1}))
    assert isinstance(note, Note)
    assert note.level == "error"


def test_what_is_replayed_into_a_log_that_holds_it_already_is_left_out() -> None:
    driver = begun(DriverLaunch("/p", "r", resume="s1"), {"loadSession": True})
    driver.data_to_send()
    said = update("user_message_chunk", content={"type": "text", "text": "hello"}) + chunk("You said: hello")
    assert driver.receive(said) == []
    events = driver.receive(line(id=1, result={}))
    assert [type(one) for one in events] == [SessionReady]
    assert driver.receive(chunk("still replaying")) == []
    driver.prompt(prompt())
    assert any(isinstance(one, TextAppended) for one in driver.receive(chunk("live")))


def test_a_prompt_of_now_ends_the_telling_of_what_was() -> None:
    driver = begun(DriverLaunch("/p", "r", resume="s1", history=True))
    driver.data_to_send()
    driver.prompt(prompt())
    events = driver.receive(chunk("earlier") + chunk("words"))
    assert [type(one) for one in events] == [Note]


def test_a_start_in_another_mode_waits_until_the_mode_is_set() -> None:
    launch = DriverLaunch("/p", "r", quirks=("set_mode_at_start:ask",))
    driver = begun(launch)
    driver.prompt(prompt())
    driver.data_to_send()
    driver.receive(line(id=1, result={"sessionId": "s1", "modes": {"currentModeId": "auto"}}))
    (setting,) = sent_by(*driver.data_to_send())
    assert (setting["method"], setting["params"]["modeId"]) == ("session/set_mode", "ask")
    events = driver.receive(line(id=setting["id"], result={}))
    assert ModeChanged("ask") in events
    assert [one["method"] for one in sent_by(*driver.data_to_send())] == ["session/prompt"]


def test_nothing_is_sent_to_an_agent_that_does_not_switch_to_the_mode_that_asks() -> None:
    driver = begun(DriverLaunch("/p", "r", quirks=("set_mode_at_start:ask",)))
    driver.prompt(prompt())
    driver.data_to_send()
    driver.receive(line(id=1, result={"sessionId": "s1", "modes": {"currentModeId": "auto"}}))
    (setting,) = sent_by(*driver.data_to_send())
    events = driver.receive(line(id=setting["id"], error={"code": -1, "message": "no"}))
    assert [type(one) for one in events] == [Note, TurnEnded]
    assert driver.data_to_send() == []
    (again,) = sent_by(driver.prompt(prompt(2)))
    assert again["method"] == "session/set_mode"


def test_a_mode_the_person_chose_wins_over_the_one_of_the_file() -> None:
    driver = opened(
        DriverLaunch("/p", "r", mode="plan", model="large", quirks=("set_mode_at_start:ask",)),
        {"modes": {"currentModeId": "auto"}, "models": {"currentModelId": "small", "availableModels": []}},
    )
    sent = sent_by(*driver.data_to_send())
    assert [(one["method"], one["params"].get("modeId")) for one in sent] == [
        ("session/set_model", None),
        ("session/set_mode", "plan"),
    ]


# One connection, several sessions ----------------------------------------------------------------------


def test_two_drivers_share_a_connection_and_each_hears_only_its_own() -> None:
    one = opened(joining=Joining())
    other = AcpDriver(LAUNCH, joining=Joining(5_000_000))
    other.start()
    other.receive(line(id=0, result={"protocolVersion": 1, "agentCapabilities": CAN}))
    (opening,) = sent_by(*other.data_to_send())
    assert opening["id"] == 5_000_001
    both = (
        line(id=opening["id"], result={"sessionId": "s2"}) + chunk("for two", "s2") + chunk("for one", "s1")
    )
    assert [event.text for event in one.receive(both) if isinstance(event, TextAppended)] == ["for one"]
    assert [event.text for event in other.receive(both) if isinstance(event, TextAppended)] == ["for two"]
    asked = line(id=0, method="session/request_permission", params={"sessionId": "s2", "toolCall": {}})
    assert one.receive(asked) == []
    assert one.data_to_send() == []


def test_what_is_said_of_a_session_before_it_is_named_is_heard_when_it_is() -> None:
    driver = begun()
    driver.data_to_send()
    commands = [{"name": "help", "description": "Help"}]
    assert driver.receive(update("available_commands_update", availableCommands=commands)) == []
    assert driver.receive(update("available_commands_update", "s9", availableCommands=[])) == []
    driver = AcpDriver.restore(driver.state())
    events = driver.receive(line(id=1, result={"sessionId": "s1"}))
    assert [type(one) for one in events] == [SessionReady, CommandsChanged]


# Saying ------------------------------------------------------------------------------------------------


def test_text_is_split_where_a_tool_comes_between() -> None:
    driver = opened()
    call = update("tool_call", toolCallId="t", title="ls", kind="execute", status="in_progress", rawInput={})
    events = driver.receive(chunk("before ") + chunk("it") + call + chunk("after"))
    said = [one for one in events if isinstance(one, TextAppended | EntryClosed | ToolStarted)]
    assert [type(one) for one in said] == [TextAppended, EntryClosed, ToolStarted, TextAppended]


def test_a_call_told_late_and_twice_is_one_call() -> None:
    driver = opened()
    done = update("tool_call_update", toolCallId="t", title="ls", status="completed", rawOutput="a\nb")
    events = driver.receive(done + done + update("tool_call", toolCallId="t", title="ls", status="pending"))
    assert [type(one) for one in events] == [ToolStarted, ToolChanged]


def test_a_flood_of_open_calls_and_requests_leaves_the_state_small() -> None:
    driver = opened()
    for number in range(2000):
        driver.receive(
            update("tool_call", toolCallId=f"t{number}" + "x" * 200, title="y" * 5000, status="pending")
        )
        driver.receive(
            line(
                id=number,
                method="session/request_permission",
                params={"sessionId": "s1", "toolCall": {"toolCallId": f"u{number}"}, "options": OPTIONS},
            )
        )
    assert len(driver.state()) < 512 * 1024


def test_a_line_of_another_program_is_kept_and_the_next_is_read() -> None:
    driver = opened()
    events: list[AnyEvent] = driver.receive(b"warning: deprecated\n[1,2]\n123\nnull\n" + chunk("hi"))
    assert sum(isinstance(one, Unrecognised) for one in events) == 4
    assert any(isinstance(one, TextAppended) for one in events)
