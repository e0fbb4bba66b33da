"""One end of a connection: the greeting, the order of sending, parts of large frames."""

import pytest
from msgspec import Raw
from tests.link.conversation import ANA, HELLO, WELCOME, carried, greeted

from bascule.link.frames import (
    Ack,
    Ask,
    Cancel,
    LineRefused,
    Ping,
    Reply,
    Resume,
    SessionForgotten,
    SessionOutput,
    Versions,
)
from bascule.link.line import PART, Line
from bascule.link.priorities import Priority
from bascule.link.sending import PATIENCE
from bascule.link.tape_frames import (
    SizeSeat,
    TapeOpened,
    TapePiece,
    TapeState,
    TapeTyped,
)
from bascule.link.versions import agree
from bascule.link.wire import HEADER, MAX_FRAME, MAX_MESSAGE, LineError, UnknownFrame
from bascule.model.commands import Interrupt, SendPrompt


def rows(session: str, first: int, size: int = 10) -> SessionOutput:
    return SessionOutput(session, first, (Raw(b'"%s"' % (b"r" * size)),))


def reply(number: int, size: int) -> Reply:
    return Reply(number, Raw(b'"%s"' % (b"x" * size)))


def prompt(number: int, session: str, size: int = 5) -> Ask:
    return Ask(number, SendPrompt(session_id=session, text="t" * size), ANA)


def code_of(line: Line, message: bytes | str) -> str:
    with pytest.raises(LineError) as raised:
        line.receive(message)
    return raised.value.code


# The greeting


def test_a_daemon_must_say_who_it_is_first():
    hub = Line("hub")
    assert code_of(hub, '{"type":"ping","n":1}') == "UNEXPECTED_FRAME"
    assert code_of(Line("hub"), '{"type":"of_next_year"}') == "UNEXPECTED_FRAME"


def test_a_hub_must_welcome_or_refuse_first():
    assert code_of(Line("daemon"), '{"type":"ping","n":1}') == "UNEXPECTED_FRAME"


def test_a_greeting_comes_once():
    daemon, hub = greeted()
    again = Line("daemon")
    again.send(HELLO)
    assert code_of(hub, again.take(1)[0]) == "UNEXPECTED_FRAME"
    with pytest.raises(LineError):
        daemon.send(HELLO)


def test_our_own_side_must_greet_first_too():
    with pytest.raises(LineError, match="out of place"):
        Line("daemon").send(Ping(1))


def test_nothing_follows_a_refusal():
    daemon, hub = Line("daemon"), Line("hub")
    daemon.send(HELLO)
    daemon.send(Ping(1))
    refusal = LineRefused("IDENTITY_IN_USE", "Another machine uses this identity.", 60)
    hub.send(refusal)
    assert carried(daemon, hub) == []  # it has hung up already
    assert carried(hub, daemon) == [refusal]
    assert daemon.refused == hub.refused == refusal
    assert code_of(daemon, '{"type":"ping","n":1}') == "LINE_CLOSED"
    for line in (daemon, hub):
        with pytest.raises(LineError):
            line.send(Ping(2))


def test_a_side_cannot_send_what_is_the_others():
    daemon, hub = greeted()
    with pytest.raises(LineError, match="does not send"):
        daemon.send(prompt(1, "s"))
    with pytest.raises(LineError, match="does not send"):
        hub.send(reply(1, 1))


def test_a_line_that_failed_stays_so():
    daemon, hub = greeted()
    assert code_of(hub, "nonsense") == "NOT_JSON"
    daemon.send(Ping(1))
    assert code_of(hub, daemon.take(1)[0]) == "NOT_JSON"


def test_unknown_frames_are_counted_and_handed_over():
    daemon, hub = greeted()
    assert hub.receive('{"type":"of_next_year"}') == [UnknownFrame("of_next_year")]
    assert hub.unknown == 1
    daemon.send(Ping(1))
    assert carried(daemon, hub) == [Ping(1)]


