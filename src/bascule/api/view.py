"""The base of the API's answers: one struct each, for HTTP, the socket, the page and the client.

The hub sends every field, in camelCase. Defaults are for a client that talks to an older server.
"""

from msgspec import Struct


class View(Struct, frozen=True, rename="camel", kw_only=True):
    """The base of every answer."""
