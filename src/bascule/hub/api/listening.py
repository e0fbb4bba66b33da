"""TCP addresses that a session's agent listens on. Bascule never connects there: see SECURITY.md."""

from bascule.hub.calls.forwarding import forwarding
from bascule.link.listening import FindListeners

OPERATIONS = (
    forwarding(
        FindListeners,
        name="session:listeners",
        method="GET",
        path="/api/sessions/{session_id}/listeners",
        # Not for a link to one session: it says something of the machine.
        need="session_files",
        summary="List the TCP addresses that the session's agent listens on, as they are now",
    ),
)
