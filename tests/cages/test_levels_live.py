"""Each capability level with a real agent process: what is outside is refused by the kernel."""

import pytest
from tests.cages.caged import Caged, caged

from bascule.model.commands import ResumeSession
from bascule.model.errors import Refused
from bascule.model.events import SessionStarted
from bascule.transport.cage_support import PORTS, landlock_version

HERE = landlock_version()
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(HERE < PORTS, reason=f"Landlock is {HERE} on this kernel; the levels need {PORTS}"),
]
WHO = ("itself", "child", "orphan")
DONE = "done"
BY_THE_KERNEL = {"EACCES", "EPERM", "EXDEV"}  # the last: a link from one place to another
OUTSIDE = {
    "read outside",
    "list outside",
    "write outside",
    "make outside",
    "empty outside",
    "rename outside",
    "link into the project",
    "go through a link",
    "reach the keeper",
    "signal outside",
}
WRITES = {"write in the project", "make in the project"}
TCP = {"connect by TCP", "listen on TCP"}


@pytest.fixture(scope="module")
async def machine(module_dir):
    async with caged(module_dir) as made:
        yield made


async def refused(machine: Caged, level: str) -> set[str]:
    """What the agent, its child that left its session and its orphan were all refused; the rest was done."""
    report = await machine.tries(f"s-{level}", level)
    assert report["child"] == report["itself"] == report["orphan"]
    assert machine.secret.read_text() == "secret"
    assert set(report["itself"].values()) <= {DONE, *BY_THE_KERNEL}
    return {name for name, came in report["itself"].items() if came != DONE}


@pytest.mark.row("R18")
async def test_project_scoped_writes_in_its_project_and_reaches_nothing_outside(machine):
    assert await refused(machine, "project_scoped") == OUTSIDE


@pytest.mark.row("R18")
async def test_sandboxed_writes_only_its_own_folders_and_reaches_its_model_alone(machine):
    assert await refused(machine, "sandboxed") == OUTSIDE | WRITES | TCP


@pytest.mark.row("R18")
async def test_read_only_writes_nothing_of_the_project_and_runs_no_program(machine):
    assert await refused(machine, "read_only") == OUTSIDE | WRITES | TCP | {"run a program"}
    started = (await machine.daemon.events(SessionStarted, "s-read_only"))[0]
    assert started.capability == "read_only"


async def test_full_has_no_cage(machine):
    (machine.folder / "home" / ".tries").mkdir(exist_ok=True)
    report = await machine.tries("s-full", "full")
    assert {came for who in WHO for came in report[who].values()} == {DONE}
    machine.secret.write_text("secret")


@pytest.mark.row("R18")
async def test_a_resumed_session_keeps_its_level(machine):
    daemon = machine.daemon
    await machine.tries("s-again", "sandboxed")
    record = await daemon.store.session("s-again")
    assert record is not None
    assert record.capability == "sandboxed"
    await daemon.host.sessions.live["s-again"].end("closed", "ana")
    await daemon.over("s-again")
    await daemon.ask(ResumeSession(session_id="s-again"))
    again = (await daemon.events(SessionStarted, "s-again"))[-1]
    assert again.resumed_from is not None
    assert again.capability == "sandboxed"


async def test_the_home_folder_is_no_project_to_be_scoped_to(machine):
    with pytest.raises(Refused, match="must not reach"):
        await machine.daemon.start(
            "s-home", agent="tries", cwd=str(machine.folder), capability="project_scoped"
        )
    assert await machine.daemon.store.session("s-home") is None


async def test_the_level_is_in_the_audit(machine):
    await machine.tries("s-audit", "project_scoped")
    lines = await machine.daemon.store.audit_lines()
    assert any(b"s-audit" in line and b"project_scoped" in line for line in lines)
