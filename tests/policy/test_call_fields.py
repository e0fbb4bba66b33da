"""Call fields: which name a path, and which a call may have and still be read to the last field."""

import pytest

from bascule.model.rules import ToolClass
from bascule.policy.call_fields import KNOWN, RUNS, SENDS, Call, names_a_path, only_known


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("path", True),
        ("file_path", True),
        ("filePath", True),
        ("absolute_path", True),
        ("notebook_path", True),
        ("movePath", True),
        ("PATHS", True),
        ("paths", True),
        ("file", True),
        ("files", True),
        ("file_name", True),
        ("source", True),
        ("destination", True),
        ("dir", True),
        ("directory", True),
        ("pathology", False),
        ("profile", False),
        ("sources", False),
        ("redirect", False),
        ("command", False),
        ("", False),
    ],
)
def test_a_field_names_a_path_by_its_last_word(key: str, path: bool):
    assert names_a_path(key) is path


@pytest.mark.parametrize(
    ("tool_class", "call", "known"),
    [
        ("command", {"command": "ls", "timeout": 1, "description": "d"}, True),
        ("command", {"command": "ls", "env": {}}, False),
        ("command", {"command": "ls", "env": None}, True),
        ("command", {"command": "ls", "env": False}, False),
        ("command", {"command": "ls", "file_path": "/a"}, False),  # of a command no path is known
        ("read", {"file_path": "/a", "limit": 1}, True),
        ("read", {"file_path": "/a", "content": "x"}, False),
        ("read", {"Limit": 1}, False),
        ("edit", {"file_path": "/a", "content": "x"}, True),
        ("edit", {"file_path": "/a", "limit": 1}, False),
        ("fetch", {"url": "u", "prompt": "p"}, True),
        ("fetch", {"url": "u", "path": "/a"}, False),
        ("fetch", {"url": "u", "body": "b"}, False),
        ("fetch", {}, True),
    ],
)
def test_a_call_has_only_fields_that_are_known_for_its_class(tool_class: ToolClass, call: Call, known: bool):
    assert only_known(call, tool_class) is known


def test_what_runs_or_sends_is_known_only_where_the_class_says_so():
    assert KNOWN.keys() == {"command", "read", "edit", "fetch"}
    assert KNOWN["command"] & RUNS == {"command", "commands", "cmd"}
    assert KNOWN["fetch"] & SENDS == {"url"}
    for tool_class in ("read", "edit"):
        assert not KNOWN[tool_class] & (RUNS | SENDS), tool_class
    assert not KNOWN["command"] & SENDS
    assert not KNOWN["fetch"] & RUNS
