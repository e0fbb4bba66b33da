"""The event buffer joins adjacent pieces of one text and keeps the order of everything else."""

from bascule.drivers.event_buffer import EventBuffer
from bascule.model.events import EntryClosed, EntryOpened, TextAppended


def test_adjacent_pieces_of_one_entry_become_one_event() -> None:
    out = EventBuffer()
    out.put(EntryOpened("e1", "assistant"))
    for piece in ("a", "b", "c"):
        out.append_text("e1", "assistant", piece)
    out.append_text("e2", "thinking", "d")
    out.put(EntryClosed("e1"))
    out.append_text("e2", "thinking", "e")
    assert out.take() == [
        EntryOpened("e1", "assistant"),
        TextAppended("e1", "assistant", "abc"),
        TextAppended("e2", "thinking", "d"),
        EntryClosed("e1"),
        TextAppended("e2", "thinking", "e"),
    ]
    assert out.take() == []


class Counted(list[str]):
    def count(self, text: str) -> None:
        self.append(text)


def test_pieces_are_counted_once_and_many_at_a_time() -> None:
    out, counted = EventBuffer(), Counted()
    for piece in "abc":
        out.append_text("e1", "assistant", piece, counted)
    assert counted == []
    out.count_text()
    out.count_text()
    out.append_text("e1", "assistant", "d", counted)
    assert out.take() == [TextAppended("e1", "assistant", "abcd")]
    assert counted == ["abc", "d"]
