"""Makes `tests/fixtures/fold/*.json`: events with the entries and the record Python folds from them.

`python -m tests.web.fold_fixtures` writes them again; both languages are tested against what is written.
"""

import json
from pathlib import Path

import msgspec
from msgspec import Raw

from bascule.model.codec import Logged, decode_logged, encode, encode_logged
from bascule.model.entries import AnyEntry, Fold
from bascule.model.event_values import PermissionOption, Question, Usage
from bascule.model.events import (
    AnswerDelivered,
    AnyEvent,
    Diff,
    EndCancelled,
    EndScheduled,
    EntryClosed,
    EntryOpened,
    Interrupted,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PlanItem,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QueueHeld,
    QueueReleased,
    ReconnectScheduled,
    SessionEnded,
    SessionEnding,
    SessionFailed,
    SessionReady,
    SessionStarted,
    StderrWritten,
    TextAppended,
    TextSaid,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)
from bascule.model.records import Pending, SessionRecord
from bascule.model.session_fold import SessionFold

FOLDER = Path(__file__).parent.parent / "fixtures" / "fold"
SHA = "0" * 64
START = SessionStarted("demo", "stream_json", "/code/lantern", "Mira")
ALLOW = PermissionOption("once", "allow_once", "Allow once")


def command(request: str, line: str) -> PermissionRequested:
    raw = Raw(json.dumps({"command": line}).encode())
    return PermissionRequested(request, "Bash", "Run a command", "execute", raw, SHA, (ALLOW,), tool_id="t1")


