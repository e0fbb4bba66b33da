"""Sites that may launch: those of the settings, and those that the owner trusts by a grant."""

from collections.abc import Iterable

from bascule.launch.errors import LaunchError
from bascule.launch.site import check_trustable
from bascule.model.errors import InvalidInput
from bascule.store.grants import GrantBook

BY = "launch window"


class TrustedSites:
    """A container of origins. A site's grant is listed and revoked like any other; its secret is not kept."""

    def __init__(self, listed: Iterable[str], grants: GrantBook) -> None:
        self._listed, self._grants = frozenset(listed), grants

    def __contains__(self, origin: object) -> bool:
        return isinstance(origin, str) and (origin in self._listed or self._granted(origin))

    async def trust(self, origin: str) -> None:
        """Once: a site that is trusted already gets no second grant. Raises `LaunchError`."""
        if check_trustable(origin) in self:
            return
        try:
            await self._grants.create(origin, "site", by=BY)
        except InvalidInput:
            message = "This site's address is too long to be trusted for good. List it in launch.origins."
            raise LaunchError("invalid_request", message) from None

    def _granted(self, origin: str) -> bool:
        return any(
            one.role == "site" and one.name == origin and self._grants.get(one.id) is not None
            for one in self._grants.list()
        )
