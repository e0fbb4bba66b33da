"""No session runs among Bascule's own files, by whatever name they are reached; hidden files are found."""

from pathlib import Path

import pytest

from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.folders import complete
from bascule.daemon.files.hidden_names import MAX_ENTRIES, hidden_in
from bascule.model.errors import BadDirectory


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("home/own/keeper", "home/project/sub", "home/config"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home/link").symlink_to(tmp_path / "home/own")
    (tmp_path / "home/project/deep").symlink_to("../own/keeper")
    return tmp_path / "home"


def check(place: Path, name: str) -> str:
    own = (str(place / "own"), str(place / "config"))
    return check_directory(str(place / name), (str(place),), own)[0]


@pytest.mark.row("F11")
@pytest.mark.parametrize("name", ["own", "own/keeper", "config", "link", "link/keeper", "project/deep"])
def test_a_folder_of_bascules_own_is_refused_in_words(place: Path, name: str):
    with pytest.raises(BadDirectory, match="Bascule's own files"):
        check(place, name)


@pytest.mark.row("F11")
@pytest.mark.parametrize("name", ["", "project", "project/sub"])
def test_folders_above_and_beside_it_stay_allowed(place: Path, name: str):
    assert check(place, name) == str(place / name)


@pytest.mark.row("F11")
def test_a_state_folder_that_is_itself_a_link_is_known_by_where_it_leads(place: Path):
    with pytest.raises(BadDirectory):
        check_directory(str(place / "own"), (str(place),), (str(place / "link"),))


@pytest.mark.row("F11")
def test_a_folder_of_bascules_own_is_not_completed_either(place: Path):
    own = (str(place / "own"),)
    assert complete(f"{place}/own/", 10, (str(place),), own).directories == []
    assert complete(f"{place}/link/", 10, (str(place),), own).directories == []
    assert complete(f"{place}/project/", 10, (str(place),), own).directories == [str(place / "project/sub")]


@pytest.mark.row("F7")
def test_hidden_files_and_links_that_lead_out_are_found_at_any_depth(tmp_path: Path):
    top = tmp_path / "p"
    for name in ("a/b", ".git", ".ssh", "node_modules"):
        (top / name).mkdir(parents=True)
    for name in ("a/b/.env", ".ssh/key", ".git/config", "a/plain", "node_modules/.x"):
        (top / name).write_text("")
    (top / "out").symlink_to(tmp_path)
    (top / "in").symlink_to(top / "a")
    (top / "to_hidden").symlink_to(top / "a/b/.env")
    (top / "loop").symlink_to(top / "loop")
    found = hidden_in(str(top))
    assert found is not None
    links = [f"{top}/{name}{more}" for name in ("out", "to_hidden") for more in ("", "/**")]
    assert sorted(found) == sorted([f"{top}/a/b/.env", f"{top}/.ssh/**", *links])
    assert hidden_in(str(top / "a/plain")) == ()


@pytest.mark.row("F7")
def test_a_folder_with_too_much_in_it_is_not_looked_through(tmp_path: Path):
    for n in range(MAX_ENTRIES + 1):
        (tmp_path / str(n)).touch()
    assert hidden_in(str(tmp_path)) is None
