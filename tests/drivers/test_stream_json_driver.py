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
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
    UsageChanged,
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
    assert TextSaid("m:0", "assistant", "cut �") in events


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
        TextSaid,
    ]
    assert events[4] == TextSaid("m:1", "assistant", "right")


@pytest.mark.parametrize("parent", [None, "t1"])
def test_a_text_that_came_whole_is_one_event(parent: str | None) -> None:
    driver = StreamJsonDriver()
    thought = {"type": "thinking", "thinking": "hm"}
    events = driver.receive(
        lines(assistant("m", thought, text(""), parent=parent), assistant("m", text("a"), parent=parent))
    )
    assert events == [TextSaid("m:0", "thinking", "hm", parent), TextSaid("m:2", "assistant", "a", parent)]


def test_a_block_that_was_announced_and_then_came_whole_keeps_its_place() -> None:
    begun = {"type": "content_block_start", "index": 3, "content_block": text("")}
    events = StreamJsonDriver().receive(lines(start("m"), stream(begun), assistant("m", text("a"))))
    assert events == [TextSaid("m:3", "assistant", "a")]


def test_what_a_closed_text_lacks_follows_as_a_text_of_its_own() -> None:
    stop = stream({"type": "content_block_stop", "index": 0})
    events = StreamJsonDriver().receive(lines(start("m"), delta("a"), stop, assistant("m", text("ab"))))
    assert events[2:] == [EntryClosed("m:0"), TextSaid("m:1", "assistant", "b")]


def test_the_next_message_of_the_same_speaker_closes_the_one_before() -> None:
    driver = StreamJsonDriver()
    driver.receive(lines(start("m"), delta("a"), start("s", "t1"), delta("b", parent="t1")))
    driver = StreamJsonDriver.restore(driver.state())
    assert driver.receive(lines(assistant("n", text("c")))) == [
        EntryClosed("m:0"),
        TextSaid("n:0", "assistant", "c"),
    ]
    assert driver.finish() == [EntryClosed("s:0")]


def test_the_oldest_of_many_messages_is_closed_and_forgotten() -> None:
    driver = StreamJsonDriver()
    driver.receive(lines(start("m", "t0"), delta("a", parent="t0")))
    events = driver.receive(lines(*(assistant(f"n{n}", text("b"), parent=f"t{n + 1}") for n in range(8))))
    assert events[-2:] == [EntryClosed("m:0"), TextSaid("n7:0", "assistant", "b", "t8")]
    (late,) = driver.receive(lines(delta("c", parent="t0")))
    assert isinstance(late, Unrecognised)


@pytest.mark.row("REL-31")
def test_a_block_nobody_understands_does_not_cost_the_others() -> None:
    odd, broken = {"type": "hologram", "data": [1]}, {"type": "text", "text": 5}
    events = StreamJsonDriver().receive(lines(assistant("m", text("a"), odd, broken, text("b"))))
    assert events[:2] == [TextSaid("m:0", "assistant", "a"), TextSaid("m:1", "assistant", "b")]
    kept = [(json.loads(one.raw), one.reason) for one in events if isinstance(one, Unrecognised)]
    assert [raw for raw, _ in kept] == [odd, broken]
    assert kept[0][1] == "unknown content block 'hologram'"
    assert kept[1][1].startswith("broken content block: ")


@pytest.mark.parametrize("usage", [5, [], {"input_tokens": "many"}, None])
def test_a_count_of_the_wrong_type_does_not_cost_the_message(usage: Any) -> None:
    said = assistant("m", text("a"))
    said["message"]["usage"] = usage
    assert StreamJsonDriver().receive(lines(said)) == [TextSaid("m:0", "assistant", "a")]


def test_the_context_in_use_is_told_when_it_changes() -> None:
    said = assistant("m", text("a"))
    said["message"]["usage"] = {
        "input_tokens": 7.0,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": True,
    }
    events = StreamJsonDriver().receive(lines(said, said))
    assert [event for event in events if isinstance(event, UsageChanged)] == [UsageChanged(12)]


def test_a_result_of_a_tool_of_the_models_provider_ends_it() -> None:
    call = {"type": "server_tool_use", "id": "t", "name": "web_search", "input": {"query": "wicks"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "t", "content": [text("found")]}
    events = StreamJsonDriver().receive(lines(assistant("m", call, result)))
    assert events[1:] == [ToolChanged("t", "done", "found")]


@pytest.mark.row("REL-31")
@pytest.mark.parametrize(
    "wrong", [{"tool_use_result": "Error: no"}, {"tool_result_meta": 7}, {"isSynthetic": []}, {"uuid": 5}]
)
def test_a_field_of_the_wrong_type_does_not_cost_a_tools_result(wrong: dict[str, Any]) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "out", "is_error": "yes"}
    said = {"type": "user", "message": {"content": ["stray", 5, result | {"text": 7}]}, **wrong}
    assert StreamJsonDriver().receive(lines(said)) == [ToolChanged("t", "done", "out")]


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


@pytest.mark.row("C6")
def test_the_end_of_a_turn_names_the_last_message_of_the_conversation_itself() -> None:
    driver = StreamJsonDriver()
    result = {"type": "result", "subtype": "success"}
    tool_result = {"type": "tool_result", "tool_use_id": "t", "content": "done"}
    called = {"type": "tool_use", "id": "t", "name": "Task", "input": {}}

    def ends(*messages: Any) -> list[str | None]:
        said = driver.receive(lines(*messages, result))
        return [one.fork_at for one in said if isinstance(one, TurnEnded)]

    init = {"type": "system", "subtype": "init", "session_id": "one"}
    assert ends(init) == [None]
    beside = {**assistant("m2", text("beside"), parent="t"), "uuid": "u2"}
    answer = {"type": "user", "message": {"content": [tool_result]}, "uuid": "u3"}
    assert ends({**assistant("m1", called), "uuid": "u1"}, beside) == ["u1"]
    assert ends(answer, {**answer, "parent_tool_use_id": "t", "uuid": "u4"}) == ["u3"]
    # Ids that are none, and another conversation, in which the old ones mean nothing.
    assert ends({**assistant("m3", text("a")), "uuid": 7}, {**answer, "uuid": "u" * 300}) == ["u3"]
    assert ends(init) == ["u3"]
    assert ends({**init, "session_id": "two"}) == [None]
