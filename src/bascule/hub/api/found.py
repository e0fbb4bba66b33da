"""Sessions begun outside Bascule: list them, follow one, and hand messages to an agent in its terminal."""

import asyncio
import contextlib

from msgspec.structs import replace

from bascule.api.bodies import FoundNamed
from bascule.api.search_answers import FoundEverywhere, MissingDevice
from bascule.hub.calls.call import Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.hub.devices.device_line import DeviceLine
from bascule.link.found import AwaitFeedback, FollowFound, FoundList, ListFound, Looking, TakeFeedback
from bascule.model.commands import Done
from bascule.model.errors import BasculeError, SessionNotFound

ANSWER_SECONDS = 1.0  # that each of several machines has
SCAN_SECONDS = 30.0  # when they are to answer only after they have looked for new ones


async def list_found(call: Call[ListFound]) -> FoundEverywhere:
    """Of one machine; or, when none is named, of all that answer soon, and who did not."""
    board = call.hub.switchboard
    await board.met()
    known = board.devices()
    if call.names_device or len(known) < 2:
        return _joined({call.target: await call.ask(call.body)}, call.body.limit)
    online = [one.device for one in known if one.online]
    answers = await asyncio.gather(*(_found_on(call, device) for device in online))
    found = {device: answer for device, answer in zip(online, answers, strict=True) if answer is not None}
    joined = _joined(found, call.body.limit)
    missing = tuple(
        MissingDevice(device=one.device, name=one.name, last_heard=one.last_heard)
        for one in known
        if one.device not in found
    )
    return replace(joined, missing=missing)


async def _found_on(call: Call[ListFound], device: str) -> FoundList | None:
    seconds = SCAN_SECONDS if call.body.wait else ANSWER_SECONDS
    try:
        return await call.hub.switchboard.ask(device, call.body, call.by, seconds=seconds)
    except BasculeError:
        return None  # it is named as missing


def _joined(found: dict[str, FoundList], limit: int) -> FoundEverywhere:
    """One list of all, each with its machine: those open in a terminal first, then the newest."""
    sessions = [replace(one, device=device) for device, answer in found.items() for one in answer.sessions]
    if len(found) > 1:
        sessions.sort(key=lambda one: (one.terminal is not None, one.updated_at), reverse=True)
    looking = [answer.looking for answer in found.values()]
    return FoundEverywhere(
        sessions=sessions[:limit],
        total=sum(answer.total for answer in found.values()),
        looking=Looking(
            running=any(one.running for one in looking),
            done=sum(one.done for one in looking),
            total=sum(one.total for one in looking),
            problems=sum(one.problems for one in looking),
        ),
    )


async def fetch(call: Call[FoundNamed]) -> Done:
    """A found session of another machine is copied only when somebody wants to see it.

    Who comes by a link knows its id alone: then it is copied from whichever machine has it.
    """
    board, session_id = call.hub.switchboard, call.body.session_id
    await board.met()
    if call.device is None:
        here = [board.line(device.device) for device in board.devices() if board.is_connected(device.device)]
        await _fetch_from_one_of(here, session_id)
    elif (fetching := board.line(board.device(call.device)).fetch) is not None:
        await fetching(session_id)
    return Done()


async def _fetch_from_one_of(lines: list[DeviceLine], session_id: str) -> None:
    """Raises `SessionNotFound` when none of the machines that answer has it."""
    asked = [
        asyncio.ensure_future(line.fetch(session_id))
        for line in lines
        if line.fetch is not None and not line.stale
    ]
    try:
        for answer in asyncio.as_completed(asked):
            with contextlib.suppress(BasculeError):
                await answer
                return
    finally:
        for one in asked:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
    raise SessionNotFound(session_id)


OPERATIONS = (
    Operation(
        name="found:fetch",
        method="POST",
        path="/api/found-sessions/{session_id}/fetch",
        need="viewer",
        body=FoundNamed,
        answer=Done,
        run=fetch,
        for_device=True,
        summary="Have a found session of another machine copied to this hub, whichever has it",
    ),
    Operation(
        name="found:list",
        method="GET",
        path="/api/found-sessions",
        need="viewer",
        body=ListFound,
        answer=FoundEverywhere,
        run=list_found,
        for_device=True,
        summary="List found sessions, those started outside Bascule, of one machine or of all",
    ),
    forwarding(
        FollowFound,
        name="session:follow",
        method="POST",
        path="/api/sessions/{session_id}/follow",
        need="session_files",
        summary="Watch a found session's file for 30 seconds",
    ),
    # Messages of every session pass here: for the owner of the machine, never for a link to one session.
    forwarding(
        AwaitFeedback,
        method="POST",
        path="/api/feedback/wait",
        need="owner",
        summary="For an agent's hook: wait until a message for its terminal can be taken",
    ),
    forwarding(
        TakeFeedback,
        method="POST",
        path="/api/feedback/take",
        need="owner",
        summary="For an agent's hook: take the next message for its terminal, once",
    ),
)
