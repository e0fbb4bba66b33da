"""A comparison: one prompt for several agents, each in a git work tree of its own."""

from typing import Literal

from msgspec import Struct

MAX_CONTESTANTS = 4


class Contestant(Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    """One agent, the session it runs in and where it works."""

    session_id: str
    agent: str
    model: str | None = None
    tree: str  # the work tree
    cwd: str  # the session's folder in it
    branch: str
    git_dir: str = ""  # what git itself keeps of this tree, asked before any agent could change it
    state: Literal["planned", "there", "removed"] = "planned"
    problem: str | None = None  # why its session did not start


class Comparison(Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    id: str
    title: str
    prompt: str
    folder: str  # where a person wanted the work done
    top: str  # the working copy it is in
    base: str  # the commit everybody began from
    base_branch: str | None = None
    dirty: int = 0  # files of the working copy that were changed and not committed, so nobody has them
    created_at: str
    created_by: str
    contestants: tuple[Contestant, ...]
    kept: str | None = None  # whose changes were taken over
    kept_at: str | None = None
