"""Makes ids for an agent's requests that are safe to print, to type and to put in a URL."""

import hashlib
import re

_PLAIN = re.compile(r"[\w.:-]{1,128}", re.ASCII)


def own_id(foreign: str) -> str:
    """The agent's own id when it is plain, else one derived from it.

    Derived rather than counted: a request that is repeated, withdrawn, or read again after a restart gets the
    same id without any table.
    """
    if _PLAIN.fullmatch(foreign):
        return foreign
    return "x-" + hashlib.sha256(foreign.encode(errors="surrogatepass")).hexdigest()[:32]
