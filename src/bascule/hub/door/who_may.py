"""The error message for a refused token: which role may do it, and whose token this is."""

from bascule.hub.door.roles import Forbidden, Need
from bascule.store.grants import Grant

_WHO: dict[Need, str] = {
    "public": "everybody",
    "any": "people",
    "viewer": "the owner, operators and viewers",
    "session_read": "everybody who may see this session",
    "session_files": "the owner, operators, viewers and the session's own token",
    "session_terminal": "the owner, operators, viewers and the session's own token",
    "session_write": "the owner, operators and the session's own token",
    "operator": "the owner and operators",
    "owner": "the owner",
    "daemon": "a machine that was paired",
    "node": "another node of this hub",
}
_WHOSE = {"session": "one session's own", "daemon": "a machine's", "operator": "an operator's"}


def forbidden(grant: Grant, need: Need) -> Forbidden:
    if grant.role == "viewer" and grant.session_id is not None:
        whose = "a link to read one session"
    else:
        whose = _WHOSE.get(grant.role, f"a {grant.role}'s")
    return Forbidden(f"Only {_WHO[need]} may do this; this token is {whose}. Ask the owner for another link.")
