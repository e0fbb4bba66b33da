"""Finds the files that a tool call reads or changes, and whether it does nothing else."""

import re
from typing import cast

from bascule.model.events import PermissionRequested
from bascule.model.rules import ToolClass
from bascule.policy.call_fields import DESCRIPTION, KNOWN, Call, names_a_path
from bascule.policy.directories import hidden_character

MAX_PATHS = 200
MAX_DEPTH = 6
_BY_CONTENT = frozenset({"grep", "grepsearch", "searchfilecontent", "searchtext", "ripgrep", "rg"})
_BY_NAME = frozenset({"glob", "find", "filesearch"})
_STARS = frozenset("*?")
_BRACKETS = frozenset("[]{}")
_NARROWS = ("pattern", "glob", "include")  # a call with one of these is a search, whatever it is said to be
_DIFF = frozenset({"type", "oldText", "newText", "_meta", "kind"})
# What a tool may take for an address, a drive or a place in a file (`a.py:12`), and the disk for a name.
# Without a slash it is one, too (`file:etc/passwd`), and spaces before are dropped. `./` makes it a name.
_SCHEME = re.compile(r"\s*([A-Za-z][\w+.-]+:|[A-Za-z]:[/\\])")


def files_of(
    kind: ToolClass, asked: PermissionRequested, call: Call
) -> tuple[tuple[str, ...], bool, tuple[str, ...] | None]:
    """The paths a call names, whether that is all there is to it, and the patterns of names it searches for
    in them; None when it is no search."""
    found: list[str] = []
    described = "toolCallId" in call
    exact = _described(kind, call, found) if described else collect(call, found, KNOWN[kind])
    if asked.blocked_path is not None:
        found.append(asked.blocked_path)
    searches: tuple[str, ...] | None = None
    if asked.kind == "search" or (kind == "read" and any(call.get(one) is not None for one in _NARROWS)):
        exact = exact and not described  # what it looks for, and where, is not given
        searches, plain = _patterns(asked.tool, call)
        exact = exact and plain
        if not found:
            found.append(".")  # a search without a folder is one of the session's own
    request = call.get("request")
    if isinstance(request, dict) and cast(Call, request).get("grantRoot") is not None:
        exact = False  # it asks for more than these files
    if not found or len(found) > MAX_PATHS or not all(is_plain(one) for one in found):
        exact = False
    return tuple(dict.fromkeys(found[:MAX_PATHS])), exact, searches


def _patterns(tool: str, call: Call) -> tuple[tuple[str, ...], bool]:
    """The patterns of names a search goes by, and whether they are given plainly and stay in its folder."""
    name = tool.lower().replace("_", "")
    filters = [call.get("glob"), call.get("include")]
    globs = [one for one in filters if isinstance(one, str) and one]
    pattern = call.get("pattern")
    # A pattern may be one of names or of content. Only a tool that surely finds names is narrowed by it;
    # where it may be one of names, it must not lead elsewhere.
    names = [pattern] if isinstance(pattern, str) and name not in _BY_CONTENT and not globs else []
    plain = all(one is None or isinstance(one, str) for one in (*filters, pattern))
    plain = plain and not any(one.startswith(("/", "~")) or ".." in one for one in (*globs, *names))
    narrow = globs or (names if name in _BY_NAME else [])
    plain = plain and not any(map(_SCHEME.match, narrow))
    if any(one.startswith("!") for one in narrow):
        narrow = []  # it leaves files out, and looks at all others
    return tuple(narrow), plain


def _described(kind: ToolClass, call: Call, found: list[str]) -> bool:
    """A call known by its description alone: the places it touches, and for an edit what it changes there."""
    exact = set(call) <= DESCRIPTION and call.get("rawInput") in (None, {})
    exact = collect(call.get("locations"), found, frozenset({"line"})) and exact
    content = call.get("content")
    blocks = cast(list[object], content) if isinstance(content, list) else [content] if content else []
    for block in blocks:
        changes = kind == "edit" and isinstance(block, dict) and cast(Call, block).get("type") == "diff"
        exact = collect(cast(object, block), found, _DIFF) and changes and exact
    return exact


def collect(value: object, found: list[str], known: frozenset[str] | None, depth: int = 0) -> bool:
    """Every path a call names, wherever it stands. False when there is more to it than paths and what is
    `known`; without `known` anything may be."""
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, list):
        return all([collect(one, found, known, depth + 1) for one in cast(list[object], value)])
    if not isinstance(value, dict):
        return True
    whole = True
    for key, one in cast(Call, value).items():
        if one is None:
            continue
        if names_a_path(key):
            named = cast(list[object], one) if isinstance(one, list) else [one]
            found += [path for path in named if isinstance(path, str)]
            plain = all(map(_is_listed_plainly, named)) if isinstance(one, list) else isinstance(one, str)
            whole = whole and plain
            continue
        if known is not None and key not in known:
            whole = False
        if key == "changes" and isinstance(one, dict):
            found += cast(Call, one)
            one = list(cast(Call, one).values())
        whole = collect(one, found, known, depth + 1) and whole
    return whole


def is_plain(path: str) -> bool:
    """Whether every tool takes it for the same one file."""
    if not path or len(path) >= 4096 or hidden_character(path) is not None:
        return False
    return not path.startswith("~") and not set(path) & _STARS and not _SCHEME.match(path)


def _is_listed_plainly(path: object) -> bool:
    """In a list, brackets too may be a pattern's; alone they are part of a name (`app/[id]/page.tsx`)."""
    return isinstance(path, str) and not set(path) & _BRACKETS
