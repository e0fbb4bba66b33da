"""Finds the TCP addresses on which the processes of one session listen. It looks once, when it is called."""

import ipaddress
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bascule.link.listening import Listener, Listening
from bascule.model.loopback import is_loopback

if TYPE_CHECKING:
    import psutil

SESSION_MARK = "BASCULE_SESSION"  # the keeper puts it into the environment of what it starts
MAX_PROCESSES = 512
MAX_LISTENERS = 100
MAX_NAME = 64


@dataclass(frozen=True)
class Family:
    """By what the processes of one session are recognised."""

    leaders: frozenset[int]  # the processes that the keeper started for it
    names: frozenset[str]  # the keeper's names of them: the mark that their descendants inherit
    orphans_of: int = 0  # the keeper, when it runs nothing else: then each orphan it got is this session's


def look(family: Family, *, shared: bool = False) -> Listening:
    """Processes that the system does not let us look into are counted; those that end meanwhile are not."""
    import psutil  # noqa: PLC0415 - slow to load, for what few people ask for

    members = _members(family)
    found: dict[tuple[str, int], Listener] = {}
    unseen = 0
    for process in members[:MAX_PROCESSES]:
        try:
            for one in _listeners(process):
                found.setdefault((one.address, one.port), one)
        except (psutil.AccessDenied, PermissionError):
            unseen += 1
        except (psutil.Error, OSError):  # it is gone
            continue
    # Those that others can reach come first, so that no bound leaves them out.
    ordered = sorted(found.values(), key=lambda one: (one.loopback, one.port, one.address))
    return Listening(
        running=True,
        listeners=tuple(ordered[:MAX_LISTENERS]),
        cut=len(members) > MAX_PROCESSES or len(ordered) > MAX_LISTENERS,
        shared=shared,
        unseen=unseen,
    )


def _members(family: Family) -> "list[psutil.Process]":
    """The leaders first, then what belongs to them, parents before their children."""
    import psutil  # noqa: PLC0415

    everyone: dict[int, psutil.Process] = {}
    parents: dict[int, int] = {}
    for pid in psutil.pids():
        try:
            everyone[pid] = psutil.Process(pid)
            parents[pid] = everyone[pid].ppid()
        except psutil.Error:
            everyone.pop(pid, None)
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found: dict[int, psutil.Process] = {}

    def add(pid: int) -> None:
        waiting = [pid]
        while waiting:
            one = waiting.pop(0)
            if one in everyone and one not in found:
                found[one] = everyone[one]
                waiting += children.get(one, [])

    for pid in sorted(family.leaders):
        add(pid)
    never = {os.getpid(), family.orphans_of}
    for pid, process in everyone.items():
        if pid not in found and pid not in never and _belongs(process, parents[pid], family):
            add(pid)
    return list(found.values())


def _belongs(process: "psutil.Process", parent: int, family: Family) -> bool:
    """Whether it is one that left its parents: by its group, its terminal's session or its mark."""
    import psutil  # noqa: PLC0415

    if parent and parent == family.orphans_of:
        return True
    try:
        if os.getpgid(process.pid) in family.leaders or os.getsid(process.pid) in family.leaders:
            return True
        return process.environ().get(SESSION_MARK) in family.names
    except (psutil.Error, OSError):  # another user's, or gone
        return False


def _listeners(process: "psutil.Process") -> list[Listener]:
    import psutil  # noqa: PLC0415

    with process.oneshot():
        sockets = [
            connection
            for connection in process.net_connections(kind="tcp")
            if connection.status == psutil.CONN_LISTEN
        ]
        if not sockets:
            return []
        name = _name(process)
    places = [(socket.laddr.ip, socket.laddr.port) for socket in sockets]
    return [
        Listener(address=ip, port=port, loopback=_is_loopback(ip), pid=process.pid, process=name)
        for ip, port in places
    ]


def _name(process: "psutil.Process") -> str:
    """A process chooses its own name, any bytes: what is no text is replaced."""
    return process.name()[:MAX_NAME].encode(errors="replace").decode()


def _is_loopback(address: str) -> bool:
    """As `is_loopback`; an IPv4 address may be in the form of an IPv6 one."""
    parsed = ipaddress.ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return is_loopback(str(mapped or parsed))
