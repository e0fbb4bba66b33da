"""Pairing: a machine asks to join, its owner compares the code and allows it, the machine gets its grant."""

from bascule.api.bodies import PairingAnswer, PairingBody, PairingPoll
from bascule.api.machine_answers import PairingAsked, PairingList, PairingState, PairingView
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.operation import Operation
from bascule.hub.door.pairings import LIFETIME, Pairing
from bascule.model.commands import Actor, Done


async def ask(call: Call[PairingBody]) -> PairingAsked:
    pairing, secret = call.hub.pairings.ask(call.body, call.by.address)
    return PairingAsked(code=pairing.code, secret=secret, expires_in=LIFETIME)


async def poll(call: Call[PairingPoll]) -> PairingState:
    pairing = await call.hub.pairings.outcome(call.body.secret, call.body.wait)
    if pairing.state != "allowed":
        return PairingState(state=pairing.state, by=pairing.by)
    return PairingState(state="allowed", token=await _admit(call, pairing), by=pairing.by)


async def _admit(call: AnyCall, pairing: Pairing) -> str:
    """The machine's grant, made only when the machine is there to take it. It replaces an earlier one."""
    grants, asked = call.hub.grants, pairing.asked
    earlier = [one.id for one in grants.list() if one.device in {asked.device, pairing.replaces} - {""}]
    name = "".join(letter for letter in asked.name if letter.isprintable()).strip()[:100] or "machine"
    _, secret = await grants.create(name, "daemon", device=asked.device, by=pairing.by)
    for grant_id in earlier:
        await grants.revoke(grant_id, by=pairing.by)
    if pairing.replaces:
        await call.hub.switchboard.replace(pairing.replaces, asked.device, Actor(pairing.by))
    return secret


async def list_waiting(call: AnyCall) -> PairingList:
    pairings = call.hub.pairings
    known = {one.device for one in call.hub.grants.list() if one.device}
    return PairingList(
        pairings=[
            PairingView(
                id=one.id,
                code=one.code,
                device=one.asked.device,
                name=one.asked.name,
                user=one.asked.user,
                version=one.asked.version,
                address=one.address,
                agents=list(one.asked.agents),
                expires_in=pairings.left(one),
                known=one.asked.device in known,
            )
            for one in pairings.waiting()
        ]
    )


async def answer(call: Call[PairingAnswer]) -> Done:
    body = call.body
    if body.allow and body.replaces:
        call.hub.switchboard.check_replaceable(body.replaces)
    call.hub.pairings.answer(
        body.pairing_id, body.code, allow=body.allow, by=call.by.name, replaces=body.replaces
    )
    return Done()


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/pairings",
        need="public",
        body=PairingBody,
        answer=PairingAsked,
        run=ask,
        summary="Ask that this machine may join",
    ),
    Operation(
        method="POST",
        path="/api/pairings/poll",
        need="public",
        body=PairingPoll,
        answer=PairingState,
        run=poll,
        summary="Hear whether the owner has let this machine join",
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
        summary="Let a machine join, or not",
    ),
)
