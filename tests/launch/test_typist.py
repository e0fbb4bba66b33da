"""When a prompt is typed and when Enter is pressed: screens in, keys out, on a clock of the test's own."""

import pytest

from bascule.drivers.terminal.trust_prompt import TrustPrompt
from bascule.launch.launcher.typist import (
    ENTER,
    MARK_SECONDS,
    PASTE_BEGINS,
    PASTE_ENDS,
    PATIENCE_SECONDS,
    QUIET_SECONDS,
    RESTLESS_SECONDS,
    Typist,
)

QUIET = QUIET_SECONDS + 0.01
READY = b"\x1b[?2004h> "
PROMPT = "-explain\r\nthis 👩"
PASTE = PASTE_BEGINS + PROMPT.encode() + PASTE_ENDS
TRUST = TrustPrompt("Do you trust this folder?", "1. Yes", ">")
SHOWN = (
    b"> -explain\r\n  this",
    "│ -ex\r\n│ plain".encode(),
    b"[Pasted text #1]",
    b"[Saved pasted content to",
)
QUESTION = b"\x1b[2J\x1b[HDo you trust this folder?\r\n> 1. Yes\r\n  2. No"


def typist(prompt: str = PROMPT, *, send: bool = True, trust: TrustPrompt | None = None) -> Typist:
    return Typist(prompt, send=send, trust=trust, size=(40, 10), now=0.0)


def pasted(one: Typist) -> Typist:
    one.saw(READY, 1.0)
    assert one.due(1.0 + QUIET, raw=True) != b""
    one.written(2.0)
    return one


@pytest.mark.row("L6")
def test_it_types_once_the_agent_takes_pastes_reads_keys_and_is_quiet() -> None:
    one = typist()
    one.saw(b"starting", 0.1)
    assert one.due(5.0, raw=True) == b""  # it does not take a paste yet
    one.saw(READY, 6.0)
    assert one.due(6.0 + QUIET / 2, raw=True) == b""  # it is still drawing
    assert one.due(6.0 + QUIET, raw=False) == b""  # it reads lines: bytes would be changed
    assert one.due(6.0 + QUIET, raw=True) == PASTE
    assert one.due(60.0, raw=True) == b""  # once


@pytest.mark.row("L6")
def test_an_agent_that_never_stops_drawing_is_typed_at_all_the_same() -> None:
    one = typist()
    one.saw(READY, 0.0)
    one.saw(b".", RESTLESS_SECONDS - 0.1)
    assert one.due(RESTLESS_SECONDS - 0.05, raw=True) == b""
    one.saw(b".", RESTLESS_SECONDS)
    assert one.due(RESTLESS_SECONDS, raw=True) == PASTE


@pytest.mark.row("L6")
def test_an_agent_that_has_drawn_nothing_yet_has_no_input_to_type_into() -> None:
    one = typist()
    one.saw(b"\x1b[?1049h\x1b[?2004h", 0.0)
    assert one.due(60.0, raw=True) == b""
    one.saw(b"\x1b[3;4H> ", 61.0)
    assert one.due(61.0 + QUIET, raw=True) == PASTE


@pytest.mark.row("L6")
def test_an_agent_whose_input_comes_late_is_typed_at_when_its_mark_is_drawn() -> None:
    """Copilot draws a bar, takes pastes, asks its trust question, and only then draws its input."""
    one = Typist(PROMPT, send=True, trust=TRUST, size=(40, 10), now=0.0, input_mark="❯")
    one.saw(b"\x1b[?2004h Sessions  Issues", 1.0)
    assert one.due(1.0 + RESTLESS_SECONDS, raw=True) == b""
    one.saw(QUESTION, 7.0)
    assert one.due(7.0 + QUIET, raw=True) == b""
    one.saw("\x1b[2J\x1b[H Sessions  Issues\r\n ❯ ".encode(), 8.0)
    assert one.due(8.0 + QUIET, raw=True) == PASTE


@pytest.mark.row("L6")
def test_an_agent_whose_mark_has_changed_is_typed_at_after_a_minute() -> None:
    one = Typist(PROMPT, send=True, trust=None, size=(40, 10), now=0.0, input_mark="❯")
    one.saw(READY, 1.0)
    assert one.due(MARK_SECONDS, raw=True) == b""
    assert one.due(1.0 + MARK_SECONDS, raw=True) == PASTE


@pytest.mark.row("L6")
def test_it_stops_taking_pastes_and_nothing_is_typed() -> None:
    one = typist()
    one.saw(READY + b"\x1b[?2004l", 0.0)
    assert one.due(60.0, raw=True) == b""


@pytest.mark.row("L6")
def test_a_trust_question_is_left_to_a_person_and_the_prompt_waits() -> None:
    one = typist(trust=TRUST)
    one.saw(b"\x1b[?2004h" + QUESTION, 0.0)
    assert one.due(100.0, raw=True) == b""
    one.saw(b"\x1b[2J\x1b[H> ", 101.0)
    assert one.due(101.0 + QUIET, raw=True) == PASTE


