"""Throttles clients that send wrong tokens; logs repeated attempts once a minute."""

from collections.abc import Callable

from bascule.hub.door.buckets import Buckets
from bascule.hub.wire.tally import Tally

PER_MINUTE = 30
BURST = 20


class Throttle:
    """Counts wrong tokens by address. A right token is never held up: it is looked at first."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._buckets = Buckets(PER_MINUTE, BURST, steady)
        self._wrong = Tally("request(s) with a wrong token", steady)

    def wrong(self, address: str) -> bool:
        """Note a wrong token. True: it may still be answered as one; False: too many, say so."""
        self._wrong.add(address)
        return self._buckets.of(address).take()
