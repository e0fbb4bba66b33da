"""The signature of a trusted browser: over exactly one start, by the fixture that the page has, too."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bascule.model.commands import ResumeSession, SentImage, StartSession
from bascule.model.events import StartOptions
from bascule.model.starts import StartSignature
from bascule.policy.start_signing import key_id, mac_of, problem_of, signed_text

FIXTURE: Any = json.loads((Path(__file__).parents[1] / "fixtures" / "start_signatures.json").read_text())
CODE: str = FIXTURE["code"]
NOW = 1_767_323_045.0
START = StartSession(
    session_id="x",
    agent="claude-code",
    cwd="/srv/app",
    prompt="Fix it",
    images=(SentImage("image/png", "aGk="),),
)


def command_of(body: dict[str, Any]) -> StartSession | ResumeSession:
    """What the hub makes of the page's body."""
    if "sessionId" in body:
        return ResumeSession(session_id=body["sessionId"])
    fields = {name: value for name, value in body.items() if name not in ("key", "device")}
    options = {
        name: fields.pop(name)
        for name in ("model", "permissionMode", "mode", "cols", "rows")
        if name in fields
    }
    skips = fields.pop("skipPermissions", False)
    command = msgspec.convert({"type": "start_session", "sessionId": "x", **fields}, StartSession)
    plain = {"permission_mode": options.pop("permissionMode", "relay"), "skip_permissions": skips, **options}
    return replace(command, options=StartOptions(**plain))


def signed(
    command: StartSession, at: float = NOW, nonce: str = "n" * 16, device: str = "laptop"
) -> StartSession:
    key, moment = key_id(CODE), round(at * 1000)
    mac = mac_of(CODE, signed_text(device, command, key, moment, nonce))
    return replace(command, signature=StartSignature(key, moment, nonce, mac))


@pytest.mark.row("R17")
@pytest.mark.parametrize("case", FIXTURE["cases"])
def test_the_text_and_the_signature_are_the_fixture_s(case: Any) -> None:
    assert key_id(CODE) == FIXTURE["key"]
    text = signed_text(case["device"], command_of(case["body"]), FIXTURE["key"], case["at"], case["nonce"])
    assert text.decode() == case["text"]
    assert mac_of(CODE, text) == case["mac"]


@pytest.mark.row("R17")
def test_a_signature_counts_for_its_own_start() -> None:
    assert problem_of(CODE, "laptop", signed(START), NOW, ()) == ""


@pytest.mark.row("R17", "S39")
@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "Fix it."},
        {"prompt": None},
        {"cwd": "/srv"},
        {"agent": "codex"},
        {"images": ()},
        {"title": "Harmless"},
        {"driver": "terminal"},
        {"worktree": True},
        {"worktree_of": "/etc"},
        {"resume": "another"},
        {"fork": True},
        {"options": StartOptions(permission_mode="auto")},
        {"options": StartOptions(skip_permissions=True)},
        {"options": StartOptions(model="other")},
    ],
)
def test_whatever_is_changed_on_the_way_the_signature_is_not_of_it(changed: dict[str, Any]) -> None:
    forged = replace(signed(START), **changed)
    assert "is not of this start" in problem_of(CODE, "laptop", forged, NOW, ())


@pytest.mark.row("R17")
def test_a_signature_is_for_one_machine_one_time_and_one_use() -> None:
    start = signed(START)
    assert "another machine" in problem_of(CODE, "tower", start, NOW, ())
    assert "121 s behind" in problem_of(CODE, "laptop", start, NOW + 121, ())
    assert "121 s ahead" in problem_of(CODE, "laptop", start, NOW - 121, ())
    assert problem_of(CODE, "laptop", start, NOW + 119, ()) == ""
    assert "each counts once" in problem_of(CODE, "laptop", start, NOW, {"n" * 16})


@pytest.mark.row("R17")
def test_the_key_s_name_and_the_time_can_t_be_swapped() -> None:
    start = signed(START)
    assert start.signature is not None
    later = replace(start, signature=replace(start.signature, at=start.signature.at + 1))
    assert "is not of this start" in problem_of(CODE, "laptop", later, NOW, ())
    assert problem_of("1" * 26, "laptop", start, NOW, ()) != ""
