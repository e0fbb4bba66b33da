"""Capability levels: how much of a machine a session's agent may reach, from the least to all of it."""

from typing import Literal

Capability = Literal["read_only", "sandboxed", "project_scoped", "full"]
LEVELS: tuple[Capability, ...] = ("read_only", "sandboxed", "project_scoped", "full")
LEVEL_NAMES: dict[Capability, str] = {  # as the page names them, too
    "read_only": "Read only",
    "sandboxed": "Sandboxed",
    "project_scoped": "Project only",
    "full": "Whole machine",
}


def is_above(level: Capability, ceiling: Capability) -> bool:
    return LEVELS.index(level) > LEVELS.index(ceiling)


def lower(one: Capability, other: Capability) -> Capability:
    return other if is_above(one, other) else one
