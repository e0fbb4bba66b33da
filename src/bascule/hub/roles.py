"""Who may do what: one small table from a grant's role to what a route needs."""

from typing import Literal

from bascule.store.grants import Grant

Need = Literal[
    "public",  # anybody who passes Host and Origin
    "any",  # any person's grant
    "viewer",  # sees everything
    "session_read",  # sees one session
    "session_write",  # acts in one session
    "operator",  # starts sessions and acts in all
    "owner",  # grants, audit, panic
]

ALLOWED: dict[str, frozenset[Need]] = {
    "owner": frozenset(("public", "any", "viewer", "session_read", "session_write", "operator", "owner")),
    "operator": frozenset(("public", "any", "viewer", "session_read", "session_write", "operator")),
    "viewer": frozenset(("public", "any", "viewer", "session_read")),
    "session": frozenset(("public", "any", "session_read", "session_write")),
    "daemon": frozenset(("public",)),
}


def allows(grant: Grant, need: Need) -> bool:
    """Does the role reach this far, whatever the session?"""
    return need in ALLOWED.get(grant.role, frozenset[Need]())


def reaches(grant: Grant, session_id: str) -> bool:
    """A session's grant opens that session alone."""
    return grant.role != "session" or grant.session_id == session_id
