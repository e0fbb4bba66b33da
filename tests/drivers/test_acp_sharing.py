"""Several ACP sessions on one line: each hears its own however the bytes come, and all answer as one."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.acp.state import ID_RANGE, Greeting, Joining
from bascule.drivers.base import DriverLaunch
from bascule.model.events import (
    AnyEvent,
    CommandsChanged,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    SessionReady,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)

CAN = {"loadSession": True, "sessionCapabilities": {"resume": {}, "close": {}}}
SERVED = ("read", "write", "terminal")


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def update(session: str, name: str, /, **fields: Any) -> bytes:
    return line(
        method="session/update", params={"sessionId": session, "update": {"sessionUpdate": name, **fields}}
    )


def chunk(session: str, words: str) -> bytes:
    return update(session, "agent_message_chunk", content={"type": "text", "text": words})


def sent(*writes: Any) -> list[dict[str, Any]]:
    return [json.loads(one) for write in writes for one in write.data.splitlines()]


def opened(n: int, services: tuple[str, ...] = ()) -> AcpDriver:
    """The n-th session of a process that was greeted long ago."""
    greeting = Greeting("1.0", True, loads=True, resumes=True, closes=True)
    launch = DriverLaunch("/repo", f"r{n}", services=services)
    driver = AcpDriver(launch, joining=Joining(n * ID_RANGE, greeting))
    (opening,) = sent(*driver.start())
    assert opening["method"] == "session/new"
    driver.receive(line(id=opening["id"], result={"sessionId": f"s{n}"}))
    return driver


def prompted(driver: AcpDriver, text: str = "go") -> int:
    (asked,) = sent(driver.prompt(PromptSent("p1", text, "ana")))
    return asked["id"]


# Beginning -----------------------------------------------------------------------------------------------


def test_sessions_that_begin_together_greet_with_the_same_words_under_the_same_id():
    both = [AcpDriver(DriverLaunch("/repo", f"r{n}"), joining=Joining(n * ID_RANGE)) for n in range(2)]
    (first,), (second,) = (driver.start() for driver in both)
    assert first == second
    assert first.write_id.startswith("@")
    opening = []
    for driver in both:
        driver.receive(line(id=0, result={"protocolVersion": 1, "agentCapabilities": CAN}))
        opening += sent(*driver.data_to_send())
    assert [one["method"] for one in opening] == ["session/new"] * 2
    assert opening[0]["id"] != opening[1]["id"]


def test_one_that_comes_later_knows_what_the_agent_can_and_greets_nobody():
    first = AcpDriver(DriverLaunch("/repo", "r"), joining=Joining())
    first.start()
    assert first.greeting is None
    first.receive(line(id=0, result={"protocolVersion": 1, "agentCapabilities": CAN}))
    assert first.greeting == Greeting(loads=True, resumes=True, closes=True)
    later = AcpDriver(DriverLaunch("/repo", "q", resume="old"), joining=Joining(ID_RANGE, first.greeting))
    (opening,) = sent(*later.start())
    assert (opening["method"], opening["params"]["sessionId"]) == ("session/resume", "old")


def test_a_refused_greeting_is_told_by_all_and_ends_no_talk_by_itself():
    driver = AcpDriver(DriverLaunch("/repo", "r"), joining=Joining())
    driver.start()
    (note,) = driver.receive(line(id=0, error={"code": -32603, "message": "not today"}))
    assert isinstance(note, Note)
    assert driver.refused == "not today"


def test_what_is_said_early_of_a_new_session_is_not_lost_among_what_others_say():
    launch = DriverLaunch("/repo", "r")
    driver = AcpDriver(launch, joining=Joining(ID_RANGE, Greeting()))
    (opening,) = sent(*driver.start())
    commands = [{"name": "help", "description": "Help"}]
    assert driver.receive(update("mine", "available_commands_update", availableCommands=commands)) == []
    driver.receive(b"".join(chunk(f"other{n % 10}", "x" * 1000) for n in range(500)))
    assert len(driver.state()) < 300_000
    events = driver.receive(line(id=opening["id"], result={"sessionId": "mine"}))
    assert [type(event) for event in events] == [SessionReady, CommandsChanged]


# Hearing -------------------------------------------------------------------------------------------------


def conversation(n: int, words: list[str]) -> list[bytes]:
    """All that the agent says to one session in one turn."""
    session, tool = f"s{n}", f"call{n}"
    lines = [chunk(session, word) for word in words]
    call = {"toolCallId": tool, "title": "ls", "kind": "execute", "rawInput": {"command": "ls"}}
    lines.append(update(session, "tool_call", status="in_progress", **call))
    lines.append(update(session, "tool_call_update", toolCallId=tool, status="completed", rawOutput="a"))
    lines.append(update(session, "something_new", value=n))
    lines.append(line(id=n * ID_RANGE + 2, result={"stopReason": "end_turn"}))
    return lines


def merged(events: list[AnyEvent]) -> list[AnyEvent]:
    """Pieces of one text may come as one or as several."""
    found: list[AnyEvent] = []
    for event in events:
        last = found[-1] if found else None
        if (
            isinstance(event, TextAppended)
            and isinstance(last, TextAppended)
            and last.entry_id == event.entry_id
        ):
            found[-1] = TextAppended(last.entry_id, last.kind, last.text + event.text)
        else:
            found.append(event)
    return found


NOISE = [b"not json\n", b"\xff\n", b"[1]\n", b"\r\n", b"{}\n"]


@pytest.mark.row("REL-31", "A1")
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_same_events_however_the_bytes_are_cut_and_sessions_interleaved(data: st.DataObject):
    count = data.draw(st.integers(1, 4))
    texts = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4)
    talks = {n: conversation(n, data.draw(texts)) for n in range(1, count + 1)}
    noise = data.draw(st.lists(st.sampled_from(NOISE), max_size=3))

    expected: dict[int, list[AnyEvent]] = {}
    for n, lines in talks.items():
        driver = opened(n)
        prompted(driver)
        expected[n] = merged(driver.receive(b"".join(lines)))
        assert [type(one) for one in expected[n]][-1] is TurnEnded

    mixed: list[bytes] = []
    left = {n: list(lines) for n, lines in talks.items()}
    while left:
        n = data.draw(st.sampled_from(sorted(left)))
        mixed.append(left[n].pop(0))
        if not left[n]:
            del left[n]
    for one in noise:
        mixed.insert(data.draw(st.integers(0, len(mixed))), one)
    stream = b"".join(mixed)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    for n in talks:
        driver = opened(n)
        prompted(driver)
        events: list[AnyEvent] = []
        base, at = -driver.consumed, 0
        for piece in pieces:
            at += len(piece)
            events += driver.receive(piece)
            if data.draw(st.booleans()):  # a crash: what was read beyond the last line end is read again
                base += driver.consumed
                driver = AcpDriver.restore(driver.state())
                events += driver.receive(stream[base:at])
        own = [one for one in events if not isinstance(one, Unrecognised) or "something_new" in one.raw]
        # A line nobody understands ends no text and begins none.
        assert merged(own) == expected[n]


@pytest.mark.row("REL-31")
@pytest.mark.parametrize(
    "bad",
    [
        b'{"jsonrpc":"2.0","id":7}\n',
        b'{"jsonrpc":"2.0","id":99999999,"result":{}}\n',
        b'{"jsonrpc":"2.0","result":{}}\n',
        b'{"jsonrpc":"2.0","method":"session/update","params":[1]}\n',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":5}}\n',
        b'{"jsonrpc":"2.0","id":NaN,"method":"x"}\n',
        b"\xef\xbb\xbf{}\n",
        b"\x00\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_no_session_understands_is_kept_or_another_ones_and_stops_nobody(bad: bytes):
    drivers = [opened(n) for n in (1, 2)]
    for n, driver in enumerate(drivers, 1):
        events = driver.receive(bad + chunk(f"s{n}", "still here"))
        assert any(isinstance(one, TextAppended) and one.text == "still here" for one in events)
        assert all(len(one.raw) <= 16 * 1024 for one in events if isinstance(one, Unrecognised))


def test_a_request_in_no_sessions_name_is_refused_by_all_under_one_id():
    drivers = [opened(n) for n in (1, 2, 3)]
    owed = []
    for driver in drivers:
        events = driver.receive(line(id=5, method="_vendor/thing", params={"x": 1}))
        assert [type(one) for one in events] == [Unrecognised]
        owed += driver.data_to_send()
    assert len({write.write_id for write in owed}) == 1
    assert {json.loads(write.data)["error"]["code"] for write in owed} == {-32601}
    assert len({write.data for write in owed}) == 1


def test_a_form_that_names_the_request_it_belongs_to_is_asked_by_that_session_alone():
    one, other = opened(1), opened(2)
    number = prompted(one)
    schema = {"type": "object", "properties": {"a": {"type": "string", "title": "A?"}}}
    form = line(
        id=3,
        method="elicitation/create",
        params={"requestId": number, "mode": "form", "message": "?", "requestedSchema": schema},
    )
    assert [type(event).__name__ for event in one.receive(form)] == ["QuestionAsked"]
    assert [type(event) for event in other.receive(form)] == [Unrecognised]
    (refusal,) = other.data_to_send()
    assert json.loads(refusal.data)["error"]["code"] == -32602


def test_only_what_is_ones_own_counts_as_heard():
    one = opened(1)
    before = one.heard
    one.receive(chunk("s2", "x" * 10_000))
    assert one.heard == before
    mine = chunk("s1", "x")
    one.receive(mine)
    assert one.heard == before + len(mine)


# Asking whether it lives ---------------------------------------------------------------------------------


def test_only_an_agent_that_works_alone_is_asked_whether_it_lives_and_any_answer_will_do():
    driver = opened(1)
    assert not driver.works_alone
    number = prompted(driver)
    assert driver.works_alone
    (probe,) = sent(driver.probe("probe:1"))
    assert probe["method"].startswith("_")
    assert driver.receive(line(id=probe["id"], error={"code": -32601, "message": "?"})) == []
    call = {"toolCallId": "t", "title": "ls", "kind": "execute", "rawInput": {"command": "ls"}}
    events = driver.receive(update("s1", "tool_call", status="in_progress", **call))
    assert [type(event) for event in events] == [ToolStarted]
    assert not driver.works_alone
    events = driver.receive(update("s1", "tool_call_update", toolCallId="t", status="completed"))
    assert [type(event) for event in events] == [ToolChanged]
    assert driver.works_alone
    params = {"sessionId": "s1", "toolCall": {**call, "toolCallId": "u"}, "options": []}
    driver.receive(line(id=1, method="session/request_permission", params=params))
    assert not driver.works_alone
    driver.receive(line(id=number, result={"stopReason": "end_turn"}))
    assert not driver.works_alone


# Leaving -------------------------------------------------------------------------------------------------


def test_a_session_that_leaves_stops_its_turn_answers_what_is_open_and_lets_go():
    driver = opened(1)
    number = prompted(driver)
    params = {"sessionId": "s1", "toolCall": {"toolCallId": "t", "kind": "execute"}, "options": []}
    driver.receive(line(id=1, method="session/request_permission", params=params))
    cancel, answer, close = sent(*driver.leave("leave:1"))
    assert cancel["method"] == "session/cancel"
    assert answer["result"] == {"outcome": {"outcome": "cancelled"}}
    assert close["method"] == "session/close"
    assert not driver.has_left
    # Nobody is asked any more.
    late = driver.receive(line(id=2, method="session/request_permission", params=params))
    assert not any(isinstance(event, PermissionRequested) for event in late)
    assert sent(*driver.data_to_send())[0]["result"] == {"outcome": {"outcome": "cancelled"}}
    driver.receive(line(id=number, result={"stopReason": "cancelled"}))
    assert not driver.has_left
    driver.receive(line(id=close["id"], error={"code": -32601, "message": "?"}))
    assert driver.has_left


def test_a_session_that_leaves_before_it_was_opened_is_let_go_when_it_is():
    driver = AcpDriver(DriverLaunch("/w", "r"), joining=Joining(ID_RANGE, Greeting(closes=True)))
    (opening,) = sent(*driver.start())
    assert sent(*driver.leave("leave:1")) == []
    driver.receive(line(id=opening["id"], result={"sessionId": "s"}))
    (close,) = sent(*driver.data_to_send())
    assert close["method"] == "session/close"
    driver.receive(line(id=close["id"], result={}))
    assert driver.has_left


# Services ------------------------------------------------------------------------------------------------


def asked_to_write(driver: AcpDriver, rpc_id: int = 1) -> PermissionRequested:
    params = {"sessionId": "s1", "path": "/repo/a", "content": "x"}
    (asked,) = driver.receive(line(id=rpc_id, method="fs/write_text_file", params=params))
    assert isinstance(asked, PermissionRequested)
    assert json.loads(bytes(asked.input)) == params
    return asked


@pytest.mark.row("S42")
def test_a_call_is_due_only_once_it_was_allowed_and_is_what_was_asked_for():
    driver = opened(1, SERVED)
    asked = asked_to_write(driver)
    assert driver.calls_due() == []
    again = AcpDriver.restore(driver.state())
    write = again.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana"))
    assert write.data == b""
    (call,) = again.calls_due()
    assert bytes(call.params) == bytes(asked.input)
    (done,) = AcpDriver.restore(again.state()).answer_call(call.call_id, {})
    assert (done.write_id, json.loads(done.data)["result"]) == (f"answer:{asked.request_id}", {})


def test_a_denied_call_is_answered_at_once_and_never_due():
    driver = opened(1, SERVED)
    asked = asked_to_write(driver)
    denied = PermissionAnswered(asked.request_id, "deny", "ana", message="not there")
    told = json.loads(driver.answer_permission(asked, denied).data)
    assert (told["error"]["code"], told["error"]["message"]) == (-32000, "Denied: not there")
    assert driver.calls_due() == []


def test_an_interrupt_takes_back_the_calls_that_wait_for_a_person():
    driver = opened(1, SERVED)
    prompted(driver)
    asked = asked_to_write(driver, 9)
    cancel, told = sent(driver.interrupt("interrupt:1"))
    assert cancel["method"] == "session/cancel"
    assert (told["id"], told["error"]["code"]) == (9, -32800)
    assert driver.settled() == [PermissionWithdrawn(asked.request_id, "interrupted")]
    assert json.loads(driver.state()).get("calls", {}) == {}


def test_a_service_that_was_not_offered_is_unknown():
    driver = opened(1, ("read",))
    params = {"sessionId": "s1", "command": "ls"}
    (note,) = driver.receive(line(id=1, method="terminal/create", params=params))
    assert isinstance(note, Note)
    assert sent(*driver.data_to_send())[0]["error"]["code"] == -32601


def test_too_many_calls_at_once_are_refused_and_the_state_stays_small():
    driver = opened(1, SERVED)
    for n in range(300):
        driver.receive(
            line(id=n, method="fs/read_text_file", params={"sessionId": "s1", "path": f"/repo/{n}"})
        )
    assert len(driver.calls_due()) == 200
    assert sum("error" in one for one in sent(*driver.data_to_send())) == 100
