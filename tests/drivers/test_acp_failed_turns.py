"""Turns that failed, or that the agent ended by itself, though it reports an ordinary end."""

from typing import Any

import pytest
from tests.drivers.acp_lines import line, opened, prompt, sent_by, update

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.acp.turns import NOTHING_SAID
from bascule.drivers.base import STOPPED_BY_ITSELF, DriverLaunch
from bascule.model.events import (
    AnyEvent,
    Note,
    PermissionAnswered,
    PermissionRequested,
    TextAppended,
    TurnEnded,
)

TELLS_IN_TEXT = DriverLaunch("/p", "r", quirks=("errors_as_text",))
RETRY = "Info: Request failed due to a transient API error. Retrying..."
FAILED = (
    "Error: Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).\n"
    "  Check your COPILOT_PROVIDER_API_KEY."
)
WARNING = "Warning: Model metadata for `fake-model` not found. Defaulting to fallback metadata.\n\n"


def piece(words: str, message_id: str | None = None) -> bytes:
    named = {} if message_id is None else {"messageId": message_id}
    return update("agent_message_chunk", content={"type": "text", "text": words}, **named)


def turn(*pieces: bytes, launch: DriverLaunch = TELLS_IN_TEXT, **answer: object) -> list[AnyEvent]:
    driver = opened(launch)
    (sent,) = sent_by(driver.prompt(prompt()))
    events: list[AnyEvent] = []
    for one in pieces:
        events += driver.receive(one)
    return events + driver.receive(line(id=sent["id"], result={"stopReason": "end_turn", **answer}))


def end_of(events: list[AnyEvent]) -> TurnEnded:
    (ended,) = [one for one in events if isinstance(one, TurnEnded)]
    return ended


@pytest.mark.row("B8")
def test_a_turn_that_retried_and_gave_up_failed_and_its_retries_are_notes() -> None:
    """As Copilot 1.0.102 tells of a 401, all of it in one message."""
    events = turn(piece(RETRY), piece(RETRY), piece(FAILED))
    assert (end_of(events).stop_reason, end_of(events).message) == ("error", FAILED)
    assert [one.text for one in events if isinstance(one, Note)] == [RETRY, RETRY]
    assert [one.text for one in events if isinstance(one, TextAppended)] == [FAILED]


@pytest.mark.row("B8")
def test_a_turn_that_retried_and_went_on_did_not_fail() -> None:
    events = turn(piece(RETRY), piece("All is well."))
    assert end_of(events).stop_reason == "end_turn"


@pytest.mark.row("B8")
def test_a_retry_in_the_middle_of_an_answer_is_a_note_in_its_place() -> None:
    events = turn(piece("Half of it."), piece(RETRY), piece("The other half."))
    told = [one.text for one in events if isinstance(one, TextAppended | Note)]
    assert told == ["Half of it.", RETRY, "The other half."]
    assert end_of(events).stop_reason == "end_turn"


@pytest.mark.row("B8")
@pytest.mark.parametrize(
    "failure",
    [
        "exceeded retry limit, last status: 429 Too Many Requests\n\n",
        "We’re currently experiencing high demand, which may cause temporary errors.\n\n",
        '{"type":"error","error":{"type":"invalid_request_error","message":"Scripted error 400"}}\n\n',
    ],
)
def test_an_adapters_own_last_words_after_no_answer_are_a_failure(failure: str) -> None:
    """As @agentclientprotocol/codex-acp 2.6.0 tells of them; what the model says has a name there."""
    events = turn(piece(WARNING), piece(failure))
    assert (end_of(events).stop_reason, end_of(events).message) == ("error", failure.strip())


def test_an_adapters_warning_is_no_failure_and_neither_is_an_answer() -> None:
    assert end_of(turn(piece(WARNING))).stop_reason == "end_turn"
    assert end_of(turn(piece(WARNING), piece("You said: hello\n\n", "msg_1"))).stop_reason == "end_turn"
    used = {"inputTokens": 10, "outputTokens": 5}
    assert end_of(turn(piece("A paragraph.\n\n"), usage=used)).stop_reason == "end_turn"
    assert end_of(turn(piece(FAILED), launch=DriverLaunch("/p", "r"))).stop_reason == "end_turn"