SCENES: dict[str, list[AnyEvent]] = {
    "a_streamed_answer": [
        START,
        SessionReady("abc", "opus", "2.1.4"),
        PromptSent("p1", "  Explain\nthis   folder " + "to me " * 20, "Mira", "c1"),
        EntryOpened("m1", "thinking"),
        TextAppended("m1", "thinking", "Look first."),
        EntryClosed("m1"),
        EntryOpened("m2", "assistant"),
        TextAppended("m2", "assistant", "It is "),
        TextAppended("m2", "assistant", "a **bridge** 🌉."),
        TextAppended("unknown", "assistant", "nobody opened this"),
        EntryClosed("m2"),
        TurnEnded("end_turn", Usage(10, 20), 0.25, 1200),
    ],
    "whole_messages": [
        START,
        SessionReady("abc"),
        PromptSent("p1", "Say it at once", "Mira"),
        TextSaid("m1", "thinking", "Not in pieces."),
        ToolStarted("t1", "Task", "Explore", "agent", Raw(b'{"prompt": "look"}')),
        TextSaid("m2", "assistant", "It is a **bridge** 🌉.", "t1"),
        EntryOpened("m3", "assistant"),
        TextAppended("m3", "assistant", "It is "),
        TextSaid("m3", "assistant", "It was a bridge."),
        TextAppended("m3", "assistant", "too late to count"),
        TextSaid("m3", "assistant", "It is one again."),
        TurnEnded("end_turn"),
    ],
    "tools_plan_and_sub_agent": [
        START,
        SessionReady("abc"),
        PromptSent("p1", "Fix it", "Mira"),
        PlanChanged((PlanItem("Look", "in_progress"), PlanItem("Mend"))),
        ToolStarted("t0", "Task", "Explore", "agent", Raw(b'{"prompt": "look"}')),
        ToolStarted("t1", "Read", "service.py", "read", Raw(b'{"file_path": "/a"}'), parent="t0"),
        ToolChanged("t1", "running", output="half"),
        ToolChanged("t1", "done", output="whole"),
        ToolChanged("t1", "failed", output="too late to count"),
        PlanChanged((PlanItem("Look", "completed"), PlanItem("Mend", "in_progress"))),
        ToolStarted("t2", "Edit", "service.py", "edit"),
        ToolChanged("t2", "done", diffs=(Diff("a.py", "@@ -1 +1 @@\n-x\n+y\n", 1, 1),)),
        ToolStarted("t3", "Bash", "never ends", "execute"),
        TurnEnded("error", message="it broke"),
        PlanChanged((PlanItem("A new plan"),)),
        Note("retry", "Trying again", "warning"),
        StderrWritten("warning: old\n"),
    ],
    "requests_and_answers": [
        START,
        SessionReady("abc"),
        PromptSent("p1", "Run it", "Mira"),
        ToolStarted("t1", "Bash", "make", "execute"),
        command("r1", "make"),
        command("r2", "make test"),
        PermissionAnswered("r1", "allow", "Mira", "once"),
        AnswerDelivered("r1"),
        PermissionWithdrawn("r2", "agent"),
        PermissionAnswered("r2", "deny", "Jonas"),
        QuestionAsked("q1", (Question("Which?", "Pick"),), Raw(b"{}"), SHA),
        QuestionAnswered("q1", "Mira", {"Which?": "both"}),
        command("r3", "rm -rf build"),
        Interrupted("Mira"),
        TurnEnded("interrupted"),
    ],
    "a_queue": [
        START,
        SessionReady("abc"),
        PromptSent("p1", "First", "Mira"),
        PromptQueued("p2", "Second", "Mira"),
        PromptQueued("p3", "Third", "Mira"),
        PromptQueued("p4", "Fourth", "Jonas"),
        PromptEdited("p3", "Third, better", "Mira"),
        PromptsReordered(("p4", "p3"), "Mira"),
        PromptWithdrawn("p2", "Mira"),
        TurnEnded("end_turn"),
        PromptSent("p4", "Fourth", "Jonas"),
    ],
    "titles_of_the_agent_and_of_a_person": [
        START,
        SessionReady("abc"),
        TitleChanged("The agent's first idea"),
        PromptSent("p1", "First words", "Mira"),
        TitleChanged("The agent's second idea"),
        TitleChanged("A person's choice", "Mira"),
        TitleChanged("The agent's third idea"),
    ],
    "a_held_queue": [
        START,
        SessionReady("abc"),
        PromptSent("p1", "First", "Mira"),
        PromptQueued("p2", "Second", "Mira"),
        PromptQueued("p3", "Third", "Mira"),
        PromptQueued("p4", "Fourth", "Mira"),
        Interrupted("Mira"),
        QueueHeld("Mira"),
        TurnEnded("interrupted"),
        PromptQueued("p5", "Fifth", "Jonas"),
        PromptEdited("p4", "Fourth, better", "Mira"),
        QueueReleased("Mira", ("p3",)),
    ],
    "ended_and_begun_again": [
        START,
        SessionFailed("not_installed", "It is not installed", "sh: not found"),
        START,
        SessionReady("abc"),
        PromptSent("p1", "Again", "Mira"),
        EntryOpened("m1", "assistant"),
        TextAppended("m1", "assistant", "cut o"),
        SessionEnding("closed", "Mira"),
        SessionEnded("closed", 0),
    ],
    "a_session_that_a_limit_ends": [
        START,
        SessionReady("abc"),
        EndScheduled("2026-11-12T14:05:03.000Z", "time_limit"),
        EndCancelled("Mira"),
        EndScheduled("2026-11-12T14:30:05.000Z", "idle_limit"),
    ],
    "a_lost_agent": [
        START,
        SessionReady("abc"),
        PromptSent("p1", "Count", "Mira"),
        EntryOpened("m1", "assistant"),
        TextAppended("m1", "assistant", "1 2 3"),
        Note("turn_cut", "It stopped in the middle of this turn.", "warning"),
        SessionEnded("disconnected", None, 9, "It stopped (stopped by signal 9)."),
        ReconnectScheduled(1, 5, 1.0, "It stopped."),
        START,
        SessionEnded("disconnected", 1, None, "It did not start (exit code 1)."),
        ReconnectScheduled(2, 5, 2.0, "It did not start."),
        START,
        SessionReady("abc"),
        PromptSent("p2", "Go on", "Mira"),
        EntryOpened("m2", "assistant"),
        SessionEnded("disconnected", None, 9, "It stopped again."),
        ReconnectScheduled(3, 5, 4.0),
        SessionFailed("could_not_connect", "It did not come back.", "no such file"),
        START,
        SessionEnded("disconnected", 1, None, "And again."),
        ReconnectScheduled(1, 5, 1.0),
        SessionEnded("closed", None),
    ],
}


def logged(events: list[AnyEvent]) -> list[Logged]:
    rows = [encode_logged(n, f"2026-11-12T14:00:{n:02}.000Z", one) for n, one in enumerate(events, 1)]
    return [decode_logged(row) for row in rows]


def folded(rows: list[Logged]) -> list[AnyEntry]:
    fold, kept = Fold(), dict[int, AnyEntry]()
    for row in rows:
        fold.apply(row)
        kept.update({entry.first_seq: entry for entry in fold.take_dirty()})
    return [kept[seq] for seq in sorted(kept)]


def scene(events: list[AnyEvent]) -> bytes:
    rows = logged(events)
    session = SessionFold(SessionRecord("s1"), Pending())
    for row in rows:
        session.apply(row)
    record = session.record
    parts = {
        "events": [Raw(encode_logged(row.seq, row.at, row.event)) for row in rows],
        "entries": [Raw(encode(entry)) for entry in folded(rows)],
        "phase": record.phase,
        "title": record.title,
        "end": [record.end_reason, record.attempt, record.attempts, record.ends_at, record.ends_for],
        "queue": session.pending.queue,
    }
    return msgspec.json.format(encode(parts), indent=1) + b"\n"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, events in SCENES.items():
        (FOLDER / f"{name}.json").write_bytes(scene(events))


if __name__ == "__main__":
    main()
