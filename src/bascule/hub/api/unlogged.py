"""Operations on unlogged processes: list, recover, end."""

from bascule.api.pushes import UnloggedChanged
from bascule.hub.calls.forwarding import forwarding
from bascule.link.unlogged import EndProcess, ListUnlogged, TakeUpProcess

END_SECONDS = 45.0  # stdin closes, TERM, KILL, and what it wrote is put aside
CHANGED = UnloggedChanged()

OPERATIONS = (
    forwarding(
        ListUnlogged,
        name="unlogged:list",
        method="GET",
        path="/api/unlogged",
        need="operator",
        summary="List unlogged processes, which run without a log",
    ),
    forwarding(
        TakeUpProcess,
        changed=CHANGED,
        name="unlogged:take-up",
        method="POST",
        path="/api/unlogged/{name}/take-up",
        need="operator",
        summary="Recover an unlogged process: rebuild its log from its output",
    ),
    forwarding(
        EndProcess,
        seconds=END_SECONDS,
        changed=CHANGED,
        name="unlogged:end",
        method="POST",
        path="/api/unlogged/{name}/end",
        need="operator",
        summary="End an unlogged process; its output is kept in a file",
    ),
)
