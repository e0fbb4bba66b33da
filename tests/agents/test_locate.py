"""Finding an agent's program, and asking it for its version."""

import os
import sys
from pathlib import Path

import pytest

from bascule.agents.catalogue import Catalogue, parse
from bascule.agents.locate import find, locate
from bascule.model.errors import AgentNotInstalled

pytestmark = pytest.mark.anyio
SPEC = """name = "mine"
title = "Mine"
override = "MINE_BIN"
search = ["mine-agent", "~/bin/mine-agent"]
install = "get it"

[[drivers]]
name = "acp"
"""
MINE = parse(SPEC.encode(), "mine.toml")


def program(path: Path, body: str = "exit 0", *, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(mode)
    return path


def test_places_are_tried_in_order(tmp_path: Path) -> None:
    at_home = program(tmp_path / "home/bin/mine-agent")
    env = {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path")}
    assert locate(MINE, env) == str(at_home)
    on_path = program(tmp_path / "path/mine-agent")
    assert locate(MINE, env) == str(on_path)


def test_a_person_can_name_the_program(tmp_path: Path) -> None:
    chosen = program(tmp_path / "chosen")
    assert locate(MINE, {"MINE_BIN": str(chosen), "PATH": ""}) == str(chosen)
    with pytest.raises(AgentNotInstalled, match="MINE_BIN"):
        locate(MINE, {"MINE_BIN": str(tmp_path / "nothing"), "PATH": ""})


def test_s20_the_current_folder_is_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "mine-agent")
    program(tmp_path / "sub/mine-agent")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", "sub", f":{os.pathsep}."):
        with pytest.raises(AgentNotInstalled, match="get it"):
            locate(MINE, {"PATH": path, "HOME": "."})
    with pytest.raises(AgentNotInstalled):
        locate(MINE, {"MINE_BIN": "./mine-agent", "PATH": ""})


def test_what_can_not_be_run_is_not_found(tmp_path: Path) -> None:
    program(tmp_path / "a/mine-agent", mode=0o644)
    (tmp_path / "b/mine-agent").mkdir(parents=True)
    with pytest.raises(AgentNotInstalled):
        locate(MINE, {"PATH": f"{tmp_path}/a:{tmp_path}/b"})


async def test_the_version_is_asked_with_the_childs_environment(tmp_path: Path) -> None:
    path = program(tmp_path / "mine-agent", 'env > "${0%/*}/seen"; echo "mine 1.22.333 (x)"')
    path_here = f"{tmp_path}:/usr/bin:/bin"
    found = await find(MINE, {"PATH": path_here, "BASCULE_TOKEN": "x", "GH_TOKEN": "x", "LANG": "C"})
    assert (found.path, found.version) == (str(path), "1.22.333")
    seen = (tmp_path / "seen").read_text()
    assert "LANG=C" in seen
    assert "TOKEN" not in seen


async def test_a_program_that_does_not_tell_its_version_is_still_found(tmp_path: Path) -> None:
    program(tmp_path / "mine-agent", "exec sleep 60")
    found = await find(MINE, {"PATH": f"{tmp_path}:/usr/bin:/bin"}, seconds=0.3)
    assert found.version is None


async def test_the_demo_is_always_there() -> None:
    demo = Catalogue.load("/nonexistent").get("demo")
    found = await find(demo, {"PATH": "/usr/bin:/bin"})
    assert found.path == sys.executable
    assert found.version is not None
