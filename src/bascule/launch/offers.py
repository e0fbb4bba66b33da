"""Offers: prompts that the launch window hands to the workbench, which shows them for a person to start."""

import secrets
from collections import OrderedDict
from collections.abc import Callable

from bascule.launch.errors import LaunchError
from bascule.launch.request import LaunchRequest

KEPT = 20
KEPT_SECONDS = 600.0


class PromptOffers:
    """In memory, for ten minutes: after that the person clicks again."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._offers: OrderedDict[str, tuple[float, str, LaunchRequest]] = OrderedDict()

    def add(self, request: LaunchRequest, who: str) -> str:
        """The offer's id. `who` is the page that asked."""
        name = secrets.token_urlsafe(16)
        self._offers[name] = (self._steady(), who, request)
        while len(self._offers) > KEPT:
            self._offers.popitem(last=False)
        return name

    def get(self, name: str) -> tuple[str, LaunchRequest]:
        """Who asked, and what. It stays: a page that is loaded again asks again."""
        found = self._offers.get(name)
        if found is None or self._steady() - found[0] > KEPT_SECONDS:
            raise LaunchError(
                "not_found", "This prompt is not offered any more. Launch it again from its page."
            )
        return found[1], found[2]
