"""`bascule service` as people run it, with a manager that really starts and ends the server."""

import asyncio
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import FAKES
from tests.liveness import end_all_at_home
from tests.parts import Part
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio
UNIT = Path(".config/systemd/user/bascule.service")
ENTRY = Path(".local/share/applications/bascule-link.desktop")


class Machine:
    """A home with settings of its own, and the system's programs as scripts."""

    def __init__(self, folder: Path) -> None:
        self.home, self.bin, self.own = folder / "home", folder / "bin", folder / "own"
        for made in (self.home, self.bin, self.own):
            made.mkdir(mode=0o700)
        (self.own / "config.toml").write_text("port = 0\n")
        (self.own / "config.toml").chmod(0o600)
        for name in ("systemctl", "loginctl"):
            words = shlex.join([sys.executable, "-E", "-S", str(FAKES / "fake_systemd.py"), name])
            (self.bin / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            (self.bin / name).chmod(0o755)
        self.tell(manager=True, linger=False, refuses_linger=False, pid=0, calls=[])

    @property
    def state(self) -> dict[str, Any]:
        return json.loads((self.home / "systemd.json").read_text())

    def tell(self, **fields: Any) -> None:
        known = self.state if (self.home / "systemd.json").exists() else {}
        (self.home / "systemd.json").write_text(json.dumps({**known, **fields}))

    @property
    def environ(self) -> dict[str, str]:
        own = {"BASCULE_DATA_DIR": str(self.own), "BASCULE_CONFIG_DIR": str(self.own)}
        return {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin", "LANG": "C.UTF-8", **own}

    async def bascule(self, *words: str, **more: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bascule", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**self.environ, **more},
        )
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        return process.returncode or 0, out.decode(), err.decode()

    def close(self) -> None:
        end_all_at_home(self.home)


@pytest.fixture
def machine(short_dir: Path) -> Iterator[Machine]:
    made = Machine(short_dir)
    yield made
    made.close()


@pytest.mark.row("L11")
async def test_the_service_is_installed_twice_alike_updated_and_removed(machine: Machine, part: Part) -> None:
    code, said, wrong = await machine.bascule("service", "install")
    assert (code, wrong) == (0, ""), wrong
    with part("it says where it is, and when it starts"):
        assert f"Installed: {machine.home / UNIT}\n" in said
        assert "starts on its own with the machine" in said
    pid = machine.state["pid"]
    with part("it runs, and its log holds no token"):
        assert json.loads((machine.own / "server.json").read_text())["pid"] == pid
        assert "#token=" not in (machine.home / "unit.log").read_text()

    with part("installed again, nothing changes"):
        code, said, _ = await machine.bascule("service", "install")
        assert (code, machine.state["pid"]) == (0, pid)
        assert "Already installed" in said
    with part("the status says so"):
        code, said, _ = await machine.bascule("service", "status")
        assert code == 0
        assert "Starts on its own: with the machine" in said
        assert f"(pid {pid}), as the service" in said

    assert (await machine.bascule("service", "install", "--restart"))[0] == 0
    assert machine.state["pid"] != pid
    pid = machine.state["pid"]
    (machine.home / UNIT).write_text((machine.home / UNIT).read_text() + "# by hand\n")
    with part("a unit that was edited by hand is said to be out of date"):
        _, said, _ = await machine.bascule("service", "status")
        assert "bring it up to date: bascule service install" in said
    assert (await machine.bascule("service", "install"))[0] == 0
    assert machine.state["pid"] != pid

    code, said, wrong = await machine.bascule("service", "uninstall")
    assert (code, wrong) == (0, "")
    with part("what it installed is gone, and sessions stay"):
        assert "Sessions, settings and running agents stay" in said
        assert not (machine.home / UNIT).exists()
        assert not (machine.home / ENTRY).exists()
        assert (machine.state["linger"], machine.state["pid"]) == (False, 0)
    with part("removed twice, it says so"):
        code, said, _ = await machine.bascule("service", "uninstall")
        assert (code, said) == (0, "The service is not installed.\n")
        code, said, _ = await machine.bascule("service", "status")
        assert (code, "not installed" in said, "Not running." in said) == (3, True, True)


@pytest.mark.row("L11")
async def test_lingering_that_was_on_stays_on_and_one_that_is_refused_is_said(machine: Machine) -> None:
    machine.tell(refuses_linger=True)
    code, said, _ = await machine.bascule("service", "install")
    assert code == 0
    assert "starts on its own when you log in" in said
    assert "sudo loginctl enable-linger" in said
    machine.tell(linger=True)  # somebody did
    await machine.bascule("service", "uninstall")
    assert machine.state["linger"] is True


@pytest.mark.row("L11")
async def test_without_a_manager_nothing_is_written_and_the_reason_is_told(machine: Machine) -> None:
    machine.tell(manager=False)
    code, _, wrong = await machine.bascule("service", "install")
    assert code == 1
    assert "systemd can't be reached (Failed to connect to bus: No medium found)" in wrong
    assert not (machine.home / ".config").exists()


@pytest.mark.row("L11")
async def test_a_server_that_was_started_by_hand_is_left_alone(machine: Machine) -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", "up", "--no-open"),
        stdout=asyncio.subprocess.PIPE,
        env=machine.environ,
    )
    assert server.stdout is not None
    try:
        await asyncio.wait_for(server.stdout.readline(), PATIENCE)
        code, _, wrong = await machine.bascule("service", "install")
        assert code == 1
        assert f"(pid {server.pid}), started by hand. Stop it" in wrong
        assert not (machine.home / UNIT).exists()
        _, said, _ = await machine.bascule("service", "status")
        assert "started by hand" in said
    finally:
        server.terminate()
        await asyncio.wait_for(server.communicate(), PATIENCE)


@pytest.mark.row("L11")
async def test_settings_of_the_shell_and_an_environment_in_a_cache_are_told(machine: Machine) -> None:
    cache = str(Path(sys.prefix).parent)
    code, _, wrong = await machine.bascule("service", "install", UV_CACHE_DIR=cache)
    assert code == 1
    assert "uv tool install bascule && bascule service install" in wrong
    assert not (machine.home / UNIT).exists()
    code, _, wrong = await machine.bascule("service", "install", BASCULE_SHELL_UNKNOWN="", HOST="127.0.0.1")
    assert "Not part of the service: HOST. Put it into config.toml." in wrong