@pytest.mark.row("B10")
@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        ([], {}),
        ([], {"usage": {"inputTokens": 10, "outputTokens": 0}}),
        ([piece("")], {}),
        ([update("usage_update", used=0, size=1_000_000)], {}),
        ([update("user_message_chunk", content={"type": "text", "text": "hello"})], {}),
        ([piece(RETRY)], {}),
    ],
    ids=["nothing", "no tokens", "no words", "usage", "echo", "retry"],
)
def test_a_turn_that_ends_without_a_word_failed(pieces: list[bytes], answer: dict[str, Any]) -> None:
    ended = end_of(turn(*pieces, **answer))
    assert (ended.stop_reason, ended.message) == ("error", NOTHING_SAID)


@pytest.mark.row("B10")
@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        ([update("agent_thought_chunk", content={"type": "text", "text": "hm"})], {}),
        ([update("tool_call", toolCallId="t1", title="ls", status="completed")], {}),
        ([update("plan", entries=[])], {}),
        ([], {"usage": {"inputTokens": 10, "outputTokens": 1}}),
    ],
    ids=["thought", "tool", "plan", "tokens"],
)
def test_a_turn_in_which_anything_was_done_ended_well(pieces: list[bytes], answer: dict[str, Any]) -> None:
    ended = end_of(turn(*pieces, **answer))
    assert (ended.stop_reason, ended.message) == ("end_turn", None)


def test_a_command_may_have_nothing_to_say() -> None:
    driver = opened()
    (sent,) = sent_by(driver.prompt(prompt(text="/compact")))
    ended = end_of(driver.receive(line(id=sent["id"], result={"stopReason": "end_turn"})))
    assert ended.stop_reason == "end_turn"


@pytest.mark.row("B10")
def test_a_turn_for_which_a_login_is_missing_says_how_to_get_one() -> None:
    driver = AcpDriver(TELLS_IN_TEXT)
    driver.start()
    methods = [{"id": "claude-login", "name": "Log in with Claude Code"}]
    driver.receive(line(id=0, result={"protocolVersion": 1, "authMethods": methods}))
    (opening,) = sent_by(*driver.data_to_send())
    driver.receive(line(id=opening["id"], result={"sessionId": "s1"}))
    (sent,) = sent_by(driver.prompt(prompt()))
    required = {"code": -32000, "message": "Authentication required"}
    ended = end_of(driver.receive(line(id=sent["id"], error=required)))
    assert (ended.stop_reason, ended.message) == (
        "error",
        "Authentication required. Ways to log in: Log in with Claude Code. "
        "Log in with the agent's own command, then send the message again.",
    )


@pytest.mark.row("B10")
def test_a_turn_that_the_agent_cancelled_by_itself_was_interrupted_by_nobody() -> None:
    ended = end_of(turn(piece("line 60000"), stopReason="cancelled"))
    assert ended == TurnEnded("other", message=STOPPED_BY_ITSELF)


def test_a_turn_that_was_stopped_or_ended_by_a_no_is_interrupted() -> None:
    driver = opened()
    (sent,) = sent_by(driver.prompt(prompt()))
    driver.interrupt("interrupt:1")
    assert end_of(driver.receive(line(id=sent["id"], result={"stopReason": "cancelled"}))) == TurnEnded(
        "interrupted"
    )
    (sent,) = sent_by(driver.prompt(prompt()))
    deny(driver)
    events = driver.receive(line(id=sent["id"], result={"stopReason": "cancelled"}))
    assert end_of(events).stop_reason == "interrupted"


def deny(driver: AcpDriver) -> None:
    options = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
    params = {"sessionId": "s1", "toolCall": {"toolCallId": "t1", "title": "ls"}, "options": options}
    events = driver.receive(line(id=9, method="session/request_permission", params=params))
    (asked,) = [one for one in events if isinstance(one, PermissionRequested)]
    driver.answer_permission(asked, PermissionAnswered(asked.request_id, "deny", "ana"))
