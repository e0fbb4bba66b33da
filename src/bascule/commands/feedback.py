"""`bascule feedback …`: delivers messages to Claude Code in a plain terminal when it is idle.

It is off until the owner says so here: hooks are put into Claude Code's own user settings, and taken out.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bascule.commands import exits
from bascule.commands.request_prompt import flat
from bascule.commands.server_address import data_dir_of
from bascule.hooks.claude import claude_settings as settings
from bascule.model.errors import HostError

DAY = 86_400
TAKE_SECONDS = 15
TRY_SECONDS = 20
# This line stands in the terminal when Claude Code is woken; the words themselves it gives to its model only.
SUMMARY = "Message from Bascule"
BEFORE = (
    "Somebody left a message for this session in Bascule, which the owner of this machine connected to it. "
    "The person at this terminal does not see its words: begin by saying what it asks."
)
DONE = """Done. A message for a session in a terminal is now delivered there when Claude is idle; sessions
that are open take part from the end of their next turn on. Take it back with: bascule feedback off"""


class NotStartable(HostError):
    """The hook does not start outside this folder: Bascule runs from a source tree, not installed."""

    code = "HOOK_NOT_STARTABLE"


def on(args: argparse.Namespace) -> int:
    path = settings.settings_file(os.environ)
    hooks = hooks_for(sys.executable, data_dir_of(args))
    with _about(path):
        before = settings.read(path)
        known = settings.parse(before)
        after = settings.with_hooks(known, hooks)
    print(f"Into {flat(str(path))}, beside what stands there:\n{json.dumps({'hooks': hooks}, indent=2)}")
    if after == known:
        print("Already there; nothing was changed.")
    elif args.dry_run:
        print("Nothing was changed.")
    else:
        _try(hooks)
        with _about(path):
            settings.replace(path, before, settings.written(after, before))
        print(DONE)
    _say_limits(path, after)
    return exits.OK


def off(_args: argparse.Namespace) -> int:
    path = settings.settings_file(os.environ)
    with _about(path):
        before = settings.read(path)
        known = settings.parse(before)
        after = settings.without_hooks(known)
        if after != known:
            settings.replace(path, before, settings.written(after, before))
    said = "It is off already:" if after == known else "Done:"
    print(f"{said} {flat(str(path))} holds no hooks of Bascule. Messages wait until a terminal is closed.")
    return exits.OK


def status(args: argparse.Namespace) -> int:
    path = settings.settings_file(os.environ)
    with _about(path):
        known = settings.parse(settings.read(path))
        ours = settings.ours_in(known)
    where = flat(str(path))
    if not ours:
        print(f"Off: {where} holds no hooks of Bascule. Messages wait until a terminal is closed.")
    elif ours == hooks_for(sys.executable, data_dir_of(args)):
        print(f"On, by {where}: messages reach Claude in its terminal when it is idle.")
    else:
        print(f"On, by {where}, but not as this Bascule would have it:")
        for one in sorted({str(hook.get("command")) for hooks in ours.values() for hook in hooks}):
            print(f"  {flat(one)}")
        print("`bascule feedback on` puts this one in its place.")
    _say_limits(path, known)
    return exits.OK


def hooks_for(python: str, data: str) -> dict[str, list[settings.Object]]:
    """By event. `exec`: no shell stays between, so ending the hook ends us. `-m`: a Bascule that is
    gone ends with 1; Python ends with 2 for a missing file, which Claude Code would take for words."""

    def command(mode: str) -> str:
        return f"exec {shlex.quote(python)} -I -m {settings.HOOK} {mode} {shlex.quote(os.path.abspath(data))}"

    take = {"type": "command", "command": command("take"), "timeout": TAKE_SECONDS}
    wait = {
        "type": "command",
        "command": command("wait"),
        "asyncRewake": True,
        "timeout": DAY,
        "rewakeSummary": SUMMARY,
        "rewakeMessage": BEFORE,
    }
    return {"SessionStart": [wait], "Stop": [take, wait], "StopFailure": [wait]}


@contextmanager
def _about(path: Path) -> Generator[None]:
    """Adds the file's path to an error, and says that the file was not changed."""
    try:
        yield
    except (settings.SettingsTrouble, settings.SettingsBusy) as error:
        raise type(error)(f"{path} was left as it is. {error.message}") from error


def _try(hooks: dict[str, list[settings.Object]]) -> None:
    """Run it once as Claude Code would: a shell, nothing of ours in the environment, any folder."""
    command = hooks["Stop"][0]["command"]
    surroundings = {"PATH": "/usr/bin:/bin", "CLAUDE_CODE_ENTRYPOINT": "trial"}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=b'{"session_id": "trial"}',
        env=surroundings,
        cwd="/",
        capture_output=True,
        timeout=TRY_SECONDS,
        check=False,
    )
    if done.returncode != 0 or done.stdout or done.stderr:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise NotStartable(f"The hook does not start from elsewhere, so nothing was changed. {said[:300]}")


def _say_limits(path: Path, known: settings.Object) -> None:
    if known.get("disableAllHooks") is True:
        print("But `disableAllHooks` is set there: Claude Code runs no hooks at all.", file=sys.stderr)
    if os.path.realpath(path.parent) != os.path.realpath(os.path.expanduser("~/.claude")):
        print("But sessions are looked for in ~/.claude only, not where these settings are.", file=sys.stderr)