@pytest.mark.row("REL-34")
@pytest.mark.parametrize(
    ("hub", "daemon", "agreed"),
    [
        (Versions(1, 1), Versions(1, 1), 1),
        (Versions(1, 3), Versions(2, 4), 3),
        (Versions(2, 3), Versions(1, 2), 2),
        (Versions(1, 2), Versions(3, 4), "UPDATE_HUB"),
        (Versions(3, 4), Versions(1, 2), "UPDATE_DAEMON"),
        (Versions(1, 4), Versions(3, 2), "UPDATE_DAEMON"),
    ],
)
def test_both_sides_speak_the_highest_version_they_share(hub: Versions, daemon: Versions, agreed: int | str):
    found = agree(hub, daemon)
    assert (found.code if isinstance(found, LineRefused) else found) == agreed


# The order of sending


def test_an_echo_goes_before_a_flood():
    daemon, hub = greeted(deflated=False)
    daemon.send(reply(1, 2_000_000))
    for first in range(1, 50):
        daemon.send(rows("s1", first, 20_000), Priority.CATCHING_UP)
        daemon.send(rows("s2", first, 20_000))
    assert sum(len(one) for one in daemon.take(100_000)) <= 100_000 + PART + HEADER.size
    daemon.send(TapePiece(7, 100, b"a"))
    daemon.send(Reply(2))
    first, second = daemon.take(1)[0], daemon.take(1)[0]
    assert [*hub.receive(first), *hub.receive(second)] == [Reply(2), TapePiece(7, 100, b"a")]


def test_priorities_leave_in_their_order():
    daemon, hub = greeted()
    daemon.send(rows("s1", 1), Priority.CATCHING_UP)
    daemon.send(reply(1, 5000))
    daemon.send(rows("s2", 1))
    daemon.send(TapePiece(1, 0, b"x"))
    daemon.send(Ping(1))
    kinds = [type(frame).__name__ for frame in carried(daemon, hub)]
    assert kinds == ["Ping", "TapePiece", "SessionOutput", "Reply", "SessionOutput"]


def test_parts_of_a_large_frame_and_small_frames_alternate():
    daemon, hub = greeted()
    large = reply(1, 200_000)
    daemon.send(large)
    got = []
    for number in range(1, 40):
        got += hub.receive(daemon.take(1)[0])
        daemon.send(Ping(number))
        got += hub.receive(daemon.take(1)[0])
        if large in got:
            break
    assert 12 <= got.index(large) <= 14  # pings that went between its parts


def test_no_message_is_larger_than_allowed():
    daemon, hub = greeted()
    daemon.send(reply(1, 300_000))
    daemon.send(TapePiece(1, 0, b"x" * 300_000))
    daemon.send(rows("s", 1, 300_000))
    messages = daemon.take(10_000_000)
    assert max(map(len, messages)) <= PART + HEADER.size < MAX_MESSAGE
    frames = [frame for message in messages for frame in hub.receive(message)]
    pieces = [one for one in frames if isinstance(one, TapePiece)]
    assert b"".join(one.data for one in pieces) == b"x" * 300_000
    assert [one.offset for one in pieces] == [i * (PART - HEADER.size) for i in range(len(pieces))]


def test_a_frame_that_is_too_large_is_not_queued():
    daemon, hub = greeted()
    with pytest.raises(LineError, match="can be sent"):
        daemon.send(reply(1, MAX_FRAME))
    daemon.send(Ping(1))
    assert carried(daemon, hub) == [Ping(1)]


def test_take_gives_about_as_much_as_there_is_room_for_and_at_least_one():
    daemon, _ = greeted()
    assert daemon.take(1000) == []
    for number in range(100):
        daemon.send(TapePiece(1, number * 100, b"x" * 100))
    assert len(daemon.take(0)) == 1
    assert len(daemon.take(1130)) == 10
    assert daemon.waiting == (0, 89 * 113, 0, 0, 0)


def test_a_flood_of_terminal_output_does_not_keep_rows_from_coming():
    daemon, hub = greeted()
    daemon.send(TapePiece(1, 0, b"x" * 4_000_000))
    daemon.send(rows("s1", 1), Priority.CATCHING_UP)
    daemon.send(rows("s2", 1))
    daemon.send(reply(1, 5000))
    messages = [daemon.take(1)[0] for _ in range(PATIENCE + 4)]
    frames = [frame for message in messages for frame in hub.receive(message)]
    assert len([one for one in frames if not isinstance(one, TapePiece)]) == 3


