"""What the recordings do not hold: hostile lines, odd orders, and the driver's own promises."""

import json
from typing import Any

import pytest

from bascule.drivers.line_splitter import LineSplitter
from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.events import (
    EntryClosed,
    EntryOpened,
    Note,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    QuestionWithdrawn,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def stream(event: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": parent}


def start(message_id: str, parent: str | None = None) -> dict[str, Any]:
    return stream({"type": "message_start", "message": {"id": message_id}}, parent)


def delta(text: str, index: int = 0, parent: str | None = None) -> dict[str, Any]:
    piece = {"type": "text_delta", "text": text}
    return stream({"type": "content_block_delta", "index": index, "delta": piece}, parent)


def assistant(message_id: str, *blocks: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    body = {"id": message_id, "content": list(blocks)}
    return {"type": "assistant", "message": body, "parent_tool_use_id": parent}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def permission(request_id: str, tool: str = "Bash", **fields: Any) -> dict[str, Any]:
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": {"command": "ls"}, **fields}
    return {"type": "control_request", "request_id": request_id, "request": request}


@pytest.mark.row("REL-31")
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "not JSON"),
        (b'{"type":"result"', "not JSON"),
        (b'{"type":"user","message":"\xff"}', "not UTF-8"),
        (b'\xef\xbb\xbf{"type":"system"}', "not JSON"),
        (b'{"type":"a\x00b"}', "not JSON"),
        (b'{"type":"system","x":NaN}', "not JSON"),
        (b'{"type":"x","y":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b"[1,2]", "not as expected"),
        (b"123", "not as expected"),
        (b'{"type":7}', "not as expected"),
        (b'{"type":"news"}', "unknown message 'news'"),
        (b'{"type":"system","subtype":"news"}', "unknown system message 'news'"),
        (b"{}", "a message without a type"),
        (b'{"type":"user"}', "a user message without content"),
        (b'{"type":"user","message":{"content":[{"type":"tool_result"}]}}', "a tool result without"),
        (b'{"type":"user","message":{"content":[{"type":"news"}]}}', "unknown user content"),
        (b'{"type":"control_cancel_request","request_id":"never"}', "withdraws a request"),
        (b'{"type":"control_response","response":{"request_id":"never"}}', "an answer to nothing"),
    ],
)
def test_what_is_not_understood_is_kept_and_the_stream_goes_on(line: bytes, reason: str) -> None:
    driver = StreamJsonDriver()
    strange, note = driver.receive(line + b"\r\n" + lines({"type": "system", "subtype": "api_retry"}))
    assert isinstance(strange, Unrecognised)
    assert strange.reason.startswith(reason)
    assert isinstance(note, Note)


@pytest.mark.row("REL-31")
def test_what_is_kept_is_bounded_with_its_length_and_hash() -> None:
    (kept,) = StreamJsonDriver().receive(b"x" * 100_000 + b"\n")
    assert isinstance(kept, Unrecognised)
    assert (len(kept.raw), kept.length, len(kept.sha256)) == (16 * 1024, 100_000, 64)


@pytest.mark.row("REL-31")
def test_half_an_emoji_does_not_cost_the_message() -> None:
    line = b'{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"cut \\ud83d"}]}}\n'
    events = StreamJsonDriver().receive(line)
    assert TextAppended("m:0", "assistant", "cut �") in events


def test_pieces_and_their_whole_are_said_once() -> None:
    driver = StreamJsonDriver()
    events = driver.receive(lines(start("m"), delta("a"), delta("b"), assistant("m", text("abc"))))
    assert events == [
        EntryOpened("m:0", "assistant"),
        TextAppended("m:0", "assistant", "abc"),
        EntryClosed("m:0"),
    ]


def test_a_whole_that_differs_from_its_pieces_is_said_beside_them() -> None:
    driver = StreamJsonDriver()
    events = driver.receive(lines(start("m"), delta("wrong"), assistant("m", text("right"))))
    assert [type(event) for event in events] == [
        EntryOpened,
        TextAppended,
        EntryClosed,
        Note,
        EntryOpened,
        TextAppended,
        EntryClosed,
    ]
    assert events[5] == TextAppended("m:1", "assistant", "right")


def test_a_text_left_open_is_closed_by_the_end_of_the_turn_and_of_the_stream() -> None:
    driver = StreamJsonDriver()
    events = driver.receive(lines(start("m"), delta("a"), {"type": "result", "is_error": False}))
    assert EntryClosed("m:0") in events
    driver.receive(lines(start("n"), delta("b")))
    assert driver.finish() == [EntryClosed("n:0")]


def test_sub_agents_speak_at_the_same_time_without_mixing() -> None:
    driver = StreamJsonDriver()
    events = driver.receive(
        lines(start("m"), start("s", "t1"), delta("main"), delta("sub", parent="t1"), delta(" more"))
    )
    assert EntryOpened("s:0", "assistant", "t1") in events
    said = [(event.entry_id, event.text) for event in events if isinstance(event, TextAppended)]
    assert said == [("m:0", "main"), ("s:0", "sub"), ("m:0", " more")]


def test_many_requests_are_open_at_once_and_withdrawn_one_by_one() -> None:
    driver = StreamJsonDriver()
    question = permission("q", "AskUserQuestion")
    question["request"]["input"] = {"questions": [{"question": "Which?", "options": []}]}
    events = driver.receive(lines(permission("a"), question, permission("b")))
    assert len(events) == 3
    driver = StreamJsonDriver.restore(driver.state())
    gone = driver.receive(lines(*({"type": "control_cancel_request", "request_id": one} for one in "qba")))
    assert gone == [
        QuestionWithdrawn("q", "agent"),
        PermissionWithdrawn("b", "agent"),
        PermissionWithdrawn("a", "agent"),
    ]


@pytest.mark.row("REL-31")
def test_a_repeated_request_stands_once() -> None:
    driver = StreamJsonDriver()
    first, second = driver.receive(lines(permission("a"), permission("a", "Write")))
    assert isinstance(first, PermissionRequested)
    assert isinstance(second, Note)
    assert driver.data_to_send() == []


@pytest.mark.parametrize(
    "request_body", [{"subtype": "hook_callback"}, {"subtype": "can_use_tool", "tool_name": 5}, {}, []]
)
def test_a_request_nobody_understands_is_answered_with_an_error_once(request_body: Any) -> None:
    driver = StreamJsonDriver()
    (kept,) = driver.receive(lines({"type": "control_request", "request_id": "h", "request": request_body}))
    assert isinstance(kept, Unrecognised)
    (reply,) = driver.data_to_send()
    assert reply.write_id == "reply:h"
    assert json.loads(reply.data)["response"]["subtype"] == "error"
    assert driver.data_to_send() == []


def test_a_todo_list_is_a_plan() -> None:
    call = {"todos": [{"content": "Test", "status": "in_progress", "activeForm": "Testing"}, {"content": 5}]}
    tool = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": call}
    started, plan = StreamJsonDriver().receive(lines(assistant("m", tool)))
    assert isinstance(started, ToolStarted)
    assert isinstance(plan, PlanChanged)
    assert [item.text for item in plan.items] == ["Test", ""]


def test_a_tool_without_a_result_fails_when_the_turn_ends() -> None:
    driver = StreamJsonDriver()
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    events = driver.receive(lines(assistant("m", tool), {"type": "result", "is_error": False}))
    assert [(one.tool_id, one.status) for one in events if isinstance(one, ToolChanged)] == [("t", "failed")]


def test_a_tools_pictures_and_long_output_are_kept_within_bounds() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    content = [text("x" * 2_000_000), {"type": "image", "source": source}]
    result = {"type": "tool_result", "tool_use_id": "t", "content": content}
    said = {"type": "user", "message": {"role": "user", "content": [result]}}
    (changed,) = StreamJsonDriver().receive(lines(said))
    assert isinstance(changed, ToolChanged)
    assert changed.images[0].data == "aGk="
    assert len(changed.output) < 1_100_000
    assert "more characters" in changed.output


def test_a_sub_agents_report_is_shown_without_the_frame_around_it() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [text("[hand-back] I looked. <usage>")]}
    outcome = {"agentId": "a", "harnessNoteCount": 1, "content": [text("<tools-used/>"), text("I looked.")]}
    said = {"type": "user", "message": {"role": "user", "content": [result]}, "tool_use_result": outcome}
    (changed,) = StreamJsonDriver().receive(lines(said))
    assert isinstance(changed, ToolChanged)
    assert changed.output == "I looked."
    del outcome["content"]
    (unreported,) = StreamJsonDriver().receive(lines(said))
    assert isinstance(unreported, ToolChanged)
    assert unreported.output == "[hand-back] I looked. <usage>"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"is_error": True, "terminal_reason": "aborted_streaming"}, "interrupted"),
        ({"is_error": True, "subtype": "success", "result": "API Error"}, "error"),
        ({"is_error": False, "stop_reason": "max_tokens"}, "max_tokens"),
        ({"is_error": False, "stop_reason": "refusal"}, "refusal"),
        ({"is_error": False, "stop_reason": None}, "end_turn"),
        ({"is_error": False, "stop_reason": "something new"}, "other"),
    ],
)
def test_how_a_turn_ended_is_told_by_is_error_and_its_reasons(result: dict[str, Any], reason: str) -> None:
    ended = StreamJsonDriver().receive(lines({"type": "result", **result}))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.stop_reason == reason


