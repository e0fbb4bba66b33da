"""Joining through any node: machines that wait, and one-time links, are in the memory of one node of a hub.

A node that does not know a code or a link asks the others; the one that made it decides.
"""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from bascule.api.bodies import PairingPoll
from bascule.api.grant_answers import LinkRedeemed
from bascule.api.machine_answers import PairingList, PairingState, PairingView
from bascule.hub.door.links import LinkNotFound
from bascule.hub.door.pairings import Pairing, PairingNotFound
from bascule.hub.services import Hub
from bascule.model.codec import encode
from bascule.model.commands import Actor, Done
from bascule.model.errors import BasculeError, DeviceOffline, NotSupported

A = TypeVar("A")
CALL_SECONDS = 5.0
UNNAMED = "browser"


class AnswerPairing(Struct, frozen=True):
    pairing_id: str
    code: str
    allow: bool
    by: str
    replaces: str = ""


class RedeemLink(Struct, frozen=True):
    secret: str
    name: str
    address: str


class ListPairings(Struct, frozen=True):
    """Those that wait at one node."""


Question = PairingPoll | AnswerPairing | RedeemLink | ListPairings
WORDS: dict[type[Any], str] = {
    PairingPoll: "pairing_poll",
    AnswerPairing: "pairing_answer",
    RedeemLink: "link_redeem",
    ListPairings: "pairing_list",
}


async def decide(hub: Hub, question: Question) -> Any:
    """At this node. Raises `PairingNotFound` or `LinkNotFound` when it is another node's."""
    match question:
        case PairingPoll():
            return await _poll(hub, question)
        case AnswerPairing():
            hub.pairings.answer(
                question.pairing_id,
                question.code,
                allow=question.allow,
                by=question.by,
                replaces=question.replaces,
            )
            return Done()
        case RedeemLink():
            return await _redeem(hub, question)
        case ListPairings():
            return _waiting(hub)


async def decide_anywhere(hub: Hub, question: Question, answer: type[A]) -> A:
    """Here, or at the node that knows it."""
    try:
        return await decide(hub, question)
    except (PairingNotFound, LinkNotFound) as not_here:
        neighbours = hub.cluster.neighbours if hub.cluster is not None else ()
        for neighbour in neighbours:
            wait = question.wait if isinstance(question, PairingPoll) else 0.0
            try:
                said = await neighbour.call(WORDS[type(question)], encode(question), wait + CALL_SECONDS)
            except BasculeError as error:
                if error.refusal().code in (not_here.code, DeviceOffline.code, NotSupported.code):
                    continue
                raise
            return msgspec.json.decode(said, type=answer)
        raise


async def all_waiting(hub: Hub) -> PairingList:
    """At all nodes; one that does not answer is left out."""
    waiting = {pairing.id: pairing for pairing in _waiting(hub).pairings}
    for neighbour in hub.cluster.neighbours if hub.cluster is not None else ():
        try:
            said = await neighbour.call(WORDS[ListPairings], b"{}", CALL_SECONDS)
        except BasculeError:
            continue
        waiting |= {pairing.id: pairing for pairing in msgspec.json.decode(said, type=PairingList).pairings}
    return PairingList(pairings=list(waiting.values()))


async def answer_call(hub: Hub, what: str, body: bytes) -> bytes:
    """A question of another node. Raises `NotSupported` for one of a newer version."""
    kind = next((kind for kind, word in WORDS.items() if word == what), None)
    if kind is None:
        raise NotSupported(f"This node of the hub does not know {what[:80]}; update it.")
    return encode(await decide(hub, msgspec.json.decode(body, type=kind)))


async def _poll(hub: Hub, question: PairingPoll) -> PairingState:
    pairing = await hub.pairings.outcome(question.secret, question.wait)
    if pairing.state != "allowed":
        return PairingState(state=pairing.state, by=pairing.by)
    return PairingState(state="allowed", token=await _admit(hub, pairing), by=pairing.by)


async def _admit(hub: Hub, pairing: Pairing) -> str:
    """The machine's grant, made only when the machine is there to take it. It replaces an earlier one."""
    grants, asked = hub.grants, pairing.asked
    earlier = [one.id for one in grants.list() if one.device in {asked.device, pairing.replaces} - {""}]
    name = "".join(letter for letter in asked.name if letter.isprintable()).strip()[:100] or "machine"
    _, secret = await grants.create(name, "daemon", device=asked.device, by=pairing.by)
    for grant_id in earlier:
        await grants.revoke(grant_id, by=pairing.by)
    if pairing.replaces:
        await hub.switchboard.replace(pairing.replaces, asked.device, Actor(pairing.by))
    return secret


async def _redeem(hub: Hub, question: RedeemLink) -> LinkRedeemed:
    """One use: the second gets an error that says so, and the owner sees the first among the grants."""
    link = hub.links.take(question.secret, question.address)
    name = link.name or question.name or UNNAMED
    try:
        grant, token = await hub.grants.create(name, link.role, by=link.by)
    except BaseException:
        hub.links.give_back(link)
        raise
    return LinkRedeemed(token=token, name=grant.name, role=link.role)


def _waiting(hub: Hub) -> PairingList:
    known = {one.device for one in hub.grants.list() if one.device}
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
                expires_in=hub.pairings.left(one),
                known=one.asked.device in known,
            )
            for one in hub.pairings.waiting()
        ]
    )
