"""Prompts for several agents as people ask for them, for HTTP and the socket alike."""

import secrets

import msgspec

from bascule.hub.api.bodies import CompareBody, RemoveTreesBody
from bascule.hub.api.session_commands import images_of, take_spawn, where
from bascule.hub.services import Hub
from bascule.link.comparisons import (
    Comparisons,
    ContestantChanges,
    Entrant,
    KeepContestant,
    Kept,
    ListComparisons,
    ReadComparison,
    ReadContestant,
    RemoveTrees,
    StartComparison,
    TreesRemoved,
)
from bascule.model.codec import encode
from bascule.model.commands import Actor
from bascule.model.comparisons import Comparison
from bascule.model.errors import InvalidInput
from bascule.store.grants import Grant

# Git writes out whole working copies.
SECONDS = 300


async def comparison_list(hub: Hub) -> Comparisons:
    return msgspec.json.decode(await hub.switchboard.ask(ListComparisons()), type=Comparisons)


async def comparison(hub: Hub, comparison_id: str) -> Comparison:
    return msgspec.json.decode(await hub.switchboard.ask(ReadComparison(comparison_id)), type=Comparison)


async def start(hub: Hub, grant: Grant, by: Actor, key: str | None, body: CompareBody) -> Comparison:
    folder, device = await where(hub, body.project_id, body.cwd)
    for _ in body.agents:
        take_spawn(hub, grant.id)
    wish = StartComparison(
        comparison_id=secrets.token_hex(8),
        folder=folder,
        prompt=body.prompt,
        entrants=tuple(Entrant(secrets.token_hex(8), one.agent, one.model) for one in body.agents),
        by=by,
        permission_mode=body.permission_mode,
        images=images_of(body.images),
        title=body.title,
        key=key,
    )
    result = await hub.switchboard.ask(wish, device=device, timeout=SECONDS)
    _tell(hub)
    return msgspec.json.decode(result, type=Comparison)


async def changes(hub: Hub, comparison_id: str, session_id: str) -> ContestantChanges:
    wish = ReadContestant(comparison_id, session_id)
    return msgspec.json.decode(await hub.switchboard.ask(wish, timeout=SECONDS), type=ContestantChanges)


async def keep(hub: Hub, by: Actor, comparison_id: str, session_id: str) -> Kept:
    wish = KeepContestant(comparison_id, session_id, by)
    kept = msgspec.json.decode(await hub.switchboard.ask(wish, timeout=SECONDS), type=Kept)
    _tell(hub)
    return kept


async def remove(hub: Hub, by: Actor, comparison_id: str, body: RemoveTreesBody) -> TreesRemoved:
    if not body.confirm:
        raise InvalidInput("Work trees are removed only when that is confirmed (`confirm`: true).")
    wish = RemoveTrees(comparison_id, body.session_ids, by)
    removed = msgspec.json.decode(await hub.switchboard.ask(wish, timeout=SECONDS), type=TreesRemoved)
    _tell(hub)
    return removed


def _tell(hub: Hub) -> None:
    if hub.feed.listeners:
        hub.feed.notify(None, encode({"type": "compare:changed"}))
