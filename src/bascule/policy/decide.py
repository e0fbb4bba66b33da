"""Decides a permission request: by a rule, by the session's permission mode, or not (None: a person does).

Deny beats ask, ask beats allow. A rule that may fit, but can't be compared exactly, asks.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from bascule.model.event_values import Decision
from bascule.model.events import PermissionRequested
from bascule.model.records import SessionRecord
from bascule.model.rules import StandingRule
from bascule.policy.disk import UNSEEN, Disk
from bascule.policy.fitting import Fit, RequestOrigin, fit, reads_plainly
from bascule.policy.lasting_rules import specificity
from bascule.policy.lasting_rules import words as lasting_words
from bascule.policy.session_rules import SessionRule, matching, words
from bascule.policy.shell import Argv
from bascule.policy.subject import Subject, subject_of

MODE_WORDS = {
    "relay": "Ask first",
    "auto_read": "Reading in the session's folder is allowed, except hidden files; everything else asks",
    "auto": "Everything is allowed without asking",
    "deny": "Everything it asks for is denied",
}


class Verdict(Struct, frozen=True):
    decision: Decision
    rule: str  # in words, for the log and the audit
    message: str | None = None
    rule_ids: tuple[str, ...] = ()  # of lasting rules


class Part(Struct, frozen=True):
    """The lasting rules' answer to one command of a chain, or to a request without parts."""

    argv: Argv | None
    answer: Literal["allow", "deny", "ask"] | None
    rule: StandingRule | None
    unsure: bool = False  # the rule may fit; whether it does can't be said


# Gives the answer to a request in a session, with the rules made there; None when a person must.
Ruling = Callable[[PermissionRequested, SessionRecord, Sequence[SessionRule]], Verdict | None]


def by_mode(
    asked: PermissionRequested, record: SessionRecord, rules: Sequence[SessionRule]
) -> Verdict | None:
    """By the session's own rules and mode alone."""
    return decide(asked, record.permission_mode, rules, record.cwd)


def judged(subject: Subject, rules: Sequence[StandingRule], place: RequestOrigin, disk: Disk) -> list[Part]:
    parts: tuple[Argv | None, ...] = subject.parts or (None,)
    return [_judged_part(subject, part, rules, place, disk) for part in parts]


def _judged_part(
    subject: Subject, part: Argv | None, rules: Sequence[StandingRule], place: RequestOrigin, disk: Disk
) -> Part:
    fits = [(rule, fit(rule, subject, part, place, disk)) for rule in rules]
    fits.sort(key=lambda one: specificity(one[0]), reverse=True)
    for rule, how in fits:
        if rule.answer == "deny" and how is Fit.YES:
            return Part(part, "deny", rule)
    for rule, how in fits:
        if (rule.answer == "ask" and how is not Fit.NO) or (rule.answer == "deny" and how is Fit.UNSURE):
            return Part(part, "ask", rule, unsure=how is Fit.UNSURE)
    for rule, how in fits:
        if rule.answer == "allow" and how is Fit.YES:
            return Part(part, "allow", rule)
    return Part(part, None, None)


def decide(
    asked: PermissionRequested,
    mode: str,
    rules: Sequence[SessionRule],
    cwd: str,
    lasting: Sequence[StandingRule] = (),
    place: RequestOrigin | None = None,
    disk: Disk = UNSEEN,
) -> Verdict | None:
    """The answer policy gives, or None when a person must."""
    place = place or RequestOrigin("", cwd, "")
    subject = subject_of(asked)
    parts = judged(subject, lasting, place, disk) if subject is not None and lasting else []
    hits = matching(rules, asked, cwd, disk)
    for rule in hits:
        if rule.decision == "deny":
            return Verdict("deny", words(rule), "A rule of this session denies it.")
    denying = [part for part in parts if part.answer == "deny"]
    if denying:
        said = _words_of(denying)
        return Verdict("deny", said, f"A rule denies this: {said}.", _ids_of(denying))
    if mode == "deny":
        return Verdict("deny", MODE_WORDS[mode], "This session denies every request.")
    if any(part.answer == "ask" for part in parts):
        return None
    if hits:
        return Verdict("allow", words(hits[0]))
    if asked.kind == "plan":  # a plan is for a person to read
        return None
    if parts and all(part.answer == "allow" for part in parts):
        return Verdict("allow", _words_of(parts), None, _ids_of(parts))
    reading = mode == "auto_read" and subject is not None and reads_plainly(subject, place, disk)
    if mode == "auto" or reading:
        return Verdict("allow", MODE_WORDS[mode])
    return None


def _words_of(parts: Sequence[Part]) -> str:
    return "; ".join(dict.fromkeys(lasting_words(part.rule) for part in parts if part.rule is not None))


def _ids_of(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.rule.id for part in parts if part.rule is not None))