def test_a_hook_that_ran_unasked_is_a_note() -> None:
    hook = {"type": "system", "hook_name": "SessionStart:startup", "hook_event": "SessionStart"}
    ended = hook | {"subtype": "hook_response", "outcome": "success", "exit_code": 0}
    failed = ended | {"outcome": "error", "exit_code": 3, "stderr": "no such tool"}
    notes = StreamJsonDriver().receive(lines(hook | {"subtype": "hook_started"}, ended, failed))
    assert notes == [
        Note("hook", "The hook SessionStart:startup of the agent's settings ran."),
        Note("hook_failed", "The hook SessionStart:startup failed (status 3): no such tool", "warning"),
    ]


def test_an_api_error_is_told_once_by_the_end_of_its_turn() -> None:
    failed = assistant("m", text("API Error: 529")) | {"is_api_error_message": True}
    result = {"type": "result", "is_error": True, "result": "API Error: 529"}
    events = StreamJsonDriver().receive(lines(failed, result))
    assert [(type(one), getattr(one, "message", None)) for one in events] == [(TurnEnded, "API Error: 529")]


def test_an_api_error_that_no_turn_tells_is_a_note() -> None:
    failed = assistant("m", text("API Error: 529")) | {"is_api_error_message": True}
    driver = StreamJsonDriver()
    first = driver.receive(lines(failed, {"type": "result", "is_error": False, "stop_reason": "end_turn"}))
    assert first[0] == Note("api_error", "API Error: 529", "error")
    driver.receive(lines(failed))
    resumed = StreamJsonDriver.restore(driver.state())
    assert resumed.finish() == [Note("api_error", "API Error: 529", "error")]


def test_an_oversized_line_is_kept_as_unrecognised_and_the_next_is_read() -> None:
    driver = StreamJsonDriver()
    chunk = b'{"type":"user","x":"' + b"y" * 1_000_000
    events = [event for _ in range(20) for event in driver.receive(chunk)]
    events += driver.receive(b'"}\n' + lines(start("m"), delta("a")))
    assert [type(event) for event in events] == [Unrecognised, EntryOpened, TextAppended]


def test_a_line_that_never_ends_is_skipped_across_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LineSplitter, "MAX_LINE", 500)
    monkeypatch.setattr(LineSplitter, "GIVE_UP", 1000)
    driver = StreamJsonDriver()
    (kept,) = driver.receive(b"x" * 1500)
    assert isinstance(kept, Unrecognised)
    assert driver.consumed == 1500
    driver = StreamJsonDriver.restore(driver.state())
    assert driver.receive(b"x" * 2000) == []
    assert driver.consumed == 2000
    events = driver.receive(b"xx\n" + lines(start("m"), delta("a")))
    assert [type(event) for event in events] == [EntryOpened, TextAppended]
