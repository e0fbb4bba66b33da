"""Classifies a web page's origin: on this machine or not, and whether it can be trusted for good. Pure."""

import re

from bascule.launch.errors import LaunchError
from bascule.model.loopback import is_loopback

# As browsers write an origin: lower case, punycode, a port only where it is not the scheme's own.
_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([1-9][0-9]{0,4}))?")


def is_loopback_origin(origin: str) -> bool:
    """A page that this machine serves to itself."""
    found = _ORIGIN.fullmatch(origin)
    return found is not None and (is_loopback(found[2]) or found[2].endswith(".localhost"))


def check_trustable(origin: str) -> str:
    """An origin that may be trusted for good. Raises `invalid_request`."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:
        message = "A page without an address of its own can't be trusted for good."
        raise LaunchError("invalid_request", message)
    if found[1] != "https" and not is_loopback_origin(origin):
        message = (
            "A page that comes without https can't be trusted for good: anybody on its way could change it."
        )
        raise LaunchError("invalid_request", message)
    return origin
