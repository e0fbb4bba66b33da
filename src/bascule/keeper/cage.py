"""The cage of one process: what its client lets it reach. Entered after the fork, before its program runs."""

import os
from typing import Any, cast

from bascule.keeper import landlock, system_calls
from bascule.keeper.frames import Message
from bascule.keeper.request_checks import Cage, bad, raw

MAX_RULES = 4096


def cage_of(message: Message) -> Cage:
    fields = message.get("cage")
    if not isinstance(fields, dict):
        raise bad("cage must be an object")
    given = cast(dict[str, Any], fields)
    rules, ports = given.get("rules"), given.get("ports")
    if ports is not None and not (_is_list(ports) and all(_is_port(port) for port in ports)):
        raise bad("cage.ports must be a list of TCP ports")
    return Cage(
        None if rules is None else _rules(rules), None if ports is None else tuple(cast(list[int], ports))
    )


def enter(cage: Cage, *, terminal: bool) -> None:
    """Close the door: for this process and everything it will ever start. Raises OSError."""
    system_calls.no_new_privileges()
    if cage.rules is not None:
        # Its own terminal, by name. The others' are not its business, and hold what people type.
        own = [("rwi", os.ttyname(0).encode())] if terminal else []
        landlock.restrict([*cage.rules, *own], cage.ports)
    system_calls.restrict()


def _rules(value: Any) -> tuple[tuple[str, bytes], ...]:
    if not _is_list(value) or len(value) > MAX_RULES:
        raise bad(f"cage.rules must be a list of at most {MAX_RULES}")
    found: list[tuple[str, bytes]] = []
    for rule in value:
        if not _is_list(rule) or len(rule) != 2 or not isinstance(rule[0], str):
            raise bad("a rule of a cage is [letters, path]")
        if not set(rule[0]) <= set(landlock.RIGHTS):
            raise bad(f"a rule's letters are of {''.join(landlock.RIGHTS)}")
        path = raw(rule[1], "cage")
        if path != b"." and not path.startswith(b"/"):
            raise bad("a rule's path is absolute, or . for the working folder")
        found.append((rule[0], path))
    return tuple(found)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_port(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536
