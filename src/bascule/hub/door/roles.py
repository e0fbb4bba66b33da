"""Roles: the table from a grant's role to what it may do."""

from typing import Literal

from bascule.model.errors import CallerError
from bascule.store.grants import Grant

Need = Literal[
    "public",  # anybody who passes Host and Origin
    "any",  # any person's grant
    "viewer",  # sees everything
    "session_read",  # sees one session
    "session_files",  # sees the files around one session
    "session_terminal",  # sees the live screen of one session's terminal
    "session_write",  # acts in one session
    "operator",  # starts sessions and acts in all
    "owner",  # grants, audit, panic
    "daemon",  # connects a machine
    "node",  # connects another node of this hub
]

PERSON: tuple[Need, ...] = ("public", "any", "viewer", "session_read", "session_files", "session_terminal")
GUEST: frozenset[Need] = frozenset(("public", "any", "session_read"))  # with a link to one session
ALLOWED: dict[str, frozenset[Need]] = {
    "owner": frozenset((*PERSON, "session_write", "operator", "owner")),
    "operator": frozenset((*PERSON, "session_write", "operator")),
    "viewer": frozenset(PERSON),
    "session": frozenset(
        ("public", "any", "session_read", "session_files", "session_terminal", "session_write")
    ),
    "daemon": frozenset(("public", "daemon")),
    "node": frozenset(("node",)),
    "site": frozenset(("public",)),  # it may launch by the bridge, and does nothing here
}


class Forbidden(CallerError):
    code = "FORBIDDEN"


def allows(grant: Grant, need: Need) -> bool:
    """Does the role reach this far, whatever the session?"""
    if grant.role == "viewer" and grant.session_id is not None:
        return need in GUEST
    return need in ALLOWED.get(grant.role, frozenset[Need]())


def sees_scrubbed(grant: Grant | None) -> bool:
    """Whether what looks like a secret is hidden from it: from the holder of a link to read one session."""
    if grant is None or grant.role != "viewer" or grant.session_id is None:
        return False
    return not grant.keeps_secrets


def reaches(grant: Grant, session_id: str) -> bool:
    """A grant for one session opens that session alone."""
    return grant.session_id is None or grant.session_id == session_id
