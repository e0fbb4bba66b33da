"""Caps on what agents spend: per session, project and day, in money and in tokens. Pure.

A cap is warned of at 80 % and asked about at 100 %; a person may raise it for one session.
"""

from collections.abc import Container, Mapping
from typing import Literal, get_args

from msgspec import Struct

from bascule.model.guards import CapName
from bascule.model.settings import Limits

WARNED_AT = 0.8
CAPS: tuple[CapName, ...] = get_args(CapName)
_SCOPES = {"session": "this session", "project": "this project's month", "day": "today on this machine"}


class Meter(Struct, frozen=True):
    """What was spent so far. Cents are a fraction: a turn may cost less than one."""

    cents: float = 0.0
    tokens: int = 0


class Spending(Struct, frozen=True):
    session: Meter = Meter()
    project: Meter = Meter()
    day: Meter = Meter()

    def of(self, cap: CapName) -> float:
        scope, _, unit = cap.partition("_")
        return getattr(getattr(self, scope), unit)


class Reached(Struct, frozen=True):
    """A cap that is near, or is reached."""

    cap: CapName
    state: Literal["near", "reached"]
    spent: float
    allowed: int

    def words(self) -> str:
        scope = _SCOPES[self.cap.partition("_")[0]]
        spent, allowed = amount(self.cap, self.spent), amount(self.cap, self.allowed)
        if self.state == "near":
            return f"{spent} of {allowed} are spent for {scope}. At {allowed} the agent is stopped."
        return f"{spent} of {allowed} are spent for {scope}: the limit is reached."


def amount(cap: CapName, n: float) -> str:
    """A number of a cap, for people."""
    return f"${n / 100:.2f}" if cap.endswith("cents") else f"{int(n):,} tokens"


def allowed(cap: CapName, limits: Limits, raised: Mapping[str, int]) -> int:
    """The cap as it holds for a session: the owner's, or what somebody raised it to there. 0: none."""
    limit: int = getattr(limits, cap)
    return max(limit, raised.get(cap, 0)) if limit > 0 else 0


def is_capped(limits: Limits) -> bool:
    return any(getattr(limits, cap) > 0 for cap in CAPS)


def look(
    spending: Spending, limits: Limits, raised: Mapping[str, int], warned: Container[tuple[CapName, int]]
) -> list[Reached]:
    """Caps that are reached, then those that are near and were not warned of at this height."""
    reached: list[Reached] = []
    near: list[Reached] = []
    for cap in CAPS:
        most, spent = allowed(cap, limits, raised), spending.of(cap)
        if most > 0 and spent >= most:
            reached.append(Reached(cap, "reached", spent, most))
        elif most > 0 and spent >= most * WARNED_AT and (cap, most) not in warned:
            near.append(Reached(cap, "near", spent, most))
    return reached + near