def asked(*, send: bool = True) -> Typist:
    """A typist who has typed into an agent whose trust question was answered a moment before."""
    one = typist(send=send, trust=TRUST)
    one.saw(b"\x1b[?2004h" + QUESTION, 0.0)
    assert one.due(1.0, raw=True) == b""
    one.saw(b"\x1b[2J\x1b[HRestarting ...", 2.0)
    assert one.due(2.0 + QUIET, raw=True) == PASTE
    one.written(3.0)
    assert one.outcome == ""
    return one


@pytest.mark.row("L6")
@pytest.mark.parametrize("send", [True, False])
def test_an_agent_that_starts_itself_again_after_the_trust_question_is_typed_at_again(send: bool) -> None:
    one = asked(send=send)
    one.saw(b"\x1b[?2004l", 50.0)
    assert one.due(60.0, raw=True) == b""
    one.saw(READY, 70.0)
    assert one.due(70.0 + QUIET, raw=True) == PASTE
    one.written(71.0)
    one.saw(b"-explain this", 71.1)
    assert one.due(71.1 + QUIET, raw=True) == (ENTER if send else b"")
    assert one.outcome == ("sent" if send else "typed")


@pytest.mark.row("L6")
def test_a_trust_question_that_comes_after_the_text_is_left_alone_and_the_text_typed_again() -> None:
    one = typist(trust=TRUST)
    one.saw(READY, 0.0)
    assert one.due(QUIET, raw=True) == PASTE
    one.written(1.0)
    one.saw(QUESTION, 2.0)
    for later in (3.0, 60.0):
        assert one.due(later, raw=True) == b""
    one.saw(b"\x1b[2J\x1b[H> ", 61.0)
    assert one.due(61.0 + QUIET, raw=True) == PASTE


@pytest.mark.row("L6")
def test_what_was_kept_over_the_restart_is_not_typed_twice() -> None:
    one = asked()
    one.saw(b"\x1b[?2004l", 4.0)
    one.saw(READY + b"-explain this", 5.0)
    assert one.due(5.0 + QUIET, raw=True) == b""
    assert one.due(6.0 + QUIET, raw=True) == ENTER


@pytest.mark.row("L6")
@pytest.mark.parametrize("shown", SHOWN)
def test_enter_is_pressed_once_the_text_stands_in_the_input(shown: bytes) -> None:
    one = pasted(typist("-explain"))
    one.saw(b"\x1b[2J\x1b[H" + shown, 2.1)
    assert one.due(2.2, raw=True) == b""
    assert one.due(2.1 + QUIET, raw=True) == ENTER
    assert one.outcome == "sent"
    assert one.due(99.0, raw=True) == b""


@pytest.mark.row("L6", "S24")
def test_enter_is_not_pressed_when_something_swallowed_the_text() -> None:
    one = pasted(typist())
    one.saw(b"\x1b[2J\x1b[HSign in?\r\n> Yes", 2.1)
    assert one.due(2.0 + PATIENCE_SECONDS, raw=True) == b""
    assert one.outcome == ""
    assert one.due(2.1 + PATIENCE_SECONDS, raw=True) == b""
    assert one.outcome == "typed"


@pytest.mark.row("L6")
def test_an_agent_that_takes_minutes_to_show_a_large_paste_gets_its_enter() -> None:
    one = pasted(typist())
    assert one.due(200.0, raw=True) == b""
    one.saw(b"[Pasted Text: 4878 lines]", 201.0)
    assert one.due(201.0 + QUIET, raw=True) == ENTER
    assert one.outcome == "sent"


@pytest.mark.row("L6")
@pytest.mark.parametrize("keys", [b"y", b"\r", b"\x1b[1;1R no"])
def test_whoever_types_behind_the_prompt_sends_it_as_well(keys: bytes) -> None:
    one = pasted(typist())
    one.person_typed(keys)
    assert one.outcome == "typed"
    one.saw(SHOWN[2], 3.0)
    assert one.due(3.0 + QUIET, raw=True) == b""


@pytest.mark.row("L6")
def test_what_a_terminal_says_by_itself_is_nobodys_typing() -> None:
    one = pasted(typist())
    for said in (
        b"\x1b[12;40R",
        b"\x1b[?62;4c",
        b"\x1b]11;rgb:0/0/0\x1b\\",
        b"\x1bP>|xterm\x1b\\",
        b"\x1b[I\x1b[O",
        b"",
    ):
        one.person_typed(said)
    assert one.outcome == ""
    one.saw(SHOWN[2], 3.0)
    assert one.due(3.0 + QUIET, raw=True) == ENTER


@pytest.mark.row("L6")
def test_an_answer_to_the_trust_question_is_no_typing_behind_the_prompt() -> None:
    one = pasted(typist(trust=TRUST))
    one.saw(QUESTION, 2.1)
    one.person_typed(b"1")
    assert one.outcome == ""


@pytest.mark.row("L6")
def test_a_prompt_that_is_not_to_be_sent_is_over_when_it_is_typed() -> None:
    assert pasted(typist(send=False)).outcome == "typed"


@pytest.mark.row("L6")
def test_it_gives_up_on_an_agent_that_never_takes_a_paste() -> None:
    one = typist()
    assert one.due(PATIENCE_SECONDS, raw=True) == b""
    assert one.outcome == ""
    assert one.due(PATIENCE_SECONDS + 1, raw=True) == b""
    assert one.outcome == "not_typed"
