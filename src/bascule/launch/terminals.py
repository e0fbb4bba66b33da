"""The table of terminal programs: the command line by which each runs an argument list. Pure."""

import os
from collections.abc import Callable

Argv = list[str]
Form = Callable[[str, Argv, Argv], Argv]


def _after(*words: str) -> Form:
    """The program, a person's own options, these words, then the argument list."""
    return lambda program, options, argv: [program, *options, *words, *argv]


# A list of arguments each: never one string that a terminal would give to a shell.
FORMS: dict[str, Form] = {
    "gnome-terminal": _after("--wait", "--"),
    "ptyxis": _after("--new-window", "--"),
    "kgx": _after("--"),
    "konsole": _after("-e"),
    "xfce4-terminal": _after("-x"),
    "mate-terminal": _after("-x"),
    "terminator": _after("-x"),
    "xterm": _after("-e"),
    "uxterm": _after("-e"),
    "urxvt": _after("-e"),
    "st": _after("-e"),
    "stterm": _after("-e"),  # Debian's name of st
    "alacritty": _after("-e"),
    "kitty": _after(),
    "foot": _after(),
    "footclient": _after(),
    "wezterm": _after("start", "--"),
    "ghostty": _after("--gtk-single-instance=false", "-e"),
    "xdg-terminal-exec": _after(),
}
OTHER = _after("-e")  # what Debian asks of any x-terminal-emulator

# The order in which they are looked for when nothing says which one a person prefers.
KNOWN = (
    "gnome-terminal",
    "konsole",
    "xfce4-terminal",
    "ptyxis",
    "kgx",
    "ghostty",
    "kitty",
    "alacritty",
    "wezterm",
    "foot",
    "mate-terminal",
    "terminator",
    "urxvt",
    "st",
    "stterm",
    "xterm",
)


def terminal_argv(program: str, options: Argv, argv: Argv) -> Argv:
    """The command that opens a terminal with `argv` running in it."""
    if len(argv) < 2:
        raise ValueError("With a single word after -e, xterm asks a shell.")
    form = FORMS.get(os.path.basename(program)) or FORMS.get(_real_name(program)) or OTHER
    return form(program, options, argv)


def terminal_name(program: str) -> str:
    """What to call it: an x-terminal-emulator by what it stands for."""
    name = os.path.basename(program)
    return _real_name(program).removesuffix(".wrapper") if name == "x-terminal-emulator" else name


def _real_name(program: str) -> str:
    return os.path.basename(os.path.realpath(program))
