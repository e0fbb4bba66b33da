"""Pairing: a machine asks to join, its owner compares the code and allows it, the machine gets its grant."""

from bascule.api.bodies import PairingAnswer, PairingBody, PairingPoll
from bascule.api.machine_answers import PairingAsked, PairingList, PairingState
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.door.pairings import LIFETIME
from bascule.hub.nodes.joining import AnswerPairing, all_waiting, decide_anywhere
from bascule.model.commands import Done


async def ask(call: Call[PairingBody]) -> PairingAsked:
    pairing, secret = call.hub.pairings.ask(call.body, call.by.address)
    return PairingAsked(code=pairing.code, secret=secret, expires_in=LIFETIME)


async def poll(call: Call[PairingPoll]) -> PairingState:
    return await decide_anywhere(call.hub, call.body, PairingState)


async def list_waiting(call: AnyCall) -> PairingList:
    return await all_waiting(call.hub)


async def answer(call: Call[PairingAnswer]) -> Done:
    body = call.body
    question = AnswerPairing(body.pairing_id, body.code, body.allow, call.by.name, body.replaces)
    if body.allow and body.replaces:
        call.hub.switchboard.check_replaceable(body.replaces)
    return await decide_anywhere(call.hub, question, Done)


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/pairings",
        need="public",
        body=PairingBody,
        answer=PairingAsked,
        run=ask,
        summary="Ask to let this machine join",
    ),
    Operation(
        method="POST",
        path="/api/pairings/poll",
        need="public",
        body=PairingPoll,
        answer=PairingState,
        run=poll,
        summary="Get whether the owner has let this machine join",
    ),
    Operation(
        name="pairings:list",
        method="GET",
        path="/api/pairings",
        need="owner",
        answer=PairingList,
        run=list_waiting,
        summary="List machines that ask to join",
    ),
    Operation(
        name="pairings:answer",
        method="POST",
        path="/api/pairings/{pairing_id}/answer",
        need="owner",
        body=PairingAnswer,
        answer=Done,
        run=answer,
        summary="Let a machine join, or refuse it",
    ),
)
