"""Requests as agents make them, and rules as people make them, for tests of policy."""

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from bascule.daemon.rules import real_path
from bascule.model.events import PermissionRequested
from bascule.model.rules import StandingRule
from bascule.policy.decide import Verdict, decide
from bascule.policy.disk import Disk
from bascule.policy.fitting import RequestOrigin

LANTERN = "/home/dev/lantern"
DISK = Disk(real_path, lambda _: ())  # with links as they are, and nothing hidden
RECORDINGS = Path(__file__).parents[1] / "recordings"


def asked(tool: str, kind: str, /, **fields: object) -> PermissionRequested:
    raw = json.dumps(fields).encode()
    sha256 = hashlib.sha256(raw).hexdigest()
    return PermissionRequested("r1", tool, tool, kind, Raw(raw), sha256, ())  # pyright: ignore[reportArgumentType]


def bash(command: str, **more: object) -> PermissionRequested:
    return asked("Bash", "execute", command=command, description="whatever the agent says", **more)


def edit(path: str) -> PermissionRequested:
    return asked("Edit", "edit", file_path=path, old_string="a", new_string="b")


def rule(answer: str, tool_class: str, **fields: Any) -> StandingRule:
    made = {"id": fields.pop("id", "rule1"), "created_at": "2031-01-01T00:00:00.000Z", "created_by": "ana"}
    return StandingRule(answer=answer, tool_class=tool_class, **fields, **made)  # pyright: ignore


def command(answer: str, text: str, **fields: Any) -> StandingRule:
    more = text.endswith(" …")
    return rule(answer, "command", argv=tuple(text.removesuffix(" …").split(" ")), more=more, **fields)


def verdict(
    request: PermissionRequested,
    *rules: StandingRule,
    cwd: str = LANTERN,
    mode: str = "relay",
    agent: str = "claude-code",
    session: str = "s1",
    disk: Disk = DISK,
) -> Verdict | None:
    place = RequestOrigin(session, cwd, agent)
    return decide(request, mode, [], cwd, rules, place, disk)


def answer(request: PermissionRequested, *rules: StandingRule, **where: Any) -> str:
    found = verdict(request, *rules, **where)
    return found.decision if found else "ask"


def recorded(name: str) -> list[PermissionRequested]:
    """The permissions a recorded agent asked for, as its driver tells them."""
    events: list[dict[str, Any]] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict) and value.get("type") == "permission_requested":
            events.append(value)
        elif isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                walk(one)

    walk(json.loads((RECORDINGS / f"{name}.events.json").read_text()))
    return [msgspec.json.decode(json.dumps(one), type=PermissionRequested) for one in events]
