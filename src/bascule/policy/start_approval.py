"""Decides what a start needs before it happens. Whatever a hub says, only this machine's settings count."""

from typing import Literal, NamedTuple

from bascule.model.commands import Actor
from bascule.model.loopback import is_loopback
from bascule.model.settings import Confirmation, StartsSettings

Does = Literal["start", "hold", "refuse"]


def is_remote(by: Actor) -> bool:
    """It came by a hub on another machine, or by this machine's own page from another address.

    A program of this machine has no address or a loopback one. What a proxy on this machine passes on is
    local, too, unless `trusted_proxies` names it, so that the address is the browser's.
    """
    return bool(by.via) or bool(by.address and not is_loopback(by.address))


class Signed(NamedTuple):
    """What became of a start's signature. `browser` is the name of the one that made it, when it is good."""

    browser: str = ""
    problem: str = ""  # why a signature that was shown does not count


class Verdict(NamedTuple):
    does: Does
    notify: bool = False  # tell the person at the machine that it was started
    confirm: Confirmation = "notify_only"  # of a start that is held: by which way
    why: str = ""  # of a refusal, for a person


def judge(
    settings: StartsSettings,
    device: str,
    *,
    remote: bool,
    blocked: str,
    signed: Signed,
    reasons: tuple[str, ...],
) -> Verdict:
    """`blocked` says until when starts are blocked, empty when they are not; `reasons` why it is unusual."""
    if not remote:
        return Verdict("start")
    if blocked:
        return Verdict("refuse", why=f"{device} takes no starts from elsewhere until {blocked}.")
    if settings.approval == "trusted_browsers" and not signed.browser:
        return Verdict("refuse", why=signed.problem or untrusted(device))
    way = needed(settings, trusted=bool(signed.browser), unusual=bool(reasons))
    if way != "notify_only":
        return Verdict("hold", confirm=way)
    return Verdict("start", notify=settings.approval != "auto")


def needed(settings: StartsSettings, *, trusted: bool, unusual: bool) -> Confirmation:
    """The stricter of both settings: a message as well is stricter than an answer on this machine alone."""
    ways: list[Confirmation] = []
    if settings.approval in ("local_confirm", "oob_confirm") and not trusted:
        ways.append("oob_confirm" if settings.approval == "oob_confirm" else "local_confirm")
    if unusual:
        ways.append(way_if_unusual(settings, trusted=trusted))
    if "oob_confirm" in ways:
        return "oob_confirm"
    return "local_confirm" if "local_confirm" in ways else "notify_only"


def way_if_unusual(settings: StartsSettings, *, trusted: bool) -> Confirmation:
    """Unless the owner said it: by message, if one can be sent. Who starts something from elsewhere is not at
    the machine, so a start that is held there for an answer is, for them, refused."""
    if settings.unusual is not None:
        return settings.unusual
    reachable = bool(settings.webhook or settings.command)
    return "oob_confirm" if reachable and not trusted and settings.approval != "auto" else "notify_only"


def needs_approval(settings: StartsSettings) -> bool:
    """Whether a start from elsewhere is more than announced."""
    unusual = way_if_unusual(settings, trusted=False)
    return settings.approval not in ("notify_only", "auto") or unusual != "notify_only"


def untrusted(device: str) -> str:
    return (
        f"{device} takes starts only from browsers it trusts. Run there: bascule trust generate --browser "
        "NAME. Then enter the code in this browser, in Settings, Machines."
    )
