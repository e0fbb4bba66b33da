"""Finds other tools' permission lists on this machine, when a person asks to import them."""

import os

import msgspec

from bascule.daemon.files.confined import ConfinedFolder, FileNotFound
from bascule.daemon.files.folder_listing import read_bytes
from bascule.link.rules import Proposal, Proposals
from bascule.model.errors import CallerError
from bascule.model.rules import RuleAnswer, RuleSpec
from bascule.policy.allow_lists import Origin, Untranslatable, translated
from bascule.policy.lasting_rules import words

OWN_LIST = ".claude/settings.json"
PROJECT_LISTS = (".claude/settings.json", ".claude/settings.local.json")
MAX_BYTES = 1024 * 1024
MAX_LINES = 500
MAX_TEXT = 500


class _Lists(msgspec.Struct):
    allow: list[str] = []
    ask: list[str] = []
    deny: list[str] = []


class _Settings(msgspec.Struct):
    permissions: _Lists = msgspec.field(default_factory=_Lists)


def proposals_in(home: str, folder: str | None, own: tuple[str, ...]) -> Proposals:
    """Every line of the lists there are. Blocks."""
    found = Proposals([], [], [])
    # A person's own file may be a link to where they keep such files; a project's is read as it lies there.
    _take(found, os.path.realpath(home), OWN_LIST, "~/" + OWN_LIST, Origin(None, home), own)
    if folder is not None and folder != os.path.realpath(home):
        for name in PROJECT_LISTS:
            shown = f"{os.path.basename(folder)}/{name}"
            _take(found, folder, name, shown, Origin(folder, home), own)
    return found


def _take(found: Proposals, root: str, name: str, shown: str, origin: Origin, own: tuple[str, ...]) -> None:
    try:
        data = _read_own(root, name) if origin.folder is None else _read_confined(root, name, own)
        lists = msgspec.json.decode(data, type=_Settings).permissions
    except (FileNotFound, FileNotFoundError):
        return
    except (CallerError, OSError) as error:
        found.problems.append(f"{shown} was left out: {error}")
        return
    except msgspec.MsgspecError as error:
        found.problems.append(f"{shown} was left out: it is not a settings file as expected ({error}).")
        return
    found.read.append(shown)
    answers: tuple[tuple[RuleAnswer, list[str]], ...] = (
        ("deny", lists.deny),
        ("ask", lists.ask),
        ("allow", lists.allow),
    )
    for answer, lines in answers:
        for line in lines:
            if len(found.proposals) < MAX_LINES:
                found.proposals.append(_proposal(line, answer, shown, origin))


def _proposal(line: str, answer: RuleAnswer, shown: str, origin: Origin) -> Proposal:
    text = line[:MAX_TEXT]
    try:
        spec: RuleSpec = translated(line, answer, origin)
    except Untranslatable as why:
        return Proposal(shown, text, answer, problem=str(why))
    return Proposal(shown, text, answer, spec, words(spec))


def _read_own(home: str, name: str) -> bytes:
    with open(os.path.join(home, name), "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError("it is too large.")
    return data


def _read_confined(root: str, name: str, own: tuple[str, ...]) -> bytes:
    with ConfinedFolder(root, own).file(name) as (descriptor, info):
        if info.st_size > MAX_BYTES:
            raise OSError("it is too large.")
        return read_bytes(descriptor, MAX_BYTES)
