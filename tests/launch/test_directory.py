"""The folder a launch runs in: its real path, or why it is refused."""

import os
from pathlib import Path

import pytest

from bascule.launch.directory import check_working_directory
from bascule.launch.errors import LaunchError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("projects/app", "state", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "projects" / "file").write_text("")
    (tmp_path / "projects" / "link").symlink_to(tmp_path / "projects" / "app")
    (tmp_path / "projects" / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "projects" / "own").symlink_to(tmp_path / "state")
    return Path(os.path.realpath(tmp_path))


def checked(home: Path, wanted: str) -> str:
    roots = (str(home / "projects"), str(home / "state"))
    return check_working_directory(f"{home}/{wanted}", roots, (str(home / "state"),))


@pytest.mark.parametrize(
    ("wanted", "real"),
    [("projects", "projects"), ("projects/app", "projects/app"), ("projects/link", "projects/app")],
)
def test_a_folder_below_a_root_is_its_real_path(home: Path, wanted: str, real: str):
    assert checked(home, wanted) == f"{home}/{real}"


def test_when_none_is_wanted_it_is_the_home_folder():
    assert check_working_directory(None, (), ()) == os.path.realpath(os.path.expanduser("~"))


@pytest.mark.row("S23")
@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("projects/none", "can't be used: No such file or directory."),
        ("projects/file", "is not a folder."),
        ("elsewhere", "lies outside the folders that agents may work in (`roots` in the settings)."),
        ("projects/out", "lies outside the folders that agents may work in (`roots` in the settings)."),
        ("state", "is part of Bascule's own files; choose a project's folder."),
        ("projects/own", "is part of Bascule's own files; choose a project's folder."),
    ],
)
def test_any_other_folder_is_refused_by_the_name_it_was_given(home: Path, wanted: str, why: str):
    with pytest.raises(LaunchError) as refused:
        checked(home, wanted)
    assert refused.value.error == "invalid_working_directory"
    assert refused.value.message.endswith(f"{home}/{wanted} {why}")
