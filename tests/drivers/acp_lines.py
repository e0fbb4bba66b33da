"""An ACP driver in a test: the lines an agent writes to it, and what it sends."""

import json
from typing import Any

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.base import DriverLaunch
from bascule.model.events import (
    PermissionRequested,
    PromptSent,
)
from bascule.model.records import Write

LAUNCH = DriverLaunch("/home/dev/project", "r")
CAN: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"resume": {}}}


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def update(kind: str, session: str = "s1", /, **fields: Any) -> bytes:
    return line(
        method="session/update", params={"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    )


def chunk(text: str, session: str = "s1") -> bytes:
    return update("agent_message_chunk", session, content={"type": "text", "text": text})


def sent_by(*writes: Write) -> list[dict[str, Any]]:
    return [json.loads(one) for write in writes for one in write.data.splitlines()]


def begun(launch: DriverLaunch = LAUNCH, can: dict[str, Any] | None = None, **fields: Any) -> AcpDriver:
    """A driver that was told who the agent is, and has asked for its session."""
    driver = AcpDriver(launch, **fields)
    driver.start()
    driver.receive(
        line(id=0, result={"protocolVersion": 1, "agentCapabilities": CAN if can is None else can})
    )
    return driver


def opened(launch: DriverLaunch = LAUNCH, result: dict[str, Any] | None = None, **fields: Any) -> AcpDriver:
    driver = begun(launch, **fields)
    (opening,) = sent_by(*driver.data_to_send())
    driver.receive(line(id=opening["id"], result={"sessionId": "s1", **(result or {})}))
    return driver


def prompt(number: int = 1, text: str = "hello") -> PromptSent:
    return PromptSent(f"p{number}", text, "ana")


def ask(driver: AcpDriver, rpc_id: object = 0, options: Any = None, **call: Any) -> PermissionRequested:
    told = {"toolCallId": "t1", "title": "touch a", "kind": "execute", **call}
    params = {"sessionId": "s1", "toolCall": told, "options": OPTIONS if options is None else options}
    events = driver.receive(line(id=rpc_id, method="session/request_permission", params=params))
    return next(one for one in events if isinstance(one, PermissionRequested))


OPTIONS = [
    {"optionId": "a", "name": "Always", "kind": "allow_always"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
]
