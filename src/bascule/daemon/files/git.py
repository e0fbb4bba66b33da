"""Runs git in a folder that may be hostile: nothing in the repository can make git run a program.

What a repository's own configuration could run, and why it does not here:
- fsmonitor and hooks: switched off by options; `--no-optional-locks` also keeps the index from being written.
- clean and process filters (`.gitattributes` with `filter.*` of `.git/config`): `git status` runs them on any
  file whose times differ. Every filter that any configuration names is overridden with nothing, through the
  environment, because a name may hold a `=` that `-c` would misread.
- external diffs and textconv: there is no `git diff`. Old contents come from `git cat-file`, new ones from
  our own reading below the folder, and the comparison is ours.
- fetching missing objects of a partial clone (`remote.*.uploadpack` is a command): no protocol is allowed.
- submodules, whose own configuration would be read: left out.
"""

import os
import signal
import subprocess
import threading
from tempfile import TemporaryFile
from time import monotonic

OPTIONS = (
    "--no-optional-locks",
    "--no-pager",
    *("-c", "core.fsmonitor="),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.pager=cat"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "submodule.recurse=false"),
)
SECONDS = 5.0
MAX_OUTPUT = 8 * 1024 * 1024
MAX_FILTERS = 200
FILTER_SETTINGS = {"clean": "", "smudge": "", "process": "", "required": "false"}


class GitFailed(Exception):
    """Git failed; the message says why."""


class Git:
    """Git in one folder, for one command of ours. All its calls share one timeout. Blocks."""

    def __init__(self, folder: str, path: str, home: str, seconds: float = SECONDS) -> None:
        self._folder = folder
        self._too_slow = f"git did not answer within {seconds:g} seconds."
        self._deadline = monotonic() + seconds
        # Nothing of our own environment: it may hold secrets, and GIT_* settings of the shell we came from.
        self._environment = {
            "PATH": path,
            "HOME": home,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    def tell(self, **settings: str) -> None:
        """Things git would otherwise look for by itself, such as where the repository is."""
        self._environment.update(settings)

    def disarm(self) -> None:
        """Find every filter that is configured and override it. Before anything that looks at files."""
        names = self.run("config", "--list", "--includes", "--name-only", "-z").split(b"\x00")
        filters = sorted({found for name in names if (found := _filter_in(name)) is not None})
        if len(filters) > MAX_FILTERS:
            raise GitFailed("The repository configures too many filters.")
        settings = [
            (b"filter." + one + b"." + key.encode(), value)
            for one in filters
            for key, value in FILTER_SETTINGS.items()
        ]
        self._environment["GIT_CONFIG_COUNT"] = str(len(settings))
        for n, (key, value) in enumerate(settings):
            self._environment[f"GIT_CONFIG_KEY_{n}"] = os.fsdecode(key)
            self._environment[f"GIT_CONFIG_VALUE_{n}"] = value

    def run(self, *arguments: str, given: bytes = b"") -> bytes:
        """Returns stdout. Raises `GitFailed` with the first line of stderr."""
        left = self._deadline - monotonic()
        if left <= 0:
            raise GitFailed(self._too_slow)
        with TemporaryFile() as stdin, TemporaryFile() as stderr:
            stdin.write(given)
            stdin.seek(0)
            try:
                process = subprocess.Popen(
                    ["git", *OPTIONS, *arguments],
                    cwd=self._folder,
                    env=self._environment,
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    start_new_session=True,
                )
            except OSError as error:
                raise GitFailed("git is not installed here, or can't be run in this folder.") from error
            output = _output_of(process, left)
            stderr.seek(0)
            complaint = stderr.read(4096).decode(errors="replace").strip().splitlines()
        if monotonic() >= self._deadline:
            raise GitFailed(self._too_slow)
        if len(output) > MAX_OUTPUT:
            raise GitFailed("git had more to say than is shown here.")
        if process.returncode != 0:
            raise GitFailed(complaint[0] if complaint else "git failed.")
        return output


def _output_of(process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
    """At most a little more than `MAX_OUTPUT`; the process is over when this returns."""
    assert process.stdout is not None
    watchdog = threading.Timer(seconds, _stop, (process,))
    watchdog.start()
    try:
        with process.stdout:
            output = process.stdout.read(MAX_OUTPUT + 1)
        if len(output) > MAX_OUTPUT:
            _stop(process)
        process.wait()
    finally:
        watchdog.cancel()
    return output


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Its whole group: it leads one of its own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _filter_in(name: bytes) -> bytes | None:
    """`filter.<name>.clean` -> the name."""
    section, _, rest = name.partition(b".")
    if section.lower() != b"filter" or b"." not in rest:
        return None
    return rest.rpartition(b".")[0]
