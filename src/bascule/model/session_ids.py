"""Names of sessions."""

import secrets


def new_session_id(now: float) -> str:
    """Later ones sort behind earlier ones, by the second: a log at the end of the store's table grows at half
    the cost of one in its middle."""
    return f"{int(now) & 0xFFFF_FFFF:08x}{secrets.token_hex(4)}"
