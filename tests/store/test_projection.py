"""The shortcuts the writer takes change nothing of what the model's folds say."""

from copy import deepcopy

import pytest
from hypothesis import given
from tests.store.logs import AT, encoded, folded, opened, random_log, text

from bascule.model.codec import Logged
from bascule.model.entries import Fold
from bascule.model.events import AnyEvent, EntryClosed, TextAppended
from bascule.model.records import Pending, SessionRecord
from bascule.model.request_fold import opened_request
from bascule.model.session_fold import NO_RECORD_CHANGE, SessionFold
from bascule.store.projection import merged


@pytest.mark.parametrize("event", [opened(), text(), EntryClosed("e")])
def test_events_that_only_say_something_do_not_change_a_record(event: AnyEvent) -> None:
    assert type(event) in NO_RECORD_CHANGE
    record, pending = SessionRecord("s1", seq=1, open_requests=2), Pending()
    before = deepcopy(record)
    assert not SessionFold(record, pending).apply(Logged(2, AT, event))
    before.seq, before.updated_at = 2, AT
    assert (record, pending) == (before, Pending())
    assert opened_request("s1", Logged(2, AT, event)) is None


@given(random_log)
def test_joined_pieces_of_text_fold_to_the_same_entries(log: list[AnyEvent]) -> None:
    fold = Fold()
    entries = {}
    for logged in merged(Logged(seq, AT, event) for seq, event in enumerate(log, 1)):
        fold.apply(logged)
        entries.update({entry.first_seq: entry for entry in fold.take_dirty()})
    assert encoded([entries[first] for first in sorted(entries)]) == encoded(folded(log))


def test_neighbouring_pieces_of_one_text_are_joined_and_others_are_not() -> None:
    log = [opened("a"), text("1", "a"), text("2", "a"), text("x", "b"), text("3", "a")]
    joined = [one.event for one in merged(Logged(seq, AT, event) for seq, event in enumerate(log, 1))]
    assert [one.text for one in joined if isinstance(one, TextAppended)] == ["12", "x", "3"]
