"""`bascule://` links: a prompt that a web page or a document offers. Pure.

    bascule://launch?prompt=Explain%20this&repo=owner/name

Anybody can write one, so it only ever prefills: the prompt is typed, and the person who clicked sends it.
"""

from urllib.parse import parse_qsl, urlsplit

from bascule.launch.errors import LaunchError
from bascule.launch.request import LaunchRequest, request_of

SCHEME, ACTION = "bascule", "launch"
MAX_PROMPT = 5000  # characters: what a person can read through before sending it
# As in the body of `POST /launch`; `mode` is not among them.
NAMES = ("prompt", "workingDirectory", "repo", "agent")


def parse_link(link: str) -> LaunchRequest:
    """The launch that a link asks for, always in the mode `prefill`. Raises `LaunchError`."""
    try:
        parts = urlsplit(link)
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True, errors="strict")
    except ValueError:
        raise _refused("it can't be read") from None
    if parts.scheme != SCHEME or parts.netloc != ACTION or parts.path not in ("", "/"):
        raise _refused(f"it must begin with {SCHEME}://{ACTION}?prompt=")
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise _refused(f"it names {name} twice")
        if name in NAMES:
            fields[name] = value
    prompt = str(fields.get("prompt", ""))
    if len(prompt) > MAX_PROMPT:
        message = f"The prompt of this link has {len(prompt):,} characters; a link may have {MAX_PROMPT:,}."
        raise LaunchError("prompt_too_large", message, length=len(prompt), limit=MAX_PROMPT)
    return request_of({**fields, "mode": "prefill"})


def _refused(why: str) -> LaunchError:
    return LaunchError("invalid_request", f"This link can't be opened: {why}.")
