"""Names such as `__proto__` from an agent or a client: kept, folded, exported and answered like any other."""

import json

import pytest
from msgspec import Raw
from tests.hub.running_hub import RunningHub, ask
from tests.hub.scripted_device import append

from bascule.model.commands import AnswerQuestion, SetMode, SetModel
from bascule.model.event_values import PermissionOption, Question
from bascule.model.events import (
    PermissionRequested,
    PromptSent,
    QuestionAsked,
    ToolChanged,
    ToolStarted,
)

pytestmark = pytest.mark.anyio

NAMES = ("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__class__", "__init__")
SHA = "c" * 64


@pytest.mark.row("S36")
async def test_inherited_names_are_ids_questions_tools_and_modes_like_any_other(hub: RunningHub) -> None:
    option = PermissionOption("once", "allow_once", "Allow once")
    async with hub.client(hub.tokens["owner"]) as client, hub.socket() as socket:
        for number, name in enumerate(NAMES):
            value = Raw(json.dumps({name: {name: name}}).encode())
            await hub.session(name)
            await append(
                hub.store,
                name,
                PromptSent(name, name, name),
                ToolStarted(name, name, name, "other", value),
                ToolChanged(name, "done", name),
                QuestionAsked(name, (Question(name), Question("other")), value, SHA),
                PermissionRequested(f"p {name}", name, name, "other", value, SHA, (option,)),
            )
            page = (await client.get(f"/api/sessions/{name}/entries")).json()["entries"]
            tool = next(one for one in page if one["kind"] == "tool")
            assert (tool["tool_id"], tool["status"], tool["input"]) == (name, "done", {name: {name: name}})
            answers = {name: f"yes, {name}", "other": "no"}
            told = await ask(
                socket, "session:question", 3 * number + 1, sessionId=name, requestId=name, answers=answers
            )
            assert "ok" in told, told
            command = hub.device.commands[-1]
            assert isinstance(command, AnswerQuestion)
            assert (command.session_id, command.request_id, command.answers) == (name, name, answers)
            for kind, field, made in (("mode", "mode", SetMode), ("model", "model", SetModel)):
                told = await ask(
                    socket,
                    f"session:{kind}",
                    3 * number + 2 + (kind == "model"),
                    sessionId=name,
                    **{field: name},
                )
                assert "ok" in told, told
                assert isinstance(hub.device.commands[-1], made)
                assert getattr(hub.device.commands[-1], field) == name
            exported = await client.get(f"/api/sessions/{name}/export?format=json")
            assert name in exported.text
        listed = (await client.get("/api/requests")).json()["requests"]
        assert {one["request_id"] for one in listed} == {*NAMES, *(f"p {name}" for name in NAMES)}
