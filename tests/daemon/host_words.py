"""What tests of a host ask of it, in few words."""

from typing import Any

import pytest
from tests.daemon.running_daemon import RunningDaemon

from bascule.model.commands import (
    AnswerPermission,
    SendPrompt,
)
from bascule.model.errors import Refused
from bascule.model.events import (
    TextSaid,
)


async def refused(coroutine: Any) -> str:
    with pytest.raises(Refused) as caught:
        await coroutine
    return caught.value.refusal().code


def allow(request_id: str, **more: Any) -> AnswerPermission:
    return AnswerPermission(session_id="s1", request_id=request_id, decision="allow", **more)


def denied(request_id: str) -> AnswerPermission:
    return AnswerPermission(session_id="s1", request_id=request_id, decision="deny")


def prompt(text: str, **more: Any) -> SendPrompt:
    return SendPrompt(session_id="s1", text=text, **more)


async def said(daemon: RunningDaemon) -> str:
    return "".join(event.text for event in await daemon.events(TextSaid))