def test_terminals_take_turns():
    daemon, hub = greeted()
    daemon.send(TapePiece(1, 0, b"x" * 1_000_000))
    daemon.send(TapePiece(2, 0, b"echo"))
    first, second = daemon.take(1)[0], daemon.take(1)[0]
    assert isinstance(hub.receive(first)[0], TapePiece)
    assert hub.receive(second) == [TapePiece(2, 0, b"echo")]


# Frames that must not overtake one another


def test_the_state_of_a_tape_keeps_its_place_among_its_output():
    daemon, hub = greeted()
    opened = TapeOpened(1, 0, 0, 40_000, prelude=b"p" * 30_000)
    daemon.send(opened)
    daemon.send(TapePiece(1, 0, b"x" * 40_000))
    daemon.send(TapePiece(2, 0, b"y" * 40_000))
    daemon.send(TapeState(1, 0, 40_000, over=True))
    frames = [one for one in carried(daemon, hub) if getattr(one, "tape", 0) == 1]
    assert frames[0] == opened
    assert isinstance(frames[-1], TapeState)
    assert len(frames) == 5


def test_live_rows_wait_behind_older_rows_of_their_session():
    daemon, hub = greeted()
    daemon.send(rows("s1", 1), Priority.CATCHING_UP)
    daemon.send(rows("s1", 2))
    daemon.send(SessionForgotten("s1"))
    daemon.send(rows("s2", 1))
    frames = carried(daemon, hub)
    assert [one.session_id for one in frames] == ["s2", "s1", "s1", "s1"]  # type: ignore[union-attr]
    assert frames[1:] == [rows("s1", 1), rows("s1", 2), SessionForgotten("s1")]
    daemon.send(rows("s3", 1), Priority.CATCHING_UP)
    daemon.send(rows("s1", 3))
    assert carried(daemon, hub) == [rows("s1", 3), rows("s3", 1)]


def test_a_small_command_waits_behind_a_large_one_for_the_same_session_only():
    daemon, hub = greeted()
    large = prompt(1, "s1", 100_000)
    interrupt = Ask(2, Interrupt(session_id="s1"), ANA)
    for frame in (large, interrupt, prompt(3, "s2")):
        hub.send(frame)
    assert carried(hub, daemon) == [prompt(3, "s2"), large, interrupt]


def test_a_cancel_does_not_overtake_its_ask():
    daemon, hub = greeted()
    hub.send(prompt(1, "s1", 100_000))
    hub.send(Cancel(1))
    hub.send(Cancel(99))
    assert carried(hub, daemon) == [Cancel(99), prompt(1, "s1", 100_000), Cancel(1)]


def test_keys_wait_behind_a_paste_into_the_same_terminal():
    daemon, hub = greeted()
    paste, key = TapeTyped(1, 1, b"p" * 50_000, ANA), TapeTyped(1, 2, b"k", ANA)
    other = TapeTyped(2, 1, b"o", ANA)
    for frame in (paste, key, SizeSeat(1, 1, 80, 24), other):
        hub.send(frame)
    assert carried(hub, daemon) == [other, paste, key, SizeSeat(1, 1, 80, 24)]


def test_pages_of_resume_keep_their_order_whatever_their_size():
    daemon, hub = greeted()
    page = Resume({f"session-{n}": (n, n) for n in range(3000)}, last=False)
    hub.send(page)
    hub.send(Resume({"s": (1, 1)}))
    hub.send(Ack({"s": 1}, 1))
    assert carried(hub, daemon) == [page, Resume({"s": (1, 1)}), Ack({"s": 1}, 1)]


def test_a_large_greeting_is_first_all_the_same():
    daemon, hub = Line("daemon", part=100), Line("hub")
    daemon.send(HELLO)
    daemon.send(TapePiece(1, 0, b"x"))
    assert carried(daemon, hub) == [HELLO, TapePiece(1, 0, b"x")]
    hub.send(WELCOME)
    assert carried(hub, daemon) == [WELCOME]
