"""Every request names its tool: the lines are those of the real agents, asked for a tool of an MCP server."""

import json
from typing import Any

import pytest
from tests.drivers.acp_lines import ask, begun, line, opened, prompt, sent_by, update

from bascule.drivers.acp.naming import derived_name, given_name, only_repeats, unnamed
from bascule.drivers.base import DriverLaunch
from bascule.model.events import Note, PermissionRequested, Raw, ToolStarted
from bascule.policy.session_rules import rule_for
from bascule.policy.subject import subject_of

ARGUMENTS = {"mark": "q"}
SAID = {
    "type": "content",
    "content": {"type": "text", "text": 'Allow the lamp MCP server to run tool "switch"?'},
}
# (agent, how it announced the call, how it asked for it, what is shown as the tool's name, as its input)
REAL: list[tuple[str, dict[str, Any] | None, dict[str, Any], str, dict[str, Any]]] = [
    (
        "qwen 0.24.4",
        {
            "title": "switch (lamp MCP Server)",
            "kind": "other",
            "rawInput": {},
            "_meta": {"toolName": "mcp__lamp__switch"},
        },
        {
            "title": '{"mark":"q"}',
            "kind": "other",
            "rawInput": ARGUMENTS,
            "_meta": {"toolName": "mcp__lamp__switch"},
        },
        "mcp__lamp__switch",
        ARGUMENTS,
    ),
    (
        "gemini 0.61.0",
        None,
        {"title": "switch (lamp MCP Server)", "kind": "other", "content": [SAID]},
        "mcp__lamp__switch",
        {"title": "switch (lamp MCP Server)", "kind": "other", "content": [SAID], "toolCallId": "t1"},
    ),
    (
        "copilot 1.0.102",
        {"title": "lamp-switch", "kind": "other", "rawInput": ARGUMENTS},
        {"title": "switch", "kind": "other", "rawInput": ARGUMENTS},
        "lamp-switch",
        ARGUMENTS,
    ),
    (
        "opencode 1.18.33",
        {"title": "lamp_switch", "kind": "other", "rawInput": {}},
        {"title": "lamp_switch", "kind": "other", "rawInput": {}},
        "lamp_switch",
        {"title": "lamp_switch", "kind": "other", "rawInput": {}, "toolCallId": "t1"},
    ),
    (
        "codex-acp 2.6.0",
        {
            "title": "mcp.lamp.switch",
            "kind": "execute",
            "rawInput": {"server": "lamp", "tool": "switch", "arguments": ARGUMENTS},
        },
        {"title": None, "kind": "execute"},
        "mcp__lamp__switch",
        {"server": "lamp", "tool": "switch", "arguments": ARGUMENTS},
    ),
    (
        "zed codex-acp 0.16.0",
        {
            "title": "Tool: lamp/switch",
            "rawInput": {"server": "lamp", "tool": "switch", "arguments": ARGUMENTS},
        },
        {
            "title": "Approve MCP tool call",
            "kind": None,
            "rawInput": {"server_name": "lamp"},
            "content": [SAID],
        },
        "mcp__lamp__switch",
        {"server_name": "lamp"},
    ),
    (
        "claude-agent-acp 0.99.1",
        {
            "title": "mcp__lamp__switch",
            "kind": "other",
            "_meta": {"claudeCode": {"toolName": "mcp__lamp__switch"}},
        },
        {"title": "mcp__lamp__switch", "kind": "other", "rawInput": ARGUMENTS},
        "mcp__lamp__switch",
        ARGUMENTS,
    ),
]


@pytest.mark.row("B6")
@pytest.mark.parametrize(("agent", "announced", "asked", "name", "shown"), REAL, ids=[one[0] for one in REAL])
def test_a_request_for_an_mcp_tool_names_it(
    agent: str, announced: dict[str, Any] | None, asked: dict[str, Any], name: str, shown: dict[str, Any]
) -> None:
    driver = opened()
    driver.prompt(prompt())
    if announced is not None:
        driver.receive(update("tool_call", toolCallId="t1", status="pending", **announced))
    request = ask(driver, **asked)
    assert request.tool == name
    assert request.kind == "other"
    assert "switch" in f"{request.tool} {request.title}"
    assert request.title != '{"mark":"q"}'
    assert json.loads(bytes(request.input)) == shown
    subject = subject_of(request)
    assert subject is not None
    assert subject.tool_class == ("mcp" if name.startswith("mcp__") else "other")


@pytest.mark.row("B6")
def test_a_tool_that_calls_itself_reading_is_still_a_tool_of_its_server() -> None:
    """An MCP server's word for it made its tool a read, which one mode allows by itself."""
    driver = opened()
    request = ask(
        driver, title='{"mark":"q"}', kind="read", rawInput=ARGUMENTS, _meta={"toolName": "mcp__lamp__peek"}
    )
    assert (request.tool, request.kind) == ("mcp__lamp__peek", "other")


