"""Opens a pull request with the person's own `gh` or `glab`; the repository's settings are not read. Blocks.

A repository's own settings can name programs (ssh command, credential helper, remote helper, hooks). So the
commit is pushed from an empty repository of ours that only borrows the objects, to the address shown,
with the person's own git settings; `gh` and `glab` run in that empty folder too. No shell is involved.
"""

import os
import re
import shutil
import subprocess
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from bascule.daemon.files.changes import STATUS, parse_status
from bascule.daemon.files.git import Git, GitFailed
from bascule.daemon.files.git_actions import GitRefused
from bascule.link.git import OpenPullRequest, PullRequestPlan

SECONDS = 20.0
PUSH_SECONDS = 120.0
MAX_SAID = 600
HEADS = "refs/heads/"
NO_REMOTE = (
    "The repository has no remote at an https or ssh address. "
    "Add one in a terminal: git remote add origin URL"
)
# What the person's own tools need of their environment, and nothing else of ours.
PASSED = (
    *("LANG", "LC_ALL", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"),
    *("DBUS_SESSION_BUS_ADDRESS", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE"),
    *("GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "GH_ENTERPRISE_TOKEN", "GH_CONFIG_DIR"),
    *("GITLAB_TOKEN", "GITLAB_HOST", "GLAB_CONFIG_DIR"),
)
_PLACES = (
    re.compile(r"https://(?:[^@/]+@)?(?P<host>\w[\w.-]*(?::\d+)?)/(?P<path>[\w./~-]+?)(?:\.git)?/?"),
    re.compile(r"ssh://(?:\w[\w.-]*@)?(?P<host>\w[\w.-]*)(?::\d+)?/(?P<path>[\w./~-]+?)(?:\.git)?/?"),
    re.compile(r"(?:\w[\w.-]*@)(?P<host>\w[\w.-]*):(?P<path>[\w.~-][\w./~-]*?)(?:\.git)?/?"),
)
_URL = re.compile(r"https://\S+/(?:pull|merge_requests)/\d+")


Tool = Literal["gh", "glab"]
NAMES: dict[Tool, str] = {"gh": "GitHub", "glab": "GitLab"}


class Remote(NamedTuple):
    url: str
    host: str
    path: str

    @property
    def repository(self) -> str:
        return f"{self.host}/{self.path}"

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Which may know this host, the likely one first: a self-hosted server may have any name."""
        if self.host == "github.com":
            return ("gh",)
        return ("glab", "gh") if "gitlab" in self.host else ("gh", "glab")


def remote_in(url: str) -> Remote | None:
    """A remote's address, if it is one that can be pushed to without any program but ssh."""
    for place in _PLACES:
        match = place.fullmatch(url)
        if match and ".." not in match["path"].split("/"):
            return Remote(url, match["host"], match["path"].strip("/"))
    return None


class PullRequests:
    def __init__(self, folder: str, path: str, home: str) -> None:
        self._folder, self._path, self._home = folder, path, home
        self._git = Git(folder, path, home, SECONDS)

    def plan(self) -> PullRequestPlan:
        try:
            self._git.disarm()
            branch = parse_status(self._git.run(*STATUS), "").branch
            title = self._git.run("log", "-1", "--format=%s", "HEAD").decode(errors="replace").strip()
            remote = self._remote(branch)
        except GitFailed as failed:
            words = str(failed)
            missing = "This folder is not a git repository."
            return PullRequestPlan(problem=missing if "not a git repository" in words else words)
        if remote is None:
            return PullRequestPlan(branch=branch, title=title, problem=NO_REMOTE)
        tool, problem = self._tool_for(remote)
        return PullRequestPlan(tool, remote.repository, branch, title, problem)

    def open(self, command: OpenPullRequest) -> str:
        """Pushes and opens; gives the address of the pull request."""
        plan = self.plan()
        if plan.problem is not None or plan.tool is None:
            raise GitRefused(plan.problem or NO_REMOTE)
        if plan.repository != command.repository:
            raise GitRefused(
                f"The repository's remote is {plan.repository} now, not {command.repository}. Look again."
            )
        remote = self._remote(plan.branch)
        assert remote is not None
        commit = self._git.run("rev-parse", "HEAD").decode().strip()
        objects = os.fsdecode(self._git.run("rev-parse", "--git-path", "objects")).rstrip("\n")
        with TemporaryDirectory(prefix="bascule-push-") as scratch:
            with open(os.path.join(self._bare(scratch), "objects", "info", "alternates"), "w") as file:
                file.write(os.path.join(self._folder, objects) + "\n")
            self._push(scratch, plan.tool, commit, remote, command.branch)
            return self._create(scratch, plan.tool, remote, command)

    def _remote(self, branch: str | None) -> Remote | None:
        names = self._git.run("remote").decode(errors="replace").split()
        wanted = self._setting(f"branch.{branch}.remote") if branch else ""
        name = wanted if wanted in names else "origin" if "origin" in names else next(iter(names), None)
        if name is None:
            return None
        return remote_in(self._setting(f"remote.{name}.pushurl") or self._setting(f"remote.{name}.url"))

    def _setting(self, name: str) -> str:
        try:
            return self._git.run("config", "--get", name).decode(errors="replace").strip()
        except GitFailed:
            return ""  # it is not set

    def _tool_for(self, remote: Remote) -> tuple[Tool, str | None]:
        """The first that is signed in to the remote's host; where none is, the likely one and what to do."""
        for tool in remote.tools:
            if self._program(tool) is not None and self._is_signed_in(tool, remote.host):
                return tool, None
        here: tuple[Tool, ...] = tuple(tool for tool in remote.tools if self._program(tool) is not None)
        tool, host = (here or remote.tools)[0], remote.host
        if not here:
            name = NAMES[tool]
            return tool, f"Opening it needs the {name} CLI. Install {tool}, then run: {tool} auth login"
        return tool, f"{tool} is not signed in to {host}. In a terminal: {tool} auth login --hostname {host}"

    def _is_signed_in(self, tool: Tool, host: str) -> bool:
        return self._tool("/", tool, "auth", "status", "--hostname", host).returncode == 0

    def _bare(self, scratch: str) -> str:
        self._ran(scratch, "git", "init", "-q", "--bare", "--template=", scratch)
        return scratch

    def _push(self, scratch: str, tool: Tool, commit: str, remote: Remote, branch: str) -> None:
        helper = f"!{tool} auth git-credential"
        own = ("-c", f"credential.https://{remote.host}.helper={helper}", "-c", "core.hooksPath=/dev/null")
        self._ran(
            scratch,
            "git",
            "--git-dir",
            scratch,
            *own,
            "push",
            "-q",
            "--",
            remote.url,
            f"{commit}:{HEADS}{branch}",
        )

    def _create(self, scratch: str, tool: Tool, remote: Remote, command: OpenPullRequest) -> str:
        if tool == "gh":
            words = ["pr", "create", "--repo", remote.repository, "--head", command.branch]
            words += ["--title", command.title, "--body", command.body]
        else:
            words = ["mr", "create", "--yes", "--repo", f"https://{remote.repository}"]
            words += ["--source-branch", command.branch]
            words += ["--title", command.title, "--description", command.body]
        said = self._ran(scratch, tool, *words, *(["--draft"] if command.draft else []))
        found = _URL.search(said)
        if found is None:
            raise GitRefused(f"{tool} did not say where the pull request is: {said[-MAX_SAID:]}")
        return found[0]

    def _ran(self, folder: str, program: str, *arguments: str) -> str:
        done = self._tool(folder, program, *arguments, seconds=PUSH_SECONDS)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise GitRefused(f"{program} {arguments[0]} failed: {said[-MAX_SAID:] or 'it said nothing'}")
        return (done.stdout + done.stderr).decode(errors="replace")

    def _tool(
        self, folder: str, program: str, *arguments: str, seconds: float = SECONDS
    ) -> "subprocess.CompletedProcess[bytes]":
        found = self._program(program)
        if found is None:
            raise GitRefused(f"{program} is not installed here.")
        environment = {name: os.environ[name] for name in PASSED if name in os.environ}
        environment |= {
            "PATH": self._path,
            "HOME": self._home,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "https:ssh",
            "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
            "GH_PROMPT_DISABLED": "1",
            "GH_NO_UPDATE_NOTIFIER": "1",
            "NO_PROMPT": "1",
        }
        try:
            return subprocess.run(
                [found, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired as slow:
            raise GitRefused(f"{program} did not answer within {seconds:g} s.") from slow
        except OSError as error:
            raise GitRefused(f"{program} can't be run: {error.strerror}.") from error

    def _program(self, name: str) -> str | None:
        """From the absolute folders of PATH only: never from the repository."""
        folders = [one for one in self._path.split(os.pathsep) if os.path.isabs(one)]
        return shutil.which(name, path=os.pathsep.join(folders))
