"""Whether the server of a state folder starts by itself, as its machine tells the hub."""

from pathlib import Path

import pytest

from bascule.service.programs import Ran
from bascule.service.systemd import SystemdService
from bascule.service.this_service import starts_by_itself

USUAL = "/var/lib/bascule"


def nothing_runs(argv: list[str]) -> Ran:
    raise AssertionError(argv)


def installed(folder: Path, *, enabled: bool = True, data: str = "") -> SystemdService:
    service = SystemdService(["bascule", "up"], {}, folder, nothing_runs, "ana")
    wants = service.file.parent / "default.target.wants"
    wants.mkdir(parents=True)
    service.file.write_text(f"ExecStart=bascule up --no-open{f' --data {data}' if data else ''}\n")
    if enabled:
        (wants / service.file.name).symlink_to(service.file)
    return service


def test_without_a_service_it_does_not(tmp_path: Path) -> None:
    assert not starts_by_itself(SystemdService(["bascule"], {}, tmp_path, nothing_runs, "ana"), USUAL, USUAL)


@pytest.mark.parametrize("enabled", [True, False])
def test_a_service_starts_by_itself_while_it_is_enabled(tmp_path: Path, enabled: bool) -> None:
    assert starts_by_itself(installed(tmp_path, enabled=enabled), USUAL, USUAL) is enabled


def test_the_service_of_another_folder_does_not_start_this_one(tmp_path: Path) -> None:
    service = installed(tmp_path, data="/srv/other")
    assert not starts_by_itself(service, USUAL, USUAL)
    assert not starts_by_itself(service, "/srv/third", USUAL)
    assert starts_by_itself(service, "/srv/other", USUAL)
