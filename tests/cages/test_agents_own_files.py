"""What each agent file says its agent writes for itself: writable in its cage, and nothing else outside is.

No agent is installed here: a script stands in for each, found and started as its agent file says. So this
shows what the lists open and what they don't, not that an agent needs no more than its list.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.daemon.running_daemon import RunningDaemon
from tests.waiting import PATIENCE

from bascule.agents.catalogue import Catalogue
from bascule.agents.own_files import place_path
from bascule.agents.spec import AgentSpec
from bascule.daemon.cages.detection import Cage
from bascule.daemon.launching.launching import Launcher
from bascule.model.events import SessionEnded, SessionFailed
from bascule.model.settings import Limits, Settings
from bascule.transport.cage_support import PORTS, landlock_version

HERE = landlock_version()
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(HERE < PORTS, reason=f"Landlock is {HERE} on this kernel; the levels need {PORTS}"),
]
SHIPPED = Catalogue.load("/nonexistent")
# The demo agent is Bascule's own program, and caged in every other test of levels.
NAMES = [name for name in SHIPPED.names() if name != "demo"]
# It says of each path in `tries` whether it could be written, or read where it begins with "<".
STAND_IN = """#!/bin/sh
test -f tries || exit 0
echo tries
while IFS= read -r path; do
    case $path in
        "<"*) (cat "${path#<}" >/dev/null) 2>/dev/null && echo "done $path" || echo "refused $path" ;;
        *) (: >>"$path") 2>/dev/null && echo "done $path" || echo "refused $path" ;;
    esac
