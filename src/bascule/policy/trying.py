"""Tries rules out: on a request that a person types, and on earlier requests."""

from collections.abc import Sequence

from bascule.model.rules import RuleAnswer, StandingRule, ToolClass, Tried, TriedPart
from bascule.policy.decide import Part, judged
from bascule.policy.disk import Disk
from bascule.policy.file_calls import is_plain
from bascule.policy.fitting import RequestOrigin
from bascule.policy.lasting_rules import words
from bascule.policy.shell import parts_of
from bascule.policy.subject import Subject


def typed_subject(tool_class: ToolClass, text: str) -> Subject:
    """The subject of a request with this command, path, host or tool."""
    match tool_class:
        case "command":
            parts = parts_of(text)
            return Subject("command", "", parts is not None, parts, text=text, said=text)
        case "read" | "edit":
            return Subject(tool_class, "", is_plain(text), paths=(text,), text=text)
        case "fetch":
            return Subject("fetch", "", bool(text), host=text or None, text=text, said=text)
        case _:
            return Subject(tool_class, text, True, text=text, said=text)


def tried(subject: Subject, rules: Sequence[StandingRule], place: RequestOrigin, disk: Disk) -> Tried:
    parts = judged(subject, rules, place, disk)
    shown = tuple(
        TriedPart(
            subject.text if part.argv is None else " ".join(part.argv),
            part.answer,
            part.rule.id if part.rule else None,
            words(part.rule) if part.rule else "",
        )
        for part in parts
    )
    answer = overall(parts)
    return Tried(answer, _why(subject, parts, answer), shown)


def overall(parts: Sequence[Part]) -> RuleAnswer:
    """Deny beats ask, ask beats allow; a chain is only allowed when every part is."""
    answers = {part.answer for part in parts}
    if "deny" in answers:
        return "deny"
    return "allow" if answers == {"allow"} else "ask"


def _why(subject: Subject, parts: Sequence[Part], answer: RuleAnswer) -> str:
    deciding = [part for part in parts if part.answer == answer and part.rule is not None]
    named = "; ".join(dict.fromkeys(words(part.rule) for part in deciding if part.rule is not None))
    if answer == "deny":
        return f"It would be denied: {named}."
    if answer == "allow":
        return f"It would be allowed: {named}."
    if subject.tool_class == "command" and subject.parts is None:
        return "You would be asked: Bascule can't read this command exactly."
    if deciding:
        unsure = any(part.unsure for part in deciding)
        return f"You would be asked: {named}{' might fit, which is not certain' if unsure else ''}."
    if any(part.answer == "allow" for part in parts):
        missing = ", ".join(f"`{' '.join(part.argv)}`" for part in parts if part.argv and part.answer is None)
        return (
            f"You would be asked: no rule covers {missing}, and a chain is only allowed when every part is."
        )
    return "You would be asked: no rule covers it."
