"""Trust questions as the agents draw them, and what is never taken for one."""

from pathlib import Path

import pytest

from bascule.agents.catalogue import Catalogue
from bascule.drivers.terminal import TerminalDriver
from bascule.drivers.terminal.trust_prompt import DOWN, ENTER, UP, Asked, TrustPrompt, look
from bascule.drivers.terminal.virtual_screen import Screen

SCREENS = Path(__file__).parents[1] / "recordings" / "terminal"


def question(agent: str) -> TrustPrompt:
    trust = Catalogue.load("/nowhere").get(agent).trust
    assert trust is not None
    return TrustPrompt(trust.text, trust.accept, trust.marker)


def drawn(name: str, cols: int = 120) -> bytes:
    """The screen as a program would draw it, line by line from the top."""
    lines = (SCREENS / f"{name}.txt").read_text().splitlines()
    return b"\x1b[H\x1b[2J" + "\r\n".join(line[:cols] for line in lines).encode()


@pytest.mark.row("P4")
@pytest.mark.parametrize(
    ("agent", "screen", "step"),
    [
        ("claude-code", "claude-1-trust", DOWN),
        ("codex", "codex-2-trust-git-repo", ENTER),
        ("gemini", "gemini-1-trust", ENTER),
        ("copilot", "copilot-1-trust", ENTER),
    ],
)
def test_each_agents_question_is_recognised_with_its_first_key(agent: str, screen: str, step: bytes):
    driver = TerminalDriver(120, 40, question(agent))
    assert driver.receive(drawn(screen)).trust_asked
    assert driver.trust_step() == step


@pytest.mark.row("P4")
@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "copilot"])
@pytest.mark.parametrize(
    "screen",
    [
        "claude-2-api-key-prompt",
        "claude-4-permission-manual",
        "codex-3-no-config",
        "copilot-2-after-trust",
        "opencode-1-start",
    ],
)
def test_other_screens_are_no_trust_question(agent: str, screen: str):
    driver = TerminalDriver(120, 40, question(agent))
    assert not driver.receive(drawn(screen)).trust_asked
    assert driver.trust_step() is None


@pytest.mark.row("P4")
def test_claude_is_moved_from_no_to_yes_before_enter():
    driver = TerminalDriver(120, 40, question("claude-code"))
    driver.receive(drawn("claude-1-trust"))
    assert driver.trust_step() == DOWN
    moved = drawn("claude-1-trust").replace("❯ No, exit".encode(), b"  No, exit")
    driver.receive(moved.replace(b"  Yes, I trust", "❯ Yes, I trust".encode()))
    assert driver.trust_step() == ENTER
    assert driver.trust_step() is None, "it is answered once"


@pytest.mark.row("P4")
def test_a_menu_that_does_not_follow_is_left_to_a_person():
    driver = TerminalDriver(120, 40, question("claude-code"))
    driver.receive(drawn("claude-1-trust"))
    assert [driver.trust_step() for _ in range(7)] == [DOWN] * 5 + [None, None]


@pytest.mark.row("P4")
def test_once_a_person_types_nothing_is_pressed_for_them():
    driver = TerminalDriver(120, 40, question("claude-code"))
    driver.receive(drawn("claude-1-trust"))
    driver.leave_question()
    assert driver.trust_step() is None


@pytest.mark.row("P4")
def test_trust_text_long_after_the_start_is_not_the_trust_prompt():
    driver = TerminalDriver(120, 40, question("claude-code"))
    driver.receive(b"x\r\n" * 200_000)
    assert not driver.receive(drawn("claude-1-trust")).trust_asked


def test_the_words_without_the_choices_are_not_the_question():
    driver = TerminalDriver(120, 40, question("claude-code"))
    asked = driver.receive(b"# README: Is this a project you created or one you trust? Press Enter.\r\n")
    assert not asked.trust_asked


def test_a_narrow_window_that_breaks_the_words_changes_nothing():
    screen = Screen(40, 40)
    screen.feed(b"Quick safety check: Is this a project you created or one you trust?\r\n\r\n")
    screen.feed("   No, exit\r\n ❯ Yes, I trust this folder\r\n".encode())
    assert look(screen.text(), question("claude-code")) == Asked(ENTER)


def test_the_mark_below_the_choice_means_up():
    lines = ["trust me?", "  yes", "❯ no"]
    assert look(lines, TrustPrompt("trust me?", "yes")) == Asked(UP)


def test_the_screen_follows_cursor_moves_and_erasures():
    screen = Screen(10, 3)
    screen.feed(b"one\r\ntwo\r\nthree\r\nfour")
    assert screen.text() == ["two", "three", "four"]
    screen.feed(b"\x1b[2;1H\x1b[KTH\x1b[1;3HX\x1b[3;1H\x1b[1P")
    assert screen.text() == ["twX", "TH", "our"]
    screen.feed(b"\x1b[2J\x1b[H\x1b]0;title")
    screen.feed(b"\x07\xe2\x9d")
    screen.feed(b"\xaf!")
    assert screen.text() == ["❯!", "", ""]


@pytest.mark.row("P4")
def test_a_moved_selection_is_seen_after_unknown_escape_sequences():
    """As Claude Code 2.1 draws it: keyboard protocols are set before its mark moves."""
    driver = TerminalDriver(120, 40, question("claude-code"))
    driver.receive(drawn("claude-1-trust"))
    row = next(number for number, line in enumerate(lines_of("claude-1-trust"), 1) if "No, exit" in line)
    driver.receive(b"\x1b[>0q\x1b[?u\x1b]7501;?\x07\x1b[c\x1b[<u\x1b[>5u\x1b[>4;2m")
    assert driver.trust_step() == DOWN
    moved = f"\x1b[{row};1H   No, exit\r\x1b[1B\x1b[1C❯\x1b[4GYes, I trust this folder".encode()
    driver.receive(moved)
    assert driver.trust_step() == ENTER


def lines_of(name: str) -> list[str]:
    return (SCREENS / f"{name}.txt").read_text().splitlines()


def test_an_escape_that_another_one_cancels_hides_nothing_that_follows():
    screen = Screen(20, 3)
    screen.feed(b"one\x1b\x1b[2;1Htwo" + b"\x1b\x1b\x1b[3;1H" + b"x" * 20 + b"\x1b[3;1Hthree")
    assert screen.text() == ["one", "two", "three" + "x" * 15]
