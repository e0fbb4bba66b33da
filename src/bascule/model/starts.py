"""Starts from another machine: one that waits for approval, and the signature of a trusted browser."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bascule.model.fields import Name, Sha256

StartDecision = Literal["approve", "deny", "block"]
# waiting: nobody has answered; starting: approved, and on its way. The others are how it ended.
StartState = Literal["waiting", "starting", "denied", "expired", "failed"]
Words = Annotated[str, Meta(max_length=4096)]


class StartSignature(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A browser that holds a secret of the machine signs one start: see `policy/start_signing.py`."""

    key: Name  # which secret
    at: Annotated[int, Meta(ge=0, le=2**53)]  # the browser's time in milliseconds
    nonce: Annotated[str, Meta(min_length=16, max_length=64)]  # taken once
    mac: Sha256


class WaitingStart(Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A start that waits on its machine, as people see it; for a while also how it ended."""

    id: Name
    session_id: Words
    what: Words  # "Claude Code", or what else is asked for
    folder: Words
    words: Words  # the first ones of the prompt
    by: Words
    browser: Words
    address: Words
    via: Words = ""  # the hub it came by
    asked_at: float
    expires_at: float
    reasons: Annotated[tuple[Words, ...], Meta(max_length=20)] = ()  # why it is unusual
    state: StartState = "waiting"
    plain: bool = True  # a new session, and nothing else
    message: Words = ""  # for a person: how it ended, or why no notice could be sent
