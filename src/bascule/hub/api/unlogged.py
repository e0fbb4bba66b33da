"""Operations on unlogged processes: list, recover, end."""

from bascule.hub.api.forwarding import forwarding
from bascule.link.unlogged import EndProcess, ListUnlogged, TakeUpProcess

END_SECONDS = 45.0  # stdin closes, TERM, KILL, and what it wrote is put aside
CHANGED = {"type": "unlogged:changed"}

OPERATIONS = (
    forwarding(
        ListUnlogged,
        name="unlogged:list",
        method="GET",
        path="/api/unlogged",
        need="operator",
        summary="Processes that run and are not in the log",
    ),
    forwarding(
        TakeUpProcess,
        changed=CHANGED,
        name="unlogged:take-up",
        method="POST",
        path="/api/unlogged/{name}/take-up",
        need="operator",
        summary="Begin a log for such a process from what was kept of its output",
    ),
    forwarding(
        EndProcess,
        seconds=END_SECONDS,
        changed=CHANGED,
        name="unlogged:end",
        method="POST",
        path="/api/unlogged/{name}/end",
        need="operator",
        summary="End such a process and put what was kept of its output aside",
    ),
)
