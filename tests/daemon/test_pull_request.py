"""A pull request by one's own `gh` or `glab`, pushed to where was shown, whatever the repository sets."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests.daemon.repositories import git, make_repository

from bascule.daemon.files.git_actions import GitRefused
from bascule.daemon.files.pull_request import PullRequests, remote_in
from bascule.link.git import OpenPullRequest

GH = """#!{python} -S
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps([os.getcwd(), *sys.argv[1:]]) + "\\n")
if sys.argv[1] == "auth":
    sys.exit(0 if os.path.exists({signed!r}) else 1)
print("https://github.com/mira/lantern/pull/7")
"""
GLAB = GH.replace("github.com/mira/lantern/pull/7", "git.example/mira/lantern/-/merge_requests/7")
# As ssh would, on the other machine: runs git's own program there.
SSH = """#!/bin/sh
for last; do :; done
cd {there} && eval "exec $last"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with `bin/gh`, `bin/ssh`, `there/mira/lantern.git` and the repository `lantern`."""
    folder = tmp_path.resolve()
    for name in ("bin", "there/mira", "home"):
        (folder / name).mkdir(parents=True)
    (folder / "there/mira/lantern.git").mkdir()
    git(folder / "there/mira/lantern.git", "init", "-q", "--bare")
    program(
        folder / "bin/gh",
        GH.format(python=sys.executable, log=str(folder / "gh.log"), signed=str(folder / "signed-in")),
    )
    program(folder / "bin/ssh", SSH.format(there=folder / "there"))
    repository = make_repository(folder / "lantern")
    git(repository, "remote", "add", "origin", "git@github.com:mira/lantern.git")
    git(repository, "checkout", "-q", "-b", "wick")
    (folder / "signed-in").touch()
    return folder


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def requests(machine: Path, *folders: str) -> PullRequests:
    path = os.pathsep.join([*(folders or (str(machine / "bin"),)), "/usr/bin", "/bin"])
    return PullRequests(str(machine / "lantern"), path, str(machine / "home"))


def wanted(repository: str = "github.com/mira/lantern") -> OpenPullRequest:
    return OpenPullRequest(
        session_id="s", repository=repository, branch="wick-2", title="Trim; $(touch x)", body="-- It smoked"
    )


@pytest.mark.row("X9")
def test_the_commit_is_pushed_and_gh_opens_the_pull_request(machine: Path):
    plan = requests(machine).plan()
    assert (plan.tool, plan.repository, plan.branch) == ("gh", "github.com/mira/lantern", "wick")
    assert (plan.title, plan.problem) == ("Begin", None)
    assert requests(machine).open(wanted()) == "https://github.com/mira/lantern/pull/7"
    head = git(machine / "lantern", "rev-parse", "HEAD")
    assert git(machine / "there/mira/lantern.git", "rev-parse", "wick-2") == head
    calls = [json.loads(line) for line in (machine / "gh.log").read_text().splitlines()]
    folder, *words = calls[-1]
    assert words[:6] == ["pr", "create", "--repo", "github.com/mira/lantern", "--head", "wick-2"]
    assert words[6:] == ["--title", "Trim; $(touch x)", "--body", "-- It smoked"]
    assert not folder.startswith(str(machine / "lantern"))


@pytest.mark.row("X9")
@pytest.mark.parametrize("host", ["gitlab.com", "git.example"])
def test_glab_opens_a_merge_request_where_it_is_signed_in(machine: Path, host: str):
    git(machine / "lantern", "remote", "set-url", "origin", f"git@{host}:mira/lantern.git")
    facts = {"python": sys.executable, "log": str(machine / "glab.log")}
    # One that is here and not signed in is passed over; with none, the likely one is named.
    program(machine / "bin/gh", GH.format(**facts | {"log": str(machine / "gh.log")}, signed="/nowhere"))
    likely = "glab" if "gitlab" in host else "gh"
    assert f"gh auth login --hostname {host}" in (requests(machine).plan().problem or "")
    program(machine / "bin/glab", GLAB.format(**facts, signed="/nowhere"))
    assert f"{likely} is not signed in to {host}" in (requests(machine).plan().problem or "")
    program(machine / "bin/glab", GLAB.format(**facts, signed=str(machine / "signed-in")))
    plan = requests(machine).plan()
    assert (plan.tool, plan.repository, plan.problem) == ("glab", f"{host}/mira/lantern", None)
    opened = requests(machine).open(wanted(f"{host}/mira/lantern"))
    assert opened == "https://git.example/mira/lantern/-/merge_requests/7"
    head = git(machine / "lantern", "rev-parse", "HEAD")
    assert git(machine / "there/mira/lantern.git", "rev-parse", "wick-2") == head
    folder, *words = json.loads((machine / "glab.log").read_text().splitlines()[-1])
    assert words[:5] == ["mr", "create", "--yes", "--repo", f"https://{host}/mira/lantern"]
    assert words[5:] == [
        *("--source-branch", "wick-2"),
        *("--title", "Trim; $(touch x)", "--description", "-- It smoked"),
    ]
    assert not folder.startswith(str(machine / "lantern"))


@pytest.mark.row("X9")
def test_the_repositorys_own_programs_are_not_run(machine: Path):
    program(machine / "evil", f"#!/bin/sh\ntouch {machine}/PWNED\nexit 1\n")
    (machine / "lantern/.git/hooks/pre-push").symlink_to(machine / "evil")
    for name in ("core.sshCommand", "core.fsmonitor", "credential.helper", "remote.origin.receivepack"):
        git(machine / "lantern", "config", name, str(machine / "evil"))
    program(machine / "lantern/gh", f"#!/bin/sh\ntouch {machine}/PWNED\n")
    requests(machine, "", ".", str(machine / "bin")).open(wanted())
    assert not (machine / "PWNED").exists()


@pytest.mark.row("X9")
def test_what_is_missing_is_said_with_what_to_do(machine: Path):
    with pytest.raises(GitRefused, match=r"remote is github\.com/mira/lantern now"):
        requests(machine).open(wanted("github.com/mira/other"))
    (machine / "signed-in").unlink()
    assert "gh auth login --hostname github.com" in (requests(machine).plan().problem or "")
    with pytest.raises(GitRefused, match="not signed in"):
        requests(machine).open(wanted())
    (machine / "bin/gh").unlink()
    assert "Install gh" in (requests(machine).plan().problem or "")
    git(machine / "lantern", "remote", "set-url", "origin", "ext::sh -c evil")
    assert "no remote at an https or ssh address" in (requests(machine).plan().problem or "")


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("https://github.com/mira/lantern.git", "github.com/mira/lantern"),
        ("https://mira:secret@gitlab.example/group/sub/lantern", "gitlab.example/group/sub/lantern"),
        ("git@github.com:mira/lantern.git", "github.com/mira/lantern"),
        ("ssh://git@github.com:22/mira/lantern", "github.com/mira/lantern"),
        ("ext::sh -c evil", None),
        ("file:///etc", None),
        ("/srv/lantern.git", None),
        ("http://github.com/mira/lantern", None),
        ("--upload-pack=evil@host:x", None),
        ("git@-oProxyCommand=evil:x", None),
        ("git@-ox:x", None),
        ("-x@host:x", None),
        ("ssh://-ox/x", None),
        ("https://github.com/../../x", None),
    ],
)
def test_only_https_and_ssh_addresses_are_pushed_to(url: str, repository: str | None):
    found = remote_in(url)
    assert (found.repository if found else None) == repository
