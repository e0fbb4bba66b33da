"""Finding an agent's program, and asking it for its version."""

import os
import sys
from pathlib import Path

import pytest

from bascule.agents.catalogue import Catalogue, parse
from bascule.agents.command import Launch, build_argv
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
    assert locate(MINE, env).path == str(at_home)
    on_path = program(tmp_path / "path/mine-agent")
    assert locate(MINE, env).path == str(on_path)


def test_a_person_can_name_the_program(tmp_path: Path) -> None:
    chosen = program(tmp_path / "chosen")
    assert locate(MINE, {"MINE_BIN": str(chosen), "PATH": ""}).path == str(chosen)
    with pytest.raises(AgentNotInstalled, match="MINE_BIN"):
        locate(MINE, {"MINE_BIN": str(tmp_path / "nothing"), "PATH": ""})


@pytest.mark.row("S20")
def test_the_current_folder_is_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


ADAPTED = parse(
    b"""name = "adapted"
title = "Adapted"
search = ["adapted"]
install = "get adapted"
override = "ADAPTED_BIN"

[[drivers]]
name = "codex"
args = ["serve"]

[[drivers]]
name = "acp"
args = ["--acp"]
search = ["adapted-acp"]
command = "ADAPTED_ACP_CMD"
install = "get adapted-acp"
""",
    "adapted.toml",
)


def test_an_adapter_is_a_program_of_its_own(tmp_path: Path) -> None:
    adapter = program(tmp_path / "adapted-acp")
    env = {"PATH": str(tmp_path), "ADAPTED_BIN": "/bin/sh"}
    assert locate(ADAPTED, env, ADAPTED.driver("codex")).path == "/bin/sh"
    assert locate(ADAPTED, env, ADAPTED.driver("acp")).path == str(adapter)
    adapter.unlink()
    with pytest.raises(AgentNotInstalled, match="get adapted-acp"):
        locate(ADAPTED, env, ADAPTED.driver("acp"))


def test_a_person_can_give_the_adapters_whole_command_and_no_shell_reads_it(tmp_path: Path) -> None:
    mine = program(tmp_path / "my adapter")
    env = {"PATH": "", "ADAPTED_ACP_CMD": f"'{mine}' --flag \"two words\" $(touch x) ; rm"}
    found = locate(ADAPTED, env, ADAPTED.driver("acp"))
    assert found.path == str(mine)
    assert found.args == ("--flag", "two words", "$(touch", "x)", ";", "rm")
    assert build_argv(ADAPTED, found, Launch(driver="acp"))[1:3] == ["--flag", "two words"]


@pytest.mark.parametrize("given", ["./adapter --x", "nothing-like-it", "'unclosed", "''"])
def test_a_command_that_can_not_be_run_is_said_with_its_variable(given: str, tmp_path: Path) -> None:
    with pytest.raises(AgentNotInstalled, match="ADAPTED_ACP_CMD"):
        locate(ADAPTED, {"PATH": str(tmp_path), "ADAPTED_ACP_CMD": given}, ADAPTED.driver("acp"))


@pytest.mark.parametrize(
    ("agent", "variable", "package"),
    [
        ("claude-code", "CLAUDE_ACP_CMD", "@agentclientprotocol/claude-agent-acp"),
        ("codex", "CODEX_ACP_CMD", "@agentclientprotocol/codex-acp"),
    ],
)
def test_the_adapters_commands_can_be_set(agent: str, variable: str, package: str) -> None:
    driver = (spec := Catalogue.load("/nonexistent").get(agent)).driver("acp")
    assert locate(spec, {variable: "/bin/sh -c x", "PATH": ""}, driver).args == ("-c", "x")
    with pytest.raises(AgentNotInstalled, match=package):
        locate(spec, {"PATH": "", "HOME": "/nonexistent"}, driver)


SET_BY_A_PERSON = [
    *("x; touch canary", "x && touch canary", "$(touch canary)", "`touch canary`", "'unclosed"),
    *("mine-agent", "./mine-agent", "bin/mine-agent", "../mine-agent", "mine-agent\ttouch"),
    *("", "  ", "nowhere", "/nowhere"),
]


