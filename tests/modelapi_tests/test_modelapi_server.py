"""The scripted model API over HTTP: streams, tool round trips, failures."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from tests.modelapi.server import ScriptedModel, serve
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

TOOLS: list[dict[str, Any]] = [{"name": "Bash", "input_schema": {}}, {"name": "Write", "input_schema": {}}]
Message = dict[str, Any]


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    async with (
        serve(ScriptedModel()) as url,
        httpx.AsyncClient(base_url=url, timeout=PATIENCE, trust_env=False) as http,
    ):
        yield http


def body(messages: list[Message], **more: Any) -> Message:
    return {"model": "claude-test", "max_tokens": 100, "messages": messages, "tools": TOOLS, **more}


def user(text: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


async def ask(client: httpx.AsyncClient, *messages: Message) -> Message:
    answer = await client.post("/v1/messages", json=body(list(messages)))
    assert answer.status_code == 200
    return answer.json()


async def stream(client: httpx.AsyncClient, prompt: str) -> list[Message]:
    answer = await client.post("/v1/messages?beta=true", json=body([user(prompt)], stream=True))
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


async def test_text_streams_in_pieces_between_start_and_stop(client: httpx.AsyncClient) -> None:
    events = await stream(client, "::text The quick brown fox jumps over it")
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    text = "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta")
    assert text == "The quick brown fox jumps over it"
    assert events[-2]["delta"]["stop_reason"] == "end_turn"


async def test_thinking_streams_with_a_signature_before_the_answer(client: httpx.AsyncClient) -> None:
    events = await stream(client, "::think hm")
    deltas = [event["delta"]["type"] for event in events if event["type"] == "content_block_delta"]
    assert deltas == ["thinking_delta", "signature_delta", "text_delta"]


async def test_tool_input_streams_as_json_pieces(client: httpx.AsyncClient) -> None:
    events = await stream(client, "::bash touch a-file-with-a-long-name.txt")
    pieces = [event["delta"]["partial_json"] for event in events if event["type"] == "content_block_delta"]
    assert len(pieces) > 1
    assert json.loads("".join(pieces))["command"] == "touch a-file-with-a-long-name.txt"
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


async def test_a_script_goes_on_after_each_tool_result_and_ends_by_naming_the_last(
    client: httpx.AsyncClient,
) -> None:
    prompt = user("::bash touch a ;; ::write b.txt | hello")
    first = await ask(client, prompt)
    assert first["content"][0]["name"] == "Bash"
    conversation = [prompt, _said(first), _result(first, "made a")]
    second = await ask(client, *conversation)
    assert second["content"][0]["input"] == {"file_path": "b.txt", "content": "hello"}
    reminder = {"type": "text", "text": "<system-reminder>::text not a prompt</system-reminder>"}
    result = _result(second, "made b")
    result["content"].append(reminder)
    third = await ask(client, *conversation, _said(second), result)
    assert third["content"] == [{"type": "text", "text": "Done. Last tool result: made b"}]


async def test_an_unscripted_prompt_is_repeated(client: httpx.AsyncClient) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    prompt = {"role": "user", "content": [image, {"type": "text", "text": "what is this?"}]}
    assert (await ask(client, prompt))["content"][0]["text"] == "You said: what is this? (with 1 image)"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (529, "overloaded_error")],
)
async def test_error_directives_answer_with_that_status(
    client: httpx.AsyncClient, status: int, kind: str
) -> None:
    for _ in range(2):
        answer = await client.post("/v1/messages", json=body([user(f"::error {status}")]))
        assert answer.status_code == status
        assert answer.json()["error"]["type"] == kind


async def test_a_bounded_error_gives_way_to_the_rest_of_the_script(client: httpx.AsyncClient) -> None:
    prompt = user("::error 529 1 ;; ::bash ls ;; ::text end")
    answer = await client.post("/v1/messages", json=body([prompt]))
    assert answer.status_code == 529
    first = await ask(client, prompt)
    assert first["content"][0]["name"] == "Bash"
    last = await ask(client, prompt, _said(first), _result(first, "x"))
    assert last["content"][0]["text"] == "end"


async def test_a_cut_stream_breaks_the_connection(client: httpx.AsyncClient) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        await stream(client, "::cut")


async def test_a_stream_that_ends_early_is_well_formed_http_without_message_stop(
    client: httpx.AsyncClient,
) -> None:
    events = await stream(client, "::endearly A few words that are not all said")
    assert [event["type"] for event in events][-1] == "content_block_delta"


async def test_requests_without_tools_get_a_harmless_title(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/messages", json={"model": "haiku", "messages": [user("::error 400")]})
    assert "title" in json.loads(answer.json()["content"][0]["text"])


async def test_probes_and_token_counts_are_answered(client: httpx.AsyncClient) -> None:
    assert (await client.head("/")).status_code == 200
    assert (await client.get("/api/hello")).status_code == 200
    counted = await client.post("/v1/messages/count_tokens", json=body([user("x")]))
    assert counted.json()["input_tokens"] > 0


async def test_a_body_that_is_no_request_is_refused_with_400(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/messages", content=b"{")
    assert answer.status_code == 400


def _said(reply: Message) -> Message:
    return {"role": "assistant", "content": reply["content"]}


def _result(reply: Message, text: str) -> Message:
    block = {"type": "tool_result", "tool_use_id": reply["content"][0]["id"], "content": text}
    return {"role": "user", "content": [block]}
