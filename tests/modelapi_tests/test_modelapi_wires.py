"""One script in the words of four model APIs."""

import json
from typing import Any

import httpx
import pytest
from tests.modelapi.dialect import fit
from tests.modelapi.request import Tool
from tests.modelapi.script import Call, parse
from tests.modelapi.server import ScriptedModel, serve
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

SHELL = {
    "type": "object",
    "properties": {"cmd": {"type": "string"}, "login": {"type": "boolean"}},
    "required": ["cmd"],
}


async def streamed(path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    async with (
        serve(ScriptedModel()) as url,
        httpx.AsyncClient(base_url=url, timeout=PATIENCE, trust_env=False) as http,
    ):
        answer = await http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


async def test_the_responses_api_streams_a_call_and_then_an_answer_that_names_its_result() -> None:
    tools = [{"type": "function", "name": "exec_command", "parameters": SHELL}]
    said: list[dict[str, Any]] = [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>x"}],
        },
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "::bash ls ;; ::text Done."}],
        },
    ]
    events = await streamed("/v1/responses", {"model": "m", "stream": True, "tools": tools, "input": said})
    call = events[-1]["response"]["output"][0]
    assert (call["name"], json.loads(call["arguments"])["cmd"]) == ("exec_command", "ls")
    said += [call, {"type": "function_call_output", "call_id": call["call_id"], "output": "a.txt"}]
    events = await streamed("/v1/responses", {"model": "m", "stream": True, "tools": tools, "input": said})
    pieces = [one["delta"] for one in events if one["type"] == "response.output_text.delta"]
    assert "".join(pieces) == "Done."


async def test_the_chat_api_streams_the_same() -> None:
    function = {"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}
    tools = [{"type": "function", "function": function}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "::bash ls ;; ::text Done."}]
    body = {"model": "m", "stream": True, "tools": tools, "messages": messages}
    events = await streamed("/v1/chat/completions", body)
    (call,) = [one for e in events for c in e["choices"] for one in c["delta"].get("tool_calls", [])]
    assert json.loads(call["function"]["arguments"]) == {"command": "ls"}
    messages += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "a.txt"},
    ]
    events = await streamed("/v1/chat/completions", body)
    assert "".join(c["delta"].get("content", "") for e in events for c in e["choices"]) == "Done."


async def test_the_gemini_api_streams_the_same() -> None:
    declared = {
        "name": "run_shell_command",
        "parametersJsonSchema": {"properties": {"command": {"type": "string"}}},
    }
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "::bash ls ;; ::text Done."}]}]
    body = {"contents": contents, "tools": [{"functionDeclarations": [declared]}]}
    path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    events = await streamed(path, body)
    call = events[0]["candidates"][0]["content"]["parts"][0]
    assert call == {"functionCall": {"name": "run_shell_command", "args": {"command": "ls"}}}
    answer = {"functionResponse": {"name": "run_shell_command", "response": {"output": "a.txt"}}}
    contents += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [answer]}]
    events = await streamed(path, body)
    parts = [part for one in events for part in one["candidates"][0]["content"]["parts"]]
    assert "".join(part["text"] for part in parts) == "Done."


def test_a_deed_without_a_tool_of_its_own_is_done_by_the_shell() -> None:
    call = Call("Write", {"file_path": "/p/a.txt", "content": "one\ntwo"})
    fitted = fit(call, [Tool("exec_command", SHELL)])
    assert fitted.tool == "exec_command"
    assert "*** Add File: /p/a.txt\n+one\n+two\n" in str(fitted.arguments["cmd"])


def test_what_a_tool_requires_beside_is_filled_in() -> None:
    schema: dict[str, object] = {
        "properties": {"command": {"type": "array"}, "mode": {"enum": ["sync", "async"]}},
        "required": ["command", "mode"],
    }
    fitted = fit(Call("Bash", {"command": "ls", "description": "List"}), [Tool("shell", schema)])
    assert fitted.arguments == {"command": ["bash", "-lc", "ls"], "mode": "sync"}


def test_a_command_that_keeps_to_the_sandbox_does_not_ask_to_leave_it() -> None:
    schema: dict[str, object] = {"properties": {"cmd": {}, "sandbox_permissions": {}, "justification": {}}}
    ((call,),) = parse("::sandboxed ls")
    assert isinstance(call, Call)
    fitted = fit(call, [Tool("exec_command", schema)])
    assert fitted is not None
    assert fitted.arguments == {"cmd": "ls", "sandbox_permissions": "use_default"}
    leaving = fit(Call("Bash", {"command": "ls"}), [Tool("exec_command", schema)])
    assert leaving is not None
    assert leaving.arguments["sandbox_permissions"] == "require_escalated"


async def test_a_search_by_the_models_own_server_is_seen_whatever_the_api() -> None:
    """Two agents ask for it with a request of its own; the third only offers it, and its model does it."""
    model = ScriptedModel()
    asked = [{"role": "user", "parts": [{"text": "herons"}]}]
    question = {"role": "user", "content": "Perform a web search for the query: herons"}
    hosted = {"type": "web_search_20250305", "name": "web_search"}
    told = {"type": "message", "role": "user", "content": "::websearch herons ++ ::text Searched."}
    offered = {"type": "web_search", "external_web_access": False}
    function = {"type": "function", "name": "web_search", "parameters": {"properties": {"query": {}}}}
    async with (
        serve(model) as url,
        httpx.AsyncClient(base_url=url, timeout=PATIENCE, trust_env=False) as http,
    ):
        path = "/v1beta/models/gemini-2.5-pro:generateContent"
        await http.post(path, json={"contents": asked, "tools": [{"googleSearch": {}}]})
        await http.post("/v1/messages", json={"model": "m", "messages": [question], "tools": [hosted]})
        assert model.searches == ["herons", "Perform a web search for the query: herons"]
        body = {"model": "m", "input": [told], "tools": [function]}
        answer = (await http.post("/v1/responses", json=body)).json()
        assert answer["output"][0]["type"] == "function_call"
        assert len(model.searches) == 2, "the agent was only asked to search"
        answer = (await http.post("/v1/responses", json={**body, "tools": [offered]})).json()
        assert answer["output"][0]["action"] == {"type": "search", "query": "herons"}
        assert model.searches[2:] == ["herons"]
