"""A log encoded at once has the same rows as its events encoded one by one."""

from msgspec import Raw

from bascule.model.codec import Logged, encode_log, encode_logged
from bascule.model.events import Note, TextSaid, ToolChanged, ToolStarted
from bascule.model.records import Pending, SessionRecord
from bascule.model.session_fold import SessionFold

AT = "2026-01-01T00:00:00.000Z"


def rows_of(*events: TextSaid | Note | ToolStarted | ToolChanged) -> list[Logged]:
    return [Logged(seq, AT, event) for seq, event in enumerate(events, 7)]


def test_rows_are_those_of_single_events() -> None:
    log = rows_of(TextSaid("m:0", "assistant", "two\nlines ¶"), Note("n", "words"), ToolChanged("t", "done"))
    assert encode_log(log) == [encode_logged(one.seq, one.at, one.event) for one in log]
    assert encode_log([]) == []


def test_foreign_json_over_several_lines_stays_in_its_row() -> None:
    log = rows_of(ToolStarted("t", "X", "X", "other", Raw(b'{"a":\n1}')), Note("n", "words"))
    assert encode_log(log) == [encode_logged(one.seq, one.at, one.event) for one in log]


def test_a_tool_that_only_moves_the_number_changes_no_field_of_the_record() -> None:
    plain = ToolChanged("t", "done", "all is well")
    linked = ToolChanged("t", "done", "https://git.example/a/b/pull/7")
    fold = SessionFold(SessionRecord("s"), Pending())
    assert fold.only_moves(plain)
    assert not fold.only_moves(linked)
    fold.apply(Logged(1, AT, plain))
    assert fold.record == SessionRecord("s", seq=1, updated_at=AT)
    fold.apply(Logged(2, AT, linked))
    assert fold.record.pull_request == "https://git.example/a/b/pull/7"
