"""Whether the server of a state folder starts by itself, as its machine tells the hub."""

from pathlib import Path

import pytest

from bascule.service.programs import Ran
from bascule.service.systemd import SystemdService
from bascule.service.this_service import starts_by_itself

USUAL = "/var/lib/bascule"


class Systemd:
    """Answers as `systemctl` and `loginctl` would."""

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.ran: list[str] = []

    def __call__(self, argv: list[str]) -> Ran:
        self.ran.append(" ".join(argv))
        if "is-enabled" in argv:
            return Ran(0 if self.enabled else 1, "enabled" if self.enabled else "disabled")
        return Ran(0, "Linger=yes")


def installed(folder: Path, run: Systemd, *, data: str = "") -> SystemdService:
    service = SystemdService(["bascule", "up"], {}, folder, run, "ana")
    service.file.parent.mkdir(parents=True)
    service.file.write_text(f"ExecStart=bascule up --no-open{f' --data {data}' if data else ''}\n")
    return service


def test_without_a_service_nothing_is_run_to_find_out(tmp_path: Path) -> None:
    run = Systemd(enabled=True)
    assert not starts_by_itself(SystemdService(["bascule"], {}, tmp_path, run, "ana"), USUAL, USUAL)
    assert run.ran == []


@pytest.mark.parametrize("enabled", [True, False])
def test_a_service_starts_by_itself_while_it_is_enabled(tmp_path: Path, enabled: bool) -> None:
    service = installed(tmp_path, Systemd(enabled=enabled))
    assert starts_by_itself(service, USUAL, USUAL) is enabled


def test_the_service_of_another_folder_does_not_start_this_one(tmp_path: Path) -> None:
    service = installed(tmp_path, Systemd(enabled=True), data="/srv/other")
    assert not starts_by_itself(service, USUAL, USUAL)
    assert not starts_by_itself(service, "/srv/third", USUAL)
    assert starts_by_itself(service, "/srv/other", USUAL)
