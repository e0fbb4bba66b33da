"""Files shown from a session's folder: nothing outside it, nothing of ours, nothing that is not a file."""

import os
import threading
from pathlib import Path

import pytest

from bascule.daemon.files.confined import ConfinedFolder, FileForbidden, FileNotFound
from bascule.daemon.files.folder_listing import list_files, read_file
from bascule.daemon.files.folders import complete
from bascule.link.files import MAX_FILE

SECRET = "canary-of-the-state-folder"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.py").write_text("print('hä')\n")
    (root / "state").mkdir()
    (root / "state" / "bascule.db").write_text(SECRET)
    (root.parent / "outside.txt").write_text(SECRET)
    return root


@pytest.fixture
def confined(place: Path) -> ConfinedFolder:
    return ConfinedFolder(str(place), (str(place / "state"),))


def test_a_folder_lists_its_folders_first_and_a_file_reads_back(
    place: Path, confined: ConfinedFolder
) -> None:
    (place / "link").symlink_to(place.parent / "outside.txt")
    os.mkfifo(place / "pipe")
    listed = list_files(confined, "")
    assert [(item.name, item.kind) for item in listed.items] == [
        ("src", "folder"),
        ("link", "link"),
        ("pipe", "other"),
    ]
    read = read_file(confined, "src/a.py", MAX_FILE)
    assert (read.text, read.binary, read.cut, read.size) == ("print('hä')\n", False, False, 13)


WAYS_OUT = [
    "../outside.txt",
    "src/../../outside.txt",
    "src/..",
    "..\\outside.txt",
    "/etc/passwd",
    "~/x",
    "link",
    "links/outside.txt",
    "pipe",
    "src",
    "",
    ".",
    "a\x00b",
    "x" * 5000,
    "a/" * 300 + "b",
    "\udcff",
]


@pytest.mark.row("S30")
@pytest.mark.parametrize("path", WAYS_OUT, ids=range(len(WAYS_OUT)))
def test_no_path_leads_out_of_the_folder(place: Path, confined: ConfinedFolder, path: str) -> None:
    (place / "link").symlink_to(place.parent / "outside.txt")
    (place / "links").symlink_to(place.parent)
    os.mkfifo(place / "pipe")
    with pytest.raises((FileForbidden, FileNotFound)):
        read_file(confined, path, MAX_FILE)


KERNEL = ["proc/self/environ", "proc/self/cwd/x", "dev/zero", "dev/null", "sys/kernel/version"]


@pytest.mark.row("S30")
@pytest.mark.parametrize("path", KERNEL)
def test_what_the_kernel_shows_as_files_is_not_shown(path: str) -> None:
    with pytest.raises((FileForbidden, FileNotFound)):
        read_file(ConfinedFolder("/", ()), path, MAX_FILE)
    with pytest.raises((FileForbidden, FileNotFound)):
        read_file(ConfinedFolder("/", ()), f"proc/{os.getpid()}/environ", MAX_FILE)


@pytest.mark.row("S30")
def test_a_huge_file_is_cut_and_a_binary_one_is_not_text(place: Path, confined: ConfinedFolder) -> None:
    with (place / "huge").open("wb") as file:
        file.write(b"text \xc3\xa4" * 10)
        file.truncate(10 * 1024**3)
    (place / "long.txt").write_text("ä" * MAX_FILE)
    huge = read_file(confined, "huge", 1 << 40)
    assert (huge.binary, huge.cut, huge.text, huge.size) == (True, True, "", 10 * 1024**3)
    long = read_file(confined, "long.txt", MAX_FILE)
    assert long.cut
    assert set(long.text) == {"ä"}


@pytest.mark.row("S30")
def test_swapping_a_link_in_a_thousand_times_wins_nothing(place: Path, confined: ConfinedFolder) -> None:
    """A folder and a file on the way are swapped for links to the outside while they are read."""
    outside = place.parent / "elsewhere"
    (outside / "inner").mkdir(parents=True)
    (outside / "inner" / "f").write_text(SECRET)
    (place / "real" / "inner").mkdir(parents=True)
    (place / "real" / "inner" / "f").write_text("mine")
    (place / "to_outside").symlink_to(outside)
    (place / "way").symlink_to(outside)
    over = threading.Event()

    def swap() -> None:
        n = 0
        while not over.is_set():
            n += 1
            (place / f"t{n}").symlink_to(outside)
            os.replace(place / f"t{n}", place / "way")
            (place / "way").unlink()
            os.rename(place / "real", place / "way")
            os.rename(place / "way", place / "real")
            (place / "way").symlink_to(outside)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[str] = set()
    try:
        for _ in range(1000):
            try:
                seen.add(read_file(confined, "way/inner/f", MAX_FILE).text)
            except (FileForbidden, FileNotFound):
                seen.add("refused")
    finally:
        over.set()
        swapping.join()
    assert SECRET not in seen
    assert "refused" in seen


@pytest.mark.row("S31")
def test_our_own_folders_are_not_shown_by_any_name(place: Path, confined: ConfinedFolder) -> None:
    os.link(place / "state" / "bascule.db", place / "src" / "notes.txt")
    (place / "src" / "state").symlink_to(place / "state")
    for path in ("state/bascule.db", "src/notes.txt", "src/state/bascule.db"):
        with pytest.raises(FileForbidden):
            read_file(confined, path, MAX_FILE)
    with pytest.raises(FileForbidden):
        list_files(confined, "state")
    assert "state" not in [item.name for item in list_files(confined, "").items]
    os.rename(place / "state", place / "moved")
    with pytest.raises(FileForbidden):
        read_file(confined, "moved/bascule.db", MAX_FILE)


@pytest.mark.row("S31")
def test_a_session_inside_our_own_folder_shows_nothing(place: Path) -> None:
    (place / "state" / "work").mkdir()
    (place / "state" / "work" / "f").write_text("x")
    with pytest.raises(FileForbidden):
        read_file(ConfinedFolder(str(place / "state" / "work"), (str(place / "state"),)), "f", MAX_FILE)


def test_two_names_of_an_ordinary_file_are_fine(place: Path, confined: ConfinedFolder) -> None:
    os.link(place / "src" / "a.py", place / "b.py")
    assert read_file(confined, "b.py", MAX_FILE).size == 13


@pytest.mark.row("A4")
def test_completion_names_folders_below_the_roots_and_hidden_ones_last(place: Path) -> None:
    for name in ("alpha", "Alps", ".alcove", "beta"):
        (place / name).mkdir()
    (place / "alfile").write_text("")
    roots, own = (str(place),), (str(place / "state"),)
    names = [Path(one).name for one in complete(f"{place}/al", 10, roots, own).directories]
    assert names == ["alpha", "Alps"]
    every = [Path(one).name for one in complete(f"{place}/", 10, roots, own).directories]
    assert every == ["alpha", "Alps", "beta", "src", ".alcove"]
    assert complete(f"{place}/", 2, roots, own).cut
    assert complete("", 10, roots, own).directories == [str(place)]
    assert complete(str(place.parent)[:-1], 10, roots, own).directories == [str(place)]
    for outside in ("/etc/", "/", f"{place}/../", "relative", "/etc/p\x00"):
        found = complete(outside, 10, roots, own).directories
        assert all(one.startswith(str(place)) for one in found), outside
