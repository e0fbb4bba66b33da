"""Unified hunks from two texts: right for small changes, quick for huge ones."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.drivers.patch import counted, diff_of


def test_a_new_file_a_changed_line_and_a_missing_newline() -> None:
    assert diff_of("a", "", "x\n").patch == "@@ -0,0 +1,1 @@\n+x"
    assert diff_of("a", "a\nb\nc\n", "a\nB\nc\n").patch == "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"
    assert diff_of("a", "x\n", "x").patch == "@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file"
    assert diff_of("a", "x", "y").patch == "@@ -1,1 +1,1 @@\n-x\n+y"
    assert diff_of("a", "same\n", "same\n").patch == ""


def applied(patch: str, old: str) -> str:
    """What the hunks make of the old text, checked line by line."""
    lines, made, at = old.splitlines(keepends=True), [], 0
    for row in patch.splitlines():
        hunk = re.match(r"@@ -(\d+),(\d+) \+\d+,\d+ @@", row)
        if hunk:
            start = int(hunk.group(1)) - (1 if int(hunk.group(2)) else 0)
            made += lines[at:start]
            at = start
        elif row[0] == "+":
            made.append(f"{row[1:]}\n")
        else:
            assert lines[at] == f"{row[1:]}\n", (patch, old)
            made += [lines[at]] if row[0] == " " else []
            at += 1
    return "".join([*made, *lines[at:]])


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=30)


@given(WORDS, WORDS)
def test_the_patch_turns_the_old_into_the_new(before: list[str], after: list[str]) -> None:
    old, new = ("".join(f"{one}\n" for one in words) for words in (before, after))
    made = diff_of("f", old, new)
    assert applied(made.patch, old) == new
    assert len(after) - len(before) == made.added - made.removed


@pytest.mark.row("REL-31")
def test_a_huge_change_takes_no_time_and_little_room() -> None:
    old = "".join(f"line {n % 7}\n" for n in range(200_000))
    new = "".join(f"line {n % 5}\n" for n in range(200_000))
    made = diff_of("a", old, new)  # line by line, this would take hours
    assert len(made.patch) < 600_000
    assert diff_of("a", old, old + "end\n").patch.endswith("+end")


def test_a_patch_made_by_the_agent_keeps_its_hunks_and_loses_its_headers() -> None:
    made = counted("a", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n")
    assert (made.patch, made.added, made.removed) == ("@@ -1 +1 @@\n-x\n+y", 1, 1)
