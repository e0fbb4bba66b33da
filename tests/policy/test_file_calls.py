"""File calls: the paths a call names, whether that is all of it, and what it searches for."""

from typing import Any

import pytest
from msgspec import structs
from tests.policy.asking import asked

from bascule.policy.file_calls import MAX_DEPTH, MAX_PATHS, collect, files_of, is_plain

Found = tuple[tuple[str, ...], bool, tuple[str, ...] | None]


def files(tool: str, kind: str, blocked: str | None = None, **call: Any) -> Found:
    request = structs.replace(asked(tool, kind, **call), blocked_path=blocked)
    return files_of("edit" if kind == "edit" else "read", request, call)


@pytest.mark.parametrize(
    ("kind", "call", "found"),
    [
        ("read", {"file_path": "/a", "limit": 1}, (("/a",), True, None)),
        ("read", {"file_path": "/a", "more": 1}, (("/a",), False, None)),
        ("read", {"file_path": "/a", "more": None}, (("/a",), True, None)),
        ("read", {"files": ["/a", "/b", "/a"]}, (("/a", "/b"), True, None)),
        ("read", {"files": ["/a", 7]}, (("/a",), False, None)),
        ("read", {"path": 7}, ((), False, None)),
        ("read", {"path": {"of": "/a"}}, ((), False, None)),
        ("read", {}, ((), False, None)),
        ("read", {"content": "an edit's"}, ((), False, None)),
        ("edit", {"path": "/a", "content": "x"}, (("/a",), True, None)),
        ("edit", {"path": "/a", "offset": 1}, (("/a",), False, None)),
        ("edit", {"changes": {"/a": {"add": {"content": ""}}, "/b": None}}, (("/a", "/b"), True, None)),
        ("edit", {"changes": [{"path": "/a", "kind": {"move_path": "/b"}}]}, (("/a", "/b"), True, None)),
        ("edit", {"path": "/a", "request": {"grantRoot": "/"}}, (("/a",), False, None)),
        ("edit", {"path": "/a", "request": {"grantRoot": None}}, (("/a",), True, None)),
        ("edit", {"path": "/a", "request": {"reason": "r"}}, (("/a",), True, None)),
    ],
)
def test_a_call_names_these_files_and_is_read_to_the_last_field_or_not(
    kind: str, call: dict[str, Any], found: Found
):
    assert files("T", kind, **call) == found


def test_a_path_the_agent_was_blocked_from_counts_too():
    assert files("Read", "read", "/b", file_path="/a") == (("/a", "/b"), True, None)
    assert files("Read", "read", "~/b", file_path="/a") == (("/a", "~/b"), False, None)


@pytest.mark.parametrize(("count", "exact"), [(MAX_PATHS, True), (MAX_PATHS + 1, False)])
def test_more_paths_than_can_be_judged_are_not_exact(count: int, exact: bool):
    paths, read, _ = files("T", "read", files=[f"/{number}" for number in range(count)])
    assert (len(paths), read) == (MAX_PATHS, exact)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/a", True),
        ("a b", True),
        ("a~", True),
        ("app/[id]/{x}.tsx", True),
        ("", False),
        ("~/a", False),
        ("~ana/a", False),
        ("a\nb", False),
        ("a\u202eb", False),
        ("src/*", False),
        ("a?", False),
        ("a:b", True),
        ("src/a:b", True),
        ("./main.py:12", True),
        ("/a/http://b", True),
        ("10:30.log", True),
        ("https://evil.example/SECRET", False),
        ("HTTPS:evil.example", False),
        ("file:///etc/passwd", False),
        ("file:/etc/passwd", False),
        ("file:etc/passwd", False),
        (" file:///etc/passwd", False),
        ("data:text/plain,x", False),
        ("vscode-userdata:/User/settings.json", False),
        ("main.py:12", False),
        ("C:/a", False),
        ("c:\\a", False),
        ("x" * 4095, True),
        ("x" * 4096, False),
    ],
)
def test_a_plain_path_is_one_file_to_every_tool(path: str, plain: bool):
    assert is_plain(path) is plain
    assert files("T", "read", path=path)[1] is plain


@pytest.mark.parametrize("path", ["src/**", "a?", "[.]env", "{.env,a}", "a]", "a}"])
def test_a_list_of_paths_that_may_be_patterns_is_not_exact(path: str):
    assert files("read_many_files", "read", paths=["/a", path]) == (("/a", path), False, None)


