"""The Codex driver where the recordings do not go."""

import json
from typing import Any

import pytest

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.model.errors import RequestWithdrawn, UnknownOption
from bascule.model.events import (
    ModeChanged,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PromptSent,
    SessionReady,
    TextSaid,
    ToolChanged,
    TurnEnded,
    Unrecognised,
)
from bascule.model.records import Write

LAUNCH = DriverLaunch("/home/dev/project", "r")


def line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def told(method: str, **params: Any) -> bytes:
    return line(method=method, params={"threadId": "th", **params})


def sent_by(*writes: Write) -> list[dict[str, Any]]:
    return [json.loads(one) for write in writes for one in write.data.splitlines()]


def opened(launch: DriverLaunch = LAUNCH) -> CodexDriver:
    driver = CodexDriver(launch)
    driver.start()
    driver.receive(line(id=0, result={"userAgent": "bascule/0.166.0 (Debian)"}))
    *_, opening = sent_by(*driver.data_to_send())
    events = driver.receive(line(id=opening["id"], result={"thread": {"id": "th"}, "model": "big"}))
    assert SessionReady("th", "big", "0.166.0", "ask") in events or launch.mode
    driver.data_to_send()
    return driver


def turn(driver: CodexDriver, *, named: bool = True) -> dict[str, Any]:
    (sent,) = sent_by(driver.prompt(PromptSent("p1", "hello", "ana")))
    if named:
        driver.receive(line(id=sent["id"], result={"turn": {"id": "tu"}}))
    return sent


def approval(driver: CodexDriver, method: str = "commandExecution", **params: Any) -> PermissionRequested:
    params = {"threadId": "th", "turnId": "tu", "itemId": "i1", **params}
    events = driver.receive(line(id=0, method=f"item/{method}/requestApproval", params=params))
    return next(one for one in events if isinstance(one, PermissionRequested))


def test_without_a_mode_it_asks_about_everything_it_does_not_trust() -> None:
    driver = CodexDriver(LAUNCH)
    driver.start()
    driver.receive(line(id=0, result={}))
    initialized, opening = sent_by(*driver.data_to_send())
    assert initialized == {"method": "initialized"}
    assert opening["params"] == {
        "cwd": "/home/dev/project",
        "approvalPolicy": "untrusted",
        "sandbox": "read-only",
        "approvalsReviewer": "user",
    }


def test_a_thread_is_opened_without_leave_to_write_so_the_agent_does_not_trust_the_folder() -> None:
    """Codex notes `trust_level = "trusted"` in the person's settings for a thread that begins with more, and
    obeys the project's rules from then on. The first turn says what the mode means."""
    driver = opened()
    first = turn(driver)
    driver.receive(told("turn/completed", turn={"id": "tu", "status": "completed"}))
    second = turn(driver)
    assert first["params"]["sandboxPolicy"] == {"type": "workspaceWrite"}
    assert (first["params"]["approvalPolicy"], first["params"]["approvalsReviewer"]) == ("untrusted", "user")
    assert "sandboxPolicy" not in second["params"]


def test_a_thread_taken_up_on_its_own_log_brings_no_history() -> None:
    driver = CodexDriver(DriverLaunch("/p", "r", resume="old"))
    driver.start()
    driver.receive(line(id=0, result={}))
    *_, opening = sent_by(*driver.data_to_send())
    assert (opening["method"], opening["params"]["excludeTurns"]) == ("thread/resume", True)


def test_an_interrupt_before_the_turn_has_a_name_is_sent_when_it_has() -> None:
    driver = opened()
    sent = turn(driver, named=False)
    assert driver.interrupt("interrupt:1").data == b""
    driver = CodexDriver.restore(driver.state())
    driver.receive(line(id=sent["id"], result={"turn": {"id": "tu"}}))
    (stop,) = sent_by(*driver.data_to_send())
    assert (stop["method"], stop["params"]) == ("turn/interrupt", {"threadId": "th", "turnId": "tu"})


def test_an_interrupt_refuses_what_is_open_and_a_later_answer_is_too_late() -> None:
    driver = opened()
    turn(driver)
    asked = approval(driver, command="touch a")
    stop, answer = sent_by(driver.interrupt("interrupt:1"))
    assert (stop["method"], answer) == ("turn/interrupt", {"id": 0, "result": {"decision": "cancel"}})
    assert driver.settled() == [PermissionWithdrawn(asked.request_id, "interrupted")]
    with pytest.raises(RequestWithdrawn):
        driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana"))