@pytest.mark.row("S23")
@pytest.mark.parametrize("given", SET_BY_A_PERSON)
def test_a_configured_command_is_split_into_words_and_never_found_in_the_current_folder(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each variable that names a program: what is there is run as it is, what is not there is said."""
    project = tmp_path / "project"
    program(project / "mine-agent")
    program(project / "bin" / "mine-agent")
    program(project / "claude-agent-acp")
    monkeypatch.chdir(project)
    env = {"PATH": f".::bin:{tmp_path / 'empty'}", "HOME": str(tmp_path), "SHELL": given}
    adapter = Catalogue.load(tmp_path / "none").get("claude-code")
    shell = Catalogue.load(tmp_path / "none").get("shell")
    for spec, driver, variable in (
        (MINE, None, "MINE_BIN"),
        (adapter, adapter.driver("acp"), "CLAUDE_ACP_CMD"),
    ):
        with pytest.raises(AgentNotInstalled) as refused:
            locate(spec, {**env, variable: given}, driver)
        assert given.strip() == "" or variable in refused.value.message
    assert locate(shell, env).path.startswith(("/bin/", "/usr/bin/"))
    assert not (project / "canary").exists()


@pytest.mark.row("S23")
def test_a_path_with_spaces_is_one_program(tmp_path: Path) -> None:
    spaced = program(tmp_path / "my tools" / "agent one")
    env = {"PATH": "", "HOME": str(tmp_path)}
    assert locate(MINE, {**env, "MINE_BIN": str(spaced)}).path == str(spaced)
    claude = Catalogue.load(tmp_path / "none").get("claude-code")
    found = locate(
        claude, {**env, "CLAUDE_ACP_CMD": f"'{spaced}' --flag 'two words' -e --"}, claude.driver("acp")
    )
    assert (found.path, found.args) == (str(spaced), ("--flag", "two words", "-e", "--"))


@pytest.mark.row("B10")
def test_what_is_there_but_may_not_be_run_is_said_to_be_that(tmp_path: Path) -> None:
    locked = program(tmp_path / "my path/mine-agent", mode=0o644)
    with pytest.raises(AgentNotInstalled) as refused:
        locate(MINE, {"PATH": f"{tmp_path}/my path"})
    assert f"is here as {locked}, but it may not be run: it is not executable." in refused.value.message
    assert f"chmod +x '{locked}'" in refused.value.message


@pytest.mark.row("B10")
@pytest.mark.parametrize(
    ("first", "missing"),
    [
        ("#!/nonexistent/python", "/nonexistent/python"),
        ("#!/usr/bin/env nonexistent-node", "nonexistent-node"),
        ("#!/usr/bin/env -S nonexistent-node --flag", "nonexistent-node"),
        ("#! /usr/bin/env A=b nonexistent-node", "nonexistent-node"),
    ],
)
def test_a_script_whose_interpreter_is_missing_is_not_found_and_the_interpreter_is_named(
    tmp_path: Path, first: str, missing: str
) -> None:
    path = tmp_path / "mine-agent"
    path.write_text(f"{first}\n")
    path.chmod(0o755)
    with pytest.raises(AgentNotInstalled, match=f"{missing}, which runs it, was not found"):
        locate(MINE, {"PATH": f"{tmp_path}:/usr/bin:/bin"})


@pytest.mark.parametrize("first", [b"#!/bin/sh", b"#!/usr/bin/env sh", b"\x7fELF", b"", b"#!", b"#!\xff\xfe"])
def test_any_other_first_line_is_left_to_the_start(tmp_path: Path, first: bytes) -> None:
    path = tmp_path / "mine-agent"
    path.write_bytes(first + b"\n")
    path.chmod(0o755)
    assert locate(MINE, {"PATH": f"{tmp_path}:/usr/bin:/bin"}).path == str(path)


@pytest.mark.row("P2")
def test_a_long_path_is_searched_for_so_long_and_no_longer(tmp_path: Path):
    program(tmp_path / "bin/claude")
    claude, env = Catalogue.load(tmp_path / "none").get("claude-code"), {"PATH": f"{tmp_path}/bin"}
    assert locate(claude, env).path == f"{tmp_path}/bin/claude"
    with pytest.raises(AgentNotInstalled):
        locate(claude, env, seconds=-1)
