"""The same path on two machines is another folder on each: nothing of one is taken for the other's."""

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.repositories import make_repository
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine

from bascule.model.events import PermissionAnswered, PermissionRequested, TurnEnded

pytestmark = pytest.mark.anyio

# Runs a program to which one folder is there under the name of another.
LAID_OVER = ("unshare", "--mount", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh")


def reason_to_skip(folder: Path) -> str | None:
    if sys.platform != "linux" or not all(map(shutil.which, ("unshare", "mount"))):
        return "no mount namespaces here: they need Linux with unshare and mount"
    tried = subprocess.run([*LAID_OVER, folder, folder, "true"], capture_output=True)
    return None if tried.returncode == 0 else "this user may not make mount namespaces"


@pytest.fixture
def app(short_dir: Path) -> Path:
    """Where the folder of each machine is for its programs."""
    made = short_dir / "app"
    made.mkdir()
    if (reason := reason_to_skip(made)) is not None:
        pytest.skip(reason)
    return made


@pytest.fixture
async def machines(short_dir: Path, hub: Hub, app: Path) -> AsyncIterator[tuple[Machine, Machine]]:
    async with AsyncExitStack() as closing:
        made: list[Machine] = []
        for name in ("one", "two"):
            folder = short_dir / name
            folder.mkdir(mode=0o700)
            own = make_repository(folder / "app")
            (own / f"only-{name}.txt").write_text(f"of machine {name}\n")
            machine = Machine(folder, f"d-{name}", under=(*LAID_OVER, str(own), str(app)))
            settings = machine.config / "config.toml"
            settings.write_text(f'roots = ["{folder}", "{app}"]\n{LIMITS}')
            await machine.join(hub)
            await closing.enter_async_context(machine)
            await hub.until_device(machine.device, online=True)
            made.append(machine)
        yield made[0], made[1]


async def get(hub: Hub, path: str, **params: Any) -> Any:
    answer = await hub.http.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def post(hub: Hub, to: str, **body: Any) -> Any:
    answer = await hub.http.post(to, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.row("R3")
async def test_the_same_path_on_two_machines_is_two_folders_to_everything(
    hub: Hub, machines: tuple[Machine, Machine], app: Path
) -> None:
    one, two = machines
    cwd = str(app)
    projects = {
        machine.device: (await post(hub, "/api/projects", path=cwd, device=machine.device))["id"]
        for machine in machines
    }
    deny = {"answer": "deny", "toolClass": "command", "argv": ["echo", "demo", "5"], "folder": cwd}
    await post(hub, "/api/rules", rule=deny, device=one.device)
    sessions = {
        machine.device: (
            await post(hub, "/api/sessions", agent="demo", cwd=cwd, device=machine.device, prompt="run 5")
        )["id"]
        for machine in machines
    }
    # A rule of one machine answers there, and nothing does on the other.
    answered = (await hub.wait_for(sessions[one.device], PermissionAnswered)).event
    assert isinstance(answered, PermissionAnswered)
    assert answered.decision == "deny"
    await hub.wait_for(sessions[one.device], TurnEnded)
    await hub.wait_for(sessions[two.device], PermissionRequested)
    (asked,) = (await get(hub, "/api/requests"))["requests"]
    assert asked["session_id"] == sessions[two.device]
    assert (await get(hub, "/api/rules", device=two.device))["rules"] == []
    # What git finds there is each machine's own.
    for name, machine in (("one", one), ("two", two)):
        changes = await get(hub, f"/api/sessions/{sessions[machine.device]}/changes")
        assert changes["gitProblem"] is None
        assert [file["path"] for file in changes["files"]] == [f"only-{name}.txt"]
    # The projects are two, each with its machine's session; so are the recent folders.
    assert len(set(projects.values())) == 2
    for device, project in projects.items():
        listed = (await get(hub, "/api/sessions", projectId=project))["sessions"]
        assert [session["id"] for session in listed] == [sessions[device]]
        recent = (await get(hub, "/api/directories/recent", device=device))["folders"]
        assert recent == [{"path": cwd, "device": device}]
    both = await get(hub, "/api/directories/recent")
    assert both["directories"] == [cwd]
    assert {folder["device"] for folder in both["folders"]} == {one.device, two.device}
