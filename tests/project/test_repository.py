"""What is in the repository: nothing of one machine, nothing secret, nothing unpinned, nothing huge."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements/run.txt", "requirements/dev.txt")
ORACLE = "requirements/oracle.txt"  # without its dependencies, which are among the others
MAX_BYTES = 1_000_000

FORBIDDEN = {
    "a registry host": r"registry\.(?:npmjs|yarnpkg)\.|files\.pythonhosted\.org|pypi\.org/simple|"
    r"^\s*--(?:extra-)?index-url|^\s*--find-links|\"resolved\": *\"http",
    "a path of one machine": r"(?<![\w.~/-])/(?:work|opt/(?:wheels|pypi[\w-]*))/|"
    r"/home/(?!dev/|you/|user/)\w+/|/Users/(?!you/)\w+/",
    # Each way begins with a letter, not with \b: so the search skips from one such letter to the next.
    "a secret": r"sk-ant-[a-z]+\d\d-[\w-]{20,}|gh(?<!\wgh)[pousr]_\w{36}|npm_(?<!\wnpm_)\w{36}|"
    r"AKIA(?<!\wAKIA)[0-9A-Z]{16}\b|xox(?<!\wxox)[bpas]-[\w-]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY-----",
}


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    asked = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached"], capture_output=True, text=True, check=False
    )
    if asked.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in asked.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def requirements(lock: str) -> dict[str, str]:
    """Each requirement of a lock file by name, with the lines that follow it."""
    blocks = re.split(r"\n(?=\S)", (ROOT / lock).read_text().strip())
    return {re.split(r"[=\[ ]", block)[0]: block for block in blocks}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names_of(asked: list[str]) -> set[str]:
    return {normalised(re.split(r"[\[<>=!~; ]", requirement)[0]) for requirement in asked}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_holds(what: str, tracked: list[Path]):
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0).strip()[:60]}"
        for path in tracked
        for match in pattern.finditer(path.read_text(errors="replace"))
        if path != Path(__file__)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a registry host", "--index-url https://mirror.example/simple"),
        ("a registry host", '"resolved": "https://mirror.example/marked.tgz"'),
        ("a path of one machine", 'open("/home/ana/notes")'),
        ("a path of one machine", "cd /work/here"),
        ("a secret", "ANTHROPIC_API_KEY=sk-ant-api03-" + "x" * 24),
        ("a secret", "-----BEGIN RSA PRIVATE KEY-----"),
    ],
)
def test_what_must_not_be_tracked_is_recognised(what: str, text: str):
    assert re.search(FORBIDDEN[what], text, re.MULTILINE)


def test_no_tracked_file_is_over_one_megabyte(tracked: list[Path]):
    assert [path.name for path in tracked if path.stat().st_size > MAX_BYTES] == []


def test_no_installed_packages_are_tracked(tracked: list[Path]):
    installed = {"node_modules", ".venv", "site-packages"}
    assert [str(path) for path in tracked if installed & set(path.relative_to(ROOT).parts)] == []


@pytest.mark.parametrize("lock", [*LOCKS, ORACLE])
def test_every_requirement_is_pinned_with_hashes(lock: str):
    loose = [
        name
        for name, block in requirements(lock).items()
        if not re.match(r"[\w.-]+==\S+", block) or "--hash=sha256:" not in block
    ]
    assert loose == []


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_holds_what_pyproject_asks_for(lock: str):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = project["project"]["dependencies"] + project["dependency-groups"]["build"]
    if lock.endswith("dev.txt"):
        asked += project["dependency-groups"]["dev"]
    assert names_of(asked) - {normalised(name) for name in requirements(lock)} == set()


def test_the_oracles_lock_holds_what_has_no_wheel_and_nothing_else():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    assert {normalised(name) for name in requirements(ORACLE)} == names_of(groups["oracle"])
    assert "setuptools" in requirements("requirements/dev.txt")  # builds it


def test_both_locks_agree_on_versions():
    run, dev = ({name: block.split()[0] for name, block in requirements(lock).items()} for lock in LOCKS)
    assert {name: dev.get(name) for name in run} == run


def test_the_readme_names_the_two_commands():
    readme = (ROOT / "README.md").read_text()
    assert "make run" in readme
    assert "make test" in readme


def test_links_between_the_documents_lead_somewhere(tracked: list[Path]):
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in tracked
        if path.suffix == ".md"
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text())
        if "://" not in target and not (path.parent / target).exists()
    ]
    assert broken == []


def anchors_of(document: str) -> set[str]:
    """The anchors that a page of the repository gives its headings."""
    headings = re.findall(r"^#+ (.+)$", document, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_to_headings_name_a_heading_that_exists(tracked: list[Path]):
    broken = [
        f"{path.relative_to(ROOT)}: {target}#{anchor}"
        for path in tracked
        if path.suffix == ".md"
        for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", path.read_text())
        if anchor not in anchors_of((path.parent / target if target else path).read_text())
    ]
    assert broken == []
