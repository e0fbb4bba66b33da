"""Adds Bascule's hooks to Claude Code's user settings and removes them; other settings stay as they are."""

import json
import os
import re
import secrets
import stat
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from bascule.model.errors import HostError, InvalidInput

HOOK = "bascule.hooks.claude.feedback_hook"
HOOKS = (HOOK, "bascule.commands.feedback_hook")  # the second by its name in earlier versions
MAX_FILE = 4 * 1024 * 1024
_INDENT = re.compile(r"\n([ \t]+)\S")
_LONE = re.compile(r"[\ud800-\udfff]")

Object = dict[str, Any]
Hooks = Mapping[str, list[Object]]


class SettingsTrouble(InvalidInput):
    """The file can't be changed without losing something; it was left as it is."""

    code = "SETTINGS_UNREADABLE"


class SettingsBusy(HostError):
    """Somebody else wrote to it meanwhile."""

    code = "SETTINGS_BUSY"


def settings_file(environment: Mapping[str, str]) -> Path:
    """Where Claude Code itself looks."""
    given = environment.get("CLAUDE_CONFIG_DIR")
    return Path(given or os.path.expanduser("~/.claude")) / "settings.json"


# The meaning of the file


def parse(data: bytes) -> Object:
    """Refuses what could not be written again as it was: a key that stands twice, a number out of reach."""
    try:
        text = data.decode("utf-8-sig")
        if not text.strip():
            return {}
        found = json.loads(text, object_pairs_hook=_object, parse_float=_number, parse_constant=_no_constant)
    except SettingsTrouble:
        raise
    except (ValueError, RecursionError) as error:
        raise SettingsTrouble(f"It is not JSON as Claude Code reads it ({error}).") from error
    if not isinstance(found, dict):
        raise SettingsTrouble("It holds no JSON object.")
    return cast("Object", found)


def with_hooks(settings: Object, hooks: Hooks) -> Object:
    """A copy with exactly these hooks of ours, behind those that were there."""
    cleared = without_hooks(settings)
    known = _events(cleared)
    for event, ours in hooks.items():
        known[event] = [*_groups(known, event), {"hooks": ours}]
    return {**cleared, "hooks": known}


def without_hooks(settings: Object) -> Object:
    """A copy without ours. What is empty only because of that goes, too."""
    if not ours_in(settings):
        return dict(settings)
    known = _events(settings)
    kept: Object = {}
    for event in known:
        groups = _groups(known, event)
        left = [_cleared(group) for group in groups if not _is_all_ours(group)]
        if left or not groups:
            kept[event] = left
    others = {name: value for name, value in settings.items() if name != "hooks"}
    if not kept:
        return others
    return {name: kept if name == "hooks" else value for name, value in settings.items()}


def ours_in(settings: Object) -> dict[str, list[Object]]:
    """Bascule's hooks by the event they run at."""
    known = _events(settings)
    found: dict[str, list[Object]] = {}
    for event in known:
        for group in _groups(known, event):
            found.setdefault(event, []).extend(handler for handler in _handlers(group) if _is_ours(handler))
    return {event: ours for event, ours in found.items() if ours}


def _is_all_ours(group: Any) -> bool:
    handlers = _handlers(group)
    return bool(handlers) and all(_is_ours(handler) for handler in handlers)


def _cleared(group: Any) -> Any:
    handlers = _handlers(group)
    return (
        {**group, "hooks": [handler for handler in handlers if not _is_ours(handler)]} if handlers else group
    )


def _is_ours(handler: Any) -> bool:
    if not isinstance(handler, dict):
        return False
    command = str(cast("Object", handler).get("command", ""))
    return any(f" -m {module} " in command for module in HOOKS)


def _events(settings: Object) -> Object:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise SettingsTrouble("Its `hooks` are no JSON object.")
    return dict(cast("Object", hooks))


def _groups(hooks: Object, event: str) -> list[Any]:
    groups = hooks.get(event, [])
    if not isinstance(groups, list):
        raise SettingsTrouble(f"Its hooks for {event!r} are no list.")
    return cast("list[Any]", groups)


def _handlers(group: Any) -> list[Any]:
    """What is no group of hooks has none of ours."""
    handlers = cast("Object", group).get("hooks") if isinstance(group, dict) else None
    return cast("list[Any]", handlers) if isinstance(handlers, list) else []


def _object(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingsTrouble(f"The key {twice!r} stands twice in one object.")
    return found


def _number(text: str) -> float:
    value = float(text)
    if not Decimal(text) == Decimal(repr(value)):
        raise SettingsTrouble(f"The number {text[:40]} could not be written again as it is.")
    return value


def _no_constant(text: str) -> float:
    raise SettingsTrouble(f"{text} is no JSON.")


# The file


def read(path: Path) -> bytes:
    """Its bytes; none when there is no file yet."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise SettingsTrouble(f"It can't be read ({error.strerror}).") from error
    if len(data) > MAX_FILE:
        raise SettingsTrouble(f"It is larger than {MAX_FILE >> 20} MiB.")
    return data


def written(settings: Object, before: bytes) -> bytes:
    """In the manner of what stood there: its indentation, its last line end."""
    old = before.decode("utf-8-sig", "replace")
    found = _INDENT.search(old)
    indent = found[1] if found else "  "
    text = json.dumps(settings, indent=indent, ensure_ascii=False, allow_nan=False)
    if _LONE.search(text):
        text = json.dumps(settings, indent=indent, allow_nan=False)
    return (text + ("\n" if old.endswith("\n") or not old else "")).encode()


def replace(path: Path, before: bytes, after: bytes) -> None:
    """In one step, with the file's own rights; a link stays a link. Refused if it is not as it was read."""
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise SettingsTrouble(f"It can't be written ({error.strerror}).") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        if read(path) != before:
            raise SettingsBusy("Another program wrote to it in this moment. Try again.")
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
