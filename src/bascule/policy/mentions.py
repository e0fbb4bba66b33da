"""Finds what a request mentions in passing, so that a deny rule for it may match.

Nothing here allows anything. A false alarm costs a question; what stays unseen is what no words show: another
program's doings, a script, a name that is put together while it runs.
"""

import os.path
import re

from bascule.policy import globs
from bascule.policy.shell import Argv, is_plain_word

MAX_WORDS = 300
_BETWEEN = re.compile(r"[/=:,+@%-]+")
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "ash", "fish")
# Programs that take a program's text as an argument, and the letters of the flags that say so.
_INLINE: dict[str, str] = {
    **dict.fromkeys(_SHELLS, "c"),
    "python": "c",
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "php": "r",
    "lua": "e",
}
# What follows these, or what they read, is run: the words beside them are not all of it.
_RUNS_MORE = frozenset({"eval", "xargs", "parallel", "awk", "gawk", "mawk"})
_RUNS_A_FILE = frozenset({"source", "."})
_QUOTING = str.maketrans("", "", "'\"\\")
_VARIABLE = re.compile(r"\$\{?\w+\}?")
_CHOICE = re.compile(r"\{[^{}\s]*\}|\[[^\[\]\s]*\]|\?")
_APART = re.compile(r"[\s;&|<>()=@:,`$]+")


def may_run(rule: Argv, part: Argv) -> bool:
    """May this command do what the rule's words say, by another way? `env git push`, `git -C . push`."""
    if not all(is_plain_word(word) for word in part) or _runs_unseen(part):
        return True
    wanted = _pieces(os.path.basename(rule[0]))
    for word in rule[1:]:
        if not word.startswith("-"):  # the same can be said with other flags, or in another order
            wanted += _pieces(word)
    here = iter([piece for word in part for piece in _pieces(word)])
    return all(piece in here for piece in wanted)


def _pieces(word: str) -> list[str]:
    """The names in a word: of a path, of a value behind a flag, of `git-push`."""
    value = word.partition("=")[2] if word.startswith("-") else word
    pieces = [one.casefold().removesuffix(".exe") for one in _BETWEEN.split(value)]
    return [piece for piece in pieces if piece not in ("", ".", "..")]


def _runs_unseen(part: Argv) -> bool:
    """Is some of what runs not among the words, or inside one of them?"""
    names = [os.path.basename(word).casefold() for word in part]
    for place, name in enumerate(names):
        if name in _RUNS_MORE or (place == 0 and name in _RUNS_A_FILE):
            return True
        letters = _INLINE.get(name.rstrip("0123456789."))
        for flag in part[place + 1 :] if letters else ():
            if not flag.startswith("-"):
                break
            if flag in ("--eval", "--command") or (
                not flag.startswith("--") and set(flag[1:]) & set(letters or "")
            ):
                return True
    return False


def mentions_path(pattern: str, said: str, cwd: str) -> bool:
    """Does a text name a path that fits the pattern (an absolute one)?"""
    last = pattern.rpartition("/")[2]
    for path in paths_in(said, cwd):
        name = path.rpartition("/")[2]
        if last.startswith(".") and name.startswith("*"):
            continue  # a shell's star leaves hidden names out
        if globs.may_meet(pattern, path):
            return True
        if "*" not in last and name == last:  # in a folder we can't tell, after a `cd`
            return True
    return False


def paths_in(said: str, cwd: str) -> list[str]:
    """What may be a path in a text, as patterns: quotes taken off, what a shell would fill in as a star."""
    text = _CHOICE.sub("*", _VARIABLE.sub("**", said.translate(_QUOTING)))
    found: list[str] = []
    for word in _APART.split(text)[:MAX_WORDS]:
        named = _pattern(word, cwd)
        if named is not None:
            found.append(named)
    return list(dict.fromkeys(found))


def _pattern(word: str, cwd: str) -> str | None:
    if word.startswith("~"):
        word = f"**/{word.partition('/')[2]}"
    names = [one if one == "**" else re.sub(r"\*+", "*", one) for one in word.split("/")]
    if not any(set(name) - {"*", ".", ""} for name in names) and not word.endswith("*"):
        return None  # no name at all: a lone variable, a dot
    if word in ("**", "*"):
        return f"{cwd.rstrip('/')}/*" if word == "*" else None
    path = "/".join(names)
    if path.startswith("**"):
        return f"/{path}"
    return os.path.normpath(path if path.startswith("/") else f"{cwd.rstrip('/')}/{path}")


def mentions_host(host: str, said: str) -> bool:
    return host in said.casefold()
