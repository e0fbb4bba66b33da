"""Who answers a permission request: a rule, the session's permission mode, or a person (None)."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bascule.model.events import PermissionRequested
from bascule.policy.rules import Rule, matches, words

READ_KINDS = frozenset({"read", "search"})

MODE_WORDS = {
    "relay": "Ask first",
    "auto_read": "Reads are allowed, everything else asks",
    "auto": "Everything is allowed without asking",
    "deny": "Everything is denied without asking",
}


class Verdict(Struct, frozen=True):
    decision: Literal["allow", "deny"]
    rule: str  # in words, for the log and the audit
    message: str | None = None


def decide(asked: PermissionRequested, mode: str, rules: Sequence[Rule], cwd: str) -> Verdict | None:
    """The answer policy gives, or None when a person must."""
    hits = [rule for rule in rules if matches(rule, asked, cwd)]
    for rule in hits:
        if rule.decision == "deny":
            return Verdict("deny", words(rule), "A rule of this session denies it.")
    if mode == "deny":
        return Verdict("deny", MODE_WORDS[mode], "This session denies every request.")
    if hits:
        return Verdict("allow", words(hits[0]))
    if asked.kind == "plan":  # a plan is for a person to read
        return None
    if mode == "auto" or (mode == "auto_read" and asked.kind in READ_KINDS):
        return Verdict("allow", MODE_WORDS[mode])
    return None
