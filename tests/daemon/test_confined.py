"""A confined folder: each path it opens, and each way out of it that it refuses."""

import os
import stat
from pathlib import Path

import pytest

from bascule.daemon.files import confined as confined_module
from bascule.daemon.files.confined import (
    MAX_DEPTH,
    MAX_PATH,
    ConfinedFolder,
    FileForbidden,
    FileNotFound,
    parts_of,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file, Bascule's own folder inside it, and links and other things that are no files."""
    made = tmp_path / "project"
    (made / "src").mkdir(parents=True)
    (made / "src" / "a.py").write_text("a")
    (made / "state").mkdir()
    (made / "state" / "key").write_text("secret")
    (made / "link.py").symlink_to("src/a.py")
    (made / "away").symlink_to(tmp_path)
    (made / "gone").symlink_to("nowhere")
    os.link(made / "state" / "key", made / "second_name")
    os.link(made / "src" / "a.py", made / "a_again.py")
    os.mkfifo(made / "pipe")
    return made


@pytest.fixture
def confined(root: Path) -> ConfinedFolder:
    return ConfinedFolder(str(root), (str(root / "state"),))


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("", []),
        (".", []),
        ("./", []),
        ("a", ["a"]),
        ("a/b", ["a", "b"]),
        ("a//./b/", ["a", "b"]),
        ("a..b/...", ["a..b", "..."]),
        ("a~", ["a~"]),
        ("/".join("d" * MAX_DEPTH), ["d"] * MAX_DEPTH),
        ("n" * (MAX_PATH - 1), ["n" * (MAX_PATH - 1)]),
    ],
)
def test_a_relative_path_is_taken_apart(path: str, parts: list[str]):
    assert parts_of(path) == parts


OUTSIDE, NOT_TAKEN = "Only paths inside the session's folder are shown.", "This path is not taken."


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/etc/passwd", OUTSIDE),
        ("~/.ssh", OUTSIDE),
        ("..", OUTSIDE),
        ("a/../../b", OUTSIDE),
        ("a\\..\\b", OUTSIDE),
        ("a\x00b", NOT_TAKEN),
        ("n" * MAX_PATH, NOT_TAKEN),
        ("é" * (MAX_PATH // 2), NOT_TAKEN),
        ("\udc80" * MAX_PATH, NOT_TAKEN),
        ("/".join("d" * (MAX_DEPTH + 1)), "This path is too deep."),
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(path: str, words: str):
    with pytest.raises(FileForbidden) as refused:
        parts_of(path)
    assert refused.value.message == words


@pytest.mark.parametrize("path", ["src/a.py", "./src//a.py", "a_again.py"])
def test_a_regular_file_is_opened(confined: ConfinedFolder, path: str):
    with confined.file(path) as (descriptor, info):
        assert os.read(descriptor, 10) == b"a"
        assert (info.st_size, stat.S_ISREG(info.st_mode)) == (1, True)
    with pytest.raises(OSError):
        os.fstat(descriptor)


NO_LINKS = "Links are not followed."


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "That is a folder."),
        ("src", "That is a folder."),
        ("link.py", NO_LINKS),
        ("gone", NO_LINKS),
        ("away", NO_LINKS),
        ("away/project/src/a.py", "'away' can't be opened: links are not followed."),
        ("src/a.py/more", "'a.py' can't be opened: links are not followed."),
        ("pipe", "Only regular files are shown."),
        ("state/key", "This folder is not shown."),
        ("second_name", "This file is not shown."),
        ("n" * 300, f"{'n' * 300!r} can't be opened: links are not followed."),
        ("\udc80x\ud800", "'\\udc80x\\ud800' can't be opened: links are not followed."),
    ],
)
def test_what_is_no_regular_file_of_the_folder_is_refused(confined: ConfinedFolder, path: str, words: str):
    with pytest.raises(FileForbidden) as refused, confined.file(path):
        pass
    assert refused.value.message == words


@pytest.mark.parametrize("path", ["nothing", "src/nothing", "nothing/a.py"])
def test_what_is_not_there_is_said_not_to_be_there(confined: ConfinedFolder, path: str):
    with pytest.raises(FileNotFound, match="There is no 'nothing' there"), confined.file(path):
        pass


def test_a_folder_is_opened_and_closed_again(confined: ConfinedFolder):
    with confined.folder("src") as descriptor:
        assert os.listdir(descriptor) == ["a.py"]
    with pytest.raises(OSError):
        os.fstat(descriptor)
    for path in ("state", "away", "src/a.py"):
        with pytest.raises(FileForbidden), confined.folder(path):
            pass


def test_a_folder_whose_own_parent_is_a_link_is_not_opened(root: Path, tmp_path: Path):
    (tmp_path / "elsewhere").symlink_to(tmp_path)
    swapped = ConfinedFolder(str(tmp_path / "elsewhere" / "project"), ())
    with pytest.raises(FileForbidden), swapped.folder(""):
        pass


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="needs /proc")
@pytest.mark.parametrize("path", ["self/environ", "version"])
def test_the_kernels_file_systems_are_not_opened(path: str):
    with pytest.raises(FileForbidden), ConfinedFolder("/proc", ()).file(path):
        pass
    with pytest.raises(FileForbidden, match="not shown"), ConfinedFolder("/", ()).folder("proc"):
        pass


def test_reaching_makes_the_folders_that_are_missing(root: Path, confined: ConfinedFolder):
    before = os.umask(0o022)
    try:
        os.close(confined.open_or_make(["src", "new", "deep"]))
    finally:
        os.umask(before)
    assert (root / "src" / "new" / "deep").is_dir()
    assert stat.S_IMODE((root / "src" / "new").stat().st_mode) == 0o755
    os.close(confined.open_or_make([]))


@pytest.mark.parametrize(
    "parts", [["away", "new"], ["state", "new"], ["src", "a.py", "new"], ["gone", "new"]]
)
def test_reaching_makes_nothing_behind_a_link_or_in_our_own_folder(
    root: Path, confined: ConfinedFolder, parts: list[str]
):
    with pytest.raises(FileForbidden):
        confined.open_or_make(parts)
    assert not (root.parent / "new").exists()
    assert not (root / "state" / "new").exists()
    assert not (root / "nowhere").exists()


def test_looking_tells_of_a_plain_file_and_says_why_of_all_else(confined: ConfinedFolder):
    with confined.folder("") as folder:
        assert confined.stat_file(folder, "a_again.py").st_nlink == 2
        for name in ("link.py", "src", "pipe", "second_name"):
            with pytest.raises(FileForbidden):
                confined.stat_file(folder, name)
        with pytest.raises(FileNotFound):
            confined.stat_file(folder, "nothing")


def test_our_own_folder_is_the_one_entry_that_is_not_named(root: Path, confined: ConfinedFolder):
    shown = {path.name for path in root.iterdir() if confined.is_visible(path.lstat())}
    assert shown == {path.name for path in root.iterdir()} - {"state"}


def test_a_second_name_is_refused_when_our_own_files_are_too_many_to_compare(
    root: Path, confined: ConfinedFolder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(confined_module, "MAX_OWN_FILES", 0)
    with pytest.raises(FileForbidden, match="several names"), confined.file("a_again.py"):
        pass


def test_own_folders_that_do_not_exist_hide_nothing(root: Path):
    with ConfinedFolder(str(root), (str(root / "not_made_yet"),)).file("state/key") as (descriptor, _):
        assert os.read(descriptor, 10) == b"secret"
