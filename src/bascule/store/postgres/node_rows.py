"""Rows that a hub's nodes share: the live nodes, the node of each machine, tickets and claims."""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from bascule.store.postgres.bus import Bus

DEAD_AFTER = 15.0  # seconds without a heartbeat
CLAIM_DAYS = 30

BEAT = """
INSERT INTO nodes (node, url, version, heard_at) VALUES ($1, $2, $3, now())
ON CONFLICT (node) DO UPDATE SET heard_at = now(), url = excluded.url
"""
# One that was killed and started again at its address is another node; the one before is gone.
SUCCEED = "DELETE FROM nodes WHERE url = $2 AND node <> $1"
SWEEP = "DELETE FROM nodes WHERE heard_at < now() - interval '1 day'"
NODES = "SELECT node, url FROM nodes WHERE heard_at > now() - make_interval(secs => $1) AND node <> $2"
GONE = "DELETE FROM nodes WHERE node = $1"
DETACH_ALL = "UPDATE attachments SET node = '' WHERE node = $1"
CHANGES = "SELECT book, n FROM book_changes"
ATTACHMENTS = "SELECT device, node, epoch FROM attachments WHERE node <> ''"
NEXT_EPOCH = """
INSERT INTO attachments AS one (device, counted)
VALUES ($1, coalesce((SELECT epoch FROM devices WHERE device = $1), 0) + 1)
ON CONFLICT (device) DO UPDATE SET counted = greatest(one.counted + 1, excluded.counted) RETURNING counted
"""
ATTACH = """
INSERT INTO attachments AS one (device, node, epoch, counted) VALUES ($1, $2, $3, $3)
ON CONFLICT (device) DO UPDATE SET node = excluded.node, epoch = excluded.epoch,
    counted = greatest(one.counted, excluded.counted) WHERE one.epoch <= excluded.epoch
"""
DETACH = "UPDATE attachments SET node = '' WHERE device = $1 AND node = $2 AND epoch = $3"
ISSUE = """
INSERT INTO tickets (secret_sha256, grant_id, path, ends)
VALUES ($1, $2, $3, now() + make_interval(secs => $4))
"""
REDEEM = "DELETE FROM tickets WHERE secret_sha256 = $1 RETURNING grant_id, path, ends > now() AS holds"
SWEEP_TICKETS = "DELETE FROM tickets WHERE ends < now()"
CLAIM = "INSERT INTO claimed_notices (what, node) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING what"
# A claim whose answer was lost is made again by the node that has it.
CLAIM_REQUEST = """
INSERT INTO claimed_notices AS one (what, node) VALUES ($1, $2)
ON CONFLICT (what) DO UPDATE SET node = one.node WHERE one.node = excluded.node RETURNING what
"""
CLAIMED = "SELECT what FROM claimed_notices WHERE what = ANY($1)"
SWEEP_CLAIMS = f"DELETE FROM claimed_notices WHERE at < now() - interval '{CLAIM_DAYS} days'"


class Attachment(NamedTuple):
    """The node that holds a machine's connection."""

    node: str
    epoch: int


class Picture(NamedTuple):
    """All nodes but this one, by their id; where each machine is; how often each book was changed."""

    nodes: dict[str, str]
    attachments: dict[str, Attachment]
    changes: dict[str, int]


class NodeRows:
    """Statements of one node, on the bus."""

    def __init__(self, bus: Bus, node: str) -> None:
        self._bus, self._node = bus, node

    async def beat(self, url: str, version: str) -> None:
        await self._bus.fetch(BEAT, self._node, url, version)

    async def succeed(self, url: str) -> None:
        """No other node can be at this one's address."""
        await self._bus.fetch(SUCCEED, self._node, url)

    async def leave(self) -> None:
        """This node stops: its machines look for another one."""
        await self._bus.fetch(DETACH_ALL, self._node)
        await self._bus.fetch(GONE, self._node)

    async def picture(self) -> Picture:
        nodes = {row["node"]: row["url"] for row in await self._bus.fetch(NODES, DEAD_AFTER, self._node)}
        rows = await self._bus.fetch(ATTACHMENTS)
        attachments = {row["device"]: Attachment(row["node"], row["epoch"]) for row in rows}
        changes = {row["book"]: row["n"] for row in await self._bus.fetch(CHANGES)}
        return Picture(nodes, attachments, changes)

    async def next_epoch(self, device: str) -> int:
        return int((await self._bus.fetch(NEXT_EPOCH, device))[0]["counted"])

    async def attach(self, device: str, epoch: int) -> None:
        """A newer connection of the machine, at whichever node, stays."""
        await self._bus.fetch(ATTACH, device, self._node, epoch)

    async def detach(self, device: str, epoch: int) -> None:
        await self._bus.fetch(DETACH, device, self._node, epoch)

    # Tickets

    async def issue(self, secret: str, grant_id: str, path: str, seconds: float) -> None:
        await self._bus.fetch(ISSUE, _hashed(secret), grant_id, path, seconds)

    async def redeem(self, secret: str, path: str) -> str | None:
        """The grant's id; the ticket is gone whatever the outcome, and for all nodes."""
        rows = await self._bus.fetch(REDEEM, _hashed(secret))
        return rows[0]["grant_id"] if rows and rows[0]["holds"] and rows[0]["path"] == path else None

    # Claims

    async def claim(self, what: str) -> bool:
        """True for the one node that may send this notification."""
        return bool(await self._bus.fetch(CLAIM, what[:500], self._node))

    async def claim_request(self, session_id: str, request_id: str) -> bool:
        """True for the one node that may tell people of this request."""
        what = request_claim(session_id, request_id)
        return bool(await self._bus.fetch(CLAIM_REQUEST, what, self._node))

    async def claimed(self, claims: Sequence[str]) -> set[str]:
        """Those of them that some node has."""
        return {row["what"] for row in await self._bus.fetch(CLAIMED, list(claims))}

    async def sweep(self) -> None:
        for statement in (SWEEP, SWEEP_TICKETS, SWEEP_CLAIMS):
            await self._bus.fetch(statement)


def request_claim(session_id: str, request_id: str) -> str:
    """Hashed, because a request may have a name of any length."""
    return f"request {_hashed(f'{session_id} {request_id}')}"


def _hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
