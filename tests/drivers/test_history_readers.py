"""What the readers make of the conversations that agents keep, and of files that are damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.drivers.history import claude, codex, copilot, gemini, opencode
from bascule.drivers.history.builder import MAX_UNRECOGNISED, History
from bascule.model.codec import Logged, encode
from bascule.model.entries import Fold, PromptEntry, TextEntry, ToolEntry
from bascule.model.events import PromptSent, TextSaid, ToolChanged, ToolStarted, TurnEnded, Unrecognised

FIXTURES = Path(__file__).parent.parent / "fixtures" / "disk"
READERS: dict[str, Callable[[Any], History]] = {
    "claude": claude.read,
    "codex": codex.read,
    "gemini": gemini.read,
    "copilot": copilot.read,
}


def lines_of(name: str) -> list[bytes]:
    return (FIXTURES / f"{name}.jsonl").read_text().replace("{home}", "/home/dev").encode().splitlines()


def told(name: str, lines: list[bytes] | None = None) -> History:
    given = lines_of(name) if lines is None else lines
    return READERS[name](lambda: iter(given))


def said(history: History, kind: str = "assistant") -> list[str]:
    events = [one.event for one in history.events]
    return [one.text for one in events if isinstance(one, TextSaid) and one.kind == kind]


def asked(history: History) -> list[str]:
    return [one.event.text for one in history.events if isinstance(one.event, PromptSent)]


def tools(history: History) -> list[tuple[str, str]]:
    """Title and how it ended."""
    titles = {
        one.event.tool_id: one.event.title for one in history.events if isinstance(one.event, ToolStarted)
    }
    ends = [one.event for one in history.events if isinstance(one.event, ToolChanged)]
    return [(titles[one.tool_id], one.status) for one in ends]


@pytest.mark.row("R23")
def test_a_claude_file_is_its_live_branch_without_side_chains() -> None:
    history = told("claude")
    assert history.agent_session_id == "0bf696c4-837a-4d48-986e-b0683366ede7"
    assert (history.cwd, history.model, history.version) == (
        "/home/dev/code/lantern",
        "claude-opus-5-5",
        "2.1.325",
    )
    assert (history.title, history.cost_usd, history.messages) == ("Light the lantern", 0.21, 4)
    assert asked(history) == ["Make the lantern brighter", "And keep the flame steady"]
    assert said(history) == ["The lantern is **brighter** now.", "It burns steadily."]
    assert said(history, "thinking") == ["The wick is short."]
    assert tools(history) == [
        ("Read /home/dev/code/lantern/lamp.py", "done"),
        ("make lamp", "failed"),
        ("Edit /home/dev/code/lantern/lamp.py", "done"),
    ]
    edit = [one.event for one in history.events if isinstance(one.event, ToolChanged)][-1]
    assert edit.diffs[0].patch == "@@ -1,1 +1,1 @@\n-dark = True\n+lit = True"
    ends = [one.event for one in history.events if isinstance(one.event, TurnEnded)]
    assert [end.duration_ms for end in ends] == [8000, 2000]
    assert (history.started_at, history.ended_at) == ("2026-11-15T19:51:01.000Z", "2026-11-15T19:51:22.000Z")
    assert history.skipped == 0


@pytest.mark.row("R23")
def test_a_codex_rollout_is_read_with_its_commands_and_patches() -> None:
    history = told("codex")
    assert history.agent_session_id == "01a1e2db-bf0f-7ae2-816d-b1cb4092face"
    assert (history.cwd, history.version, history.messages) == ("/home/dev/code/lantern", "0.166.0", 2)
    assert asked(history) == ["Print a greeting in the shell"]
    assert said(history) == ["The greeting was printed."]
    assert tools(history) == [("echo hi-codex", "done"), ("Change lamp.py", "done")]
    changes = [one.event for one in history.events if isinstance(one.event, ToolChanged)]
    assert changes[0].output == "hi-codex\n"
    assert (changes[1].diffs[0].path, changes[1].diffs[0].added) == ("/home/dev/code/lantern/lamp.py", 1)
    end = history.events[-1].event
    assert isinstance(end, TurnEnded)
    assert end.usage is not None
    assert end.usage.output_tokens == 20


@pytest.mark.row("R23")
def test_a_gemini_chat_is_read_without_what_was_taken_back() -> None:
    history = told("gemini")
    assert history.agent_session_id == "af463ec8-4941-416e-a699-a256bbf64f51"
    assert history.cwd == "/home/dev/code/lantern"
    assert asked(history) == ["Print a greeting in the shell"]
    assert said(history) == ["The greeting was printed."]
    assert tools(history) == [("echo hi-gemini", "done")]
    assert history.skipped == 0


@pytest.mark.row("R23")
def test_copilot_events_are_read_as_a_person_said_them() -> None:
    history = told("copilot")
    assert history.agent_session_id == "47707185-81b4-4151-b8c0-84e9bc5a2fc3"
    assert (history.cwd, history.version) == ("/home/dev/code/lantern", "1.0.102")
    assert asked(history) == ["Print a greeting in the shell"]
    assert said(history) == ["The greeting was printed."]
    assert tools(history) == [("echo hi-copilot", "done")]


def test_an_opencode_answer_is_told_once_it_is_whole() -> None:
    session = opencode.Session("ses_1", "/home/dev", "A greeting", "1.18.33", 1_794_807_436_031)
    user = opencode.Row("m1", 1, b'{"role":"user"}', (("p1", b'{"type":"text","text":"hello"}'),))
    half = opencode.Row(
        "m2", 2, b'{"role":"assistant","time":{"created":2}}', (("p2", b'{"type":"text","text":"hi"}'),)
    )
    whole = opencode.Row(
        "m2",
        2,
        b'{"role":"assistant","time":{"created":2,"completed":3},"finish":"stop","cost":0.5}',
        (("p2", b'{"type":"text","text":"hi"}'),),
    )
    before, after = opencode.read(session, [user, half]), opencode.read(session, [user, whole])
    assert (said(before), said(after)) == ([], ["hi"])
    earlier = [encode(one) for one in before.events]
    assert [encode(one) for one in after.events][: len(earlier)] == earlier
    assert (after.title, after.cost_usd) == ("A greeting", 0.5)


@pytest.mark.parametrize(
    ("told", "model"),
    [('"modelID":"m","providerID":"p"', "p/m"), ('"modelID":"m"', "m"), ('"providerID":"p"', None)],
)
def test_an_opencode_model_has_the_name_by_which_it_can_be_asked_for_again(
    told: str, model: str | None
) -> None:
    session = opencode.Session("ses_1", "/home/dev", "A greeting", "1.18.33", 1_794_807_436_031)
    answer = f'{{"role":"assistant","time":{{"created":2,"completed":3}},"finish":"stop",{told}}}'
    assert opencode.read(session, [opencode.Row("m2", 2, answer.encode(), ())]).model == model


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_grows_only_adds_to_what_was_told(name: str) -> None:
    """So that a session can be followed: nothing that was shown is taken back by the next line."""
    lines = [line for line in lines_of(name) if b"$rewindTo" not in line and b"abandoned" not in line]
    whole = [encode(one.event) for one in told(name, lines).events]
    for count in range(len(lines)):
        part = [encode(one.event) for one in told(name, lines[:count]).events]
        assert part == whole[: len(part)], f"after line {count}"


@pytest.mark.parametrize("name", READERS)
def test_every_entry_of_a_history_is_finished_and_can_be_folded(name: str) -> None:
    fold = Fold()
    for seq, one in enumerate(told(name).events, 1):
        fold.apply(Logged(seq, one.at, one.event))
    entries = fold.take_dirty()
    assert not fold.open
    assert {PromptEntry, TextEntry, ToolEntry} <= {type(entry) for entry in entries}
    assert all(entry.status != "running" for entry in entries if isinstance(entry, ToolEntry))


@pytest.mark.parametrize("name", READERS)
def test_garbage_between_the_lines_is_kept_and_counted_and_the_rest_is_told(name: str) -> None:
    good = told(name)
    lines: list[bytes] = []
    for line in lines_of(name):
        lines += [b"\xff\xfe garbage", line, b'{"half": ', b"[1, 2]", b'"\\ud800"', b"{" * 5000]
    history = told(name, lines)
    assert (asked(history), said(history), tools(history)) == (asked(good), said(good), tools(good))
    kept = [one.event for one in history.events if isinstance(one.event, Unrecognised)]
    assert len(kept) == MAX_UNRECOGNISED
    assert history.skipped > 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
def test_no_field_of_any_line_can_make_a_reader_fail(name: str, data: st.DataObject) -> None:
    lines = [json.loads(line) for line in lines_of(name)]
    for _ in range(3):
        at = data.draw(st.sampled_from(lines))
        while isinstance(at, dict) and at:
            key = data.draw(st.sampled_from(sorted(at)))
            below = at[key]
            if isinstance(below, list) and below and isinstance(below[0], dict):
                below = below[0]
            if not isinstance(below, dict) or data.draw(st.booleans()):
                at[key] = data.draw(JSON)
                break
            at = below
    history = told(name, [json.dumps(line).encode() for line in lines])
    faults = [one.event.reason for one in history.events if isinstance(one.event, Unrecognised)]
    assert not [reason for reason in faults if reason.startswith("reader fault")]