done <tries >report
"""
# Variables by which a person moves an agent's own files to another place: both places are its own then.
MOVED = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
)
# Of the person, of other programs and of the places around an agent's own.
OUTSIDE = (
    "note",
    ".bashrc",
    ".profile",
    ".ssh/authorized_keys",
    ".gitconfig",
    ".config/note",
    ".config/systemd/user/evil.service",
    ".config/autostart/evil.desktop",
    ".local/bin/evil",
    ".local/share/note",
    ".local/state/note",
    ".cache/note",
    *(f"moved/{name.lower()}/note" for name in MOVED if name != "CODEX_HOME"),
    "other-project/file",
)
SECRETS = (".ssh/id_ed25519", ".netrc", ".git-credentials", "other-project/.env")


class Home:
    """A home folder with everything in it, one stand-in for every agent, and a daemon that starts them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "home"
        stand_in = self.path / "stand-in"
        for name in (*OUTSIDE, *SECRETS):
            self.made(self.path / name)
        stand_in.write_text(STAND_IN)
        stand_in.chmod(0o755)
        for name in NAMES:
            own = next((one for one in SHIPPED.get(name).search if one.startswith("~/")), None)
            if own is not None:
                link = self.path / own[2:]
                link.parent.mkdir(parents=True, exist_ok=True)
                link.write_text(STAND_IN)
                link.chmod(0o755)
        settings = Settings(
            data_dir=str(folder / "data"), config_dir=str(folder / "config"), roots=(str(folder),)
        )
        # `PATH` has nothing but the system, so that none that is installed here is found first.
        self.environ = {"PATH": "/usr/bin:/bin", "HOME": str(self.path), "SHELL": str(stand_in)}
        self.environ |= {name: str(self.path / "moved" / name.lower()) for name in MOVED}
        self.daemon = RunningDaemon(folder, Limits(sessions=0), Launcher(SHIPPED, settings, self.environ))

    @staticmethod
    def made(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return path

    def places(self, spec: AgentSpec) -> list[Path]:
        """A file in each of its own folders, and each file of its own."""
        found: list[Path] = []
        for place in spec.cage.writes:
            path = place_path(place, self.environ)
            if path is not None:
                found.append(Path(path) / "deep" / "note" if place.endswith("/") else Path(path))
        return found

    async def tries(self, name: str, level: str, paths: list[str]) -> dict[str, str]:
        """What came of each path."""
        session = f"s{len(list(self.folder.glob('work-*')))}"
        work = self.folder / f"work-{session}"
        work.mkdir()
        (work / "tries").write_text("".join(f"{one}\n" for one in paths))
        await self.daemon.start(session, agent=name, driver="terminal", cwd=str(work), capability=level)
        over = await self.daemon.until(lambda one: isinstance(one, SessionEnded | SessionFailed), session)
        assert isinstance(over, SessionEnded), over
        lines = (work / "report").read_text().splitlines()
        return {path: came for came, _, path in (line.partition(" ") for line in lines)}


@pytest.fixture(scope="module")
async def home(module_dir: Path) -> AsyncIterator[Home]:
    made = Home(module_dir)
    await made.daemon.open()
    try:
        yield made
    finally:
        pid = made.daemon.keeper_pid()
        async with asyncio.timeout(PATIENCE):
            await made.daemon.close()
        os.kill(pid, 15)


def tried(home: Home, name: str) -> tuple[list[str], list[str]]:
    """What it must be able to write, and what it must not: with the own files of all the others."""
    spec = SHIPPED.get(name)
    own = [str(home.made(one)) for one in home.places(spec)]
    folders = tuple(one.removesuffix("deep/note") for one in own if one.endswith("/deep/note"))
    places = [one for other in NAMES if other != name for one in home.places(SHIPPED.get(other))]
    places += [home.path / one for one in OUTSIDE]
    places += [home.folder / "data" / "evil", home.folder / "config" / "evil"]
    closed = [*(str(home.made(one)) for one in places), *(f"<{home.path / one}" for one in SECRETS)]
    return own, [one for one in closed if one not in own and not one.startswith(folders)]


@pytest.mark.row("R18")
@pytest.mark.parametrize("name", NAMES)
async def test_an_agent_writes_its_project_and_its_own_files_and_nothing_else_of_the_home(
    home: Home, name: str
) -> None:
    own, closed = tried(home, name)
    came = await home.tries(name, "project_scoped", ["in-the-project", *own, *closed])
    assert [path for path, word in came.items() if word == "done"] == ["in-the-project", *own]
    assert len(came) == 1 + len(own) + len(closed)


@pytest.mark.row("R18")
@pytest.mark.parametrize(
    ("name", "variable", "below"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "projects"),
        ("codex", "CODEX_HOME", ""),
        ("goose", "XDG_DATA_HOME", "goose"),
        ("opencode", "XDG_DATA_HOME", "opencode"),
    ],
)
async def test_files_that_a_person_moved_by_a_variable_are_its_own_there(
    home: Home, name: str, variable: str, below: str
) -> None:
    path = str(home.made(Path(home.environ[variable], below, "note")))
    assert await home.tries(name, "project_scoped", [path]) == {path: "done"}


async def test_at_full_the_same_script_writes_all_of_it(home: Home) -> None:
    """So it is the cage that refused, and not the script."""
    own, closed = tried(home, "goose")
    came = await home.tries("goose", "full", ["in-the-project", *own, *closed])
    assert set(came.values()) == {"done"}


@pytest.mark.row("R18")
@pytest.mark.parametrize("folder", ["", "/", "home", "home/"])
def test_a_variable_that_names_the_home_folder_or_one_around_it_opens_nothing(
    short_dir: Path, folder: str
) -> None:
    named = folder if folder == "/" else str(short_dir / folder)
    environ = {"PATH": "/usr/bin", "HOME": str(short_dir / "home"), "CODEX_HOME": named}
    settings = Settings(data_dir=str(short_dir / "data"), config_dir=str(short_dir / "config"))
    launcher = Launcher(SHIPPED, settings, environ, look_for_cage=lambda _: Cage("landlock", 7))
    caged = launcher.cages.around(
        "project_scoped", SHIPPED.get("codex"), [], ["codex"], environ, str(short_dir), ""
    )
    assert caged.walls is not None
    writable = {path for letters, path in caged.walls.rules or () if "w" in letters}
    assert str(short_dir / "home" / ".codex") + "/" in writable
    assert not {os.path.normpath(one) for one in writable} & {
        os.path.normpath(named),
        str(short_dir / "home"),
    }
