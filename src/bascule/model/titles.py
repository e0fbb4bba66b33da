"""A session's title: the first sentence it was asked, without markup. Its twin is `js/titles.js`."""

import re

TITLE_LENGTH = 50
_LOOKED_AT = 400  # characters of a line: the rest can't be in the title
_READ = 20_000  # characters of the message

_FENCE = re.compile(r"^(```|~~~)")
_LEAD = re.compile(r"^(#{1,6} |> ?|[-*+] |[0-9]{1,3}[.)] |\[[ xX]\] )+")
_RULE = re.compile(r"^[-*_=#>| ]+$")
_LINK = re.compile(r"!?\[([^\[\]]+)\]\([^()]*\)")
_MARKS = re.compile(r"(\*\*|~~|`)|(?<= )#{1,6} |(?<![^ ])\*(?=[^\W_])|(?<=[^\W_])\*(?![^ ,.:;!?])")
_SENTENCE = re.compile(r"^(.{6,}?[^ .!?]{2}[.!?]+)(?= )")
_WIDE_SENTENCE = re.compile("^(.{4,}?[。！？])")  # where no space follows a sentence


def title_from(text: str) -> str:
    said = _first_paragraph(text)
    found = _WIDE_SENTENCE.match(said) or _SENTENCE.match(said)
    return _cut(re.sub(r"[.。:,;]+$", "", found[1] if found else said) or said)


def _first_paragraph(text: str) -> str:
    """The first lines that say something, as one. In code only when there is nothing else."""
    lines = [" ".join(line[:_LOOKED_AT].split()) for line in text[:_READ].strip().split("\n")]
    fenced, said = False, ""
    for line in lines:
        begins = _LEAD.match(line) is not None
        if _FENCE.match(line):
            fenced = not fenced
        if said and (not line or begins or fenced or len(said) > _LOOKED_AT):
            break
        if line and not fenced and not _FENCE.match(line) and not _RULE.match(line):
            said = f"{said} {_plain(line)}".strip()
            if begins and said:
                break
    return said or next((line for line in lines if line and not _FENCE.match(line)), "")


def _plain(line: str) -> str:
    return _MARKS.sub("", _LINK.sub(r"\1", _LEAD.sub("", line))).strip()


def _cut(title: str) -> str:
    """At the end of a word, if one ends in its second half."""
    if len(title) <= TITLE_LENGTH:
        return title
    head = title[:TITLE_LENGTH]
    space = head.rfind(" ")
    head = head[:space] if space > TITLE_LENGTH // 2 else head[: TITLE_LENGTH - 1]
    return re.sub(r"[ ,;:.(\-]+$", "", head) + "…"