def test_a_mode_and_a_model_hold_from_the_next_turn_on() -> None:
    driver = opened()
    assert driver.set_mode("mode:1", "read-only").data == b""
    assert driver.settled() == [ModeChanged("read-only")]
    driver.set_model("model:1", "small")
    sent = turn(driver)
    assert sent["params"]["approvalPolicy"] == "on-request"
    assert sent["params"]["sandboxPolicy"] == {"type": "readOnly"}
    assert sent["params"]["model"] == "small"
    driver.settled()
    driver.set_mode("mode:2", "wild")
    (note,) = driver.settled()
    assert isinstance(note, Note)


def test_a_lasting_yes_goes_back_as_it_was_offered_and_others_are_refused() -> None:
    driver = opened()
    turn(driver)
    rule = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["git", "status"]}}
    asked = approval(driver, command="git status", availableDecisions=["accept", rule, "cancel"])
    assert "`git status`" in next(one for one in asked.options if one.option_id == "amendment").name
    with pytest.raises(UnknownOption):
        driver.answer_permission(
            asked, PermissionAnswered(asked.request_id, "deny", "ana", option="amendment")
        )
    write = driver.answer_permission(
        asked, PermissionAnswered(asked.request_id, "allow", "ana", option="amendment")
    )
    assert json.loads(write.data) == {"id": 0, "result": {"decision": rule}}


def test_a_change_that_was_not_told_is_asked_about_with_a_warning() -> None:
    driver = opened()
    turn(driver)
    asked = approval(driver, "fileChange")
    assert asked.note.startswith("The agent did not tell what this changes")


def test_a_changed_file_shows_its_patch() -> None:
    driver = opened()
    turn(driver)
    change = {"path": "/p/a.txt", "kind": {"type": "update"}, "diff": "@@ -1 +1 @@\n-a\n+b\n"}
    item = {"id": "i1", "type": "fileChange", "changes": [change], "status": "inProgress"}
    events = driver.receive(told("item/started", turnId="tu", item=item))
    change_told = next(one for one in events if isinstance(one, ToolChanged))
    assert (change_told.diffs[0].added, change_told.diffs[0].removed) == (1, 1)
    asked = approval(driver, "fileChange")
    assert json.loads(bytes(asked.input))["changes"] == [change]


def test_output_of_a_running_command_is_told_in_steps() -> None:
    driver = opened()
    turn(driver)
    item = {"id": "i1", "type": "commandExecution", "command": "make", "status": "inProgress"}
    driver.receive(told("item/started", turnId="tu", item=item))
    pieces = [told("item/commandExecution/outputDelta", itemId="i1", delta="x" * 100) for _ in range(100)]
    changes = [one for one in driver.receive(b"".join(pieces)) if isinstance(one, ToolChanged)]
    assert 1 < len(changes) < 10
    assert len(changes[-1].output) <= 8192


def test_plans_retries_and_the_unknown() -> None:
    driver = opened()
    plan = [{"step": "Look", "status": "inProgress"}, {"step": "Leap", "status": "pending"}]
    (changed,) = driver.receive(told("turn/plan/updated", plan=plan))
    assert isinstance(changed, PlanChanged)
    assert [one.status for one in changed.items] == ["in_progress", "pending"]
    (note,) = driver.receive(told("error", willRetry=True, error={"message": "429"}))
    assert isinstance(note, Note)
    (kept,) = driver.receive(line(id=9, method="item/tool/call", params={"threadId": "th"}))
    assert isinstance(kept, Unrecognised)
    assert sent_by(*driver.data_to_send())[0]["error"]["code"] == -32601
    assert driver.receive(line(method="turn/started", params={"threadId": "another"})) == []


def test_a_refused_turn_ends_and_the_next_is_sent() -> None:
    driver = opened()
    sent = turn(driver, named=False)
    driver.prompt(PromptSent("p2", "more", "ana"))
    events = driver.receive(line(id=sent["id"], error={"code": -1, "message": "no such model"}))
    assert events == [TurnEnded("error", message="no such model")]
    assert [one.write_id for one in driver.data_to_send()] == ["prompt:p2"]