# Searches --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "call", "found"),
    [
        ("Grep", {"pattern": "x"}, ((".",), True, ())),
        ("Grep", {"pattern": "/x/..", "path": "/p"}, (("/p",), True, ())),  # of content: leads nowhere
        ("Grep", {"pattern": "x", "glob": "*.py"}, ((".",), True, ("*.py",))),
        ("Grep", {"pattern": "x", "include": "*.py", "glob": "*.c"}, ((".",), True, ("*.c", "*.py"))),
        ("Grep", {"pattern": "x", "glob": ""}, ((".",), True, ())),
        ("Grep", {"pattern": "x", "glob": "!*.py"}, ((".",), True, ())),
        ("Grep", {"pattern": "x", "glob": "../*"}, ((".",), False, ("../*",))),
        ("Grep", {"pattern": "x", "glob": "/etc/*"}, ((".",), False, ("/etc/*",))),
        ("Grep", {"pattern": "x", "glob": "~/*"}, ((".",), False, ("~/*",))),
        ("Grep", {"pattern": "x", "glob": "file:///etc/*"}, ((".",), False, ("file:///etc/*",))),
        ("Grep", {"pattern": "file:///etc/*"}, ((".",), True, ())),  # what it looks for
        ("Glob", {"pattern": "file:///etc/*"}, ((".",), False, ("file:///etc/*",))),
        ("Grep", {"pattern": "x", "glob": ["*.py"]}, ((".",), False, ())),
        ("Grep", {"pattern": 7}, ((".",), False, ())),
        ("search_file_content", {"pattern": "/x"}, ((".",), True, ())),
        ("Glob", {"pattern": "*.py", "path": "/p"}, (("/p",), True, ("*.py",))),
        ("Glob", {"pattern": "/etc/*"}, ((".",), False, ("/etc/*",))),
        ("file_search", {"pattern": "!*"}, ((".",), True, ())),
        ("Glob", {"pattern": "../x", "glob": "*.py"}, ((".",), True, ("*.py",))),
        # What kind of pattern is not known: it narrows nothing, and must not lead elsewhere.
        ("search", {"pattern": "*.py"}, ((".",), True, ())),
        ("search", {"pattern": "/etc"}, ((".",), False, ())),
        ("search", {"pattern": "x", "more": 1}, ((".",), False, ())),
        ("search", {"toolCallId": "t", "title": "x"}, ((".",), False, ())),  # only described
    ],
)
@pytest.mark.parametrize("kind", ["search", "read"])
def test_a_search_says_where_it_looks_and_for_which_names(
    tool: str, kind: str, call: dict[str, Any], found: Found
):
    if kind == "read" and "toolCallId" in call:
        found = ((), False, None)
    assert files(tool, kind, **call) == found


# A call told by its description alone ----------------------------------------------------------------------

DIFF = {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}


@pytest.mark.parametrize(
    ("kind", "call", "found"),
    [
        ("read", {"locations": [{"path": "/a", "line": 3}], "title": "t"}, (("/a",), True, None)),
        ("read", {"locations": [{"path": "/a"}], "rawInput": {}}, (("/a",), True, None)),
        ("read", {"locations": [{"path": "/a"}], "rawInput": {"x": 1}}, (("/a",), False, None)),
        ("read", {"locations": [{"path": "/a"}], "other": 1}, (("/a",), False, None)),
        ("read", {"locations": [{"path": "/a", "other": 1}]}, (("/a",), False, None)),
        ("read", {"locations": [{"path": "/a"}], "content": [DIFF]}, (("/a",), False, None)),
        ("read", {"title": "t"}, ((), False, None)),
        ("edit", {"content": [DIFF]}, (("/a",), True, None)),
        ("edit", {"content": DIFF, "locations": [{"path": "/b"}]}, (("/b", "/a"), True, None)),
        ("edit", {"content": [DIFF, {"type": "content"}]}, (("/a",), False, None)),
        ("edit", {"content": [{**DIFF, "command": "rm"}]}, (("/a",), False, None)),
        ("edit", {"content": ["words"], "locations": [{"path": "/a"}]}, (("/a",), False, None)),
        ("edit", {"content": [], "locations": [{"path": "/a"}]}, (("/a",), True, None)),
    ],
)
def test_a_described_call_is_exact_when_it_tells_only_places_and_changes(
    kind: str, call: dict[str, Any], found: Found
):
    assert files("T", kind, toolCallId="t", **call) == found


# Every path, wherever it stands ----------------------------------------------------------------------------


def nested(depth: int) -> object:
    value: object = {"path": "/a"}
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "known", "found", "whole"),
    [
        ("words", frozenset[str](), [], True),
        ({"x": 1}, None, [], True),
        ({"x": {"path": "/a"}}, None, ["/a"], True),
        ({"x": {"path": "/a"}}, frozenset[str](), ["/a"], False),
        ({"x": [{"path": "/a"}, {"y": 1}]}, frozenset({"x"}), ["/a"], False),
        # All are found, also behind one that makes the call not exact.
        ([{"y": 1}, {"path": "/a"}], frozenset[str](), ["/a"], False),
        ({"changes": {"/a": {"add": 1}}}, frozenset({"changes", "add"}), ["/a"], True),
        ({"changes": {"/a": {"run": 1}}}, frozenset({"changes", "add"}), ["/a"], False),
        (nested(MAX_DEPTH), None, ["/a"], True),
        (nested(MAX_DEPTH + 1), None, [], False),
    ],
)
def test_paths_are_collected_at_every_depth_up_to_a_limit(
    value: object, known: frozenset[str] | None, found: list[str], whole: bool
):
    paths: list[str] = []
    assert collect(value, paths, known) is whole
    assert paths == found
