"""Which level a start gets, what each level names, and that a level without a cage is refused. No process."""

import itertools
import sys
from pathlib import Path

import pytest
from tests.cages.caged import launcher_of

from bascule.daemon.cages import bubblewrap, seatbelt
from bascule.daemon.cages.detection import Cage
from bascule.daemon.cages.program_files import named_ports, path_folders, program_files
from bascule.daemon.cages.reach import Needs, reach_of
from bascule.model.errors import BadDirectory, NotSupported
from bascule.model.events import SessionStarted

LANDLOCK = Cage("landlock", 7)
NEEDS = Needs(programs=("/opt/agent",), writes=("/srv/u/.agent",), temp="/state/t", ports=(8080,))


def wanted(level: str | None) -> SessionStarted:
    return SessionStarted("tries", "", "/", "ana", capability=level)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("home", "work", "data", "config"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.row("R18")
@pytest.mark.anyio
async def test_a_start_gets_the_ceiling_or_less_and_never_more(place: Path) -> None:
    launcher = launcher_of(place, lambda _: LANDLOCK, ceiling="sandboxed")
    work = str(place / "work")
    assert launcher.levels == ("read_only", "sandboxed")
    assert (await launcher.complete(wanted(None), work)).capability == "sandboxed"
    assert (await launcher.complete(wanted("read_only"), work)).capability == "read_only"
    for above in ("project_scoped", "full"):
        with pytest.raises(NotSupported, match="allows at most sandboxed"):
            await launcher.complete(wanted(above), work)
    assert launcher.capped("full") == "sandboxed"
    assert launcher.capped("read_only") == "read_only"


@pytest.mark.row("R18")
@pytest.mark.anyio
async def test_a_level_without_a_cage_is_refused_with_the_reason(place: Path) -> None:
    none = Cage("none", problem="the kernel has no Landlock, and bubblewrap is not installed")
    launcher = launcher_of(place, lambda _: none)
    assert launcher.levels == ("full",)
    with pytest.raises(NotSupported, match="bubblewrap is not installed"):
        await launcher.complete(wanted("project_scoped"), str(place / "work"))
    assert (await launcher.complete(wanted(None), str(place / "work"))).capability == "full"


def test_a_level_that_limits_ports_needs_a_cage_that_can():
    assert Cage("bubblewrap", program="/usr/bin/bwrap").levels() == ("project_scoped", "full")
    assert Cage("landlock", 3).levels() == ("project_scoped", "full")
    assert LANDLOCK.levels() == ("read_only", "sandboxed", "project_scoped", "full")


def test_a_folder_that_holds_the_home_or_our_own_files_is_no_project(place: Path) -> None:
    cages = launcher_of(place, lambda _: LANDLOCK).cages
    cages.check("full", str(place))
    for folder in (str(place), str(place / "home")):
        with pytest.raises(BadDirectory, match="must not reach"):
            cages.check("project_scoped", folder)


def test_what_came_with_a_start_is_no_part_of_what_may_be_read(place: Path) -> None:
    launcher = launcher_of(place, lambda _: LANDLOCK)
    started = SessionStarted(
        "tries",
        "stream_json",
        str(place / "work"),
        "ana",
        resumed_from="/etc/../root",
        capability="sandboxed",
    )
    plan = launcher.plan(started, "")
    assert plan.cage is not None
    assert plan.argv[-1] == "--resume=/etc/../root"
    assert not [path for _, path in plan.cage.rules or () if "root" in path and ".." in path]


def test_each_level_writes_runs_and_connects_as_its_name_says():
    only = {level: reach_of(level, NEEDS) for level in ("read_only", "sandboxed", "project_scoped")}
    projects = {level: dict(map(reversed, reach.rules))["."] for level, reach in only.items()}
    assert projects == {"read_only": "r", "sandboxed": "rx", "project_scoped": "rwx"}
    assert only["project_scoped"].ports is None
    assert only["sandboxed"].ports == only["read_only"].ports == (443, 8080)
    runs = {path for letters, path in only["read_only"].rules if "x" in letters}
    assert "/opt/agent" in runs
    assert not runs & {"/usr", "/bin", ".", "/state/t", "/srv/u/.agent"}


def test_the_profile_for_macos_denies_by_default_and_quotes_paths():
    profile = seatbelt.profile(reach_of("sandboxed", NEEDS), '/srv/a/my "project"')
    lines = profile.splitlines()
    assert lines[1] == "(deny default)"
    assert '(allow file-read* (subpath "/srv/a/my \\"project\\""))' in lines
    assert '(allow file-write* (subpath "/srv/a/my \\"project\\""))' not in lines
    assert '(allow file-write* (subpath "/state/t"))' in lines
    assert '(allow network-outbound (remote tcp "*:8080"))' in lines
    assert not [line for line in lines if line.startswith("(allow network*")]
    whole = seatbelt.profile(reach_of("project_scoped", NEEDS), "/p")
    assert '(allow file-write* (subpath "/p"))' in whole
    assert "(allow network* " in whole


def test_read_only_on_macos_runs_the_agent_alone():
    lines = seatbelt.profile(reach_of("read_only", NEEDS), "/p").splitlines()
    runs = [line for line in lines if line.startswith("(allow process-exec")]
    assert '(allow process-exec (subpath "/opt/agent"))' in runs
    assert '(allow process-exec (subpath "/usr"))' not in runs


def test_bubblewrap_mounts_what_is_named_and_the_project_last_of_its_kind():
    reach = reach_of("project_scoped", Needs(reads=("/srv/u/.agent",), writes=("/srv/u/.agent/log",)))
    words = bubblewrap.wrapped("/bin/bwrap", reach, "/code/p", ["agent", "--x"])
    mounts = list(itertools.pairwise(words))
    assert ("--ro-bind-try", "/srv/u/.agent") in mounts
    assert ("--bind-try", "/srv/u/.agent/log") in mounts
    assert ("--bind-try", "/code/p") in mounts
    assert ("--ro-bind-try", "/lib64/ld-linux-x86-64.so.2") not in mounts  # it is in a folder that is mounted
    assert words[-5:] == ("--chdir", "/code/p", "--", "agent", "--x")


def test_a_programs_package_is_found_and_a_folder_around_the_home_is_not(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "node_modules" / "agent"
    package.mkdir(parents=True)
    (package / "cli.js").write_text("#!/usr/bin/env python3\n")
    found = program_files([str(package / "cli.js")], {"PATH": str(Path(sys.executable).parent), "HOME": "/h"})
    assert str(tmp_path / "lib" / "node_modules") in found
    assert any(one.endswith("python3") for one in found)
    env = {"PATH": "/usr/bin:relative:/srv:/srv/u:/srv/u/bin", "HOME": "/srv/u"}
    assert path_folders(env) == ("/usr/bin", "/srv/u/bin")
    (tmp_path / "home" / ".local" / "bin").mkdir(parents=True)
    own = tmp_path / "home" / ".local" / "bin" / "agent"
    own.write_text("")
    assert program_files([str(own)], {"HOME": str(tmp_path / "home"), "PATH": ""}) == (str(own),)


@pytest.mark.row("R18")
def test_a_program_among_those_of_the_system_does_not_open_their_folder(tmp_path: Path) -> None:
    env = {"HOME": "/h", "PATH": "/usr/bin"}
    assert program_files(["/usr/bin/env"], env) == ("/usr/bin/env",)
    script = tmp_path / "agent"
    script.write_text("#!/usr/bin/env sh\n")
    assert not {"/usr", "/usr/local", "/"} & set(program_files([str(script)], env))


def test_the_ports_of_an_agents_addresses_are_named():
    env = {"A": "http://127.0.0.1:8080/v1", "B": "https://proxy.example", "C": "http://[bad", "D": "8080"}
    assert named_ports(env) == (8080, 443)