def test_a_message_completed_without_pieces_is_said_whole() -> None:
    driver = opened()
    item = {"id": "m", "type": "agentMessage", "text": "whole"}
    events = driver.receive(told("item/completed", turnId="tu", item=item))
    assert [one.text for one in events if isinstance(one, TextSaid)] == ["whole"]


MCP_REQUEST = {
    "turnId": "tu",
    "serverName": "lamp",
    "mode": "form",
    "_meta": {
        "codex_approval_kind": "mcp_tool_call",
        "persist": ["session", "always"],
        "tool_description": "Switches the lamp.",
        "tool_params": {"mark": "q"},
    },
    "message": 'Allow the lamp MCP server to run tool "switch"?',
    "requestedSchema": {"type": "object", "properties": {}},
}


@pytest.mark.parametrize(
    ("decision", "option", "answer"),
    [
        ("allow", None, {"action": "accept", "content": {}}),
        ("allow", "acceptForSession", {"action": "accept", "content": {}, "_meta": {"persist": "session"}}),
        ("allow", "always", {"action": "accept", "content": {}, "_meta": {"persist": "always"}}),
        ("deny", None, {"action": "decline"}),
        ("deny", "cancel", {"action": "cancel"}),
    ],
)
def test_a_tool_of_an_mcp_server_is_asked_for_by_its_name(
    decision: Any, option: str | None, answer: dict[str, Any]
) -> None:
    """It comes as a form without fields: taken for a question it was refused without anybody being asked."""
    driver = opened()
    turn(driver)
    item = {"type": "mcpToolCall", "id": "c1", "server": "lamp", "tool": "switch", "arguments": {"mark": "q"}}
    driver.receive(told("item/started", item=item))
    (asked,) = driver.receive(
        line(id=7, method="mcpServer/elicitation/request", params={"threadId": "th", **MCP_REQUEST})
    )
    assert isinstance(asked, PermissionRequested)
    assert (asked.tool, asked.kind, asked.tool_id) == ("mcp__lamp__switch", "other", "c1")
    assert json.loads(bytes(asked.input))["_meta"]["tool_params"] == {"mark": "q"}
    write = driver.answer_permission(asked, PermissionAnswered(asked.request_id, decision, "ana", option))
    assert sent_by(write) == [{"id": 7, "result": answer}]


def test_a_stop_takes_back_the_request_for_an_mcp_tool() -> None:
    driver = opened()
    turn(driver)
    driver.receive(
        line(id=7, method="mcpServer/elicitation/request", params={"threadId": "th", **MCP_REQUEST})
    )
    sent = sent_by(driver.interrupt("i1"))
    assert {"id": 7, "result": {"action": "cancel"}} in sent


def test_what_a_sub_agent_asks_for_is_asked_and_its_words_are_not_told() -> None:
    """It works in a thread of its own. Its requests were taken for somebody else's, and it waited."""
    driver = opened()
    turn(driver)
    there = {"threadId": "sub", "turnId": "st"}
    command = {"type": "commandExecution", "id": "c9", "command": "touch x", "status": "inProgress"}
    (started,) = driver.receive(line(method="item/started", params={**there, "item": command}))
    assert started.tool_id == "c9"
    words = {"type": "agentMessage", "id": "m9", "text": "Words of the sub-agent."}
    assert driver.receive(line(method="item/completed", params={**there, "item": words})) == []
    asked = approval(driver, threadId="sub", itemId="c9", command="touch x")
    assert (asked.tool, asked.tool_id) == ("command", "c9")
    # The turn that started it may end before it does: it still waits for its answer.
    ended = driver.receive(told("turn/completed", turn={"id": "tu", "status": "completed"}))
    assert [type(one) for one in ended] == [TurnEnded]
    write = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "deny", "ana"))
    assert sent_by(write) == [{"id": 0, "result": {"decision": "decline"}}]
    (closed,) = driver.receive(
        line(method="item/completed", params={**there, "item": {**command, "status": "declined"}})
    )
    assert (closed.tool_id, closed.status) == ("c9", "denied")


def test_a_sub_agents_request_goes_when_the_turn_is_stopped() -> None:
    driver = opened()
    turn(driver)
    asked = approval(driver, threadId="sub", itemId="c9", command="touch x")
    sent = sent_by(driver.interrupt("i1"))
    assert {"id": 0, "result": {"decision": "cancel"}} in sent
    assert [one.request_id for one in driver.settled() if isinstance(one, PermissionWithdrawn)] == [
        asked.request_id
    ]
