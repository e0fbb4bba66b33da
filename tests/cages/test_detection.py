"""Which cage is chosen, for every kernel, processor and bubblewrap that a machine can have."""

import os
from pathlib import Path

import pytest

from bascule.daemon.cages import bubblewrap, detection
from bascule.daemon.cages.detection import Cage, look
from bascule.transport.cage_support import LEAST, PORTS


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has a bubblewrap, by a link as distributions have them."""
    program = tmp_path / "bwrap-0.11"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bwrap").symlink_to(program)
    return {"PATH": str(tmp_path / "bin")}


def on(
    monkeypatch: pytest.MonkeyPatch, *, landlock: int, makes_spaces: bool = True, known: bool = True
) -> None:
    monkeypatch.setattr(detection.sys, "platform", "linux")
    monkeypatch.setattr(detection, "landlock_version", lambda: landlock)
    monkeypatch.setattr(detection, "knows_processor", lambda: known)
    monkeypatch.setattr(bubblewrap, "usable", lambda _: makes_spaces)


@pytest.mark.row("R18")
@pytest.mark.parametrize(
    ("landlock", "levels"),
    [
        (7, ("read_only", "sandboxed", "project_scoped", "full")),
        (PORTS, ("read_only", "sandboxed", "project_scoped", "full")),
        (PORTS - 1, ("project_scoped", "full")),
        (LEAST, ("project_scoped", "full")),
    ],
)
def test_landlock_is_taken_where_the_kernel_s_is_new_enough(
    monkeypatch: pytest.MonkeyPatch, tools: dict[str, str], landlock: int, levels: tuple[str, ...]
) -> None:
    on(monkeypatch, landlock=landlock)
    cage = look(tools)
    assert cage == Cage("landlock", landlock)
    assert cage.levels() == levels


@pytest.mark.row("R18")
@pytest.mark.parametrize("landlock", [0, 1, LEAST - 1])
def test_bubblewrap_is_taken_where_landlock_is_missing_or_too_old(
    monkeypatch: pytest.MonkeyPatch, tools: dict[str, str], landlock: int
) -> None:
    on(monkeypatch, landlock=landlock)
    cage = look(tools)
    assert cage == Cage("bubblewrap", program=os.path.realpath(f"{tools['PATH']}/bwrap"))
    assert cage.levels() == ("project_scoped", "full")
    assert cage.problem_with("read_only") == "limiting TCP ports needs Landlock as of Linux 6.7"


@pytest.mark.row("R18")
@pytest.mark.parametrize(
    ("landlock", "installed", "problem"),
    [
        (0, True, "the kernel has no Landlock, and bubblewrap may not make name spaces here"),
        (0, False, "the kernel has no Landlock, and bubblewrap is not installed"),
        (1, False, "the kernel's Landlock is too old (1), and bubblewrap is not installed"),
    ],
)
def test_where_neither_can_be_had_only_full_is_left_and_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch, tools: dict[str, str], landlock: int, installed: bool, problem: str
) -> None:
    on(monkeypatch, landlock=landlock, makes_spaces=False)
    cage = look(tools if installed else {"PATH": "/nowhere"})
    assert cage == Cage("none", problem=problem)
    assert cage.levels() == ("full",)
    assert cage.problem_with("project_scoped") == problem


@pytest.mark.row("R18")
def test_an_unknown_processor_has_none_whatever_the_kernel_can(
    monkeypatch: pytest.MonkeyPatch, tools: dict[str, str]
) -> None:
    on(monkeypatch, landlock=7, known=False)
    assert look(tools) == Cage("none", problem=f"there is none for the processor {os.uname().machine}")


@pytest.mark.row("R18")
@pytest.mark.parametrize(
    ("system", "there", "cage"),
    [
        ("darwin", True, Cage("seatbelt")),
        ("darwin", False, Cage("none", problem="there is no /usr/bin/sandbox-exec")),
        ("freebsd14", True, Cage("none", problem="there is none for this system")),
    ],
)
def test_other_systems_have_their_own_or_none(
    monkeypatch: pytest.MonkeyPatch, system: str, there: bool, cage: Cage
) -> None:
    on(monkeypatch, landlock=7)
    monkeypatch.setattr(detection.sys, "platform", system)
    monkeypatch.setattr(detection.os, "access", lambda *_: there)
    assert look({}) == cage