@pytest.mark.row("B6")
def test_what_has_no_name_is_shown_as_that_with_what_was_said() -> None:
    driver = opened()
    one = ask(driver, 0, title="Change the colour of the lamp", kind="other", rawInput=ARGUMENTS)
    other = ask(driver, 1, toolCallId="t2", title="Burn the lamp", kind="other", rawInput=ARGUMENTS)
    nothing = ask(driver, 2, toolCallId="t3", title='{"mark":"q"}', kind="other", rawInput=ARGUMENTS)
    assert one.tool == "a tool it does not name: Change the colour of the lamp"
    assert nothing.tool == nothing.title == "a tool it does not name"
    # The same input, but not the same tool: leave for one is none for the other.
    assert rule_for(one, "/home/dev/project") != rule_for(other, "/home/dev/project")


@pytest.mark.row("B6")
def test_a_request_that_shows_no_input_says_so() -> None:
    driver = opened()
    unseen = ask(driver, title="lamp_switch", kind="other", rawInput={})
    assert "does not say what it gives to this tool" in unseen.note
    assert ask(driver, 1, toolCallId="t2", rawInput={"command": "touch a"}).note == ""


def test_the_input_of_another_call_is_never_shown_for_this_one() -> None:
    driver = opened()
    driver.prompt(prompt())
    driver.receive(
        update("tool_call", toolCallId="t9", title="x", kind="other", rawInput={"mark": "harmless"})
    )
    assert b"harmless" not in bytes(ask(driver, toolCallId="t1", title="lamp_switch", kind="other").input)


@pytest.mark.parametrize(
    ("title", "kind", "raw", "name"),
    [
        ("switch (lamp MCP Server)", "other", b"{}", "mcp__lamp__switch"),
        ("ToolSearch", "other", b"{}", "ToolSearch"),
        ("touch a", "other", b"{}", ""),
        ("/etc/passwd", "other", b"{}", ""),
        ("touch", "execute", b"{}", ""),
        (None, "other", b"{}", ""),
        ("x", "other", b'{"server":"lamp","tool":"switch","arguments":{}}', "mcp__lamp__switch"),
        ("x y", "other", b'{"server":"lamp","tool":"switch","arguments":{},"command":"rm"}', ""),
        ("x y", "other", b'{"server":1,"tool":["switch"]}', ""),
        ("x y", "other", b"[1]", ""),
    ],
)
def test_a_name_is_derived_only_from_what_is_one(title: str | None, kind: str, raw: bytes, name: str) -> None:
    assert derived_name(title, kind, Raw(raw)) == name


def test_odd_additions_and_titles_are_no_names() -> None:
    assert given_name(None, Raw(b'{"toolName":7,"a":{"toolName":""},"b":[1]}')) == ""
    assert given_name("", Raw(b'{"toolName":"x"}')) == "x"
    assert only_repeats("[" * 100_000, Raw(b"{}")) is False
    assert only_repeats("{not json", Raw(b"{}")) is False
    assert len(unnamed("x" * 10_000)) < 400


@pytest.mark.row("B4")
def test_a_sub_agent_whose_requests_are_lost_is_told_of_when_it_starts() -> None:
    """opencode never passes on what a sub-agent asks for: it looks as if it worked, and waits."""
    driver = opened(DriverLaunch("/home/dev/project", "r", quirks=("loses_requests_of:task",)))
    driver.prompt(prompt())
    call = {"title": "task", "kind": "think", "status": "in_progress", "rawInput": {"prompt": "look"}}
    events = driver.receive(update("tool_call", toolCallId="t1", **call))
    events += driver.receive(update("tool_call_update", toolCallId="t1", **call))
    notes = [one for one in events if isinstance(one, Note)]
    assert [(one.code, one.level) for one in notes] == [("requests_lost", "warning")]
    assert "Stop the turn" in notes[0].text
    assert [type(one) for one in events if isinstance(one, ToolStarted)] == [ToolStarted]
    plain = opened()
    plain.prompt(prompt())
    assert not [
        one for one in plain.receive(update("tool_call", toolCallId="t1", **call)) if isinstance(one, Note)
    ]


def test_what_of_the_project_is_left_out_is_said_at_the_start() -> None:
    driver = begun(DriverLaunch("/home/dev/project", "r", left_out="The project's settings do not count."))
    (opening,) = sent_by(*driver.data_to_send())
    events = driver.receive(line(id=opening["id"], result={"sessionId": "s1"}))
    assert Note("project_settings", "The project's settings do not count.") in events
    assert not [one for one in events if isinstance(one, PermissionRequested)]
