"""Says in words why a start is unusual for this machine. It knows only what was learnt from earlier starts.

What the browser and the address are, the hub says: this helps against a browser or a link in wrong hands, and
not against a hub that lies.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

HOURS_FROM = 20  # starts that must be known before an hour can be unusual
BURST = 4  # starts
BURST_SECONDS = 120.0
MAX_KNOWN = 200  # browsers, and addresses

_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


class StartHistory(Struct, frozen=True, omit_defaults=True):
    """Of starts from elsewhere that were carried out. `recent` has the times of all that were asked for."""

    browsers: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    hours: tuple[int, ...] = (0,) * 24
    recent: tuple[float, ...] = ()


class StartFacts(NamedTuple):
    grant_id: str
    user_agent: str
    address: str
    hour: int  # of this machine's day
    now: float
    prompt: str


def unusual(history: StartHistory, facts: StartFacts, risky: Sequence[str]) -> tuple[str, ...]:
    """The reasons, the most important first. The first browser and address that a machine meets are usual."""
    reasons: list[str] = []
    if history.browsers and browser_key(facts) not in history.browsers:
        reasons.append("first time from this browser")
    if history.addresses and facts.address not in history.addresses:
        reasons.append("first time from this address")
    if is_odd_hour(history.hours, facts.hour):
        reasons.append(f"nobody starts anything here around {facts.hour:02d}:00")
    if words := risky_words(facts.prompt, risky):
        reasons.append(f"the prompt says {', '.join(repr(word) for word in words)}")
    soon = sum(facts.now - BURST_SECONDS < at <= facts.now for at in history.recent) + 1
    if soon >= BURST:
        reasons.append(f"{soon} starts within {BURST_SECONDS / 60:.0f} minutes")
    return tuple(reasons)


def is_odd_hour(hours: Sequence[int], hour: int) -> bool:
    """Nothing was ever started in this hour, the one before or the one after."""
    near = sum(hours[(hour + step) % 24] for step in (-1, 0, 1))
    return sum(hours) >= HOURS_FROM and near == 0


def risky_words(prompt: str, risky: Sequence[str]) -> list[str]:
    """Whole words, whatever their case and the space between them."""
    found: list[str] = []
    for word in risky:
        parts = r"\s+".join(re.escape(part) for part in word.split())
        if parts and re.search(rf"(?<!\w){parts}(?!\w)", prompt, re.IGNORECASE):
            found.append(word)
    return found


def asked(history: StartHistory, now: float) -> StartHistory:
    """Counts for bursts, whatever becomes of it."""
    recent = tuple(at for at in history.recent if now - BURST_SECONDS < at <= now)
    return replace(history, recent=(*recent[-BURST * 4 :], now))


def learnt(history: StartHistory, facts: StartFacts) -> StartHistory:
    """It was carried out: from now on it is usual."""
    hours = list(history.hours)
    hours[facts.hour] += 1
    return replace(
        history,
        browsers=_with(history.browsers, browser_key(facts)),
        addresses=_with(history.addresses, facts.address),
        hours=tuple(hours),
    )


def _with(known: tuple[str, ...], one: str) -> tuple[str, ...]:
    return (*(other for other in known if other != one), one)[-MAX_KNOWN:]


def browser_key(facts: StartFacts) -> str:
    """The grant and the kind of browser; not its version, which changes every month."""
    return f"{facts.grant_id} {browser_words(facts.user_agent)}"


def browser_words(user_agent: str) -> str:
    """ "Chrome on Linux"; what is no browser names itself."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    if browser:
        return f"{browser} on {system}" if system else browser
    return user_agent.split("/")[0].strip()[:40] or "an unknown program"
