"""Capability levels: how much of a machine a session's agent may reach, from the least to all of it."""

from typing import Literal

Capability = Literal["read_only", "sandboxed", "project_scoped", "full"]
LEVELS: tuple[Capability, ...] = ("read_only", "sandboxed", "project_scoped", "full")


def is_above(level: Capability, ceiling: Capability) -> bool:
    return LEVELS.index(level) > LEVELS.index(ceiling)


def lower(one: Capability, other: Capability) -> Capability:
    return other if is_above(one, other) else one


def up_to(ceiling: Capability) -> tuple[Capability, ...]:
    return LEVELS[: LEVELS.index(ceiling) + 1]
