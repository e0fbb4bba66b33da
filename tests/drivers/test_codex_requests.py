"""What Codex asks people beyond commands and changes: questions, forms, wider leave; and hostile words."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivers.test_codex_driver import LAUNCH, line, opened, sent_by, told, turn

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.model.errors import InvalidInput, RequestWithdrawn, UnknownOption
from bascule.model.events import (
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    SessionReady,
    ToolChanged,
    TurnEnded,
    Unrecognised,
)
from bascule.policy.disk import UNSEEN
from bascule.policy.session_rules import matching, rule_for

ASKED = {
    "itemId": "i1",
    "turnId": "tu",
    "isBlocking": True,
    "questions": [
        {
            "id": "colour",
            "header": "Colour",
            "question": "Which colour?",
            "options": [{"label": "Blue", "description": "calm"}, {"label": "Green", "description": "fresh"}],
        },
        {"id": "why", "header": "Why", "question": "And why?", "options": None},
    ],
}
REACH = {
    "itemId": "i2",
    "reason": "to fetch a package",
    "permissions": {"network": {"enabled": True}, "fileSystem": {"write": ["/tmp/cache"]}},
}


def ask(driver: CodexDriver, method: str, params: dict[str, Any], number: int = 7) -> Any:
    events = driver.receive(line(id=number, method=method, params={"threadId": "th", **params}))
    assert len(events) == 1, events
    return events[0]


def busy(launch: DriverLaunch = LAUNCH) -> CodexDriver:
    driver = opened(launch)
    turn(driver)
    return driver


def test_a_question_is_asked_in_words_and_answered_by_its_id() -> None:
    driver = busy()
    asked = ask(driver, "item/tool/requestUserInput", ASKED)
    assert isinstance(asked, QuestionAsked)
    assert [one.question for one in asked.questions] == ["Which colour?", "And why?"]
    assert [one.label for one in asked.questions[0].options] == ["Blue", "Green"]
    answers = {"Which colour?": "Green", "And why?": "It is spring"}
    answered = QuestionAnswered(asked.request_id, "ana", answers, {"Which colour?": "but a light one"})
    (reply,) = sent_by(driver.answer_question(asked, answered))
    told_back = {"colour": ["Green", "but a light one"], "why": ["It is spring"]}
    assert reply["id"] == 7
    assert reply["result"]["answers"] == {key: {"answers": value} for key, value in told_back.items()}
    with pytest.raises(RequestWithdrawn):
        driver.answer_question(asked, answered)


def test_a_declined_question_has_no_answers_and_an_unknown_one_is_refused() -> None:
    driver = busy()
    asked = ask(driver, "item/tool/requestUserInput", ASKED)
    with pytest.raises(InvalidInput):
        driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", {"Another?": "x"}))
    (reply,) = sent_by(driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", message="no")))
    assert reply["result"] == {"answers": {}}


def test_a_tool_servers_form_is_a_question_too() -> None:
    driver = busy()
    schema = {"type": "object", "properties": {"name": {"type": "string", "title": "Your name"}}}
    form = {"serverName": "tickets", "mode": "form", "message": "Who are you?", "requestedSchema": schema}
    asked = ask(driver, "mcpServer/elicitation/request", form)
    assert isinstance(asked, QuestionAsked)
    answered = QuestionAnswered(asked.request_id, "ana", {asked.questions[0].question: "Ana"})
    (reply,) = sent_by(driver.answer_question(asked, answered))
    assert reply["result"] == {"action": "accept", "content": {"name": "Ana"}}


def test_a_secret_is_never_asked_for_because_everybody_would_read_it() -> None:
    driver = busy()
    secret = {**ASKED, "questions": [{"id": "k", "header": "", "question": "Token?", "isSecret": True}]}
    note = ask(driver, "item/tool/requestUserInput", secret)
    assert isinstance(note, Note)
    assert note.code == "secret_refused"
    assert sent_by(*driver.data_to_send())[0]["result"] == {"answers": {}}


def test_a_question_that_is_open_at_an_interrupt_is_taken_back() -> None:
    driver = busy()
    asked = ask(driver, "item/tool/requestUserInput", ASKED)
    reach = ask(driver, "item/permissions/requestApproval", REACH, 8)
    sent = sent_by(driver.interrupt("i"))
    assert [one.get("method") for one in sent] == ["turn/interrupt", None]
    assert sent[1]["result"] == {"permissions": {}, "scope": "turn"}
    assert driver.settled() == [
        QuestionWithdrawn(asked.request_id, "interrupted"),
        PermissionWithdrawn(reach.request_id, "interrupted"),
    ]


@pytest.mark.parametrize(
    ("decision", "option", "answer"),
    [
        ("allow", None, {"permissions": REACH["permissions"], "scope": "turn"}),
        ("allow", "acceptForSession", {"permissions": REACH["permissions"], "scope": "session"}),
        ("deny", None, {"permissions": {}, "scope": "turn"}),
        ("deny", "decline", {"permissions": {}, "scope": "turn"}),
    ],
)
def test_leave_to_reach_further_is_given_for_a_turn_or_the_session(
    decision: Any, option: str | None, answer: dict[str, Any]
) -> None:
    driver = busy()
    asked = ask(driver, "item/permissions/requestApproval", REACH)
    assert isinstance(asked, PermissionRequested)
    assert asked.title == "Let it use the network and write /tmp/cache"
    assert asked.note == "to fetch a package"
    answered = PermissionAnswered(asked.request_id, decision, "ana", option)
    (reply,) = sent_by(driver.answer_permission(asked, answered))
    assert reply["result"] == answer


@pytest.mark.row("S42")
@pytest.mark.parametrize("option", ["cancel", "amendment", "acceptForEver", "", "accept\n"])
def test_an_option_that_was_not_offered_is_refused_and_the_request_still_stands(option: str) -> None:
    driver = busy()
    asked = ask(driver, "item/permissions/requestApproval", REACH)
    with pytest.raises(UnknownOption):
        driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana", option))
    with pytest.raises(UnknownOption):
        driver.answer_permission(asked, PermissionAnswered(asked.request_id, "deny", "ana", "accept"))
    answered = PermissionAnswered(asked.request_id, "allow", "ana")
    assert sent_by(driver.answer_permission(asked, answered))[0]["id"] == 7


@pytest.mark.row("S42")
def test_what_is_granted_is_what_was_asked_for_byte_by_byte() -> None:
    driver = busy()
    odd = b'{"network" : {"enabled":true},"fileSystem":{"write":["/tmp/\\u0061  b"]}}'
    params = b'{"threadId":"th","itemId":"i","permissions":' + odd + b"}"
    message = b'{"id":7,"method":"item/permissions/requestApproval","params":' + params + b"}\n"
    (asked,) = driver.receive(message)
    assert isinstance(asked, PermissionRequested)
    assert bytes(asked.input) == params
    write = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana"))
    assert odd in write.data


@pytest.mark.row("C6")
def test_plan_mode_is_told_with_each_turn_and_its_end_once() -> None:
    driver = opened(DriverLaunch("/home/dev/project", "r", mode="plan"))
    first = turn(driver)
    assert first["params"]["collaborationMode"]["mode"] == "plan"
    assert first["params"]["collaborationMode"]["settings"]["model"] == "big"
    driver.set_mode("m", "ask")
    driver.receive(told("turn/completed", turn={"id": "tu", "status": "completed"}))
    second = turn(driver)
    assert second["params"]["collaborationMode"]["mode"] == "default"
    assert second["params"]["approvalPolicy"] == "untrusted"
    driver.receive(told("turn/completed", turn={"id": "tu", "status": "completed"}))
    assert "collaborationMode" not in turn(driver)["params"]


@pytest.mark.row("C6")
def test_a_fork_begins_where_the_other_thread_stands() -> None:
    driver = CodexDriver(DriverLaunch("/home/dev/project", "r", resume="old", fork=True))
    driver.start()
    driver.receive(line(id=0, result={}))
    *_, opening = sent_by(*driver.data_to_send())
    assert (opening["method"], opening["params"]["threadId"]) == ("thread/fork", "old")
    assert "lastTurnId" not in opening["params"]


@pytest.mark.row("C6")
def test_a_fork_at_an_earlier_turn_names_the_last_one_that_is_copied() -> None:
    driver = CodexDriver(DriverLaunch("/home/dev/project", "r", resume="old", fork=True, fork_at="tu-1"))
    driver.start()
    driver.receive(line(id=0, result={}))
    *_, opening = sent_by(*driver.data_to_send())
    assert (opening["method"], opening["params"]["lastTurnId"]) == ("thread/fork", "tu-1")
    turns = [{"id": "tu-1"}, {"id": "tu-2"}]
    (refused,) = driver.receive(line(id=opening["id"], result={"thread": {"id": "new", "turns": turns}}))
    assert isinstance(refused, Note)
    assert "whole conversation" in refused.text
    (retried,) = sent_by(driver.prompt(PromptSent("p", "again", "ana")))
    thread = {"id": "new", "turns": turns[:1]}
    (ready,) = driver.receive(line(id=retried["id"], result={"thread": thread}))
    assert isinstance(ready, SessionReady)
    (ended,) = busy().receive(told("turn/completed", turn={"id": "tu-2", "status": "completed"}))
    assert isinstance(ended, TurnEnded)
    assert ended.fork_at == "tu-2"


def test_a_model_that_decided_in_a_persons_place_is_told() -> None:
    driver = busy()
    review = {"status": "approved", "rationale": "it looked harmless"}
    (note,) = driver.receive(told("item/autoApprovalReview/completed", review=review))
    assert isinstance(note, Note)
    assert (note.code, note.level) == ("auto_review", "warning")
    assert "harmless" in note.text


HOSTILE = [
    b"\xef\xbb\xbf{}",
    b"\xff\xfe",
    b"\x00\x00",
    b"null",
    b"[]",
    b"1e999",
    b"NaN",
    b'{"id":0}',
    b'{"id":{"a":1},"method":"item/tool/requestUserInput","params":{"threadId":"th"}}',
    b'{"id":"' + b"x" * 5000 + b'","method":"item/fileChange/requestApproval","params":{}}',
    b'{"method":"item/started","params":{"threadId":"th","item":7}}',
    b'{"method":"item/completed","params":{"threadId":"th","item":{"id":"' + b"y" * 999 + b'"}}}',
    b'{"method":"turn/completed","params":{"threadId":"th","turn":[]}}',
    b'{"method":"no/such/thing","params":{"threadId":"th"}}',
    b'{"id":4711,"result":{}}',
    b'{"a":' * 100_000,
]


@pytest.mark.row("REL-31")
@pytest.mark.parametrize("said", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_it_says_the_next_line_is_understood(said: bytes) -> None:
    driver = busy()
    for event in driver.receive(said + b"\r\n"):
        assert isinstance(event, Unrecognised | Note | TurnEnded)
    driver.data_to_send()
    assert ask(driver, "item/permissions/requestApproval", REACH, 99)


@pytest.mark.row("REL-31")
def test_the_same_id_twice_stands_once() -> None:
    driver = busy()
    ask(driver, "item/permissions/requestApproval", REACH)
    assert isinstance(ask(driver, "item/permissions/requestApproval", REACH), Note)


@pytest.mark.row("REL-33")
def test_a_process_that_goes_leaves_no_tool_running() -> None:
    driver = busy()
    item = {"type": "commandExecution", "id": "c", "command": "sleep 9", "status": "inProgress"}
    driver.receive(told("item/started", item=item))
    (ended,) = driver.finish()
    assert isinstance(ended, ToolChanged)
    assert ended.status == "failed"


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_methods = st.sampled_from(
    [
        "item/started",
        "item/completed",
        "item/tool/requestUserInput",
        "mcpServer/elicitation/request",
        "item/permissions/requestApproval",
        "item/commandExecution/requestApproval",
        "item/fileChange/requestApproval",
        "turn/plan/updated",
        "turn/completed",
        "hook/completed",
        "model/rerouted",
        "thread/tokenUsage/updated",
    ]
)
_keys = st.sampled_from(
    ["item", "itemId", "questions", "requestedSchema", "permissions", "plan", "turn", "run", "tokenUsage"]
)


@pytest.mark.row("REL-31")
@settings(max_examples=150, deadline=None)
@given(_methods, st.dictionaries(_keys, _values, max_size=4), st.none() | st.integers(0, 9))
def test_no_shape_of_a_message_is_a_fault_of_ours(
    method: str, params: dict[str, Any], number: int | None
) -> None:
    driver = busy()
    message: dict[str, Any] = {"method": method, "params": {"threadId": "th", **params}}
    if number is not None:
        message["id"] = number
    for event in driver.receive(json.dumps(message).encode() + b"\n"):
        assert not (isinstance(event, Unrecognised) and "driver fault" in event.reason), event
    CodexDriver.restore(driver.state())


def asked_to_run(driver: CodexDriver, number: int, **more: Any) -> PermissionRequested:
    params = {"itemId": "c", "command": "git status", "cwd": "/home/dev/project", **more}
    asked = ask(driver, "item/commandExecution/requestApproval", params, number)
    assert isinstance(asked, PermissionRequested)
    return asked


@pytest.mark.row("S43")
def test_a_remembered_command_is_that_command_in_that_folder_and_nothing_that_comes_with_it() -> None:
    driver, cwd = busy(), "/home/dev/project"
    rule = rule_for(asked_to_run(driver, 20), cwd)
    assert matching([rule], asked_to_run(driver, 21, itemId="another", reason="again"), cwd, UNSEEN)
    assert matching([rule], asked_to_run(driver, 22, command=["git", "status"]), cwd, UNSEEN)
    others: list[dict[str, Any]] = [
        {"cwd": "/"},
        {"command": "git status; rm x"},
        {"command": "/bin/bash -lc 'git status'"},
        {"kind": "writeStdin"},
        {"networkApprovalContext": {"host": "example.org", "protocol": "https"}},
        {"command": None},
        {"command": ["git", "status", "-s"]},
        {"cmd": "rm x"},
        {"workdir": "/"},
    ]
    for number, more in enumerate(others, 30):
        assert not matching([rule], asked_to_run(driver, number, **more), cwd, UNSEEN), more


@pytest.mark.row("S43")
def test_keys_for_a_running_program_and_a_host_are_named_for_what_they_are() -> None:
    driver = busy()
    keys = asked_to_run(driver, 20, kind="writeStdin", command="python")
    host = asked_to_run(driver, 21, networkApprovalContext={"host": "example.org", "protocol": "https"})
    assert (keys.tool, keys.title) == ("stdin", "Type into the running python")
    assert (host.tool, host.title) == ("network", "Reach https example.org for git status")
