"""Unusual starts: facts in, reasons in words out."""

import pytest

from bascule.model.settings import StartsSettings
from bascule.policy.unusual import (
    StartFacts,
    StartHistory,
    asked,
    browser_words,
    learnt,
    risky_words,
    unusual,
)

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"
NEWER = CHROME.replace("126", "127")
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605 Version/17.5 Safari/604.1"
RISKY = StartsSettings().risky_words


def facts(
    *, agent: str = CHROME, address: str = "10.0.0.2", hour: int = 10, now: float = 1000.0, prompt: str = "hi"
) -> StartFacts:
    return StartFacts("grant-1", agent, address, hour, now, prompt)


KNOWN = learnt(StartHistory(), facts())


@pytest.mark.row("R19")
def test_nothing_is_unusual_about_the_first_start_a_machine_ever_gets() -> None:
    assert unusual(StartHistory(), facts(), RISKY) == ()


@pytest.mark.row("R19")
def test_a_start_like_an_earlier_one_is_usual_also_with_a_newer_browser() -> None:
    assert unusual(KNOWN, facts(), RISKY) == ()
    assert unusual(KNOWN, facts(agent=NEWER), RISKY) == ()


@pytest.mark.row("R19")
def test_another_browser_grant_or_address_is_said_in_words() -> None:
    assert unusual(KNOWN, facts(agent=IPHONE), RISKY) == ("first time from this browser",)
    assert unusual(KNOWN, facts(address="203.0.113.9"), RISKY) == ("first time from this address",)
    other = facts()._replace(grant_id="grant-2")
    assert unusual(KNOWN, other, RISKY) == ("first time from this browser",)


@pytest.mark.row("R19")
def test_an_hour_is_unusual_only_once_enough_hours_are_known() -> None:
    history = StartHistory()
    for day in range(20):
        assert unusual(history, facts(hour=3), ()) == () or day > 0
        history = learnt(history, facts(hour=9 + day % 8))
    assert unusual(history, facts(hour=3), ()) == ("nobody starts anything here around 03:00",)
    assert unusual(history, facts(hour=17), ()) == ()  # beside a known one
    assert unusual(history, facts(hour=19), ()) != ()


@pytest.mark.row("R19")
def test_risky_words_are_whole_words_in_any_case_and_spacing() -> None:
    assert risky_words("Please DELETE it with rm   -rf", RISKY) == ["delete", "rm -rf"]
    assert risky_words("undeleted pseudosudoku passwords", RISKY) == []
    reasons = unusual(KNOWN, facts(prompt="print the credentials"), RISKY)
    assert reasons == ("the prompt says 'credentials'",)


@pytest.mark.row("R19")
def test_a_burst_counts_starts_that_were_asked_for_and_is_over_after_a_while() -> None:
    history = KNOWN
    for at in (1000.0, 1010.0, 1020.0):
        history = asked(history, at)
    assert unusual(history, facts(now=1030.0), ()) == ("4 starts within 2 minutes",)
    assert unusual(history, facts(now=1125.0), ()) == ()


@pytest.mark.row("R19")
def test_several_reasons_are_all_said() -> None:
    start = facts(agent=IPHONE, address="203.0.113.9", prompt="sudo")
    assert len(unusual(KNOWN, start, RISKY)) == 3


def test_what_is_remembered_is_bounded() -> None:
    history = StartHistory()
    for number in range(1000):
        history = asked(learnt(history, facts(address=str(number))), 1000.0 + number / 100)
    assert len(history.addresses) == 200
    assert len(history.recent) < 50


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (CHROME, "Chrome on Linux"),
        (IPHONE, "Safari on iPhone"),
        ("curl/8.5", "curl"),
        ("", "an unknown program"),
    ],
)
def test_a_browser_is_named_by_its_kind(agent: str, words: str) -> None:
    assert browser_words(agent) == words
