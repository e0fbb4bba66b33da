"""A text told in one event reads like one told in pieces, in every recording and every file on disk."""

from collections.abc import Iterable

import pytest
from msgspec.structs import replace
from tests.drivers import recorded, test_history_readers, test_rpc_recordings

from bascule.model.codec import Logged
from bascule.model.entries import AnyEntry, Fold
from bascule.model.events import AnyEvent, EntryClosed, TextSaid

NAMES = [*(f"claude/{name}" for name in recorded.NAMES), *test_rpc_recordings.NAMES]


def events_of(name: str) -> list[AnyEvent]:
    if name.startswith("claude/"):
        return recorded.events_of(recorded.output_of(name.removeprefix("claude/")))
    return test_rpc_recordings.events_of(name)


def in_pieces(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """The same events as logs of earlier versions have them."""
    return [piece for one in events for piece in (one.in_pieces() if isinstance(one, TextSaid) else (one,))]


def folded(events: Iterable[AnyEvent]) -> list[AnyEntry]:
    """The entries in their order, without the numbers of the events that made them."""
    fold, kept = Fold(), dict[int, AnyEntry]()
    for seq, event in enumerate(events, 1):
        fold.apply(Logged(seq, "2026-01-01T00:00:00.000Z", event))
        kept.update({entry.first_seq: entry for entry in fold.take_dirty()})
    return [replace(kept[seq], first_seq=0, last_seq=0) for seq in sorted(kept)]


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_folds_to_the_entries_it_had_in_pieces(name: str) -> None:
    events = events_of(name)
    assert folded(events) == folded(in_pieces(events))


@pytest.mark.parametrize("name", test_history_readers.READERS)
def test_a_file_on_disk_folds_to_the_entries_it_had_in_pieces(name: str) -> None:
    events = [one.event for one in test_history_readers.told(name).events]
    assert not any(isinstance(event, EntryClosed) for event in events)
    assert any(isinstance(event, TextSaid) for event in events)
    assert folded(events) == folded(in_pieces(events))
