"""Words people read: none of those that are not English as people say it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "src" / "bascule"
# What stood in the page, the command line or the API once, and what is said there now.
ODD = {
    "Not here": "Not installed",
    "An agent's own screen": "Open Claude Code's terminal",
    "Go on in Claude Code": "Continue in the terminal",
    "Reads are fine": "Allow reading",
    "is allowed by itself": "Everything is allowed automatically",
    "Refuse all": "Deny all requests",
    "Deny everything": "Deny all requests",
    "shown only this once": "Shown only once. Copy it now.",
    "in your own words": "Or write your own answer",
    "Skip, let it decide": "Let it decide",
    "Pick up again": "Recent",
    "were not committed, so nobody here has them": "3 uncommitted files are not included",
    "What bounds the agents": "Limits for agents on this machine",
    "have a key of their own": "2 sessions also have their own key",
    "Let somebody in": "Created a link",
    "because edits need a person": "because edits always need your OK",
    "Look again'": "Refresh",
    "Take out the comment": "Remove the comment",
    "The bell rang": "the tab blinks",
    "Click a line number": "Tap, on a phone",
}


def test_no_odd_words_are_left_in_what_people_read() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {odd!r}; say {better!r}"
        for path in sorted(SOURCES.rglob("*"))
        if path.suffix in (".py", ".js", ".toml", ".html") and not {"vendor", "bundle"} & set(path.parts)
        for odd, better in ODD.items()
        if re.search(re.escape(odd), path.read_text())
    ]
    assert found == []
