"""One-time links: the owner makes one for another browser, which redeems it for a lasting grant."""

from bascule.api.bodies import LinkBody, RedeemBody
from bascule.api.grant_answers import LinkMade, LinkRedeemed
from bascule.hub.calls.call import Call
from bascule.hub.calls.operation import Operation
from bascule.hub.door.links import LIFETIME
from bascule.hub.door.own_addresses import addresses_of
from bascule.hub.nodes.joining import RedeemLink, decide_anywhere
from bascule.store.grants import MAX_NAME


async def create(call: Call[LinkBody]) -> LinkMade:
    """The secret stands behind the `#`, which browsers do not send: it is in no server's log."""
    hub, body = call.hub, call.body
    secret = hub.links.make(_printable(body.name), body.role, call.by.name)
    return LinkMade(
        link=f"{hub.doors.url}/#pair={secret}",
        secret=secret,
        expires_in=LIFETIME,
        addresses=addresses_of(hub.settings, hub.doors),
    )


async def redeem(call: Call[RedeemBody]) -> LinkRedeemed:
    question = RedeemLink(call.body.secret, _printable(call.body.name), call.by.address)
    return await decide_anywhere(call.hub, question, LinkRedeemed)


def _printable(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable()).strip()[:MAX_NAME]


OPERATIONS = (
    Operation(
        name="links:create",
        method="POST",
        path="/api/links",
        need="owner",
        body=LinkBody,
        answer=LinkMade,
        run=create,
        summary="Create a one-time link for another browser",
    ),
    Operation(
        method="POST",
        path="/api/links/redeem",
        need="public",
        body=RedeemBody,
        answer=LinkRedeemed,
        run=redeem,
        summary="Redeem a one-time link for a lasting grant",
    ),
)
