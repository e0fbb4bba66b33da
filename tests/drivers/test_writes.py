"""The replies a driver owes are given out in order, and once."""

from bascule.drivers.writes import Replies
from bascule.model.records import Write


def test_replies_are_taken_in_order_and_once() -> None:
    replies = Replies()
    assert not replies
    replies.add(Write("reply:1", b"a\n"))
    replies.add(Write("reply:2", b"b\n"))
    assert replies
    assert [write.write_id for write in replies.take()] == ["reply:1", "reply:2"]
    assert not replies
    assert replies.take() == []
