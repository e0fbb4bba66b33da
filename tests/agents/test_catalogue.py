"""Agent files: the shipped ones load, and a wrong one is refused with the place to look at."""

import os
from pathlib import Path

import pytest

from bascule.agents.catalogue import BadAgentFile, Catalogue
from bascule.model.errors import UnknownAgent

GOOD = """name = "mine"
title = "Mine"
search = ["mine"]

[[drivers]]
name = "acp"
args = ["--acp"]
"""


def write(folder: Path, text: str | bytes, *, name: str = "mine.toml", mode: int = 0o600) -> Path:
    agents = folder / "agents"
    agents.mkdir(exist_ok=True)
    path = agents / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def with_table(header: str, row: str) -> str:
    return GOOD.replace("[[drivers]]", f"{header}\n{row}\n\n[[drivers]]")


def test_the_shipped_agents_load(tmp_path: Path) -> None:
    catalogue = Catalogue.load(tmp_path)
    assert catalogue.names()[0] == "claude-code"
    assert catalogue.names()[-1] == "demo"
    claude = catalogue.get("claude-code")
    assert claude.override == "CLAUDE_BIN"
    assert catalogue.get("demo").demo
    assert "demo" in catalogue.get("demo").title.lower()


def test_a_persons_own_file_adds_an_agent(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    assert Catalogue.load(tmp_path).get("mine").driver("acp").args == ("--acp",)


@pytest.mark.row("S22")
def test_an_agent_is_known_only_by_a_name_from_a_file(tmp_path: Path) -> None:
    for name in ("/bin/sh", "../demo", "demo; touch x", "", "Demo"):
        with pytest.raises(UnknownAgent):
            Catalogue.load(tmp_path).get(name)


@pytest.mark.row("REL-24")
@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("name = ", 1, None, "not TOML"),
        ('asking = "never"\n' + GOOD, 1, "asking", "not one of the modes"),
        (GOOD + "args = []\n", 8, None, "not TOML"),
        (GOOD.replace('title = "Mine"', 'title = "Mine"\ntitel = "x"'), 3, "titel", "unknown field"),
        (GOOD.replace('search = ["mine"]', 'search = "mine"'), 3, "search", "array"),
        (GOOD.replace('"mine"]', '"./mine"]'), 3, "search", "neither absolute"),
        (GOOD.replace('name = "mine"', 'name = "../mine"'), 1, "name", "regex"),
        (GOOD.replace('"acp"', '"telnet"'), 6, "drivers.name", "telnet"),
        (GOOD.replace('title = "Mine"\n', ""), None, "title", "required"),
        (GOOD + 'model = ["--model"]\n', 8, "drivers.model", "{value}"),
        (
            GOOD.replace("[[drivers]]", '[version]\npattern = "("\n\n[[drivers]]'),
            6,
            "version.pattern",
            "regular",
        ),
        (
            GOOD.replace("[[drivers]]", '[environment]\npass = ["*"]\n\n[[drivers]]'),
            6,
            "environment.pass",
            "regex",
        ),
        (b"\xef\xbb\xbf" + GOOD.encode(), 1, None, "byte order mark"),
        (b'name = "mine"\ntitle = "\xff"\n', 2, None, "UTF-8"),
        (GOOD.replace('"mine"\n', '"demo"\n', 1), None, "name", "already is"),
        ("#" * 70_000, None, None, "larger"),
    ],
)
def test_a_bad_file_is_refused_naming_file_line_and_key(
    tmp_path: Path, text: str | bytes, line: int | None, key: str | None, words: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(BadAgentFile) as refused:
        Catalogue.load(tmp_path)
    assert str(path) in refused.value.message
    assert words in refused.value.message
    assert (refused.value.fields["line"], refused.value.fields["key"]) == (line, key)


@pytest.mark.row("S22", "REL-24")
@pytest.mark.parametrize("mode", [0o640, 0o602, 0o666, 0o700 | 0o044])
def test_a_file_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    write(tmp_path, GOOD, mode=mode)
    with pytest.raises(BadAgentFile, match="chmod 600"):
        Catalogue.load(tmp_path)


@pytest.mark.row("S22")
def test_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.toml"
    target.write_text(GOOD)
    target.chmod(0o600)
    (tmp_path / "agents").mkdir()
    link = tmp_path / "agents" / "link.toml"
    link.symlink_to(target)
    with pytest.raises(BadAgentFile):
        Catalogue.load(tmp_path)
    link.unlink()
    os.mkfifo(tmp_path / "agents" / "pipe.toml", 0o600)
    with pytest.raises(BadAgentFile, match="plain file"):
        Catalogue.load(tmp_path)


SHIPPED = {
    "claude-code": ("stream_json", "acp", "terminal"),
    "codex": ("codex", "acp", "terminal"),
    "gemini": ("acp", "terminal"),
    "copilot": ("acp", "terminal"),
    "opencode": ("acp", "terminal"),
    "cursor": ("acp", "terminal"),
    "goose": ("acp", "terminal"),
    "qwen": ("acp", "terminal"),
    "aider": ("plain", "terminal"),
    "shell": ("terminal",),
    "demo": ("stream_json",),
}


@pytest.mark.row("R22")
def test_every_shipped_agent_lists_its_drivers() -> None:
    catalogue = Catalogue.load("/nonexistent")
    assert {spec.name: tuple(one.name for one in spec.drivers) for spec in catalogue} == SHIPPED
    for spec in catalogue:
        if spec.name not in ("shell", "demo"):
            assert spec.login is not None
            assert spec.login.how


@pytest.mark.row("S33")
@pytest.mark.parametrize("agent", sorted(set(SHIPPED) - {"shell", "aider"}))
def test_no_agent_is_started_in_a_mode_that_does_not_ask(agent: str) -> None:
    """By a mode it is told at the start, or by a setting in its environment."""
    spec = Catalogue.load("/nonexistent").get(agent)
    told = [spec.asking_of(driver) for driver in spec.drivers if driver.name != "terminal"]
    assert all(told) or spec.environment.set, f"{agent} starts as {told}"
    unasked = {"yolo", "bypassPermissions", "full-access", "agent-full-access", "autopilot"}
    for driver in spec.drivers:
        modes = spec.modes_of(driver)
        assert not unasked & {*modes, *modes.values()}
