"""The LaunchAgent: which commands launchctl gets, and when."""

from pathlib import Path

import pytest

from bascule.service.launchd import LaunchAgent
from bascule.service.programs import Ran
from bascule.service.user_service import ServiceFailed

JOB = "gui/501/bascule.server"


class Launchctl:
    """Knows whether the job is loaded, as launchd does."""

    def __init__(self, refuses: bool = False) -> None:
        self.loaded, self.refuses = False, refuses
        self.calls: list[str] = []

    def __call__(self, argv: list[str]) -> Ran:
        assert argv[0] == "launchctl"
        self.calls.append(argv[1])
        match argv[1:]:
            case ["print", name]:
                assert name == JOB
                return (
                    Ran(0, "state = running\n\tpid = 7")
                    if self.loaded
                    else Ran(113, "Could not find service")
                )
            case ["bootstrap", "gui/501", path]:
                if self.refuses or self.loaded:
                    return Ran(5, "Bootstrap failed: 5: Input/output error")
                assert Path(path).is_file()
                self.loaded = True
            case ["bootout", name]:
                assert name == JOB
                self.loaded = False
            case _:
                return Ran(64, "usage")
        return Ran(0, "")


def agent(home: Path, launchctl: Launchctl, *words: str) -> LaunchAgent:
    return LaunchAgent(["/py", *words], {"PATH": "/bin"}, home, 501, launchctl)


@pytest.mark.row("L11")
def test_it_is_loaded_once_and_loaded_again_only_when_its_file_changed(tmp_path: Path) -> None:
    launchctl = Launchctl()
    assert not agent(tmp_path, launchctl).state().installed
    assert agent(tmp_path, launchctl).install()
    state = agent(tmp_path, launchctl).state()
    assert (state.installed, state.current, state.running) == (True, True, True)
    assert state.starts == "when you log in"
    launchctl.calls.clear()
    assert not agent(tmp_path, launchctl).install()
    assert launchctl.calls == ["print"]
    assert not agent(tmp_path, launchctl).install(restart=True)
    assert launchctl.calls[-2:] == ["bootout", "bootstrap"]
    assert not agent(tmp_path, launchctl, "new").state().current
    assert agent(tmp_path, launchctl, "new").install()
    assert launchctl.calls[-2:] == ["bootout", "bootstrap"]


@pytest.mark.row("L11")
def test_it_is_removed_whether_it_runs_or_not_and_only_once(tmp_path: Path) -> None:
    launchctl = Launchctl()
    agent(tmp_path, launchctl).install()
    assert agent(tmp_path, launchctl).uninstall()
    assert not launchctl.loaded
    assert not agent(tmp_path, launchctl).uninstall()
    agent(tmp_path, launchctl).install()
    launchctl.loaded = False
    assert agent(tmp_path, launchctl).uninstall()


@pytest.mark.row("L11")
def test_a_refusal_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ServiceFailed, match=r"Bootstrap failed.*logged in at the screen"):
        agent(tmp_path, Launchctl(refuses=True)).install()
