"""Opens a terminal on macOS: by a .command file, by AppleScript arguments, or by `open --args`."""

import os
import shlex
from collections.abc import Mapping

from msgspec import Struct

from bascule.launch.choosing import Terminal
from bascule.launch.errors import LaunchError

OPEN, OSASCRIPT = "/usr/bin/open", "/usr/bin/osascript"
APPLICATIONS = ("/Applications", "/System/Applications/Utilities", "/Applications/Utilities")
# Applications that take a program on their command line, and the words before it.
WITH_ARGUMENTS = {
    "kitty": (),
    "Alacritty": ("-e",),
    "WezTerm": ("start", "--"),
    "Ghostty": ("-e",),
}
ITERM_NAMES = ("iTerm", "iTerm2", "iTerm.app")
# The command comes as an argument of the script and is never part of its text.
ITERM_SCRIPT = """on run argv
    tell application "iTerm"
        activate
        create window with default profile command (item 1 of argv)
    end tell
end run
"""


class Opening(Struct, frozen=True):
    """A command, and what must be there for it: text for its stdin, or a file that the terminal runs."""

    argv: list[str]
    stdin: str = ""
    command_file: str = ""


def choose_application(setting: str, environ: Mapping[str, str]) -> Terminal:
    """The setting, $TERMINAL, the terminal we were started in, else Terminal, which every Mac has."""
    for value, rule in (
        (setting, "the setting launch.terminal"),
        (environ.get("TERMINAL", ""), "$TERMINAL"),
    ):
        if value.strip():
            return Terminal(_application(value.strip(), rule), OPEN, (), rule)
    if environ.get("TERM_PROGRAM") == "iTerm.app":
        return Terminal("iTerm", OPEN, (), "the terminal that Bascule was started in")
    return Terminal("Terminal", OPEN, (), "the terminal of macOS")


def _application(name: str, rule: str) -> str:
    known = {one.lower(): one for one in ("Terminal", "iTerm", *WITH_ARGUMENTS)}
    known |= {one.lower(): "iTerm" for one in ITERM_NAMES}
    found = known.get(os.path.basename(name).removesuffix(".app").lower())
    if found is None:
        why = f"{rule[0].upper()}{rule[1:]} names no terminal that can be opened here."
        raise LaunchError("no_terminal_found", f"{why} Known: Terminal, iTerm, {', '.join(WITH_ARGUMENTS)}.")
    return found


def opening(name: str, argv: list[str], command_path: str) -> Opening:
    """`argv` holds only our own words: the interpreter, the launcher and the plan's path."""
    if name in WITH_ARGUMENTS:
        return Opening([OPEN, "-na", name, "--args", *WITH_ARGUMENTS[name], *argv])
    if name == "iTerm":
        return Opening([OSASCRIPT, "-", shlex.join(argv)], stdin=ITERM_SCRIPT)
    # No consent to automation is needed for a file that Terminal is asked to open.
    return Opening([OPEN, "-a", "Terminal", command_path], command_file=command_text(argv))


def command_text(argv: list[str]) -> str:
    return f"#!/bin/sh\nexec {shlex.join(argv)}\n"
